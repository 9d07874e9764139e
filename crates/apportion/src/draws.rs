//! What the draws of a conditional game add to the standard errors of an explanation.
//!
//! An explanation is linear in the values of the coalitions that its method looked at, and the seed decides which. So the same method with
//! the same seed, on a game of nothing but the errors of those values, says what they make of the explanation.

use apportion_estimators::Explanation;
use apportion_games::{ErrorsOfDraws, Game, Sampling};

use crate::error::ExplainError;
use crate::source::Conditional;

/// Games of noise: they tell a standard deviation within 7 %.
const REPLICATES: usize = 100;

/// Adds to the standard errors of `explanation`, which `explain` made of `game`, what the draws of the game leave to chance.
///
/// Where the law draws nothing there is nothing to add, and a single draw leaves none. Takes the predictions of the explanation once more.
pub(crate) fn add_errors_of_draws(
    game: &Conditional<'_>,
    seed: u64,
    explanation: &mut Explanation,
    explain: impl FnOnce(&dyn Game) -> Result<Explanation, ExplainError>,
) -> Result<(), ExplainError> {
    let independent = match game.law().sampling() {
        Sampling::Independent => game.law().draws(),
        Sampling::Antithetic => game.law().draws() / 2,
        _ => return Ok(()),
    };
    if independent < 2 {
        // A single draw does not tell how far it is off.
        explanation.std_errors = None;
    }
    let Some(errors) = explanation.std_errors.as_mut() else { return Ok(()) };
    let noise = explain(&ErrorsOfDraws::new(game, REPLICATES, seed))?;
    for (error, replicates) in errors.iter_mut().zip(noise.values.chunks_exact(REPLICATES)) {
        let variance = replicates.iter().map(|value| value * value).sum::<f64>() / REPLICATES as f64;
        *error = error.hypot(variance.sqrt());
    }
    explanation.model_rows += noise.model_rows;
    Ok(())
}
