//! Regression MSR: maximum sample reuse of the residuals of a fitted model.
//!
//! # Source
//!
//! Witter, Liu and Musco, *Regression-adjusted Monte Carlo Estimators for Shapley Values and Probabilistic
//! Values*, NeurIPS 2025. Settings that the paper does not specify are those of the authors' experiments:
//! XGBoost's default trees, fitted to the coalitions whose residuals are used.

use apportion_games::Game;
use apportion_samplers::{Pairing, Sample, SizeDistribution};
use apportion_values::{LeastSquaresForm, Semivalue, SolutionConcept, Value};

use crate::error::Result;
use crate::registry::{semivalue, specs};
use crate::report::{Diagnostics, Explanation};
use crate::run::{Estimator, Evaluations, at_most_all};
use crate::sampling::maximum_sample_reuse::SamplingDistribution;
use crate::setters::setters;
use crate::support::folds::{Folds, cross_fit};
use crate::support::{Draws, FullBudget, exact_if_affordable};
use crate::surrogate::interface::Surrogate;
use crate::surrogate::linear::LinearSurrogate;
use crate::surrogate::trees::TreeSurrogate;

/// The model whose residuals are estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub enum RegressionProxy {
    /// Boosted trees with XGBoost's defaults: 100 of depth 6, rate 0.3, penalty 1.
    #[default]
    Trees,
    /// A linear model, fitted by least squares with equal weights.
    Linear,
}

impl RegressionProxy {
    pub(super) fn surrogate(self) -> Box<dyn Surrogate> {
        match self {
            Self::Trees => Box::new(TreeSurrogate::default()),
            Self::Linear => Box::new(LinearSurrogate),
        }
    }
}

/// Regression-adjusted Monte Carlo as published (Witter, Liu and Musco 2025), for comparison.
///
/// ```text
/// φ̃_i = φ_i(g) + Σ_{S ∋ i} P(s−1)/C(n−1,s−1) r(S)/π(S) − Σ_{S ∌ i} P(s)/C(n−1,s) r(S)/π(S),
/// r = (v − v(∅)) − (g − g(∅))
/// ```
///
/// over the sampled coalitions, each with its inclusion probability π, and the empty and the grand coalition,
/// which are always included. g is a model with known values: boosted trees, or a linear model.
///
/// For values with symmetric size weights, coalitions are drawn in pairs. Draws are without replacement, from
/// the size distribution that minimizes the variance if all residuals are equal,
/// `q(s) ∝ √(P(s−1)²/s + P(s)²/(n−s))`. For Shapley values, this is `1/√(s (n−s))`; for Banzhaf values, it is
/// uniform over coalitions. With the linear model and Shapley values, all sizes are equally likely, as in
/// Leverage SHAP.
///
/// With one fold, as in the paper's experiments, the model has seen the coalitions whose residuals are used.
/// Its residuals are therefore too small, and if it fits closely, the result is about that of the model
/// alone. With more folds, each coalition is predicted by a model that has not seen it, and the result is
/// unbiased.
///
/// There are no standard errors, and the values do not sum to v(N) − v(∅).
/// [`ProxyResidual`](crate::ProxyResidual) provides standard errors, and its Shapley values have this sum.
/// Takes the time of the fits and `O(T + m n)`, where `T` is the time of `m` evaluations.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct RegressionMsr {
    /// The value to estimate; defaults to [`Semivalue::Shapley`].
    pub value: Semivalue,
    /// The model whose residuals are estimated; defaults to [`RegressionProxy::Trees`].
    pub proxy: RegressionProxy,
    /// The number of folds. Each fold is predicted by a model fitted to the others. Defaults to 1, which uses
    /// a model fitted to the whole sample.
    pub folds: usize,
    /// How coalitions are drawn; defaults to [`Draws::FixedCounts`].
    pub draws: Draws,
}

setters!(RegressionMsr {
    with_value => value: Semivalue,
    with_proxy => proxy: RegressionProxy,
    with_folds => folds: usize,
    with_draws => draws: Draws,
});

