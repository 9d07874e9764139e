//! Figures 3, 8 and 10: error against sample size.

use anyhow::Result;
use apportion::games::ClosedForm;

use super::axes::{Along, Curves, Metric};
use super::contender::Contender::{
    self, KernelShap, LeverageShap, LeverageShapDeterministic, LeverageShapUnpaired,
    LeverageShapUnpairedDistinct, LeverageShapWithReplacement, OptimizedKernelShap,
};
use super::improvement::improvement;
use super::instance::{Instance, SMALL};
use super::linear::{min_objective, objective_excess};
use super::printed;
use super::sweep::{Experiment, JudgedCurves, Sweep, is_of_paper};
use crate::comparison::{Centre, Estimate, Excess, Growing, Guarantee};
use crate::reproduce::catalogue::ArtefactOutput;
use crate::reproduce::report::significant;
use crate::reproduce::session::Session;
use crate::reproduce::statistics::Summary;
use crate::reproduce::verdict::{By, Case, Claim, Needed, Test};

/// Generates figure 3: median and quartiles of the error of the three main estimators.
pub(crate) fn fig3(session: &Session) -> Result<ArtefactOutput> {
    let sweep = Sweep {
        title: "Figure 3: error against sample size",
        along: Along::SampleSize,
        metric: Metric::Error,
        contenders: &Contender::MAIN,
        centre: Centre::Median,
    };
    let of_paper = |judged: &JudgedCurves| {
        let curves = &judged.curves;
        let mut claims = vec![
            curves.below(
                "Leverage SHAP reliably outperforms Optimized Kernel SHAP, but where both are exact",
                "caption of figure 3",
                (LeverageShap, OptimizedKernelShap),
            ),
            third_quartile_near_median(curves, "caption of figure 3; \"roughly\"")
                .prints("0.15 to 1.30 in table 1"),
            kernel_shap_is_worst(curves),
            machine_precision(curves),
        ];
        claims.extend(more_substantial_when_few(curves));
        claims
    };
    sweep.artefact_output(session, of_paper, |_, _| Ok(Vec::new()))
}

/// Returns the claim that the third quartile of Leverage SHAP's error is roughly the median of Optimized
/// Kernel SHAP's error.
///
/// In the paper's own table 1, the ratio is 0.15 to 1.30 for m < 2^n, so "roughly" is read as at most 1.5.
pub(super) fn third_quartile_near_median(curves: &Curves, source: &str) -> Claim {
    let quantities = [|summary: &Summary| summary.third, |summary: &Summary| summary.median];
    let pair = (LeverageShap, OptimizedKernelShap);
    By::Resampling.in_most(
        "the third quartile of Leverage SHAP is roughly the median of Optimized Kernel SHAP",
        source,
        "a dataset and level with m < 2^n; it agrees if the third quartile is at most 1.5 times the median, \
         as it is in table 1",
        curves.summary_cases(curves.open_places(), pair, quantities, 1.5),
    )
}

fn kernel_shap_is_worst(curves: &Curves) -> Claim {
    let cases = curves.places().into_iter().map(|place| {
        let rivals = [OptimizedKernelShap, LeverageShap];
        let tests = rivals.map(|rival| curves.is_below(place, (rival, KernelShap), 1.0));
        Case::new(curves.place(place.0, place.1), Test::all(tests))
    });
    By::SignedRanks.in_all(
        "Kernel SHAP gives the highest error in all settings",
        "section 5",
        "a dataset and sample size; it agrees if Kernel SHAP is above both others in the same run",
        cases,
    )
}

fn machine_precision(curves: &Curves) -> Claim {
    let largest = curves
        .points
        .iter()
        .filter(|point| point.exact && point.contender != KernelShap)
        .map(|point| point.summary.third)
        .reduce(f64::max);
    Claim::fact(
        "Optimized Kernel SHAP and Leverage SHAP achieve essentially machine precision where m reaches 2^n",
        "section 5",
        "their third quartiles are below 1e-20 at m ≥ 2^n",
        largest.map(|largest| largest < 1e-20),
        largest.map_or("no such setting".to_owned(), |largest| {
            format!("largest third quartile {}", significant(largest))
        }),
    )
}

/// Returns the claim of section 1.2 on improvements with few evaluations, once for the rival Kernel SHAP (as
/// in section 1.1) and once for Optimized Kernel SHAP.
fn more_substantial_when_few(curves: &Curves) -> Vec<Claim> {
    let rivals = [KernelShap, OptimizedKernelShap];
    let over = |rival| {
        improvement(
            curves,
            rival,
            (
                "when n is large in comparison to m",
                "a dataset; it agrees if the improvement at m = 5n exceeds that at the largest m < 2^n in \
                 the same run",
            ),
            |panel| {
                let open: Vec<_> = curves.open_places().filter(|place| place.0 == panel).collect();
                let (first, last) = (*open.first()?, *open.last()?);
                (first != last).then_some([first, last])
            },
        )
    };
    rivals.into_iter().flat_map(over).collect()
}

