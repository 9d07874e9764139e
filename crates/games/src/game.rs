//! The value function `v : 2^N → R^k`, asked in batches.

use crate::coalitions::Coalitions;
use crate::error::GameError;

/// A cooperative game on the players `0..n`, with `k` outputs.
///
/// # Contract
///
/// - `values` is a function: one coalition has one value, whatever else is in the batch and whichever thread asks. Estimators rely
///   on this to cache, to pair a coalition with its complement, and to resume.
/// - The empty coalition is a legal question. Its value need not be zero.
/// - A value that cannot be had, or is not finite, is an error, never a NaN.
///
/// # Example
///
/// ```
/// use apportion_games::{Coalitions, Game, GameError};
///
/// /// Worth the square of the number of members.
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
    /// Number of players `n`.
    fn players(&self) -> usize;

    /// Number of outputs `k` of one coalition.
    fn outputs(&self) -> usize {
        1
    }

    /// Rows that a model behind the game predicts for one coalition; 0 where there is no model.
    fn rows_per_coalition(&self) -> usize {
        0
    }

    /// Whether several threads may call [`values`](Self::values) at once and gain by it, as
    /// [`Model::parallel`](crate::Model::parallel) says of a model. Where not, ask for one batch after the other.
    fn parallel(&self) -> bool {
        true
    }

    /// All 2^n × k values in mask order, where the game holds them as such a table; bit `i` of a mask is player `i`.
    ///
    /// Enumeration reads the table in place rather than asking for batches. Only a game that *is* a table overrides this.
    fn table(&self) -> Option<&[f64]> {
        None
    }

    /// Number of scenarios that the game is the average of; 1 for a game that averages nothing.
    ///
    /// A scenario is what chance decides before the coalition's value is known: in a marginal game which row of the background stands
    /// in for those who are absent. `v(S) = Σ_b w_b v_b(S)` over the scenarios `b`, with v_b from
    /// [`values_in_scenarios`](Self::values_in_scenarios). Monte Carlo on the product space of coalitions and scenarios asks for v_b
    /// alone, at [`rows_per_coalition`](Self::rows_per_coalition) / `scenarios` model rows each.
    fn scenarios(&self) -> usize {
        1
    }

    /// The weights `w_b` of the scenarios, not negative and of sum 1; `None` where all are alike.
    fn scenario_weights(&self) -> Option<&[f64]> {
        None
    }

    /// Writes the value of each row `S_j` of `batch` in scenario `scenarios[j]` to `out[j·k .. (j+1)·k]`.
    ///
    /// # Errors
    ///
    /// As [`values`](Self::values).
    ///
    /// # Panics
    ///
    /// May panic as [`values`](Self::values), if there is not one scenario per coalition, or a scenario does not exist.
    fn values_in_scenarios(
        &self,
        batch: &Coalitions,
        scenarios: &[usize],
        out: &mut [f64],
    ) -> Result<(), GameError> {
        assert_eq!(scenarios.len(), batch.len(), "one scenario per coalition");
        assert!(self.scenarios() == 1, "a game of several scenarios says its values in each");
        self.values(batch, out)
    }

    /// Writes `v(S_j)` to `out[j·k .. (j+1)·k]` for each row `S_j` of `batch`: m × k numbers, row-major.
    ///
    /// # Errors
    ///
    /// [`GameError`] if a value cannot be had or is not finite; `out` is then unspecified.
    ///
    /// # Panics
    ///
    /// May panic if `out.len()` is not `batch.len() · k`, or the batch has another number of players.
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

/// Checks what a game or a model wrote for `batch`: row-major `out` of `outputs` per coalition.
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
