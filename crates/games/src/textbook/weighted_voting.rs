//! The weighted voting game, in which a coalition wins if its votes reach the quota.
//!
//! # Notation
//!
//! Player i has `w_i` votes, the quota is `q`, and `W(S) = Σ_{i∈S} w_i`. A *swing* of player i is a coalition
//! without i that loses, but wins when i joins.

use crate::coalitions::Coalitions;
use crate::error::GameError;
use crate::game::Game;
use crate::phrases::plural;
use crate::textbook::ClosedForm;

/// Maximum number of players: counts of coalitions of one size and weight are below C(128, 64) < 2^127.
const MAX_PLAYERS: usize = 128;

/// Maximum number of cells in the table of counts (256 MiB).
const MAX_CELLS: u128 = 1 << 24;

/// The game with `v(S) = 1` if `W(S) ≥ q`, else 0. The Shapley value of this game is the Shapley–Shubik
/// index, the Banzhaf value is the absolute Banzhaf index.
///
/// Both indices are computed from exact counts of swings by size and weight, stored as 128-bit integers. The
/// counts come from generating functions (Lucas, *Measuring power in weighted voting systems*, 1983). The
/// counts over all players are computed once, in O(n² q) time. The counts without a given player follow by
/// dividing out the player's factor, in O(n q) time.
///
/// ```text
/// Shapley  φ_i = Σ_s swings_i(s) / (n · C(n−1, s))
/// Banzhaf  φ_i = Σ_s swings_i(s) / 2^{n−1}
/// ```
///
/// Useful as a step function, the hardest case for estimators that assume smoothness. Players with small
/// weights may be null players. Supports up to 128 players.
///
/// ```
/// use apportion_games::{ClosedForm, WeightedVoting};
///
/// let game = WeightedVoting::new(3, [2, 1, 1])?;
/// assert_eq!(game.banzhaf(), [0.75, 0.25, 0.25]);
/// # Ok::<(), apportion_games::GameError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WeightedVoting {
    quota: u64,
    weights: Vec<u64>,
}

impl WeightedVoting {
    /// Creates the game with the votes `weights` and the quota `quota`.
    ///
    /// # Errors
    ///
    /// [`GameError::Players`] unless there are 1 to 128 players; [`GameError::Parameter`] unless the quota is
    /// between 1 and the sum of votes, and (n + 1) · quota is at most 2^24, the size of the table of counts.
    pub fn new(quota: u64, weights: impl Into<Vec<u64>>) -> Result<Self, GameError> {
        let weights = weights.into();
        if !(1..=MAX_PLAYERS).contains(&weights.len()) {
            return Err(GameError::Players {
                what: "a weighted voting game",
                actual: weights.len(),
                min: 1,
                max: MAX_PLAYERS,
            });
        }
        let total: u128 = weights.iter().map(|&weight| u128::from(weight)).sum();
        if total == 0 {
            return Err(GameError::Parameter {
                what: "the sum of votes is 0; at least one player must have a vote".to_owned(),
            });
        }
        if quota == 0 || u128::from(quota) > total {
            return Err(GameError::Parameter {
                what: format!("invalid quota {quota}: must be between 1 and the sum of votes, {total}"),
            });
        }
        if u128::from(quota) * (weights.len() as u128 + 1) > MAX_CELLS {
            return Err(GameError::Parameter {
                what: format!(
                    "quota {quota} is too large to count the swings of {} player{}; must be at most {}",
                    weights.len(),
                    plural(weights.len()),
                    MAX_CELLS / (weights.len() as u128 + 1)
                ),
            });
        }
        Ok(Self { quota, weights })
    }

    /// Counts the losing coalitions by size s and weight w < q; the count is stored at `s · q + w`.
    fn losing(&self) -> Vec<u128> {
        let (players, quota) = (self.weights.len(), self.quota as usize);
        let mut counts = vec![0; (players + 1) * quota];
        counts[0] = 1;
        for (seen, &weight) in self.weights.iter().enumerate() {
            let weight = weight.min(self.quota) as usize;
            // Iterate from larger sizes to smaller ones, so that each player joins once.
            for size in (0..=seen).rev() {
                for lighter in 0..quota - weight {
                    counts[(size + 1) * quota + lighter + weight] += counts[size * quota + lighter];
                }
            }
        }
        counts
    }

    /// Returns the number of swings for each player i and size s, as `swings[i][s]`.
    fn swings(&self) -> Vec<Vec<u128>> {
        let (players, quota) = (self.weights.len(), self.quota as usize);
        let losing = self.losing();
        let without = |weight: usize| {
            let mut counts = losing.clone();
            for size in 1..players {
                for lighter in 0..quota - weight {
                    counts[size * quota + lighter + weight] -= counts[(size - 1) * quota + lighter];
                }
            }
            counts
        };
        let swings_of = |&weight: &u64| {
            // A player that reaches the quota alone turns every losing coalition of the others into a winning
            // one, and no counted coalition contains it.
            let weight = weight.min(self.quota) as usize;
            let counts = without(weight);
            (0..players)
                .map(|size| counts[size * quota + quota - weight..(size + 1) * quota].iter().sum())
                .collect()
        };
        self.weights.iter().map(swings_of).collect()
    }
}

impl Game for WeightedVoting {
    fn players(&self) -> usize {
        self.weights.len()
    }

    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        for (value, row) in out.iter_mut().zip(batch.iter()) {
            let votes: u128 = row.members().map(|player| u128::from(self.weights[player])).sum();
            *value = f64::from(u8::from(votes >= u128::from(self.quota)));
        }
        Ok(())
    }
}

impl ClosedForm for WeightedVoting {
    fn shapley(&self) -> Vec<f64> {
        let players = self.weights.len();
        let share = |(size, &swings): (usize, &u128)| {
            // This product is 1 / (n C(n−1, s)), computed factor by factor.
            let few = size.min(players - 1 - size);
            let weight = (0..few)
                .fold(1.0 / players as f64, |weight, k| weight * (k + 1) as f64 / (players - 1 - k) as f64);
            swings as f64 * weight
        };
        self.swings().iter().map(|by_size| by_size.iter().enumerate().map(share).sum()).collect()
    }

    fn banzhaf(&self) -> Vec<f64> {
        let scale = (1.0 - self.weights.len() as f64).exp2();
        self.swings().iter().map(|by_size| by_size.iter().sum::<u128>() as f64 * scale).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_of_128_equal_votes_gives_everyone_the_same() {
        let game = WeightedVoting::new(64, [1; 128]).unwrap();
        for value in game.shapley() {
            assert!((value - 1.0 / 128.0).abs() < 1e-16, "{value}");
        }
    }

    #[test]
    fn weights_of_zero_and_beyond_the_quota_are_legal() {
        let game = WeightedVoting::new(5, [0, u64::MAX, 4]).unwrap();
        assert_eq!(game.shapley(), [0.0, 1.0, 0.0]);
        assert_eq!(game.banzhaf(), [0.0, 1.0, 0.0]);
    }

    #[test]
    fn quotas_and_players_that_cannot_be_counted_are_refused() {
        assert!(matches!(WeightedVoting::new(1, []), Err(GameError::Players { .. })));
        assert!(matches!(WeightedVoting::new(1, [1; 129]), Err(GameError::Players { .. })));
        for (quota, weights) in [(0, vec![1, 1]), (3, vec![1, 1]), (1 << 30, vec![u64::MAX, 1])] {
            assert!(
                matches!(WeightedVoting::new(quota, weights), Err(GameError::Parameter { .. })),
                "{quota}"
            );
        }
    }
}
