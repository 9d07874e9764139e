//! Values that do not only depend on the odd part of the game: weighted Banzhaf values, Beta-Shapley values
//! and mixtures.
//!
//! The sample and the plain estimate are those of a method without a prior: Kernel Banzhaf without
//! replacement for weighted Banzhaf values, and regression-adjusted maximum sample reuse for all others. A
//! [process](super::process_fit) is fitted to the same coalitions.

use apportion_games::{Cached, Game};
use apportion_samplers::{Pairing, Sample};
use apportion_values::{LeastSquaresForm, Semivalue};

use super::process_fit::{Evaluated, improve};
use crate::error::Result;
use crate::regression::kernel_banzhaf::KernelBanzhaf;
use crate::report::Explanation;
use crate::run::{Estimator, Evaluations};
use crate::sampling::maximum_sample_reuse::{MaximumSampleReuse, SizeWeights};
use crate::support::{Draws, FullBudget, StandardErrors};

/// The method without a prior. Its standard errors are always estimated, because the choice between both
/// estimates depends on them.
enum Plain {
    Regression(KernelBanzhaf),
    Reuse(MaximumSampleReuse),
}

impl Plain {
    fn new(any_value: &AnyValue<'_>) -> Self {
        let AnyValue { value, draws, full_budget, .. } = any_value;
        let (value, draws, full_budget) = ((*value).clone(), *draws, *full_budget);
        match value.least_squares() {
            Some(LeastSquaresForm::Centred { .. }) => Self::Regression(
                KernelBanzhaf::without_replacement()
                    .with_value(value)
                    .with_draws(draws)
                    .with_full_budget(full_budget),
            ),
            _ => Self::Reuse(
                MaximumSampleReuse::adjusted(value).with_draws(draws).with_full_budget(full_budget),
            ),
        }
    }

    fn estimator(&self) -> &dyn Estimator {
        match self {
            Self::Regression(estimator) => estimator,
            Self::Reuse(estimator) => estimator,
        }
    }

    fn sample(&self, joined: Vec<f64>, players: usize, budget: usize, seed: u64) -> Result<Sample> {
        match self {
            Self::Regression(estimator) => estimator.sample(players, budget, seed),
            Self::Reuse(estimator) => estimator.sample(&[joined], players, budget, seed),
        }
    }
}

/// The estimator of a semivalue with a mixing measure.
pub(super) struct AnyValue<'a> {
    /// The name of the method.
    pub(super) name: &'static str,
    pub(super) value: &'a Semivalue,
    pub(super) draws: Draws,
    pub(super) full_budget: FullBudget,
    pub(super) standard_errors: StandardErrors,
}

impl AnyValue<'_> {
    /// Returns the estimate of the value.
    pub(super) fn explain(&self, game: &dyn Game, budget: usize, seed: u64) -> Result<Explanation> {
        let n = game.players();
        let game = Cached::new(game);
        let plain = Plain::new(self);
        let mut explanation = plain.estimator().estimate_seen(&game, budget, seed)?;
        let name = std::mem::replace(&mut explanation.method, self.name.to_owned());
        let joined = self.value.size_distribution(n);
        let sample = plain.sample(joined.clone(), n, budget, seed)?;
        // In a sample of pairs, the other coalition of the pair helps to predict a coalition that is left
        // out, so the leave-one-out residuals would be too small.
        match sample.pairing() {
            Pairing::Paired => {
                explanation.diagnostics.chosen = Some(vec![name; explanation.outputs()].join("; "))
            }
            Pairing::Unpaired => {
                let weights = SizeWeights::new(&joined, &sample).regression;
                improve(
                    &mut explanation,
                    &evaluated(&game, &sample, &weights)?,
                    &|process, signs| process.with_values(signs, self.value),
                    &|game| plain.estimator().estimate_seen(game, budget, seed),
                    &name,
                )?;
            }
        }
        if self.standard_errors == StandardErrors::Omitted {
            explanation.std_errors = None;
            explanation.diagnostics.error_distribution = None;
        }
        Ok(explanation)
    }
}

/// Returns the coalitions of `sample`, which are cached in `game`. `weights` contains the weight of each
/// size.
fn evaluated(game: &dyn Game, sample: &Sample, weights: &[f64]) -> Result<Evaluated> {
    let coalitions = sample.coalitions();
    let mut evaluations = Evaluations::begin(game)?;
    let values = evaluations.values(coalitions)?;
    Ok(Evaluated {
        inclusion: (0..coalitions.len()).map(|row| inclusion(sample, row)).collect(),
        partners: (0..coalitions.len()).collect(),
        weights: coalitions.sizes().iter().map(|&size| weights[size as usize]).collect(),
        values: [&values[..], &evaluations.empty, &evaluations.full].concat(),
        coalitions: coalitions.clone(),
    })
}

/// Returns the inclusion probability of a coalition of the sample; 0 for draws with replacement.
fn inclusion(sample: &Sample, row: usize) -> f64 {
    match sample.multiplicities() {
        Some(_) => 0.0,
        None => {
            let size = sample.coalitions().sizes()[row] as usize;
            sample.strata()[size].inclusion_probability().min(1.0)
        }
    }
}
