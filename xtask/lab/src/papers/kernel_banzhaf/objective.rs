//! Figure 7: the objective of the regression over all coalitions.

use anyhow::Result;
use apportion::games::ClosedForm;

use super::contender::Contender::{self, KernelBanzhaf, KernelBanzhafUnpaired, MonteCarlo, Msr};
use super::experiment::{
    Experiment, MULTIPLE, Metric, curves, datasets, is_small, judged, look, small_experiment,
};
use super::instance::Instance;
use super::linear::{mean_min, objective, squared_excess};
use super::notes::notes;
use super::sample_size::beats_the_others;
use crate::comparison::{
    Estimate, Excess, FigureLayout, Growing, Guarantee, Noise, by_noise, by_sample_size, squared_distance,
    squared_norm,
};
use crate::reproduce::catalogue::ArtefactOutput;
use crate::reproduce::report::notes;
use crate::reproduce::session::Session;
use crate::reproduce::verdict::Claim;

/// Generates figure 7: median and quartiles of `‖Aφ̃ − b‖ / ‖Aφ − b‖ − 1`, by sample size and by noise.
pub(crate) fn fig7(session: &Session) -> Result<ArtefactOutput> {
    let experiment = small_experiment(session)?;
    let of = |steps: &[_]| curves(&experiment, &Contender::BANZHAF, steps, Metric::ObjectiveError);
    let by_size = of(&by_sample_size())?;
    let by_noise = of(&by_noise(MULTIPLE, Noise::absolute))?;
    let look = FigureLayout {
        columns: experiment.datasets.len().max(1),
        ..look(
            "Figure 7: relative objective error against sample size, and against noise at m = 20n (trees, \
             path-dependent game)",
            "objective / least − 1",
        )
    };
    let noisy = FigureLayout { x: "standard deviation σ", ..look };
    let columns = ["dataset", "level"];
    let mut made = by_size
        .artefact_output(columns, &look, "Median of ‖Aφ̃ − b‖ / ‖Aφ − b‖ − 1 by sample size")
        .followed_by(by_noise.artefact_output(
            columns,
            &noisy,
            "Median of ‖Aφ̃ − b‖ / ‖Aφ − b‖ − 1 by noise, m = 20n",
        ));
    made.claims = judged(&by_size, |curves| beats_the_others(curves, "caption of figure 7, top row"));
    made.claims.extend(judged(&by_noise, |curves| {
        vec![curves.best(
            "Kernel Banzhaf consistently outperforms other estimators as the noise varies",
            "caption of figure 7, bottom row",
            &[KernelBanzhaf],
        )]
    }));
    for guarantee in [theorem_3_3, corollary_3_4] {
        made.claims.push(guarantee(&experiment)?);
    }
    made.notes = notes();
    made.notes.extend(notes![
        "‖Ax − b‖² = ‖Aφ − b‖² + 2^{n−2} ‖x − φ‖², so within a run the objective error ranks estimators in \
         the same order as the squared error. It is computed from this identity, which avoids cancellation, \
         with ‖Aφ − b‖² from all 2^n coalitions. A has no intercept, so the minimum of the objective also \
         includes the mean of v",
    ]);
    made.datasets = datasets(is_small);
    Ok(made)
}

/// Estimators to which the guarantees of the paper (theorem 3.3, corollary 3.4) do not apply.
const RIVALS: [Contender; 3] = [KernelBanzhafUnpaired, MonteCarlo, Msr];

fn theorem_3_3(experiment: &Experiment<'_>) -> Result<Claim> {
    let guarantee = Guarantee {
        claim: "‖Aφ̃ − b‖² is at most 1 + ε times the least with m = O(n log(n/δ) + n/(δε)) evaluations",
        source: "theorem 3.3, corrected: the paper prints ‖Aφ̃ − Aφ‖ ≤ (1 + ε)‖Aφ − b‖, from which corollary \
            3.4 does not follow",
    };
    let excess = Excess {
        on_datasets: |instance: &Instance, contender, estimate: &Estimate| {
            let (truth, least) = (instance.truth(contender)?, instance.min_objective()?);
            Ok(Some(squared_excess(&estimate.values, truth, least)))
        },
        on_growing: |growing: &Growing, values: &[f64]| {
            let truth = growing.game.banzhaf();
            squared_distance(values, &truth) / (4.0 * growing.least(|growing| mean_min(growing, &truth)))
        },
    };
    guarantee.claim(experiment, |_: &str| true, (KernelBanzhaf, &RIVALS), &excess)
}

/// Judges corollary 3.4, with γ = ‖Aφ − b‖² / ‖Aφ‖² by definition. Since the columns of A are orthogonal and
/// of equal norm, the corollary is theorem 3.3, stated for the values instead of the objective.
fn corollary_3_4(experiment: &Experiment<'_>) -> Result<Claim> {
    let guarantee = Guarantee {
        claim: "‖φ̃ − φ‖² is at most εγ‖φ‖² with m = O(n log(n/δ) + n/(δε)) evaluations",
        source: "corollary 3.4",
    };
    let excess = Excess {
        on_datasets: |instance: &Instance, contender, estimate: &Estimate| {
            let (truth, least) = (instance.truth(contender)?, instance.min_objective()?);
            let gamma = least / objective(&vec![0.0; 1 << truth.len()], truth);
            Ok(Some(squared_distance(&estimate.values, truth) / (gamma * squared_norm(truth))))
        },
        on_growing: |growing: &Growing, values: &[f64]| {
            let truth = growing.game.banzhaf();
            let gamma = growing.least(|growing| mean_min(growing, &truth)) / (squared_norm(&truth) / 4.0);
            squared_distance(values, &truth) / (gamma * squared_norm(&truth))
        },
    };
    guarantee.claim(experiment, |_: &str| true, (KernelBanzhaf, &RIVALS), &excess)
}
