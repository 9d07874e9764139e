//! Kernel SHAP: coalitions drawn with replacement from the Shapley kernel.
//!
//! # Source
//!
//! Lundberg and Lee, *A Unified Approach to Interpreting Model Predictions*, NeurIPS 2017; with pairs: Covert
//! and Lee, *Improving KernelSHAP*, AISTATS 2021. This implementation follows the comparison in the Leverage
//! SHAP paper: `P(|S| = s) ∝ 1/(s(n−s))`, unweighted rows after sampling, and the constraint `Σφ = v(N) −
//! v(∅)`.

use apportion_games::Game;
use apportion_samplers::{Pairing, Sampler, SizeDistribution, WithReplacement};

use crate::error::Result;
use crate::registry::specs;
use crate::report::Explanation;
use crate::run::{Estimator, at_most_all};
use crate::setters::setters;
use crate::support::{FullBudget, StandardErrors, exact_if_affordable, explain};

/// Kernel SHAP, plain (Lundberg and Lee, 2017) or paired (Covert and Lee, 2021).
///
/// ```text
/// φ̃ = argmin_{Σx = v(N) − v(∅)} Σ_k (⟨z_k, x⟩ − (v(z_k) − v(∅)))²,   P(|z_k| = s) ∝ 1 / (s (n−s))
/// ```
///
/// over coalitions `z_k` drawn with replacement. A coalition that is drawn repeatedly is evaluated once, and
/// its weight is the number of draws.
///
/// The standard errors are our addition: they are estimated from the influence of each draw (for pairs: each
/// pair) on the regression. There are none if the regression does not determine the values, or would not
/// determine them without some coalition. At m = 20n, 95% intervals covered the true value in 94.7 to 94.9%
/// of the cases in smooth games, and in 96.6 to 97.0% in games designed to mislead samples
/// (`cargo xtask measure intervals`).
///
/// Takes `O(T + m n²)` time, where `T` is the time of at most `m` evaluations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct KernelShap {
    /// Whether every coalition is drawn with its complement; defaults to [`Pairing::Unpaired`], as first
    /// published.
    #[serde(serialize_with = "crate::run::settings::PairingSetting::serialize")]
    pub pairing: Pairing,
    /// The behaviour for a budget of `2^n`; defaults to [`FullBudget::Enumerate`].
    pub full_budget: FullBudget,
}

setters!(KernelShap {
    with_pairing => pairing: Pairing,
    with_full_budget => full_budget: FullBudget,
});

impl Default for KernelShap {
    fn default() -> Self {
        Self { pairing: Pairing::Unpaired, full_budget: FullBudget::default() }
    }
}

impl KernelShap {
    /// Creates Kernel SHAP with paired sampling.
    pub fn paired() -> Self {
        Self { pairing: Pairing::Paired, ..Self::default() }
    }
}

impl Estimator for KernelShap {
    fn name(&self) -> &'static str {
        match self.pairing {
            Pairing::Unpaired => "kernel-shap",
            Pairing::Paired => "kernel-shap-paired",
        }
    }

    /// Returns `n`, but at least 4 (∅, N and one pair) and at most `2^n`.
    fn minimum_budget(&self, players: usize) -> usize {
        at_most_all(players.max(4), players)
    }

    fn estimate_seen(&self, game: &dyn Game, budget: usize, seed: u64) -> Result<Explanation> {
        if let Some(explanation) = exact_if_affordable(self, game, budget, self.full_budget)? {
            return Ok(explanation);
        }
        let players = game.players();
        let sampler =
            WithReplacement { distribution: SizeDistribution::kernel(players)?, pairing: self.pairing };
        let sample = sampler.sample(budget - 2, seed)?.merge_duplicates();
        explain(self.name(), game, &sample, StandardErrors::Estimated, seed)
    }

    fn growing(&self) -> Box<dyn Estimator> {
        Box::new(*self)
    }
}

specs! {
    KERNEL_SHAP = "kernel-shap":
        "Kernel SHAP: a regression on coalitions drawn with replacement from the Shapley kernel",
        |_| Some(Box::new(KernelShap::default()));
    KERNEL_SHAP_PAIRED = "kernel-shap-paired": "Kernel SHAP with paired sampling",
        |_| Some(Box::new(KernelShap::paired()));
}
