//! LIME: a linear surrogate of a game near the coalition of all players. It is not a game-theoretic value,
//! and is included for comparison.
//!
//! # Source
//!
//! Ribeiro, Singh and Guestrin, *"Why Should I Trust You?": Explaining the Predictions of Any Classifier*,
//! KDD 2016: section 3.3 (draws near the explicand), equation 2 (locality-aware square loss), section 3.4
//! (exponential kernel on the cosine distance for texts). The paper does not specify how players are removed,
//! how wide the kernel is, and how the regression is regularized; for these, we follow the authors' `lime`
//! package for texts. The package departs from the paper in one respect: its kernel is the square root of the
//! paper's kernel, so that its width is larger by a factor of √2.
//!
//! The selection of at most K players is omitted: all players get a coefficient, as in comparisons of
//! rankings.

use std::collections::HashMap;

use anyhow::{Result, ensure};
use apportion::Game;
use apportion::games::{CoalitionView, Coalitions, Purpose, stream};
use apportion::samplers::max_rows;
use apportion::solvers::{Design, ridge};
use rand::RngExt;

/// LIME: weighted ridge regression on coalitions near the coalition of all players.
///
/// ```text
/// φ, β = argmin Σ_k π(z_k) (β + ⟨z_k, φ⟩ − v(z_k))² + α ‖φ‖²
/// π(z) = exp(−D(z)² / (2σ²)),   D(z) = 1 − √(|z|/n)
/// ```
///
/// D is the cosine distance between z and the coalition of all players, 1 for the empty coalition. For texts,
/// the `lime` package multiplies it by 100 and uses the width 25, so σ = ¼.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lime {
    /// σ, in units of the cosine distance; 0.25 by default.
    pub(super) kernel_width: f64,
    /// α, the penalty; 1 by default. It competes with the sum of at most m weights π ≤ 1.
    pub(super) ridge: f64,
}

impl Default for Lime {
    fn default() -> Self {
        Self { kernel_width: 0.25, ridge: 1.0 }
    }
}

/// The surrogate: `v(S) ≈ β + Σ_{i∈S} φ_i` near the coalition of all players.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Surrogate {
    /// Coefficients φ of n players for k outputs, row-major (players × outputs).
    pub(super) coefficients: Vec<f64>,
    /// Evaluations of the game, each for a different coalition; v(∅) is included only if it was drawn.
    pub(super) evaluations: usize,
}

impl Lime {
    /// Fits the surrogate on `budget` draws. The distinct coalitions are evaluated in one batch, and weighted
    /// by their number of draws.
    ///
    /// # Errors
    ///
    /// If the game has no players, the budget is below 2 (the coalition of all players and one draw) or above
    /// [`max_rows`], the kernel width is not positive and finite, the penalty is negative or not finite, or
    /// the game fails.
    pub(super) fn explain(&self, game: &dyn Game, budget: usize, seed: u64) -> Result<Surrogate> {
        let (players, outputs, width) = (game.players(), game.outputs(), self.kernel_width);
        ensure!(players > 0, "the game has no players");
        ensure!(
            (2..=max_rows(players)).contains(&budget),
            "invalid number of draws {budget}; expected 2 to {}",
            max_rows(players)
        );
        ensure!(
            width.is_finite() && width > 0.0,
            "invalid kernel width {width}; expected a positive finite number"
        );
        ensure!(
            self.ridge.is_finite() && self.ridge >= 0.0,
            "invalid penalty {}; expected a finite number of at least 0",
            self.ridge
        );
        let (coalitions, times) = draw(players, budget, seed);
        let weights: Vec<f64> = coalitions
            .iter()
            .zip(&times)
            .map(|(row, &times)| self.proximity(row) * f64::from(times))
            .collect();
        let design = Design::new(&coalitions, &weights)?.with_intercept();
        let mut values = vec![0.0; coalitions.len() * outputs];
        game.values(&coalitions, &mut values)?;
        let fit = ridge(&design, &values, outputs, self.ridge)?;
        Ok(Surrogate { coefficients: fit.coefficients().to_vec(), evaluations: coalitions.len() })
    }

