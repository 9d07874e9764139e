//! Compares Leverage SHAP and Kernel SHAP with a dense and slow implementation of the paper, on the same
//! sampled coalitions.

use apportion_estimators::{Draws, Estimator, FullBudget, KernelShap, LeverageShap, Pairing};
use apportion_games::{ClosedForm, Coalition, Game, SumOfUnanimity};
use apportion_samplers::{Sample, SizeDistribution};

use crate::common::{assert_close, choose, sample, solve, value_of};

/// Returns the Shapley kernel weight (equation 4) for coalitions of s of n players.
fn kernel(n: usize, s: usize) -> f64 {
    1.0 / (choose(n, s) * (s * (n - s)) as f64)
}

/// Solves argmin Σ w (⟨z,x⟩ − y)² under Σx = total, with the Lagrangian in the paper's appendix K.
fn constrained(sample: &Sample, weight: impl Fn(usize) -> f64, game: &dyn Game) -> Vec<f64> {
    let n = game.players();
    let value = |coalition: Coalition| value_of(game, &coalition)[0];
    let (empty, full) = (value(Coalition::empty(n)), value(Coalition::full(n)));
    // Rows 0..n contain the gradient, with the multiplier in column n. Row n contains the constraint. Column
    // n + 1 contains the right-hand sides.
    let mut system = vec![vec![0.0; n + 2]; n + 1];
    for (k, row) in sample.coalitions().iter().enumerate() {
        let (w, y) = (weight(k), value(row.to_coalition()) - empty);
        for i in row.members() {
            for j in row.members() {
                system[i][j] += w;
            }
            system[i][n + 1] += w * y;
        }
    }
    system[..n].iter_mut().for_each(|row| row[n] = 1.0);
    system[n][..n].fill(1.0);
    system[n][n + 1] = full - empty;
    let mut x = solve(system);
    x.truncate(n);
    x
}

#[test]
fn leverage_shap_is_algorithm_1_on_its_sample() {
    for (players, budget) in [(5, 20), (8, 60), (9, 101), (16, 200), (65, 400), (130, 900)] {
        let game = SumOfUnanimity::random(players, 60, 4, 6);
        for pairing in [Pairing::Paired, Pairing::Unpaired] {
            for draws in [Draws::FixedCounts, Draws::Bernoulli, Draws::Growing] {
                let distribution = SizeDistribution::leverage(players).unwrap();
                let sample = sample(draws, distribution, pairing, budget - 2, 3);
                let weight = |k: usize| {
                    let size = sample.coalitions().sizes()[k] as usize;
                    let rows = sample.strata()[size].expected;
                    kernel(players, size) / (rows / choose(players, size))
                };
                let want = constrained(&sample, weight, &game);
                let estimator = LeverageShap::default()
                    .with_pairing(pairing)
                    .with_draws(draws)
                    .with_full_budget(FullBudget::Sample);
                let got = estimator.estimate(&game, budget, 3).unwrap();
                assert_close(&got.values, &want, 1e-8, estimator.name());
            }
        }
    }
}

#[test]
fn kernel_shap_is_least_squares_with_equal_weights_on_every_draw() {
    for (players, budget) in [(5, 60), (8, 90), (17, 300), (66, 800)] {
        let game = SumOfUnanimity::random(players, 60, 4, 6);
        for pairing in [Pairing::Paired, Pairing::Unpaired] {
            let distribution = SizeDistribution::kernel(players).unwrap();
            // Draws are not merged, so every draw is a row.
            let sample = sample(Draws::WithReplacement, distribution, pairing, budget - 2, 8);
            let want = constrained(&sample, |_| 1.0, &game);
            let estimator = KernelShap::default().with_pairing(pairing).with_full_budget(FullBudget::Sample);
            let got = estimator.estimate(&game, budget, 8).unwrap();
            assert_close(&got.values, &want, 1e-8, estimator.name());
        }
    }
}

#[test]
fn permutation_shap_of_a_game_of_pairs_is_exact() {
    // A permutation and its reverse contain every pair of players in both orders, so estimates are exact for
    // games of order two.
    let game = SumOfUnanimity::random(30, 200, 2, 4);
    let got = apportion_estimators::PermutationShap::default().estimate(&game, 60, 0).unwrap();
    assert_close(&got.values, &game.shapley(), 1e-8, "permutation");
}
