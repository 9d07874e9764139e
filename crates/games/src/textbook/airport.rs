//! The airport game: the cost of a runway is determined by the largest plane.

use crate::coalitions::Coalitions;
use crate::error::GameError;
use crate::game::Game;
use crate::textbook::ClosedForm;

/// The game `v(S) = max_{i∈S} c_i`, `v(∅) = 0`, for costs c_i ≥ 0 (Littlechild and Owen, 1973).
///
/// With the costs in ascending order and `c_(0) = 0`, the game is a sum of layers: layer k costs
/// `c_(k) − c_(k−1)` if any of the players k, …, n is present. Under the Shapley value, these n − k + 1
/// players share the cost of the layer equally. Under the Banzhaf value, each of them pays the whole layer if
/// none of the others is present. This has probability `2^{−(n−k)}`:
///
/// ```text
/// Shapley  φ_(i) = Σ_{k≤i} (c_(k) − c_(k−1)) / (n − k + 1)
/// Banzhaf  φ_(i) = Σ_{k≤i} (c_(k) − c_(k−1)) · 2^{−(n−k)}
/// ```
///
/// Useful as a game with any number of distinct players and with interactions of every order. All values are
/// computed in O(n log n) time.
///
/// ```
/// use apportion_games::{Airport, ClosedForm};
///
/// let game = Airport::new([6.0, 2.0, 2.0])?;
/// let rounded = game.shapley().iter().map(|share| share * 3.0).map(f64::round).collect::<Vec<_>>();
/// assert_eq!(rounded, [14.0, 2.0, 2.0]);
/// # Ok::<(), apportion_games::GameError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Airport {
    costs: Vec<f64>,
}

impl Airport {
    /// Creates the game in which player `i` alone costs `costs[i]`.
    ///
    /// # Errors
    ///
    /// [`GameError::Parameter`] for a cost that is negative or not finite, or without players.
    pub fn new(costs: impl Into<Vec<f64>>) -> Result<Self, GameError> {
        let costs = costs.into();
        if costs.is_empty() {
            return Err(GameError::Parameter {
                what: "an airport game requires at least one player".to_owned(),
            });
        }
        match costs.iter().position(|cost| !(cost.is_finite() && *cost >= 0.0)) {
            None => Ok(Self { costs }),
            Some(player) => Err(GameError::Parameter {
                what: format!(
                    "invalid cost {} of player {player}: must be finite and non-negative",
                    costs[player]
                ),
            }),
        }
    }

    /// Returns for each player i the sum of `share(n − k) · (c_(k) − c_(k−1))` over the layers k that include
    /// i.
    fn sum_layers(&self, share: impl Fn(usize) -> f64) -> Vec<f64> {
        let players = self.costs.len();
        let mut order: Vec<usize> = (0..players).collect();
        order.sort_by(|&a, &b| self.costs[a].total_cmp(&self.costs[b]));
        let mut values = vec![0.0; players];
        let (mut below, mut sum) = (0.0, 0.0);
        for (rank, player) in order.into_iter().enumerate() {
            sum += (self.costs[player] - below) * share(players - 1 - rank);
            below = self.costs[player];
            values[player] = sum;
        }
        values
    }
}

impl Game for Airport {
    fn players(&self) -> usize {
        self.costs.len()
    }

    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        for (value, row) in out.iter_mut().zip(batch.iter()) {
            *value = row.members().map(|player| self.costs[player]).fold(0.0, f64::max);
        }
        Ok(())
    }
}

impl ClosedForm for Airport {
    fn shapley(&self) -> Vec<f64> {
        self.sum_layers(|above| 1.0 / (above + 1) as f64)
    }

    fn banzhaf(&self) -> Vec<f64> {
        self.sum_layers(|above| (-(above as f64)).exp2())
    }
}
