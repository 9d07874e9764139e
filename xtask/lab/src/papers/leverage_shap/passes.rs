//! Permutation SHAP with the number of passes of the shap package.

use apportion::Estimator;
use apportion::Game;
use apportion::estimators::{EstimatorError, Explanation, PermutationShap};
use serde::Serialize;

/// Permutation SHAP as run in the paper with the shap package. A permutation and its reverse count as
/// `2n + 1` evaluations, so there are `⌊m / (2n + 1)⌋` such pairs, although `2(n − 1)` evaluations for each,
/// plus v(∅) and v(N), would be enough.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct PassesOfShap(pub(super) PermutationShap);

impl PassesOfShap {
    /// Returns the number of evaluations that our estimator needs for the same number of passes as the shap
    /// package.
    fn budget(players: usize, budget: usize) -> usize {
        let passes = budget / (2 * players + 1);
        2 + passes * 2 * (players - 1)
    }
}

impl Estimator for PassesOfShap {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn minimum_budget(&self, players: usize) -> usize {
        2 * players + 1
    }

    fn estimate_seen(
        &self,
        game: &dyn Game,
        budget: usize,
        seed: u64,
    ) -> Result<Explanation, EstimatorError> {
        self.0.estimate_seen(game, Self::budget(game.players(), budget), seed)
    }

    fn growing(&self) -> Box<dyn Estimator> {
        Box::new(*self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion::estimators::FullBudget;
    use apportion::games::SumOfUnanimity;

    #[test]
    fn passes_are_those_of_the_shap_package() {
        let estimator = PassesOfShap(PermutationShap::default().with_full_budget(FullBudget::Sample));
        for (players, multiple, passes) in [(4, 10, 4), (10, 10, 4), (60, 10, 4), (10, 5, 2), (10, 20, 9)] {
            let game = SumOfUnanimity::random(players, 20, 3, 1);
            let explanation = estimator.estimate(&game, multiple * players, 1).unwrap();
            assert_eq!(
                explanation.diagnostics.permutations,
                Some(2 * passes),
                "{players} players, {multiple}n"
            );
        }
    }
}