    /// Returns π, the weight of one draw.
    fn proximity(&self, coalition: CoalitionView<'_>) -> f64 {
        let distance = 1.0 - (coalition.size() as f64 / coalition.players() as f64).sqrt();
        (-0.5 * (distance / self.kernel_width).powi(2)).exp()
    }
}

/// Draws `draws` coalitions, and returns the distinct ones in order of first occurrence, with the number of
/// draws of each. The first draw is the coalition of all players. For each other draw, a uniformly
/// distributed number of players, from 1 to n, is removed at random.
fn draw(players: usize, draws: usize, seed: u64) -> (Coalitions, Vec<u32>) {
    let mut rng = stream(seed, Purpose::Surrogates, 0);
    let mut coalitions = Coalitions::new(players);
    coalitions.push_full();
    let all = coalitions.words().to_vec();
    let mut row = all.clone();
    let mut order: Vec<usize> = (0..players).collect();
    let mut positions = HashMap::from([(all.clone(), 0)]);
    let mut times = vec![1_u32];
    for _ in 1..draws {
        row.copy_from_slice(&all);
        let removed = rng.random_range(1..=players as u64) as usize;
        // These are the first steps of a Fisher–Yates shuffle, starting from the order left by the previous
        // draw.
        for step in 0..removed {
            order.swap(step, rng.random_range(step as u64..players as u64) as usize);
            row[order[step] / 64] &= !(1 << (order[step] % 64));
        }
        match positions.get(&row) {
            Some(&position) => times[position] += 1,
            None => {
                positions.insert(row.clone(), times.len());
                coalitions.push_words(&row);
                times.push(1);
            }
        }
    }
    (coalitions, times)
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion::games::{Additive, Background, Counted, MarginalGame, SumOfUnanimity};

    fn amounts(players: usize) -> Vec<f64> {
        (0..players).map(|player| ((7 * player + 3) % 11) as f64 - 4.5).collect()
    }

    #[test]
    fn weights_fall_with_the_cosine_distance() {
        let lime = Lime::default();
        let rows = Coalitions::from_masks(4, [15, 7, 1, 0]);
        // The cosines are 1, ½√3, ½ and, by definition, 0. The distances are 1 minus the cosines; multiplied
        // by 100 with width 25, they give the same weights as with width ¼.
        let kernel = |hundredths: f64| (-hundredths * hundredths / (25.0 * 25.0)).exp().sqrt();
        let expected = [1.0, kernel(100.0 - 50.0 * 3.0_f64.sqrt()), kernel(50.0), kernel(100.0)];
        for (row, want) in rows.iter().zip(expected) {
            assert!((lime.proximity(row) - want).abs() < 1e-15, "{row}, not {want}");
        }
    }

    /// Solves a square system by Gauss-Jordan elimination with partial pivoting; each row ends with its
    /// right-hand side.
    fn eliminate(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
        for column in 0..rows.len() {
            let size = |row: &usize| rows[*row][column].abs();
            let pivot = (column..rows.len()).max_by(|a, b| size(a).total_cmp(&size(b)));
            rows.swap(column, pivot.unwrap_or(column));
            let pivot = rows[column].clone();
            for (_, row) in rows.iter_mut().enumerate().filter(|(index, _)| *index != column) {
                let factor = row[column] / pivot[column];
                row.iter_mut().zip(&pivot).for_each(|(x, y)| *x -= factor * y);
            }
        }
        rows.iter().enumerate().map(|(index, row)| row[rows.len()] / row[index]).collect()
    }

    /// The test solves the regression on the individual draws, from normal equations in which the intercept
    /// is an additional column.
    #[test]
    fn coefficients_are_those_of_the_draws_one_by_one() {
        for (players, draws) in [(1, 5), (2, 9), (5, 40), (8, 12), (70, 200), (131, 90)] {
            let lime = Lime { kernel_width: 0.4, ridge: 0.3 };
            let game = SumOfUnanimity::random(players, 30, 3, 5);
            let got = lime.explain(&game, draws, 11).unwrap();
            let (coalitions, times) = draw(players, draws, 11);
            let mut values = vec![0.0; coalitions.len()];
            game.values(&coalitions, &mut values).unwrap();
            let columns = players + 1;
            let mut system = vec![vec![0.0; columns + 1]; columns];
            for (index, row) in coalitions.iter().enumerate() {
                let bit = |i: usize| f64::from(u8::from(i == players || row.contains(i)));
                let cosine = (row.size() as f64 / players as f64).sqrt();
                let weight = f64::from(times[index]) * (-(1.0 - cosine).powi(2) / (2.0 * 0.4 * 0.4)).exp();
                for (i, equation) in system.iter_mut().enumerate() {
                    (0..columns).for_each(|j| equation[j] += weight * bit(i) * bit(j));
                    equation[columns] += weight * bit(i) * values[index];
                }
            }
            (0..players).for_each(|i| system[i][i] += 0.3);
            let want = eliminate(system);
            let scale = want.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
            for (got, want) in got.coefficients.iter().zip(&want) {
                assert!((got - want).abs() < 1e-9 * scale, "{players} players: {got}, not {want}");
            }
        }
    }

    #[test]
    fn an_additive_game_has_its_coefficients_without_a_penalty() {
        for players in [1, 2, 3, 8, 13, 64, 65, 130] {
            let lime = Lime { ridge: 0.0, kernel_width: 1.0 };
            let game = Additive::new(amounts(players)).unwrap();
            let got = lime.explain(&game, 30 + 6 * players, 1).unwrap();
            for (got, want) in got.coefficients.iter().zip(amounts(players)) {
                assert!((got - want).abs() < 1e-11, "{players} players: {got}, not {want}");
            }
        }
    }

    #[test]
    fn small_penalties_change_the_coefficients_in_proportion() {
        let game = Additive::new(amounts(9)).unwrap();
        let error = |ridge: f64| {
            let got = Lime { ridge, ..Lime::default() }.explain(&game, 200, 5).unwrap();
            got.coefficients.iter().zip(amounts(9)).map(|(got, want)| (got - want).abs()).fold(0.0, f64::max)
        };
        assert!(error(1e-9) < 1e-8);
        let ratio = error(1e-4) / error(1e-6);
        assert!((ratio - 100.0).abs() < 0.5, "{ratio}");
        // The default penalty of 1 is not small: it changes a coefficient by more than 0.01.
        assert!(error(1.0) > 0.01);
    }

    #[test]
    fn what_is_drawn_twice_is_evaluated_once() {
        for (players, most) in [(1, 2), (2, 4), (3, 8), (6, 64)] {
            let game = Counted::new(SumOfUnanimity::random(players, 10, 2, 1));
            let got = Lime::default().explain(&game, 1000, 3).unwrap();
            assert_eq!((got.evaluations, game.evaluations(), game.calls()), (most, most as u64, 1));
        }
    }

    #[test]
    fn results_are_the_same_bits_on_any_number_of_threads() {
        let model = |row: &[f64]| row.windows(2).map(|pair| (pair[0] * pair[1]).sin()).sum::<f64>();
        let explicand: Vec<f64> = (0..70).map(|i| 0.1 * f64::from(i)).collect();
        let background = Background::baseline(vec![0.0; 70]).unwrap();
        let game = MarginalGame::new(&model, &explicand, &background).unwrap();
        let explain = |threads: usize, seed| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Lime::default().explain(&game, 280, seed).unwrap())
        };
        assert_eq!(explain(1, 4), explain(3, 4));
        assert_ne!(explain(1, 4).coefficients, explain(1, 5).coefficients);
    }

    #[test]
    fn what_cannot_be_drawn_or_fitted_is_refused_before_any_evaluation() {
        let game = Counted::new(Additive::new(vec![1.0, 2.0]).unwrap());
        let lime = Lime::default();
        for kernel_width in [0.0, -1.0, f64::INFINITY, f64::NAN] {
            assert!(Lime { kernel_width, ..lime }.explain(&game, 10, 0).is_err());
        }
        for ridge in [-1.0, f64::INFINITY, f64::NAN] {
            assert!(Lime { ridge, ..lime }.explain(&game, 10, 0).is_err());
        }
        for budget in [0, 1, usize::MAX] {
            assert!(lime.explain(&game, budget, 0).is_err());
        }
        assert_eq!(game.calls(), 0);
    }

    #[test]
    fn failures_of_the_game_come_back() {
        let model = |row: &[f64]| if row[0] == 0.0 { f64::NAN } else { row[1] };
        let background = Background::baseline(vec![0.0; 2]).unwrap();
        let game = MarginalGame::new(&model, &[1.0, 1.0], &background).unwrap();
        assert!(Lime::default().explain(&game, 50, 0).is_err());
    }

    #[test]
    fn draws_follow_their_distribution() {
        // With 40,000 draws, the frequencies must be within 5 standard errors of the probabilities.
        const DRAWS: usize = 40_000;
        for players in [1, 2, 5, 6, 70, 131] {
            let (coalitions, times) = draw(players, DRAWS + 1, 9);
            assert_eq!(coalitions.sizes()[0] as usize, players);
            assert_eq!(times.iter().sum::<u32>() as usize, DRAWS + 1);
            let (mut sizes, mut held) = (vec![0.0; players + 1], vec![0.0; players]);
            for (index, row) in coalitions.iter().enumerate() {
                let drawn = f64::from(times[index] - u32::from(index == 0));
                sizes[row.size()] += drawn;
                row.members().for_each(|player| held[player] += drawn);
            }
            let n = players as f64;
            let of_size = |size: usize| f64::from(u8::from(size < players)) / n;
            let expected = (0..=players).map(of_size).chain((0..players).map(|_| (n - 1.0) / (2.0 * n)));
            for (count, p) in sizes.iter().chain(&held).zip(expected) {
                let error = (p * (1.0 - p) / DRAWS as f64).sqrt() + 1e-4 * f64::from(u8::from(p > 0.0));
                let got = count / DRAWS as f64;
                assert!((got - p).abs() <= 5.0 * error, "{players} players: {got}, not {p}");
            }
        }
    }

    #[test]
    fn removals_of_one_size_are_all_as_likely() {
        // With five players and uniform sizes, each of the 31 coalitions that lack players has probability 1
        // / (5 C(5, s)).
        const DRAWS: usize = 50_000;
        let (coalitions, times) = draw(5, DRAWS + 1, 2);
        assert_eq!(coalitions.len(), 32);
        for (row, times) in coalitions.iter().zip(times).skip(1) {
            let p = 0.2 / [1.0, 5.0, 10.0, 10.0, 5.0][row.size()];
            let error = (p * (1.0 - p) / DRAWS as f64).sqrt();
            assert!((f64::from(times) / DRAWS as f64 - p).abs() < 5.0 * error, "{row:?}: {times}");
        }
    }

    // Stored results contain their seed: if these numbers change, the results can no longer be reproduced.
    #[test]
    fn first_draws_and_coefficients_are_fixed() {
        assert_eq!(draw(10, 5, 42).0.words()[1..], [1015, 1019, 860, 642]);
        let of_many = [
            18446744073642442735,
            63,
            18438808897685028311,
            62,
            2416575731665078493,
            34,
            17726168132751196159,
            55,
        ];
        assert_eq!(draw(70, 5, 42).0.words()[2..], of_many);
        let got = Lime::default().explain(&SumOfUnanimity::random(6, 12, 3, 2), 40, 42).unwrap();
        let rounded: Vec<f64> = got.coefficients.iter().map(|x| (x * 1e6).round() / 1e6).collect();
        assert_eq!(rounded, [-0.617182, 0.080495, -0.765186, -0.110569, -0.346641, -0.0225]);
    }
}
