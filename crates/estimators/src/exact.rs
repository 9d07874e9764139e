//! Exact values by enumeration of all `2^n` coalitions.

use apportion_games::Game;
use apportion_values::{MOST_PLAYERS, Semivalue, enumerate};

use crate::error::EstimatorError;
use crate::explanation::{Diagnostics, Explanation};

/// Whether `budget` evaluations cover all `2^players` coalitions.
pub(crate) fn covers_all(budget: usize, players: usize) -> bool {
    players <= MOST_PLAYERS && budget >= 1 << players
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
pub(crate) fn exact_as(
    method: &str,
    game: &dyn Game,
    value: Semivalue,
) -> Result<Explanation, EstimatorError> {
    let enumeration = enumerate(game, value)?;
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
