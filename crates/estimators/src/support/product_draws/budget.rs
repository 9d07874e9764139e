//! Budgets for coalitions that are evaluated in one scenario, and the resulting explanation.

use apportion_games::Game;

use super::strata::Estimates;
use crate::error::{EstimatorError, Result};
use crate::report::{Diagnostics, ErrorDistribution, Explanation};
use crate::run::{Estimator, Evaluations, at_most_all};

/// Returns the number of draws that a budget of M evaluations allows in addition to v(∅) and v(N). A draw
/// takes `rows` evaluations in one of B scenarios, so the number is `⌊(M − 2) B / rows⌋`.
///
/// # Errors
///
/// [`EstimatorError::Budget`] if the number is less than `min_draws`.
///
/// # Panics
///
/// If `rows` is zero, unless the budget is rejected.
pub(crate) fn affordable_draws(
    estimator: &dyn Estimator,
    game: &dyn Game,
    budget: usize,
    rows: usize,
    min_draws: usize,
) -> Result<usize> {
    let scenarios = game.scenarios() as u128;
    let least = 2 + (rows as u128 * min_draws as u128).div_ceil(scenarios);
    if (budget as u128) < least {
        let enough = estimator.minimum_budget(game.players());
        return Err(EstimatorError::Budget {
            method: estimator.name(),
            actual: budget,
            // For few players, enumeration may be cheaper.
            min: usize::try_from(least).map_or(usize::MAX, |least| least.min(enough)),
            players: game.players(),
        });
    }
    let draws = (budget as u128 - 2) * scenarios / rows as u128;
    Ok(usize::try_from(draws).unwrap_or(usize::MAX))
}

/// Returns the explanation for `estimates`, after evaluating v(∅) and v(N).
pub(crate) fn explanation(
    estimator: &dyn Estimator,
    game: &dyn Game,
    seed: u64,
    estimates: impl FnOnce(&Evaluations<'_>) -> Result<Estimates>,
) -> Result<Explanation> {
    let ends = Evaluations::begin(game)?;
    let estimates = estimates(&ends)?;
    let share = |of_all: usize| {
        let all = estimates.scenario_evaluations as u128 * of_all as u128;
        usize::try_from(all.div_ceil(game.scenarios() as u128)).unwrap_or(usize::MAX)
    };
    let (evaluations, model_rows) =
        (ends.count + share(1), ends.model_rows() + share(game.rows_per_coalition()));
    // Methods that know more about the error distribution add it later.
    let error_distribution = estimates
        .std_errors
        .as_ref()
        .map(|_| ErrorDistribution { one_draw: estimates.one_draw, ..ErrorDistribution::default() });
    let diagnostics = Diagnostics { error_distribution, ..Diagnostics::default() };
    let explanation = ends.explain(estimator, estimates.values, estimates.std_errors, seed, diagnostics);
    let distinct_coalitions = at_most_all(evaluations, game.players());
    Ok(Explanation { evaluations, distinct_coalitions, model_rows, ..explanation })
}
