//! Explains all rows of a call as one table.

use apportion_estimators::Explanation;
use apportion_games::{Background, GameError, Model, Rows};
use apportion_surrogates::TableMethod;

use super::Explainer;
use crate::budget::Budget;
use crate::error::ExplainError;
use crate::method::Method;
use crate::observer::{CountRows, RunObserver};
use crate::plan::Plan;

impl Explainer<'_> {
    /// Returns an error if the game is not the marginal game of a model with background rows.
    pub(super) fn check_table_method(&self) -> Result<(), ExplainError> {
        self.source.model_and_background().map(drop)
    }

    /// Explains all rows as one table. The stored results of the observer are used if there is one for each
    /// row, because the values of a row depend on all rows.
    pub(super) fn explain_by_table(
        &self,
        explicands: Rows<'_>,
        observer: &dyn RunObserver,
    ) -> Result<Vec<Explanation>, ExplainError> {
        if (0..explicands.len()).any(|row| observer.on_row_start(row).is_break()) {
            return Err(GameError::Interrupted { evaluations: 0 }.into());
        }
        let stored: Option<Vec<Explanation>> =
            (0..explicands.len()).map(|row| observer.load_result(row)).collect();
        let explanations = match stored {
            Some(stored) => stored,
            None => self.table(explicands)?,
        };
        for (row, explanation) in explanations.iter().enumerate() {
            observer.on_row_done(row, explanation);
        }
        Ok(explanations)
    }

    /// Explains one row as a table of its own.
    pub(super) fn explain_by_table_alone(&self, explicand: &[f64]) -> Result<Explanation, ExplainError> {
        let rows = Rows::new(explicand, explicand.len().max(1));
        let found = self.explain_by_table(rows, &CountRows(|| {}))?.pop();
        found.ok_or_else(|| {
            let expected = self.source.model_and_background().map_or(0, |(_, rows)| rows.columns());
            // An empty slice does not contain a row.
            GameError::Width { what: "the explicand".to_owned(), actual: 0, expected }.into()
        })
    }

    /// Returns the plan of the table method: its number of rows of the model, in evaluations.
    pub(super) fn plan_of_table(&self) -> Result<Plan, ExplainError> {
        let (_, background) = self.source.model_and_background()?;
        let players = background.columns();
        let evaluations = |rows: usize| rows.div_ceil(background.len());
        let most = Some(evaluations(self.model_rows(background)));
        Ok(Plan {
            method: Method::Table,
            min_evaluations: Some(evaluations(TableMethod::MIN_BUDGET)),
            max_evaluations: most,
            budget: most,
            players,
            seconds: None,
            given: most.filter(|_| self.asked.budget != Budget::Auto),
        })
    }

    fn table(&self, explicands: Rows<'_>) -> Result<Vec<Explanation>, ExplainError> {
        let (model, background): (&dyn Model, &Background) = self.source.model_and_background()?;
        self.plan_of_table()?.check()?;
        let method = TableMethod::new(self.model_rows(background));
        let mut explanations = method.explain(model, explicands, background, self.asked.seed)?;
        for explanation in &mut explanations {
            explanation.value = self.asked.value.concept();
        }
        Ok(explanations)
    }

    fn model_rows(&self, background: &Background) -> usize {
        self.asked.budget.model_rows(background.columns(), background.len())
    }
}
