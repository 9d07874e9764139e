//! The glove game: only pairs of gloves have a value.
//!
//! # Notation
//!
//! `l` players own a left glove, `r` a right one; `n = l + r`.

use crate::coalition::Coalition;
use crate::coalitions::Coalitions;
use crate::error::GameError;
use crate::game::Game;
use crate::textbook::ClosedForm;

/// The game `v(S) = min(left gloves in S, right gloves in S)`. Players `0..l` own a left glove, `l..l+r` a
/// right one.
///
/// For l ≥ r (Shapley and Shubik, *Pure competition, coalitional power and fair division*, 1969, rearranged
/// so that the terms of the sum are positive):
///
/// ```text
/// Shapley  φ_left = (r − (l − r) Σ) / (2 l),  φ_right = 1/2 + (l − r)/(2 r) Σ,
///          Σ = Σ_{k=1}^{r} l! r! / ((l + k)! (r − k)!)
/// Banzhaf  φ_left = P(X ≤ r − 1),  φ_right = P(X ≤ l − 1),  X ~ Binomial(n − 1, ½)
/// ```
///
/// (A left glove adds 1 if more right gloves than left ones are present; the number of left gloves present
/// plus right gloves absent is binomial.)
///
/// Useful as a game with two kinds of symmetric players whose values differ by orders of magnitude (l ≫ r).
/// The values take O(n) time.
///
/// ```
/// use apportion_games::{ClosedForm, Glove};
///
/// assert_eq!(Glove::new(2, 2)?.shapley(), [0.5; 4]);
/// # Ok::<(), apportion_games::GameError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glove {
    left: usize,
    right: usize,
    /// The coalition of all owners of a left glove.
    lefts: Coalition,
}

impl Glove {
    /// Creates the game in which `left` players own a left glove and `right` players a right one.
    ///
    /// # Errors
    ///
    /// [`GameError::Parameter`] without players.
    pub fn new(left: usize, right: usize) -> Result<Self, GameError> {
        if left + right == 0 {
            return Err(GameError::Parameter {
                what: "a glove game requires at least one player".to_owned(),
            });
        }
        Ok(Self { left, right, lefts: Coalition::from_members(left + right, 0..left) })
    }

    fn by_side(&self, left: f64, right: f64) -> Vec<f64> {
        let mut values = vec![left; self.left];
        values.resize(self.left + self.right, right);
        values
    }
}

impl Game for Glove {
    fn players(&self) -> usize {
        self.left + self.right
    }

    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        for (value, row) in out.iter_mut().zip(batch.iter()) {
            let lefts: u32 =
                row.words().iter().zip(self.lefts.view().words()).map(|(a, b)| (a & b).count_ones()).sum();
            *value = f64::from(lefts.min(row.size() as u32 - lefts));
        }
        Ok(())
    }
}

impl ClosedForm for Glove {
    fn shapley(&self) -> Vec<f64> {
        let (many, few) = (self.left.max(self.right) as f64, self.left.min(self.right) as f64);
        // Each term is the previous one times (r − k + 1) / (l + k); the ratios are at most 1.
        let (mut term, mut sum) = (1.0, 0.0);
        for k in 1..=self.left.min(self.right) {
            term *= (few - k as f64 + 1.0) / (many + k as f64);
            sum += term;
        }
        let of_many = (few - (many - few) * sum) / (2.0 * many);
        let of_few = if few > 0.0 { 0.5 + (many - few) / (2.0 * few) * sum } else { 0.0 };
        if self.left >= self.right { self.by_side(of_many, of_few) } else { self.by_side(of_few, of_many) }
    }

    fn banzhaf(&self) -> Vec<f64> {
        let others = self.left + self.right - 1;
        self.by_side(fair_coins_below(others, self.right), fair_coins_below(others, self.left))
    }
}

/// Returns P(X < bound), where X is the number of heads in `coins` fair coin flips.
fn fair_coins_below(coins: usize, bound: usize) -> f64 {
    // Probabilities are relative to the probability of the mode, so that only negligible ones underflow.
    // Dividing by their sum normalizes them.
    let middle = coins / 2;
    let mut relative = vec![0.0; coins + 1];
    relative[middle] = 1.0;
    for count in middle..coins {
        relative[count + 1] = relative[count] * (coins - count) as f64 / (count + 1) as f64;
    }
    for count in (0..middle).rev() {
        relative[count] = relative[count + 1] * (count + 1) as f64 / (coins - count) as f64;
    }
    let below: f64 = relative.iter().take(bound).sum();
    below / relative.iter().sum::<f64>()
}
