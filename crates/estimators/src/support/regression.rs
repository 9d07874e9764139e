//! Shapley values from a constrained least-squares problem on sampled coalitions.
//!
//! ```text
//! φ̃ = argmin_{⟨x,1⟩ = v(N) − v(∅)} Σ_k w_k (⟨z_k, x⟩ − (v(z_k) − v(∅)))²
//!     (Leverage SHAP, equations 3 and 9)
//! ```
//!
//! Here `w_k` is the Shapley kernel `w(s) = 1 / (C(n,s) s (n−s))` (equation 4) divided by the probability of
//! drawing the coalition. Kernel Banzhaf also uses the functions that convert a regression to an explanation.

use apportion_games::Game;
use apportion_samplers::{Pairing, Sample};
use apportion_solvers::{Certificate, Constraint, Design, LeastSquares, SolverError, least_squares};
use apportion_values::{Semivalue, SolutionConcept};

use crate::error::Result;
use crate::report::{Diagnostics, ErrorDistribution, Explanation};
use crate::run::Evaluations;

/// Whether to compute standard errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub enum StandardErrors {
    /// From the residuals of the regression. This takes about as long as the regression itself, and several
    /// times as long if there are a hundred rows per player.
    #[default]
    Estimated,
    /// No standard errors. This saves the time to compute them.
    Omitted,
}

/// Solves the regression on `sample`, whose rows must be distinct.
pub(crate) fn explain(
    method: &'static str,
    game: &dyn Game,
    sample: &Sample,
    standard_errors: StandardErrors,
    seed: u64,
) -> Result<Explanation> {
    let weights = sample.shapley_weights();
    let design = match sample.pairing() {
        Pairing::Paired => Design::paired(sample.coalitions(), &weights)?,
        Pairing::Unpaired => Design::new(sample.coalitions(), &weights)?,
    };
    let (mut explanation, solution) = regress(method, game, &design, seed)?;
    explanation.diagnostics.exact = sample_is_complete(sample);
    explanation.judge(standard_errors, || match draws_of_units(sample) {
        Some(times) => solution.certificate_of_draws(&times),
        None => solution.certificate(&free_shares(sample)),
    })?;
    explanation.note_design(sample);
    Ok(explanation)
}

/// Evaluates the coalitions of `design`, which must be distinct, and solves the regression. Does not compute
/// standard errors.
fn regress(
    method: &'static str,
    game: &dyn Game,
    design: &Design<'_>,
    seed: u64,
) -> Result<(Explanation, LeastSquares)> {
    let mut evaluations = Evaluations::begin(game)?;
    let gains = evaluations.gains(design.coalitions())?;
    let total = evaluations.total();
    let solution = least_squares(design, &gains, game.outputs(), Constraint::Sum(&total))?;
    let unknowns = game.players() - 1;
    let explanation =
        Explanation::of_regression(method, Semivalue::Shapley, evaluations, &solution, unknowns, seed);
    Ok((explanation, solution))
}

impl Explanation {
    /// Creates an explanation, without standard errors, from a regression on distinct coalitions.
    pub(crate) fn of_regression(
        method: &'static str,
        value: impl Into<SolutionConcept>,
        evaluations: Evaluations<'_>,
        solution: &LeastSquares,
        unknowns: usize,
        seed: u64,
    ) -> Self {
        Self {
            value: value.into(),
            method: method.to_owned(),
            values: solution.coefficients().to_vec(),
            std_errors: None,
            evaluations: evaluations.count,
            distinct_coalitions: evaluations.count,
            model_rows: evaluations.model_rows(),
            seed: Some(seed),
            diagnostics: Diagnostics {
                rank: solution.rank(),
                unknowns: Some(unknowns),
                condition_number: Some(solution.condition_number()),
                residual_sum_of_squares: Some(solution.residual_sum_of_squares().to_vec()),
                ..Diagnostics::default()
            },
            certificate: None,
            base: evaluations.empty,
            prediction: evaluations.full,
        }
    }