impl RegressionMsr {
    /// Creates the estimator with boosted trees, fitted to the whole sample.
    pub fn new(value: Semivalue) -> Self {
        Self { value, proxy: RegressionProxy::Trees, folds: 1, draws: Draws::FixedCounts }
    }

    /// Creates the estimator with a linear model, fitted to the whole sample.
    pub fn linear(value: Semivalue) -> Self {
        Self { proxy: RegressionProxy::Linear, ..Self::new(value) }
    }

    /// The number of folds for methods with cross-fitting.
    const CROSSED: usize = 5;

    /// Enables cross-fitting with five folds.
    #[must_use]
    pub fn crossed(self) -> Self {
        self.with_folds(Self::CROSSED)
    }
}

/// Returns whether a value has equal weights for sizes s and n − s, so that pairs reduce the error.
pub(super) fn is_symmetric(value: &Semivalue) -> bool {
    match value.least_squares() {
        Some(LeastSquaresForm::Centred { p }) => p == 0.5,
        Some(_) => true,
        None => false,
    }
}

/// Returns the pairing of the coalitions drawn for the value.
pub(super) fn pairing(value: &Semivalue) -> Pairing {
    if is_symmetric(value) { Pairing::Paired } else { Pairing::Unpaired }
}

impl Estimator for RegressionMsr {
    fn name(&self) -> &'static str {
        match (self.proxy, self.folds > 1) {
            (RegressionProxy::Trees, false) => "regression-msr",
            (RegressionProxy::Trees, true) => "regression-msr-crossed",
            (RegressionProxy::Linear, false) => "regression-msr-linear",
            (RegressionProxy::Linear, true) => "regression-msr-linear-crossed",
        }
    }

    fn value(&self) -> SolutionConcept {
        self.value.clone().into()
    }

    /// Returns `n + 1`, but at least 4 and at most `2^n`. This is the minimum, not a recommendation: use 10n
    /// or more.
    fn minimum_budget(&self, players: usize) -> usize {
        at_most_all((players + 1).max(4), players)
    }

    fn estimate_seen(&self, game: &dyn Game, budget: usize, seed: u64) -> Result<Explanation> {
        if let Some(explanation) = exact_if_affordable(self, game, budget, FullBudget::Enumerate)? {
            return Ok(explanation);
        }
        let players = game.players();
        let distribution = match (self.proxy, &self.value) {
            (RegressionProxy::Linear, Semivalue::Shapley) => SizeDistribution::leverage(players)?,
            _ => SizeDistribution::custom(
                &SamplingDistribution::Specific.weights(&[self.value.size_distribution(players)], players),
            )?,
        };
        let sample = self.draws.sample(distribution, pairing(&self.value), budget - 2, seed)?;
        let how = SurrogateWithResiduals {
            value: &self.value,
            surrogate: &*self.proxy.surrogate(),
            folds: self.folds,
            is_adjusted: true,
        };
        how.explain(self, game, &sample, seed)
    }

    fn growing(&self) -> Box<dyn Estimator> {
        Box::new(Self { draws: self.draws.growing(), ..self.clone() })
    }
}

/// A model with known values, and the estimate of its residuals from the sample.
pub(super) struct SurrogateWithResiduals<'a> {
    pub(super) value: &'a Semivalue,
    pub(super) surrogate: &'a dyn Surrogate,
    pub(super) folds: usize,
    pub(super) is_adjusted: bool,
}

