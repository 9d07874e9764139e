//! The additive game, in which each player contributes a fixed amount.

use crate::coalitions::Coalitions;
use crate::error::GameError;
use crate::game::Game;
use crate::textbook::ClosedForm;

/// The game `v(S) = Σ_{i∈S} a_i`. Every semivalue of player i is exactly a_i.
///
/// Useful for testing the dummy axiom, sampling designs, weights that must sum to one, and least squares,
/// whose residuals must be zero. All semivalues of this game agree, so a test with this game cannot
/// distinguish them.
///
/// ```
/// use apportion_games::{Additive, ClosedForm};
///
/// let game = Additive::new([1.0, -2.0])?;
/// assert_eq!(game.shapley(), [1.0, -2.0]);
/// # Ok::<(), apportion_games::GameError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Additive {
    amounts: Vec<f64>,
}

impl Additive {
    /// Creates the game in which player `i` contributes `amounts[i]`.
    ///
    /// # Errors
    ///
    /// [`GameError::Parameter`] for an amount that is not finite, or without players.
    pub fn new(amounts: impl Into<Vec<f64>>) -> Result<Self, GameError> {
        let amounts = amounts.into();
        if amounts.is_empty() {
            return Err(GameError::Parameter {
                what: "an additive game requires at least one player".to_owned(),
            });
        }
        match amounts.iter().position(|amount| !amount.is_finite()) {
            None => Ok(Self { amounts }),
            Some(player) => Err(GameError::Parameter {
                what: format!("invalid amount {} of player {player}: must be finite", amounts[player]),
            }),
        }
    }
}

impl Game for Additive {
    fn players(&self) -> usize {
        self.amounts.len()
    }

    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        for (value, row) in out.iter_mut().zip(batch.iter()) {
            *value = row.members().map(|player| self.amounts[player]).sum();
        }
        Ok(())
    }
}

impl ClosedForm for Additive {
    fn shapley(&self) -> Vec<f64> {
        self.amounts.clone()
    }

    fn banzhaf(&self) -> Vec<f64> {
        self.amounts.clone()
    }
}
