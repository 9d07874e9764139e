//! Leverage SHAP: Shapley values by leverage score sampling.
//!
//! # Source
//!
//! Musco and Witter, *Provably Accurate Shapley Value Estimation via Leverage Score Sampling*, ICLR 2025,
//! Algorithm 1, with its misprints corrected (the number of pairs follows equation 12).

use apportion_games::Game;
use apportion_samplers::{Pairing, SizeDistribution};

use crate::error::Result;
use crate::registry::specs;
use crate::report::Explanation;
use crate::run::{Estimator, at_most_all};
use crate::setters::setters;
use crate::support::{Draws, FullBudget, StandardErrors, exact_if_affordable, explain};

/// Leverage SHAP (Musco and Witter, ICLR 2025, Algorithm 1) and its ablations.
///
/// ```text
/// φ̃ = argmin_{Σx = v(N) − v(∅)} Σ_k w_k (⟨z_k, x⟩ − (v(z_k) − v(∅)))²     (equations 3 and 9)
/// w_k = w(s) / π_s,   w(s) = 1 / (C(n,s) s (n−s))                          (equation 4; Algorithm 1, line 7)
/// ```
///
/// over the sampled coalitions `z_k`, where z has size s and inclusion probability `π_s`. Coalitions are
/// drawn by their leverage scores `ℓ_z = 1 / C(n, |z|)` (Lemma 3.2), so all *sizes* get the same number of
/// samples. For `m = O(n log(n/δ) + n/(εδ))` evaluations, the objective is within a factor `1 + ε` of its
/// minimum with probability `1 − δ` (Theorem 1.1), and `‖φ̃ − φ‖² ≤ ε γ ‖φ‖²` (Corollary 4.1).
///
/// The result satisfies `Σφ̃ = v(N) − v(∅)` exactly, and is exact for a budget of `2^n`. Standard errors are
/// estimated from the regression residuals, by leaving out one pair or coalition at a time (with replacement:
/// one draw at a time). There are none if the budget is so small (below about `2n + 2`) that some value is
/// determined by a single coalition.
///
/// Pairs use an even number of evaluations; if the budget is odd, one evaluation stays unused. Takes `O(T + m
/// n²)` time, where `T` is the time of `m` evaluations, and `O(m n)` bits plus `O(n²)` numbers of memory. For
/// more than 2000 players, the n × n matrix is avoided. This takes `O(T + m n)` time for each of about 40
/// steps, and 1.5 times the memory of the coalitions; standard errors are then estimated with random probes.
///
/// ```
/// use apportion_estimators::{Estimator, LeverageShap};
/// use apportion_games::{ClosedForm, SumOfUnanimity};
///
/// let game = SumOfUnanimity::random(30, 100, 4, 1);
/// let explanation = LeverageShap::default().estimate(&game, 600, 7)?;
/// let squared = |(got, want): (&f64, f64)| (got - want).powi(2);
/// let error: f64 = explanation.values.iter().zip(game.shapley()).map(squared).sum();
/// let norm: f64 = game.shapley().iter().map(|want| want.powi(2)).sum();
/// assert!(error < 0.02 * norm);
/// # Ok::<(), apportion_estimators::EstimatorError>(())
/// ```
///
/// The same computation with a sampler and a solver:
///
/// ```
/// use apportion_games::{Coalitions, Game, SumOfUnanimity};
/// use apportion_samplers::{FixedCounts, Order, Pairing, Sampler, SizeDistribution};
/// use apportion_solvers::{Constraint, Design, least_squares};
///
/// let game = SumOfUnanimity::random(30, 100, 4, 1);
/// let sampler = FixedCounts { distribution: SizeDistribution::leverage(30)?, pairing: Pairing::Paired, order: Order::Fixed };
/// let sample = sampler.sample(598, 7)?;
/// let (mut values, mut total) = (vec![0.0; 598], [0.0]);
/// game.values(sample.coalitions(), &mut values)?; // v(∅) is 0 here
/// game.values(&Coalitions::from_masks(30, [(1 << 30) - 1]), &mut total)?;
/// let weights = sample.shapley_weights();
/// let design = Design::paired(sample.coalitions(), &weights)?;
/// let fit = least_squares(&design, &values, 1, Constraint::Sum(&total))?;
/// # use apportion_estimators::{Estimator, LeverageShap};
/// assert_eq!(fit.coefficients(), LeverageShap::default().estimate(&game, 600, 7)?.values);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct LeverageShap {
    /// Whether every coalition is drawn with its complement; defaults to [`Pairing::Paired`].
    #[serde(serialize_with = "crate::run::settings::PairingSetting::serialize")]
    pub pairing: Pairing,
    /// How coalitions are drawn; defaults to [`Draws::FixedCounts`].
    pub draws: Draws,
    /// Whether to estimate standard errors; defaults to [`StandardErrors::Estimated`].
    pub standard_errors: StandardErrors,
    /// The behaviour for a budget of `2^n`; defaults to [`FullBudget::Enumerate`].
    pub full_budget: FullBudget,
}

