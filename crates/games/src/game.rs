//! The value function `v : 2^N → R^k`, evaluated in batches.

use crate::coalitions::Coalitions;
use crate::error::GameError;

/// A cooperative game on the players `0..n`, with `k` outputs.
///
/// # Contract
///
/// - `values` is a function: a coalition always has the same value, regardless of the rest of the batch and
///   of the calling thread. Estimators rely on this when they cache values, evaluate a coalition and its
///   complement, or resume a run.
/// - The empty coalition is allowed. The value of the empty coalition need not be zero.
/// - A value that cannot be computed or is not finite is an error, never a NaN.
///
/// # Example
///
/// ```
/// use apportion_games::{Coalitions, Game, GameError};
///
/// /// The value is the square of the number of members.
/// struct Square(usize);
///
/// impl Game for Square {
///     fn players(&self) -> usize {
///         self.0
///     }
///     fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
///         for (value, &size) in out.iter_mut().zip(batch.sizes()) {
///             *value = f64::from(size).powi(2);
///         }
///         Ok(())
///     }
/// }
///
/// let mut values = [0.0; 8];
/// Square(3).values(&Coalitions::from_masks(3, 0..8), &mut values)?;
/// assert_eq!(values, [0.0, 1.0, 1.0, 4.0, 1.0, 4.0, 4.0, 9.0]);
/// # Ok::<(), GameError>(())
/// ```
pub trait Game: Sync {
    /// Returns the number of players `n`.
    fn players(&self) -> usize;

    /// Returns the number of outputs `k` per coalition.
    fn outputs(&self) -> usize {
        1
    }

    /// Returns the number of rows for which the model is called to evaluate one coalition, or 0 for games
    /// without a model.
    fn rows_per_coalition(&self) -> usize {
        0
    }

    /// Returns whether concurrent calls of [`values`](Self::values) from several threads are faster, as for
    /// [`Model::parallel`](crate::Model::parallel). If not, callers should evaluate one batch after another.
    fn parallel(&self) -> bool {
        true
    }

    /// Returns all 2^n × k values in mask order, if the game stores such a table; bit `i` of a mask is player
    /// `i`.
    ///
    /// Enumeration reads the table directly instead of evaluating batches. Only games that *are* a table
    /// override this method.
    fn table(&self) -> Option<&[f64]> {
        None
    }

    /// Returns the number of scenarios over which the game averages; 1 if there is no such average.
    ///
    /// A scenario is the random part of the value of a coalition: in a marginal game, the row of the
    /// background that provides the values of absent features. `v(S) = Σ_b w_b v_b(S)` over the scenarios
    /// `b`, with v_b from [`values_in_scenarios`](Self::values_in_scenarios). Monte Carlo methods on the
    /// product space of coalitions and scenarios evaluate only v_b, which takes
    /// [`rows_per_coalition`](Self::rows_per_coalition) / `scenarios` model rows each.
    fn scenarios(&self) -> usize {
        1
    }

    /// Returns the weights `w_b` of the scenarios, which are non-negative and sum to 1; `None` if they are
    /// equal.
    fn scenario_weights(&self) -> Option<&[f64]> {
        None
    }

    /// Writes the value of each row `S_j` of `batch` in scenario `scenarios[j]` to `out[j·k .. (j+1)·k]`.
    ///
    /// # Errors
    ///
    /// Same as [`values`](Self::values).
    ///
    /// # Panics
    ///
    /// May panic as [`values`](Self::values) does, if `scenarios` does not have one entry per coalition, or
    /// if a scenario does not exist.
    fn values_in_scenarios(
        &self,
        batch: &Coalitions,
        scenarios: &[usize],
        out: &mut [f64],
    ) -> Result<(), GameError> {
        assert_eq!(scenarios.len(), batch.len(), "expected one scenario per coalition");
        assert!(self.scenarios() == 1, "a game with several scenarios must override `values_in_scenarios`");
        self.values(batch, out)
    }

    /// Writes `v(S_j)` to `out[j·k .. (j+1)·k]` for each row `S_j` of `batch`: m × k numbers, row-major.
    ///
    /// # Errors
    ///
    /// [`GameError`] if a value cannot be computed or is not finite; the contents of `out` are then
    /// unspecified.
    ///
    /// # Panics
    ///
    /// May panic if `out.len()` is not `batch.len() · k`, or the number of players of the batch differs.
    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError>;
}

macro_rules! forward_game {
    ($pointer:ty) => {
        impl<G: Game + ?Sized> Game for $pointer {
            fn players(&self) -> usize {
                (**self).players()
            }
            fn outputs(&self) -> usize {
                (**self).outputs()
            }
            fn rows_per_coalition(&self) -> usize {
                (**self).rows_per_coalition()
            }
            fn parallel(&self) -> bool {
                (**self).parallel()
            }
            fn table(&self) -> Option<&[f64]> {
                (**self).table()
            }
            fn scenarios(&self) -> usize {
                (**self).scenarios()
            }
            fn scenario_weights(&self) -> Option<&[f64]> {
                (**self).scenario_weights()
            }
            fn values_in_scenarios(
                &self,
                batch: &Coalitions,
                scenarios: &[usize],
                out: &mut [f64],
            ) -> Result<(), GameError> {
                (**self).values_in_scenarios(batch, scenarios, out)
            }
            fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
                (**self).values(batch, out)
            }
        }
    };
}

forward_game!(&G);
forward_game!(Box<G>);

/// Checks that all values for `batch` are finite; `out` is row-major with `outputs` values per coalition.
///
/// # Errors
///
/// [`GameError::NotFinite`] with the first coalition that has a NaN or an infinite value.
pub(crate) fn check_finite(batch: &Coalitions, outputs: usize, out: &[f64]) -> Result<(), GameError> {
    match out.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(at) => Err(GameError::NotFinite {
            coalition: batch.row(at / outputs).to_coalition(),
            output: at % outputs,
            value: out[at],
        }),
    }
}
