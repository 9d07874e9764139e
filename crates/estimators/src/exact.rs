//! Exact values by enumeration of all `2^n` coalitions.

use apportion_games::Game;
use apportion_values::{MOST_PLAYERS, Semivalue, enumerate};

use crate::error::EstimatorError;
use crate::estimator::Estimator;
use crate::evaluations::check_budget;
use crate::explanation::{Diagnostics, Explanation};
use crate::full_budget::FullBudget;

/// What all sampling estimators begin with: refuses a budget that is too small, and answers exactly where that takes no more than the
/// budget and `full_budget` does not ask to go on sampling, or where there is one player only.
pub(crate) fn exact_if_affordable(
    estimator: &dyn Estimator,
    game: &dyn Game,
    budget: usize,
    full_budget: FullBudget,
) -> Result<Option<Explanation>, EstimatorError> {
    check_budget(estimator, game, budget)?;
    let players = game.players();
    let affordable = players <= MOST_PLAYERS && budget >= 1 << players;
    if players == 1 || affordable && full_budget == FullBudget::Enumerate {
        return exact_as(estimator.name(), game, estimator.value()).map(Some);
    }
    Ok(None)
}

/// The exact `value` of `game`, from all `2^n` coalitions in one pass (see [`enumerate`]).
///
/// # Errors
///
/// [`EstimatorError::Value`] for no players or more than 25, and whatever the game reports.
pub fn exact(game: &dyn Game, value: Semivalue) -> Result<Explanation, EstimatorError> {
    exact_as("exact", game, value)
}

/// [`exact`], under the name of the method that a full budget turned into enumeration.
fn exact_as(method: &str, game: &dyn Game, value: Semivalue) -> Result<Explanation, EstimatorError> {
    let enumeration = enumerate(game, value.clone())?;
    let coalitions = 1usize << game.players();
    let values = enumeration.values().to_vec();
    Ok(Explanation {
        value,
        method: method.to_owned(),
        std_errors: Some(vec![0.0; values.len()]),
        values,
        base: enumeration.base().to_vec(),
        prediction: enumeration.full().to_vec(),
        evaluations: coalitions,
        distinct_coalitions: coalitions,
        model_rows: coalitions * game.rows_per_coalition(),
        seed: None,
        diagnostics: Diagnostics { exact: true, ..Diagnostics::default() },
    })
}
