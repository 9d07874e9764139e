//! The cooking game of three cooks.

use crate::coalitions::Coalitions;
use crate::error::GameError;
use crate::game::Game;
use crate::textbook::ClosedForm;

/// The game of three cooks. Its values are 4, 3 and 2 for one cook, 9 (0 and 1), 8 (0 and 2) and 7 (1 and 2)
/// for pairs, and 15 for all three.
///
/// The Shapley values are 6, 5 and 4; the Banzhaf values are the same.
///
/// Useful as a first example to compute by hand, and as a smoke test with integer results.
///
/// ```
/// use apportion_games::{ClosedForm, Cooking};
///
/// assert_eq!(Cooking.shapley(), [6.0, 5.0, 4.0]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cooking;

/// Values in mask order: ∅, {0}, {1}, {0,1}, {2}, {0,2}, {1,2}, {0,1,2}.
const WORTH: [f64; 8] = [0.0, 4.0, 3.0, 9.0, 2.0, 8.0, 7.0, 15.0];

impl Game for Cooking {
    fn players(&self) -> usize {
        3
    }

    fn table(&self) -> Option<&[f64]> {
        Some(&WORTH)
    }

    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        for (value, &mask) in out.iter_mut().zip(batch.words()) {
            *value = WORTH[mask as usize];
        }
        Ok(())
    }
}

impl ClosedForm for Cooking {
    fn shapley(&self) -> Vec<f64> {
        vec![6.0, 5.0, 4.0]
    }

    fn banzhaf(&self) -> Vec<f64> {
        vec![6.0, 5.0, 4.0]
    }
}