setters!(LeverageShap {
    with_pairing => pairing: Pairing,
    with_draws => draws: Draws,
    with_standard_errors => standard_errors: StandardErrors,
    with_full_budget => full_budget: FullBudget,
});

impl Default for LeverageShap {
    fn default() -> Self {
        Self {
            pairing: Pairing::Paired,
            draws: Draws::default(),
            standard_errors: StandardErrors::default(),
            full_budget: FullBudget::default(),
        }
    }
}

impl Estimator for LeverageShap {
    fn name(&self) -> &'static str {
        match (self.pairing, self.draws) {
            (Pairing::Paired, Draws::FixedCounts | Draws::Growing) => "leverage-shap",
            (Pairing::Paired, Draws::Bernoulli | Draws::GrowingBernoulli) => "leverage-shap-bernoulli",
            (Pairing::Paired, Draws::WithReplacement) => "leverage-shap-with-replacement",
            (Pairing::Unpaired, Draws::FixedCounts | Draws::Growing) => "leverage-shap-unpaired",
            (Pairing::Unpaired, Draws::Bernoulli | Draws::GrowingBernoulli) => {
                "leverage-shap-unpaired-bernoulli"
            }
            (Pairing::Unpaired, Draws::WithReplacement) => "leverage-shap-unpaired-with-replacement",
        }
    }

    /// Returns `n`, as in Algorithm 1, but at least 4 (∅, N and one pair) and at most `2^n`.
    ///
    /// This is the minimum, not a recommendation; use `5n` or more. Below about `2n`, the regression is rank
    /// deficient, and the result is the minimum-norm solution; the diagnostics report this. At about `2n`,
    /// there are as many pairs as unknowns, and the error and the condition number peak. From `3n` on, the
    /// error decreases as in theory. For less than `3n`, for example for thousands of players, use
    /// [`PermutationShap`](crate::PermutationShap), whose minimum is 2n. Its squared error is 0.2 to 0.6
    /// times that of Leverage SHAP (at 2.2n and 2.5n, for two kinds of games of 60 and 200 players). Below
    /// `2n`, combine players into groups first.
    fn minimum_budget(&self, players: usize) -> usize {
        at_most_all(players.max(4), players)
    }

    fn estimate_seen(&self, game: &dyn Game, budget: usize, seed: u64) -> Result<Explanation> {
        if let Some(explanation) = exact_if_affordable(self, game, budget, self.full_budget)? {
            return Ok(explanation);
        }
        let players = game.players();
        let distribution = SizeDistribution::leverage(players)?;
        let sample = self.draws.sample(distribution, self.pairing, budget - 2, seed)?;
        explain(self.name(), game, &sample, self.standard_errors, seed)
    }

    fn growing(&self) -> Box<dyn Estimator> {
        Box::new(Self { draws: self.draws.growing(), ..*self })
    }
}

fn boxed(pairing: Pairing, draws: Draws) -> Option<Box<dyn Estimator>> {
    Some(Box::new(LeverageShap::default().with_pairing(pairing).with_draws(draws)))
}

specs! {
    LEVERAGE_SHAP = "leverage-shap":
        "Leverage SHAP: a weighted regression on pairs drawn without replacement, equally from every \
         coalition size",
        |_| boxed(Pairing::Paired, Draws::FixedCounts);
    LEVERAGE_SHAP_BERNOULLI = "leverage-shap-bernoulli":
        "Leverage SHAP as analysed in Theorem 1.1: Bernoulli sampling of pairs, which meets the budget in \
         expectation",
        |_| boxed(Pairing::Paired, Draws::Bernoulli);
    LEVERAGE_SHAP_UNPAIRED = "leverage-shap-unpaired": "Leverage SHAP without pairs (ablation)",
        |_| boxed(Pairing::Unpaired, Draws::FixedCounts);
    LEVERAGE_SHAP_WITH_REPLACEMENT = "leverage-shap-with-replacement":
        "Leverage SHAP with replacement (ablation)",
        |_| boxed(Pairing::Paired, Draws::WithReplacement);
    LEVERAGE_SHAP_UNPAIRED_BERNOULLI = "leverage-shap-unpaired-bernoulli" variant:
        "Leverage SHAP without pairs, with Bernoulli sampling (ablation)",
        |_| boxed(Pairing::Unpaired, Draws::Bernoulli);
    LEVERAGE_SHAP_UNPAIRED_WITH_REPLACEMENT = "leverage-shap-unpaired-with-replacement" variant:
        "Leverage SHAP without pairs and with replacement (ablation)",
        |_| boxed(Pairing::Unpaired, Draws::WithReplacement);
}
