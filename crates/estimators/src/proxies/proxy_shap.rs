//! ProxySHAP: the values of trees fitted to the game.
//!
//! # Source
//!
//! Thies, Baniecki, Witter, Hüllermeier, Muschalik and Fumagalli, *Proxy-Based Approximation of Shapley and
//! Banzhaf Interactions*, 2026 (arXiv 2605.22738), for interactions of one player.

use apportion_games::Game;
use apportion_samplers::SizeDistribution;
use apportion_values::{Semivalue, SolutionConcept, Value};

use super::regression_msr::{RegressionProxy, SurrogateWithResiduals, pairing};
use crate::error::Result;
use crate::registry::{semivalue, specs};
use crate::report::Explanation;
use crate::run::{Estimator, at_most_all};
use crate::setters::setters;
use crate::support::{Draws, FullBudget, exact_if_affordable};

/// ProxySHAP as published (Thies et al. 2026), for comparison: the exact values of boosted trees fitted to
/// the sampled coalitions.
///
/// The trees have XGBoost's defaults (100 of depth 6, rate 0.3, penalty 1). Coalitions are drawn without
/// replacement, with equally likely sizes, and in pairs for values with symmetric size weights.
/// [`adjusted`](Self::adjusted) adds maximum sample reuse of the residuals, like
/// [`RegressionMsr`](crate::RegressionMsr).
///
/// Without the adjustment, nothing corrects for what the trees cannot represent: the error does not tend to
/// zero as the number of evaluations grows. There are no standard errors.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct ProxyShap {
    /// The value to estimate; defaults to [`Semivalue::Shapley`].
    pub value: Semivalue,
    /// Whether to add the values of the residuals; defaults to `false`.
    pub is_adjusted: bool,
    /// The number of folds. Each fold is predicted by trees fitted to the others. Defaults to 1, which uses
    /// trees fitted to the whole sample.
    pub folds: usize,
    /// How coalitions are drawn; defaults to [`Draws::FixedCounts`].
    pub draws: Draws,
}

setters!(ProxyShap {
    with_value => value: Semivalue,
    with_adjustment => is_adjusted: bool,
    with_folds => folds: usize,
    with_draws => draws: Draws,
});

impl ProxyShap {
    /// Creates the estimator with trees alone.
    pub fn new(value: Semivalue) -> Self {
        Self { value, is_adjusted: false, folds: 1, draws: Draws::FixedCounts }
    }

    /// Creates the estimator with trees, and maximum sample reuse of their residuals.
    pub fn adjusted(value: Semivalue) -> Self {
        Self { is_adjusted: true, ..Self::new(value) }
    }
}

impl Estimator for ProxyShap {
    fn name(&self) -> &'static str {
        if self.is_adjusted { "proxy-shap-adjusted" } else { "proxy-shap" }
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
        let distribution = SizeDistribution::leverage(game.players())?;
        let sample = self.draws.sample(distribution, pairing(&self.value), budget - 2, seed)?;
        let surrogate = RegressionProxy::Trees.surrogate();
        let how = SurrogateWithResiduals {
            value: &self.value,
            surrogate: &*surrogate,
            folds: self.folds,
            is_adjusted: self.is_adjusted,
        };
        how.explain(self, game, &sample, seed)
    }

    fn growing(&self) -> Box<dyn Estimator> {
        Box::new(Self { draws: self.draws.growing(), ..self.clone() })
    }
}

fn boxed(value: &Value, is_adjusted: bool) -> Option<Box<dyn Estimator>> {
    Some(Box::new(ProxyShap::new(semivalue(value)?).with_adjustment(is_adjusted)))
}

specs! {
    PROXY_SHAP = "proxy-shap" variant:
        "ProxySHAP as published: the values of boosted trees fitted to the sample",
        |value| boxed(value, false);
    PROXY_SHAP_ADJUSTED = "proxy-shap-adjusted" variant:
        "ProxySHAP, and maximum sample reuse of the residuals of the trees",
        |value| boxed(value, true);
}
