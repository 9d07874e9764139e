//! Exact values where they cost no more than the budget.

use apportion_games::{Game, Partition};

use crate::error::Result;
use crate::report::Explanation;
use crate::run::Estimator;
use crate::support::{MOST_REMEMBERED, exact_in_groups};

/// The exact values, where they look at no more coalitions than `budget`; each is asked for once.
///
/// # Errors
///
/// As [`exact_in_groups`].
pub(crate) fn exact_within(
    estimator: &dyn Estimator,
    partition: Option<&Partition>,
    game: &dyn Game,
    budget: usize,
) -> Result<Option<Explanation>> {
    let value = estimator.value();
    let most = if value.needs_partition() { budget.min(MOST_REMEMBERED) } else { budget };
    if value.coalitions(game.players(), partition).is_none_or(|coalitions| coalitions > most) {
        return Ok(None);
    }
    let method = estimator.name().to_owned();
    Ok(Some(Explanation { method, ..exact_in_groups(game, &value, partition)? }))
}
