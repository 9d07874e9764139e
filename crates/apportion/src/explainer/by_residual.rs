//! Explains rows by a surrogate with exact values, and by any method for the difference of the model and the
//! surrogate.
//!
//! All values are linear in the game, so this approach applies to every value that is exact for trees, and to
//! weighted backgrounds. The regression of the table method is more accurate, but it computes Shapley and
//! Banzhaf values only, with a background of equal weights.

use apportion_estimators::{Explanation, Scale, methods};
use apportion_games::{GameError, Model, Rows, Shared};
use apportion_surrogates::{ResidualModel, Surrogate, TableMethod};
use apportion_values::Value;

use super::Explainer;
use crate::error::ExplainError;
use crate::game_explainer::{Extent, GameExplainer, ObservedRun};
use crate::method::Method;
use crate::observer::RunObserver;
use crate::plan::Plan;
use crate::source::Source;

/// The minimum number of background rows for which a small budget draws single background rows.
const MIN_BACKGROUND: usize = 10;
/// The number of evaluations per player below which a budget is small: for semivalues, and for values of
/// players in groups. Regressions need about this many evaluations.
const FEW: (usize, usize) = (5, 10);

/// The minimum number of draws of single background rows for each player, for standard errors.
const MIN_DRAWS: usize = 5;

/// The difference of a model and its surrogate.
type Residual<'a> = ResidualModel<'a, dyn Model + 'a>;

impl Explainer<'_> {
    /// Returns whether [`Method::Table`] estimates the values of the difference by another method: for values
    /// that its regression does not compute, and for a weighted background.
    pub(super) fn uses_residual(&self) -> bool {
        let is_weighted = || {
            self.source.model_and_background().is_ok_and(|(_, background)| !background.has_equal_weights())
        };
        self.asked.method == Method::Table && (!TableMethod::computes(&self.asked.value) || is_weighted())
    }

    /// Returns the settings of the method that explains the difference: the automatic one, but Monte Carlo
    /// with single background rows for a small budget.
    fn asked_of_residual(&self) -> GameExplainer {
        // The difference between an additive model and its surrogate is not additive.
        let asked = GameExplainer { method: Method::Auto, interactions: None, ..self.asked.clone() };
        let Ok((_, background)) = self.source.model_and_background() else { return asked };
        let (players, value) = (background.columns(), &self.asked.value);
        let Extent::Sample(budget) = asked.extent(players) else { return asked };
        let per_player = if matches!(value, Value::Semivalue(_)) { FEW.0 } else { FEW.1 };
        let is_few = budget < per_player * players && background.len() >= MIN_BACKGROUND;
        match asked.method_of(players, value, Extent::Sample(budget)) {
            Method::Exact => asked,
            _ if is_few => GameExplainer { method: Method::By(&methods::PRODUCT_SPACE), ..asked },
            _ => asked,
        }
    }

    /// Returns the plan of the method that explains the difference.
    pub(super) fn plan_of_residual(&self) -> Result<Plan, ExplainError> {
        let (_, background) = self.source.model_and_background()?;
        let asked = self.asked_of_residual();
        let mut plan = asked.plan(background.columns())?;
        if asked.method == Method::By(&methods::PRODUCT_SPACE) {
            // Standard errors require several draws, each of which predicts only single background rows.
            let of_draws = |least: usize| 2 + (MIN_DRAWS * (least - 2)).div_ceil(background.len());
            plan.min_evaluations = plan.min_evaluations.map(|least| least.min(of_draws(least.max(2))));
        }
        Ok(Plan { method: Method::Table, budget: plan.budget.or(plan.max_evaluations), ..plan })
    }

    /// Explains each row separately, all with the same surrogate.
    pub(super) fn explain_rows_by_residual(
        &self,
        explicands: Rows<'_>,
        observer: &dyn RunObserver,
        follows_runs: bool,
    ) -> Result<Vec<Explanation>, ExplainError> {
        let (_, background) = self.source.model_and_background()?;
        if explicands.is_empty() {
            return Ok(Vec::new());
        }
        if explicands.columns() != background.columns() {
            // Reject a wrong width before a surrogate is learned.
            let (actual, expected) = (explicands.columns(), background.columns());
            return Err(GameError::Width { what: "row 0".to_owned(), actual, expected }.into());
        }
        self.asked.results(background.columns())?;
        self.plan_of_residual()?.check()?;
        if self.enumerates_all() {
            let explain = |row: &[f64], followed: Option<&ObservedRun<'_>>| {
                let mut explanation = self.explain_by_game(row, followed)?;
                explanation.method = Method::Table.name().to_owned();
                Ok(explanation)
            };
            return self.explain_each_row(explicands, observer, follows_runs, &explain).into_iter().collect();
        }
        self.with_residual(&|residual| {
            let explain = |row: &[f64], followed: Option<&ObservedRun<'_>>| {
                self.explain_row_by_residual(residual, row, followed)
            };
            self.explain_each_row(explicands, observer, follows_runs, &explain).into_iter().collect()
        })
    }

    /// Returns whether the budget covers all coalitions, so that a surrogate does not help.
    fn enumerates_all(&self) -> bool {
        let players = self.source.model_and_background().map_or(0, |(_, background)| background.columns());
        let asked = self.asked_of_residual();
        self.asked.until.is_none()
            && asked.method_of(players, &self.asked.value, asked.extent(players)) == Method::Exact
    }

    /// Calls `explain` with the difference of the model and its surrogate: the surrogate of this explainer,
    /// or one that is learned from hybrids of the background rows.
    pub(super) fn with_residual<T>(
        &self,
        explain: &dyn Fn(&Residual<'_>) -> Result<T, ExplainError>,
    ) -> Result<T, ExplainError> {
        let (model, background) = self.source.model_and_background()?;
        // Without a tolerance, the values are also estimated without the surrogate, from the same
        // predictions.
        let compares = self.asked.until.is_none();
        let explain = |residual: Residual<'_>| {
            explain(&if compares { residual.with_model_outputs() } else { residual })
        };
        if let Some(surrogate) = &self.surrogate {
            return explain(ResidualModel::new(model, surrogate, background)?);
        }
        self.with_own_surrogate(&mut |surrogate: &Surrogate, is_checked| {
            explain(match is_checked {
                true => ResidualModel::new(model, surrogate, background)?,
                false => ResidualModel::unchecked(model, surrogate, background)?,
            })
        })
    }

    /// Explains one row: the exact values of the surrogate plus those of the difference.
    fn explain_row_by_residual(
        &self,
        residual: &Residual<'_>,
        row: &[f64],
        followed: Option<&ObservedRun<'_>>,
    ) -> Result<Explanation, ExplainError> {
        let (_, background) = self.source.model_and_background()?;
        let exact = residual.values(&self.asked.value, Rows::new(row, background.columns()))?;
        let is_relative = self.asked.until.is_some_and(|until| until.scale != Scale::Absolute);
        let known = if is_relative { exact.values.clone() } else { Vec::new() };
        let inner = Explainer {
            asked: GameExplainer { known, ..self.asked_of_residual() },
            null_players: self.null_players,
            ..Explainer::from_source(Source::Model(Shared::from(residual as &dyn Model), background.clone()))
        };
        let mut explanation = inner.explain_by_game(row, followed)?;
        let method = std::mem::replace(&mut explanation.method, Method::Table.name().to_owned());
        let uses_surrogate = match self.asked.until {
            None => keep_smaller_errors(&mut explanation),
            Some(_) => vec![true; exact.base.len()],
        };
        let parts = [
            (&mut explanation.values, &exact.values),
            (&mut explanation.base, &exact.base),
            (&mut explanation.prediction, &exact.predictions),
        ];
        for (sums, exact) in parts {
            let is_used = uses_surrogate.iter().cycle();
            for ((sum, exact), _) in sums.iter_mut().zip(exact).zip(is_used).filter(|(_, is_used)| **is_used)
            {
                *sum += exact;
            }
        }
        explanation.diagnostics.chosen = Some(chosen(&uses_surrogate, &method));
        Ok(explanation)
    }
}