/// Generates figure 8: mean error of all estimators.
pub(crate) fn fig8(session: &Session) -> Result<ArtefactOutput> {
    let sweep = Sweep {
        title: "Figure 8: error of all estimators against sample size",
        along: Along::SampleSize,
        metric: Metric::Error,
        contenders: Contender::ALL,
        centre: Centre::Mean,
    };
    let of_paper = |judged: &JudgedCurves| {
        let curves = &judged.curves;
        let is_small = |panel: usize| judged.players[panel] <= SMALL;
        vec![
            curves.best(
                "Leverage SHAP reliably gives the best performance",
                "caption of figure 8",
                &[LeverageShap],
            ),
            curves.only(|panel| !is_small(panel), &Contender::OF_PAPER).below(
                "Leverage SHAP exceeds Leverage SHAP w/o Bernoulli for large n (here: n > 12)",
                "caption of figure 8",
                (LeverageShap, LeverageShapWithReplacement),
            ),
            curves.below(
                "paired sampling improves Leverage SHAP in all settings",
                "section 5, additional experiments",
                (LeverageShap, LeverageShapUnpaired),
            ),
            curves.only(is_small, &Contender::OF_PAPER).below(
                "Bernoulli sampling (without replacement) improves Leverage SHAP for small n (here: n ≤ 12)",
                "section 5, additional experiments",
                (LeverageShap, LeverageShapWithReplacement),
            ),
        ]
    };
    sweep.artefact_output(session, of_paper, |experiment, curves| {
        // The two judged estimators both draw without replacement, and differ in pairing only. In the paper's
        // ablation, the estimator without pairs also draws with replacement.
        let judged = curves.only(|panel| is_of_paper(experiment.datasets[panel].known), Contender::ALL);
        Ok(vec![
            judged.below(
                "paired sampling improves Leverage SHAP in all settings, both drawn without replacement",
                "this project, beside section 5",
                (LeverageShapDeterministic, LeverageShapUnpairedDistinct),
            ),
            curves.below_in(
                Needed::NotBehind,
                "Leverage SHAP with deterministic counts is not behind algorithm 1, whose counts are drawn",
                "this project",
                (LeverageShapDeterministic, LeverageShap),
            ),
        ])
    })
}

/// Generates figure 10: linear objective error of all estimators, n ≤ 12.
pub(crate) fn fig10(session: &Session) -> Result<ArtefactOutput> {
    let sweep = Sweep {
        title: "Figure 10: linear objective error against sample size",
        along: Along::SampleSize,
        metric: Metric::ObjectiveExcess,
        contenders: Contender::ALL,
        centre: Centre::Mean,
    };
    let of_paper = |judged: &JudgedCurves| {
        let lowest = judged.curves.best(
            "Leverage SHAP quickly achieves the lowest error in all settings",
            "caption of figure 10",
            &[LeverageShap],
        );
        let ablated = judged.curves.best(
            "Leverage SHAP, or its ablated version without Bernoulli sampling, gives the best performance",
            "appendix H",
            &[LeverageShap, LeverageShapWithReplacement],
        );
        vec![lowest, ablated]
    };
    sweep.artefact_output(session, of_paper, |experiment, _| Ok(vec![theorem_1_1(experiment)?]))
}

/// Judges Theorem 1.1 for Leverage SHAP.
fn theorem_1_1(experiment: &Experiment<'_>) -> Result<Claim> {
    let guarantee = Guarantee {
        claim: "the objective is at most 1 + ε times the least with m = O(n log(n/δ) + n/(εδ)) evaluations",
        source: "theorem 1.1",
    };
    let rivals: Vec<Contender> =
        Contender::OF_PAPER.into_iter().filter(|&contender| contender != LeverageShap).collect();
    let judged = |name: &str| printed::column(name).is_some();
    let excess = Excess {
        on_datasets: |instance: &Instance, _, estimate: &Estimate| {
            instance.objective_excess(&estimate.values)
        },
        on_growing: |growing: &Growing, values: &[f64]| {
            let truth = growing.game.shapley();
            objective_excess(values, &truth, growing.least(|growing| min_objective(growing, &truth)))
        },
    };
    guarantee.claim(experiment, judged, (LeverageShap, &rivals), &excess)
}
