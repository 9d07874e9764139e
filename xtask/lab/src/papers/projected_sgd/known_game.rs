//! Games whose coalition values are all known, with the constants of section 4.2.

use anyhow::Result;
use apportion::Semivalue;
use apportion::estimators::GradientDistribution;
use apportion::games::{Purpose, TabulatedGame, stream};
use apportion::values::enumerate;
use rand_distr::{Distribution, StandardNormal};

use super::task::{PairGame, Pairs, Task};
use super::theory::{GradientBounds, weights};
use crate::comparison::squared_norm;
use crate::reproduce::ingredients::Digest;
use crate::reproduce::store::derive_seed;

/// Ratio of D, the bound on ‖φ*‖, to ‖φ*‖ itself.
const ROOM: f64 = 1.1;

/// Number of points of K at which gradients are computed, in addition to φ* and φ_0.
const POINTS: usize = 8;

/// A game whose coalition values are all known.
pub(super) struct KnownGame {
    pub(super) game: TabulatedGame,
    pub(super) truth: Vec<f64>,
    /// D, an upper bound on ‖φ*‖.
    pub(super) norm: f64,
    /// C, an upper bound on |v(S) − v(∅)|.
    pub(super) value: f64,
    /// Squared distance of the start from the solution, `‖φ_0 − φ*‖²`.
    pub(super) start: f64,
    pub(super) bounds: GradientBounds,
}

impl KnownGame {
    pub(super) fn draw(players: usize, pair: usize, seed: u64) -> Result<Self> {
        let drawn = PairGame::draw(Task::Regression, players, Pairs::Shown, pair, seed)?;
        let game = TabulatedGame::from_game(&drawn)?;
        let truth = enumerate(&game, Semivalue::Shapley)?.values;
        let values = game.values_in_order();
        let value = values.iter().map(|value| (value - values[0]).abs()).fold(0.0, f64::max);
        let norm = ROOM * squared_norm(&truth).sqrt();
        Self::with_bounds(game, norm, value)
    }

    /// Creates a game whose values lie within C of v(∅), with a given D.
    pub(super) fn with_bounds(game: TabulatedGame, norm: f64, value: f64) -> Result<Self> {
        let truth = enumerate(&game, Semivalue::Shapley)?.values;
        let players = truth.len();
        let mean = truth.iter().sum::<f64>() / players as f64;
        let start = truth.iter().map(|value| (value - mean).powi(2)).sum();
        let bounds = GradientBounds { players, norm, value, distribution: GradientDistribution::Importance };
        Ok(Self { game, truth, norm, value, start, bounds })
    }

    /// Returns v(M) − v(∅).
    pub(super) fn total(&self) -> f64 {
        let values = self.game.values_in_order();
        values[values.len() - 1] - values[0]
    }

    /// Returns the probability p_S of each coalition by its size, proportional to `w_S √l (D √l + C)`; 0 for
    /// the empty and the full coalition.
    pub(super) fn probabilities(&self) -> Vec<f64> {
        let players = self.players();
        let bound = |(size, weight): (usize, &f64)| {
            let row = (size as f64).sqrt();
            weight * row * (self.norm * row + self.value)
        };
        let bounds: Vec<f64> = weights(players).iter().enumerate().map(bound).collect();
        let total: f64 = (1..(1_usize << players) - 1).map(|mask| bounds[mask.count_ones() as usize]).sum();
        bounds.iter().map(|bound| bound / total).collect()
    }

    pub(super) fn players(&self) -> usize {
        self.truth.len()
    }

    pub(super) fn digest(&self) -> Digest {
        Digest::from_numbers(self.game.values_in_order().iter().copied())
    }

    /// Returns the largest `E‖∇‖²/B²` of importance sampling among some points of K, computed over all
    /// coalitions.
    pub(super) fn largest_gradient(&self, pair: usize, seed: u64) -> Result<f64> {
        let n = self.players();
        let centre = self.truth.iter().sum::<f64>() / n as f64;
        let radius = (self.norm.powi(2) - n as f64 * centre * centre).max(0.0).sqrt();
        let mut points = vec![self.truth.clone(), vec![centre; n]];
        let mut rng = stream(derive_seed(&("points", n, pair, seed))?, Purpose::Experiment, 0);
        for _ in 0..POINTS {
            let drawn: Vec<f64> = (0..n).map(|_| StandardNormal.sample(&mut rng)).collect();
            let mean = drawn.iter().sum::<f64>() / n as f64;
            let along: Vec<f64> = drawn.iter().map(|value| value - mean).collect();
            let length = squared_norm(&along).sqrt();
            points.push(along.iter().map(|value| centre + radius * value / length).collect());
        }
        let most = points.iter().map(|point| self.gradient_square(point)).fold(0.0, f64::max);
        Ok(most / self.bounds.gradient_norm().powi(2))
    }

    /// Returns `Σ_S p_S ‖2 (w_S/p_S) (x·φ − y_S) x‖²`, with p_S proportional to `w_S √l (D √l + C)`.
    pub(super) fn gradient_square(&self, point: &[f64]) -> f64 {
        let n = self.players();
        let values = self.game.values_in_order();
        let (weights, probabilities) = (weights(n), self.probabilities());
        (1..values.len() - 1)
            .map(|mask| {
                let size = mask.count_ones() as usize;
                let fitted: f64 =
                    (0..n).filter(|player| mask >> player & 1 == 1).map(|player| point[player]).sum();
                let residual = fitted - (values[mask] - values[0]);
                4.0 * weights[size].powi(2) / probabilities[size] * residual.powi(2) * size as f64
            })
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_of_gradients_are_those_of_drawn_coalitions() {
        let known = KnownGame::draw(4, 0, 3).unwrap();
        let point = [0.3, -0.2, 0.5, 0.1];
        // ‖E∇‖² ≤ E‖∇‖², where E∇ = 2 Σ w_S (x·φ − y) x; they are equal only if all gradients are equal.
        let (values, weights) = (known.game.values_in_order(), weights(4));
        let mut gradient = [0.0; 4];
        for mask in 1..15_usize {
            let members: Vec<usize> = (0..4).filter(|player| mask >> player & 1 == 1).collect();
            let fitted: f64 = members.iter().map(|&player| point[player]).sum();
            let factor = 2.0 * weights[members.len()] * (fitted - values[mask] + values[0]);
            members.iter().for_each(|&player| gradient[player] += factor);
        }
        assert!(known.gradient_square(&point) > squared_norm(&gradient));
        // Doubling the residuals multiplies the squared norm by four.
        let zero = [0.0; 4];
        let doubled = KnownGame {
            game: TabulatedGame::new(values.iter().map(|v| 2.0 * v).collect(), 1).unwrap(),
            ..known
        };
        let ratio = doubled.gradient_square(&zero) / KnownGame::draw(4, 0, 3).unwrap().gradient_square(&zero);
        assert!((ratio - 4.0).abs() < 1e-12, "{ratio}");
    }

    #[test]
    fn games_are_within_their_constants() {
        let known = KnownGame::draw(6, 1, 0).unwrap();
        let values = known.game.values_in_order();
        assert!(values.iter().all(|value| (value - values[0]).abs() <= known.value));
        assert!(squared_norm(&known.truth).sqrt() < known.norm);
        let share = known.largest_gradient(1, 0).unwrap();
        assert!(share > 0.0 && share <= 1.0, "{share}");
    }
}
