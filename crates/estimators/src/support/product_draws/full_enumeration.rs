//! Exact values, if the budget covers their cost.

use apportion_games::Game;
use apportion_values::Value;

use crate::error::Result;
use crate::report::Explanation;
use crate::run::Estimator;
use crate::support::{MAX_CACHED_COALITIONS, exact_of};

/// Returns the exact values, or `None` if they require more than `budget` coalitions or, for values with
/// groups, more than [`MAX_CACHED_COALITIONS`]. Each coalition is evaluated once.
///
/// # Errors
///
/// Same as [`exact_of`].
pub(crate) fn exact_within(
    estimator: &dyn Estimator,
    value: &Value,
    game: &dyn Game,
    budget: usize,
) -> Result<Option<Explanation>> {
    let most = if value.concept().needs_partition() { budget.min(MAX_CACHED_COALITIONS) } else { budget };
    if value.coalitions(game.players()).is_none_or(|coalitions| coalitions > most) {
        return Ok(None);
    }
    let method = estimator.name().to_owned();
    Ok(Some(Explanation { method, ..exact_of(game, value)? }))
}
