//! Exact values by enumeration of all `2^n` coalitions.

use apportion_games::Game;
use apportion_values::{Enumeration, MOST_PLAYERS, Semivalue, enumerate_many};

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
    let exact = exact_many_if_affordable(estimator, &[estimator.value()], game, budget, full_budget)?;
    Ok(exact.map(|mut explanations| explanations.swap_remove(0)))
}

/// [`exact_if_affordable`] for several values in one pass, instead of the estimator's own.
pub(crate) fn exact_many_if_affordable(
    estimator: &dyn Estimator,
    values: &[Semivalue],
    game: &dyn Game,
    budget: usize,
    full_budget: FullBudget,
) -> Result<Option<Vec<Explanation>>, EstimatorError> {
    check_budget(estimator, game, budget)?;
    let players = game.players();
    values.iter().try_for_each(|value| value.check_players(players))?;
    let affordable = players <= MOST_PLAYERS && budget >= 1 << players;
    if players == 1 || affordable && full_budget == FullBudget::Enumerate {
        return exact_as(estimator.name(), game, values).map(Some);
    }
    Ok(None)
}

/// The exact `value` of `game`, from all `2^n` coalitions in one pass (see [`apportion_values::enumerate`]).
///
/// # Errors
///
/// [`EstimatorError::Value`] for no players or more than 25, and whatever the game reports.
pub fn exact(game: &dyn Game, value: Semivalue) -> Result<Explanation, EstimatorError> {
    Ok(exact_as("exact", game, &[value])?.swap_remove(0))
}

/// [`exact`] for several values in one pass, under the name of the method that a full budget turned into enumeration.
fn exact_as(method: &str, game: &dyn Game, values: &[Semivalue]) -> Result<Vec<Explanation>, EstimatorError> {
    let enumerations = enumerate_many(game, values)?;
    let coalitions = 1usize << game.players();
    let explanation = |(enumeration, value): (Enumeration, &Semivalue)| Explanation {
        value: value.clone(),
        method: method.to_owned(),
        std_errors: Some(vec![0.0; enumeration.values().len()]),
        values: enumeration.values().to_vec(),
        base: enumeration.base().to_vec(),
        prediction: enumeration.full().to_vec(),
        evaluations: coalitions,
        distinct_coalitions: coalitions,
        model_rows: coalitions * game.rows_per_coalition(),
        seed: None,
        diagnostics: Diagnostics { exact: true, ..Diagnostics::default() },
    };
    Ok(enumerations.into_iter().zip(values).map(explanation).collect())
}
