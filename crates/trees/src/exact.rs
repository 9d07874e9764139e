//! What all oracles can be asked.

use apportion_games::Rows;
use apportion_values::Value;

use crate::engine::attributions::Attributions;
use crate::engine::interactions::{Diagonal, Interactions};
use crate::engine::settings::Plan;
use crate::error::TreeError;

/// Exact values of one game of an ensemble, whichever game that is.
///
/// Of [values](Value) there are semivalues, coalitional and two-step values of features in groups, and semivalues of groups; any other is
/// refused with [`TreeError::Unsupported`]. The oracles have methods for each, which say what they take and refuse.
///
/// ```
/// use apportion_games::{Partition, Rows};
/// use apportion_trees::{Ensemble, Exact, InterventionalOracle, LinkedOracle, PathDependentOracle};
/// use apportion_values::Value;
///
/// let model = Ensemble::from_bytes(include_bytes!("../tests/fixtures/tiny.json"))?;
/// let (row, baseline) = ([1.0, 9.0], [0.0, 0.0]);
/// let (row, baseline) = (Rows::new(&row, 2), Rows::new(&baseline, 2));
/// let games: [Box<dyn Exact + '_>; 2] =
///     [Box::new(InterventionalOracle::new(&model, baseline, None)?), Box::new(PathDependentOracle::new(&model)?)];
/// for game in games {
///     let explained = game.values_of(&Value::owen(Partition::whole(2)), row)?;
///     let total: f64 = explained.values.iter().sum();
///     assert!((explained.base[0] + total - explained.predictions[0]).abs() < 1e-14);
/// }
/// # Ok::<(), apportion_trees::TreeError>(())
/// ```
pub trait Exact: Send + Sync {
    /// v(∅) of every explicand, per output.
    fn base(&self) -> &[f64];

    /// The values of all players, for every output and each of the rows: rows × players × outputs.
    ///
    /// # Errors
    ///
    /// Those of the oracle's own methods; [`TreeError::Unsupported`] for a value that it does not compute.
    fn values_of(&self, value: &Value, rows: Rows<'_>) -> Result<Attributions, TreeError>;

    /// The interaction indices of all pairs of players: of features by a semivalue, of groups by one of the quotient game.
    ///
    /// # Errors
    ///
    /// As [`values_of`](Self::values_of).
    fn interactions_of(
        &self,
        value: &Value,
        diagonal: Diagonal,
        rows: Rows<'_>,
    ) -> Result<Interactions, TreeError>;

    /// What [`values_of`](Self::values_of) would do with `count` rows, of which `sample` has some, and the time that it would take.
    ///
    /// # Errors
    ///
    /// As [`values_of`](Self::values_of).
    fn plan_of(&self, value: &Value, count: usize, sample: Rows<'_>) -> Result<Plan, TreeError>;
}
