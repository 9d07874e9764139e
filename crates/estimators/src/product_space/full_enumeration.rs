//! Exact values where they cost no more than the budget.

use apportion_games::{Cached, Game, Partition};

use crate::error::EstimatorError;
use crate::estimator::Estimator;
use crate::exact::exact_in_groups;
use crate::explanation::Explanation;

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
) -> Result<Option<Explanation>, EstimatorError> {
    let value = estimator.value();
    if value.coalitions(game.players(), partition).is_none_or(|coalitions| coalitions > budget) {
        return Ok(None);
    }
    let method = estimator.name().to_owned();
    // What is asked for once anyway need not be remembered.
    if !value.needs_partition() {
        return Ok(Some(Explanation { method, ..exact_in_groups(game, &value, partition)? }));
    }
    let cached = Cached::new(game);
    let exact = exact_in_groups(&cached, &value, partition)?;
    let coalitions = cached.distinct();
    Ok(Some(Explanation {
        method,
        evaluations: coalitions,
        distinct_coalitions: coalitions,
        model_rows: coalitions * game.rows_per_coalition(),
        ..exact
    }))
}
