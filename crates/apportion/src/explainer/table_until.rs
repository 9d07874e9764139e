//! Explains rows by the table method until a tolerance is reached.
//!
//! A row is explained with growing budgets, each with new draws. Each check spends a part of the error
//! probability, so that all checks together stay within it: three quarters of the remaining probability if
//! the check is expected to be the last, otherwise a twenty-fifth, as in
//! [`Anytime`](apportion_estimators::Anytime).

use apportion_estimators::{Explanation, InterimCheck, StopRule, Until};
use apportion_games::{GameError, Model, Rows};
use apportion_surrogates::{LearnedTable, TableMethod};

use super::Explainer;
use crate::budget::Budget;
use crate::error::ExplainError;

/// The fraction of the remaining error probability to spend on a check that is expected to be the last, and
/// on any other check.
const SPENT: (f64, f64) = (0.75, 0.04);
/// The minimum and the maximum factor by which a budget grows.
const GROWTH: (f64, f64) = (1.5, 4.0);
/// The factor by which a budget exceeds the budget that is predicted to reach the tolerance.
const MARGIN: f64 = 1.2;
/// The size of values, relative to the outputs, up to which they are rounding errors.
const ROUNDING: f64 = 1e-14;
/// If a budget covers at least this fraction of all coalitions, all of them are evaluated.
const NEARLY_ALL: f64 = 0.3;
/// If the residual sum of squares of some output is at most this fraction of the sum of squares of
/// predictions and base values, nothing varied in the sample.
const NOTHING: f64 = 1e-24;

impl Explainer<'_> {
    /// Explains each row until the tolerance is reached or the budget is exhausted.
    pub(super) fn explain_table_until(
        &self,
        learned: &LearnedTable<'_, dyn Model + '_>,
        until: &Until,
        rows: Rows<'_>,
    ) -> Result<Vec<Explanation>, ExplainError> {
        self.map_rows(rows, |row| self.explain_row_until(learned, until, row))
    }

    fn explain_row_until(
        &self,
        learned: &LearnedTable<'_, dyn Model + '_>,
        until: &Until,
        row: &[f64],
    ) -> Result<Explanation, ExplainError> {
        let (_, background) = self.source.model_and_background()?;
        let (players, scenarios) = (background.columns(), background.len());
        let most = until.max_evaluations(players).saturating_mul(scenarios).max(TableMethod::MIN_BUDGET);
        let all = 1usize.checked_shl(players as u32).and_then(|all| all.checked_mul(scenarios));
        let mut budget = Budget::Auto.model_rows(players, scenarios).min(most);
        let (mut left, mut is_expected) = (1.0 - until.confidence, false);
        let (mut checks, mut model_rows) = (Vec::<InterimCheck>::new(), 0usize);
        loop {
            let rows = Rows::new(row, players);
            let found = learned.explain_with_budget(rows, budget, self.asked.seed)?.pop();
            let mut explanation = found.ok_or(GameError::Interrupted { evaluations: 0 })?;
            model_rows += explanation.model_rows;
            let size = explanation.prediction.iter().chain(&explanation.base).map(|x| x * x).sum::<f64>();
            let varied = explanation.diagnostics.residual_sum_of_squares.iter().flatten();
            explanation.diagnostics.nothing_varied = !explanation.diagnostics.exact
                && varied.copied().fold(f64::INFINITY, f64::min) <= NOTHING * size;
            let spent = left * if is_expected { SPENT.0 } else { SPENT.1 };
            explanation.certify(&until.with_confidence(1.0 - spent));
            let Some(mut certificate) = explanation.certificate.take() else { return Ok(explanation) };
            let bounds = certificate.error_bounds.iter().flatten().zip(&certificate.tolerances);
            let ratio =
                |(&bound, &tolerance): (&f64, &f64)| if bound == 0.0 { 0.0 } else { bound / tolerance };
            let error = certificate.error_bounds.is_some().then(|| bounds.map(ratio).fold(0.0, f64::max));
            let error = error.filter(|error| error.is_finite());
            checks.push(InterimCheck::new(explanation.evaluations, spent, error));
            left -= spent;
            let is_reached = certificate.stopped_by == StopRule::Tolerance;
            let left_rows = most.saturating_sub(model_rows);
            let is_exhausted = left_rows < budget.max(TableMethod::MIN_BUDGET);
            // The values of a constant model are rounding errors, so a relative tolerance is undefined.
            let is_flat = explanation.values.iter().all(|value| value.abs() <= ROUNDING * size.sqrt());
            if !is_reached && is_flat {
                certificate.stopped_by = StopRule::NoScale;
            }
            if is_reached || is_exhausted || is_flat || checks.len() >= until.interim_checks {
                if !is_reached && !is_exhausted && certificate.stopped_by == StopRule::Budget {
                    certificate.stopped_by = StopRule::MaxChecks;
                }
                certificate.interim_checks = checks;
                explanation.certificate = Some(certificate);
                explanation.certify(until);
                explanation.model_rows = model_rows;
                explanation.evaluations = model_rows.div_ceil(scenarios);
                return Ok(explanation);
            }
            let growth = error.map_or(GROWTH.1, |error| error * error * MARGIN);
            is_expected = growth <= GROWTH.1;
            budget = (budget as f64 * growth.clamp(GROWTH.0, GROWTH.1)).ceil() as usize;
            // Evaluating all coalitions gives exact values, for at most a few times the cost.
            budget = match all {
                Some(all) if all <= left_rows && budget as f64 >= NEARLY_ALL * all as f64 => all,
                _ => budget.min(left_rows),
            };
        }
    }
}