    /// Adds standard errors and their distribution, if they are requested and the regression determines the
    /// values.
    pub(crate) fn judge(
        &mut self,
        standard_errors: StandardErrors,
        certificate: impl FnOnce() -> Result<Certificate, SolverError>,
    ) -> Result<()> {
        let is_determined = self.diagnostics.rank == self.diagnostics.unknowns;
        if let Some(certificate) = certified(standard_errors, is_determined, certificate)? {
            self.diagnostics.error_distribution = Some(ErrorDistribution::of_regression(&certificate));
            self.std_errors = Some(certificate.variances.into_iter().map(f64::sqrt).collect());
        }
        Ok(())
    }
}

impl Explanation {
    /// Records the properties of the design of `sample` on which the error distribution depends.
    pub(crate) fn note_design(&mut self, sample: &Sample) {
        if let Some(distribution) = &mut self.diagnostics.error_distribution {
            distribution.is_paired = sample.pairing() == Pairing::Paired;
            distribution.border_left = border_left(sample);
        }
    }
}

/// Returns one minus the inclusion probability of single players and of coalitions that lack one player (the
/// larger of the two); `None` for draws with replacement, and for one player.
pub(crate) fn border_left(sample: &Sample) -> Option<f64> {
    let (players, strata) = (sample.coalitions().players(), sample.strata());
    let left = |size: usize| 1.0 - strata[size].inclusion_probability();
    (sample.multiplicities().is_none() && players > 1).then(|| left(1).max(left(players - 1)).max(0.0))
}

impl ErrorDistribution {
    /// Returns the error distribution from the certificate of a regression.
    pub(crate) fn of_regression(certificate: &Certificate) -> Self {
        Self {
            degrees_of_freedom: certificate.degrees_of_freedom,
            directions: certificate.directions.clone(),
            ..Self::default()
        }
    }
}

/// Returns the certificate; `None` if it is not requested, if the regression does not determine the values,
/// or if it would not determine them without some row.
pub(crate) fn certified(
    standard_errors: StandardErrors,
    is_determined: bool,
    certificate: impl FnOnce() -> Result<Certificate, SolverError>,
) -> Result<Option<Certificate>> {
    if standard_errors == StandardErrors::Omitted || !is_determined {
        return Ok(None);
    }
    match certificate() {
        Ok(certificate) => Ok(Some(certificate)),
        // If the regression is not determined without a row, there is no residual from which to estimate the
        // row's error.
        Err(SolverError::Saturated { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Returns the first row of each pair, or all rows if unpaired.
pub(crate) fn representatives(sample: &Sample) -> impl Iterator<Item = usize> {
    let step = match sample.pairing() {
        Pairing::Paired => 2,
        Pairing::Unpaired => 1,
    };
    (0..sample.coalitions().len()).step_by(step)
}

/// Returns the number of draws of each row (or pair), if drawn with replacement.
pub(crate) fn draws_of_units(sample: &Sample) -> Option<Vec<u32>> {
    let times = sample.multiplicities()?;
    Some(representatives(sample).map(|row| times[row]).collect())
}

/// Returns `f_k = 1 − π` for each row (or pair), where π is the inclusion probability of its size under the
/// *design*.
///
/// This number is not `1 − drawn/available`. Bernoulli sampling may draw all coalitions of a size by chance,
/// but its weights are the expected ones, so the result is not exact. (For 8 players and m = 254, a third of
/// the seeds drew everything, with errors of 1e-4.)
pub(crate) fn free_shares(sample: &Sample) -> Vec<f64> {
    let by_size: Vec<f64> =
        sample.strata().iter().map(|stratum| (1.0 - stratum.inclusion_probability()).max(0.0)).collect();
    representatives(sample).map(|row| by_size[sample.coalitions().sizes()[row] as usize]).collect()
}

/// Returns whether the sample contains every coalition except ∅ and N.
pub(crate) fn sample_is_complete(sample: &Sample) -> bool {
    let players = sample.coalitions().players();
    (1..players).all(|size| sample.strata()[size].is_exhausted())
}