/// Keeps one of two estimates for each output. The first half of the explanation's outputs belongs to the
/// difference, and the second half to the model itself; the estimate with the smaller standard errors is
/// kept. Returns, for each output, whether that of the difference was kept.
fn keep_smaller_errors(explanation: &mut Explanation) -> Vec<bool> {
    let outputs = explanation.outputs() / 2;
    let variances = |output: usize| -> f64 {
        let errors = explanation.std_errors.iter().flatten().skip(output).step_by(2 * outputs);
        errors.map(|error| error * error).sum()
    };
    let uses_difference: Vec<bool> =
        (0..outputs).map(|output| variances(output) <= variances(outputs + output)).collect();
    let keep = |numbers: &mut Vec<f64>| {
        let rows = numbers.chunks_exact(2 * outputs);
        let kept = |row: &[f64]| -> Vec<f64> {
            let places = uses_difference.iter().enumerate();
            places.map(|(output, first)| row[if *first { output } else { outputs + output }]).collect()
        };
        *numbers = rows.flat_map(kept).collect();
    };
    keep(&mut explanation.values);
    keep(&mut explanation.base);
    keep(&mut explanation.prediction);
    explanation.std_errors.as_mut().map(keep);
    explanation.diagnostics.residual_sum_of_squares.as_mut().map(keep);
    if let Some(distribution) = &mut explanation.diagnostics.error_distribution {
        keep(&mut distribution.directions);
        keep(&mut distribution.one_draw);
        keep(&mut distribution.shown_by_ends);
    }
    uses_difference
}

/// Describes the choice: the outputs for which the surrogate was used (unless all or none), and the method
/// that explained the difference.
fn chosen(uses_surrogate: &[bool], method: &str) -> String {
    let used: Vec<String> = uses_surrogate
        .iter()
        .enumerate()
        .filter(|(_, used)| **used)
        .map(|(output, _)| output.to_string())
        .collect();
    match used.len() {
        0 => method.to_owned(),
        count if count == uses_surrogate.len() => format!("surrogate and {method}"),
        _ => format!("surrogate for outputs {} and {method} for all", used.join(", ")),
    }
}