impl SurrogateWithResiduals<'_> {
    /// Evaluates the sample, fits the model and adds the value of its residuals.
    pub(super) fn explain(
        &self,
        estimator: &dyn Estimator,
        game: &dyn Game,
        sample: &Sample,
        seed: u64,
    ) -> Result<Explanation> {
        let (players, outputs) = (game.players(), game.outputs());
        let mut evaluations = Evaluations::begin(game)?;
        let gains = evaluations.gains(sample.coalitions())?;
        let total = evaluations.total();
        let folds = Folds::new(sample, self.folds.clamp(1, sample.coalitions().len().max(1)), seed);
        let mut values = vec![0.0; players * outputs];
        for (output, &total) in total.iter().enumerate() {
            let mut own: Vec<f64> = gains.iter().skip(output).step_by(outputs).copied().collect();
            let ends = [0.0, total];
            let crossed = cross_fit(self.surrogate, sample, &folds, &own, ends, |_| vec![0.0; players]);
            let mut of_output = vec![0.0; players];
            let mut full = total;
            if let Some(crossed) = crossed {
                for model in &crossed.models {
                    let of_model = model.values(self.value);
                    let share = 1.0 / crossed.models.len() as f64;
                    of_output.iter_mut().zip(&of_model).for_each(|(sum, value)| *sum += share * value);
                }
                own.iter_mut().zip(&crossed.subtracted).for_each(|(gain, said)| *gain -= said);
                full -= crossed.full;
            }
            if self.is_adjusted {
                self.add_sums(sample, &own, full, &mut of_output);
            }
            for (player, value) in of_output.into_iter().enumerate() {
                values[player * outputs + output] = value;
            }
        }
        Ok(evaluations.explain(estimator, values, None, seed, Diagnostics::default()))
    }

    /// Adds the estimated values of the game that has the coalition values `residuals` for the sample, 0 for
    /// ∅ and `full` for N.
    fn add_sums(&self, sample: &Sample, residuals: &[f64], full: f64, values: &mut [f64]) {
        let (coalitions, strata) = (sample.coalitions(), sample.strata());
        let n = coalitions.players();
        let joined = self.value.size_distribution(n);
        // The weight is P(s−1)/C(n−1, s−1)/π with π = expected/C(n, s); the binomial coefficients cancel.
        let weights: Vec<[f64; 2]> = (0..=n)
            .map(|size| match strata[size].expected {
                expected if size > 0 && size < n && expected > 0.0 => [
                    joined[size] * n as f64 / ((n - size) as f64 * expected),
                    joined[size - 1] * n as f64 / (size as f64 * expected),
                ],
                _ => [0.0; 2],
            })
            .collect();
        let times = sample.multiplicities();
        for (row, (coalition, residual)) in coalitions.iter().zip(residuals).enumerate() {
            let [lacking, holding] = weights[coalition.size()];
            let times = times.map_or(1.0, |times| f64::from(times[row]));
            for (player, value) in values.iter_mut().enumerate() {
                *value += times * residual * if coalition.contains(player) { holding } else { -lacking };
            }
        }
        values.iter_mut().for_each(|value| *value += joined[n - 1] * full);
    }
}

fn boxed(value: &Value, proxy: RegressionProxy, is_crossed: bool) -> Option<Box<dyn Estimator>> {
    let plain = RegressionMsr::new(semivalue(value)?).with_proxy(proxy);
    Some(Box::new(if is_crossed { plain.crossed() } else { plain }))
}

specs! {
    REGRESSION_MSR = "regression-msr" variant:
        "Regression MSR as published: boosted trees fitted to the sample, and maximum sample reuse of their \
         residuals",
        |value| boxed(value, RegressionProxy::Trees, false);
    REGRESSION_MSR_CROSSED = "regression-msr-crossed" variant:
        "Regression MSR, cross-fitted: the residual of each coalition is from trees not fitted to it",
        |value| boxed(value, RegressionProxy::Trees, true);
    REGRESSION_MSR_LINEAR = "regression-msr-linear" variant:
        "Regression MSR with a linear model instead of trees",
        |value| boxed(value, RegressionProxy::Linear, false);
    REGRESSION_MSR_LINEAR_CROSSED = "regression-msr-linear-crossed" variant:
        "Regression MSR with a linear model, cross-fitted",
        |value| boxed(value, RegressionProxy::Linear, true);
}
