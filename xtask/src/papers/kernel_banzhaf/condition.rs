//! Figure 5: the condition number of the sampled regression.

use anyhow::Result;

use super::contender::Contender::{self, KernelBanzhaf, LeverageShap, OptimizedKernelShap};
use super::experiment::{Curves, Experiment, MANY, Metric, curves, datasets, experiment, judged, look};
use super::notes::shapley_notes;
use crate::comparison::{Compete, Look, by_sample_size};
use crate::reproduce::catalogue::Made;
use crate::reproduce::report::notes;
use crate::reproduce::session::Session;
use crate::reproduce::verdict::{By, Claim};

/// Figure 5: median and quartiles of the condition number of K for the three regressions.
pub(crate) fn fig5(session: &Session) -> Result<Made> {
    let experiment = experiment(session)?;
    let curves = curves(&experiment, &Contender::REGRESSIONS, &by_sample_size(), Metric::ConditionNumber)?;
    let look = Look {
        floor: 1e-3,
        ..look("Figure 5: condition number of K against sample size", "condition number")
    };
    let mut made = curves.made(["dataset", "m"], &look, "Median condition number by sample size");
    let errors = errors(&experiment)?;
    made.claims = judged(&experiment, &curves, |curves| claims(&experiment, curves, &errors));
    made.notes = shapley_notes(&experiment);
    made.notes.extend(notes![
        "K = (AᵀA)^{−½} ÃᵀÃ (AᵀA)^{−½}: as AᵀA is a multiple of the identity (Banzhaf) or of the projection onto Σx = 0 (Shapley), \
         its condition number is that of the Gram matrix of the weighted sampled rows, on Σx = 0 for Shapley",
        "no value where an estimator enumerates all coalitions (m ≥ 2^n) and so has no sampled regression",
    ]);
    made.datasets = datasets(&experiment, |_| true);
    Ok(made)
}

/// The errors of figure 9.
fn errors(experiment: &Experiment<'_>) -> Result<Curves> {
    curves(experiment, &Contender::REGRESSIONS, &by_sample_size(), Metric::NormalizedError)
}

fn claims(experiment: &Experiment<'_>, curves: &Curves, errors: &Curves) -> Vec<Claim> {
    let better = |rival: Contender| {
        curves.below(
            &format!("Kernel Banzhaf constructs a better subproblem than {} at all scales", rival.title()),
            "section 4.2; figure 5",
            (KernelBanzhaf, rival),
        )
    };
    vec![better(LeverageShap), better(OptimizedKernelShap), explains_the_error(experiment, curves, errors)]
}

/// Whether better conditioning goes with the smaller errors of figure 9.
fn explains_the_error(experiment: &Experiment<'_>, conditions: &Curves, errors: &Curves) -> Claim {
    let pair = (KernelBanzhaf, LeverageShap);
    let wide = conditions.open_places().filter(|&(panel, _)| experiment.players(panel) >= MANY);
    let ahead = wide.filter(|&place| errors.ratio(place, pair).is_some_and(|ratio| ratio < 1.0));
    By::SignedRanks.in_all(
        "its better subproblem explains the superior performance of Kernel Banzhaf for large n",
        "section 4.2",
        &format!(
            "a dataset with n ≥ {MANY} and a sample size at which Kernel Banzhaf's median error is below Leverage SHAP's (figure 9); it \
             agrees if its condition number is lower by 5 % and more in the same run"
        ),
        conditions.below_cases(ahead, pair, 0.95),
    )
}
