//! Figures 4, 9 and 11: error against noise on the value function, at m = 10n.

use anyhow::Result;

use super::axes::{Along, Curves, Metric};
use super::contender::Contender::{self, KernelShap, LeverageShap, OptimizedKernelShap};
use super::improvement::improvement;
use super::sample_size::third_quartile_near_median;
use super::sweep::{JudgedCurves, Sweep};
use crate::comparison::{Centre, Compete, paired};
use crate::reproduce::catalogue::ArtefactOutput;
use crate::reproduce::session::Session;
use crate::reproduce::verdict::{By, Case, Claim, Needed, Test};

/// Generates figure 4: median and quartiles of the error of the three main estimators.
pub(crate) fn fig4(session: &Session) -> Result<ArtefactOutput> {
    let sweep = Sweep {
        title: "Figure 4: error against noise on v, m = 10n",
        along: Along::Noise,
        metric: Metric::Error,
        contenders: &Contender::MAIN,
        centre: Centre::Median,
    };
    let of_paper = |judged: &JudgedCurves| {
        let mut claims = vec![
            judged.curves.best(
                "Leverage SHAP gives the best performance in all settings",
                "caption of figure 4",
                &[LeverageShap],
            ),
            third_quartile_near_median(&judged.curves, "caption of figure 4; \"generally matches\""),
        ];
        claims.extend(more_substantial_when_noisy(&judged.curves));
        claims
    };
    sweep.artefact_output(session, of_paper, |_, _| Ok(Vec::new()))
}

/// Generates figure 9: mean error of all estimators.
pub(crate) fn fig9(session: &Session) -> Result<ArtefactOutput> {
    let sweep = Sweep {
        title: "Figure 9: error of all estimators against noise on v, m = 10n",
        along: Along::Noise,
        metric: Metric::Error,
        contenders: Contender::ALL,
        centre: Centre::Mean,
    };
    let of_paper = |judged: &JudgedCurves| {
        vec![judged.curves.best_in(
            Needed::Most,
            "Leverage SHAP gives the best performance in almost all settings",
            "caption of figure 9",
            &[LeverageShap],
        )]
    };
    sweep.artefact_output(session, of_paper, |_, _| Ok(Vec::new()))
}

/// Generates figure 11: linear objective error of all estimators, n ≤ 12.
pub(crate) fn fig11(session: &Session) -> Result<ArtefactOutput> {
    let sweep = Sweep {
        title: "Figure 11: linear objective error against noise on v, m = 10n",
        along: Along::Noise,
        metric: Metric::ObjectiveExcess,
        contenders: Contender::ALL,
        centre: Centre::Mean,
    };
    let of_paper = |judged: &JudgedCurves| vec![error_grows(&judged.curves), no_clear_winner(&judged.curves)];
    sweep.artefact_output(session, of_paper, |_, _| Ok(Vec::new()))
}

/// Returns the claim of section 1.2 on improvements under noise, once for the rival Kernel SHAP (as in
/// section 1.1) and once for Optimized Kernel SHAP.
fn more_substantial_when_noisy(curves: &Curves) -> Vec<Claim> {
    let last = curves.levels.len() - 1;
    let rivals = [KernelShap, OptimizedKernelShap];
    let over = |rival| {
        let places = |panel: usize| [(panel, last), (panel, 0)];
        improvement(
            curves,
            rival,
            (
                "when v is observed with noise",
                "a dataset with 10n < 2^n; it agrees if the improvement at σ = 1 exceeds that at σ = 0 in \
                 the same run",
            ),
            |panel| curves.open_places().any(|place| place == (panel, last)).then(|| places(panel)),
        )
    };
    rivals.into_iter().flat_map(over).collect()
}

fn error_grows(curves: &Curves) -> Claim {
    let last = curves.levels.len() - 1;
    let mut cases = Vec::new();
    for (panel, title) in curves.panels.iter().enumerate() {
        for contender in curves.contenders() {
            if let (Some(quiet), Some(loud)) =
                (curves.point(panel, contender, 0), curves.point(panel, contender, last))
            {
                let growth = loud.summary.mean / quiet.summary.mean;
                let (quiet, loud) = paired(&quiet.errors, &loud.errors);
                let test = Test::ratio_below(&quiet, &loud, 0.5);
                cases.push(Case::new(format!("{title}, {} (×{growth:.2})", contender.title()), test));
            }
        }
    }
    By::SignedRanks.in_all(
        "the error grows large as σ approaches one for all algorithms",
        "caption of figure 11",
        "a dataset and estimator; it agrees if the error at σ = 1 is at least twice that at σ = 0 in the \
         same run",
        cases,
    )
}

fn no_clear_winner(curves: &Curves) -> Claim {
    let contenders = curves.contenders();
    let cases = contenders.iter().map(|&one| {
        let rivals = contenders.iter().filter(|&&rival| rival != one);
        let beaten = rivals.flat_map(|&rival| {
            curves.open_places().map(move |place| curves.is_below(place, (rival, one), 1.0))
        });
        Case::new(one.title(), Test::any(beaten))
    });
    let cases = if curves.open_places().next().is_some() { cases.collect() } else { Vec::new() };
    By::SignedRanks.in_all(
        "there is no clear winner across the datasets",
        "caption of figure 11",
        "an estimator; it agrees if in some setting with m < 2^n another one is below it in the same run",
        cases,
    )
}
