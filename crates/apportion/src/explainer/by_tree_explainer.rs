//! Explains rows with a tree explainer, which computes exact values without evaluating a game.

use apportion_estimators::Explanation;
use apportion_games::Rows;

use super::Explainer;
use crate::error::ExplainError;
use crate::plan::Plan;
#[cfg(feature = "trees")]
use crate::{method::Method, source::Source};
#[cfg(feature = "trees")]
use apportion_values::Attributions;

impl Explainer<'_> {
    /// Returns the exact values of all rows; `None` if no tree explainer applies.
    pub(super) fn explain_by_tree_explainer(
        &self,
        explicands: Rows<'_>,
    ) -> Result<Option<Vec<Explanation>>, ExplainError> {
        #[cfg(feature = "trees")]
        if let Some(attributions) = self.exact(explicands)? {
            let explanations = (0..attributions.rows()).map(|row| {
                let (value, found) = (self.asked.value.concept(), attributions.of_row(row));
                self.asked.certified(Explanation::exact(Method::Tree.name(), value, found, (0, 0)))
            });
            return Ok(Some(explanations.collect()));
        }
        let _ = explicands;
        Ok(None)
    }

    /// Returns the exact values of all rows without evaluating a game, or `None` if the explainer has to
    /// evaluate a game. The values equal the values of [`explain_rows`](Self::explain_rows). There is no
    /// [`Explanation`] per row, so tables can have any length.
    ///
    /// The kernel is chosen by the number of rows, so the last bits of a row's values may depend on whether
    /// the row is explained alone or in a large table. [`Settings::rows`](apportion_trees::Settings::rows)
    /// makes them independent of the other rows.
    ///
    /// # Errors
    ///
    /// The errors of [`explain_rows`](Self::explain_rows).
    #[cfg(feature = "trees")]
    pub fn exact(&self, explicands: Rows<'_>) -> Result<Option<Attributions>, ExplainError> {
        self.check_method()?;
        match &self.source {
            Source::Trees(trees) if self.asks_tree_explainer() => {
                self.asked.results(trees.features())?;
                Ok(Some(trees.values(&self.asked.value, explicands)?))
            }
            _ => Ok(None),
        }
    }

    /// Returns the method and the cost of explaining `count` rows, without evaluating anything. `sample`
    /// contains some of the rows.
    ///
    /// # Errors
    ///
    /// The errors of [`explain_rows`](Self::explain_rows), except those that occur during the runs.
    pub fn plan(&self, count: usize, sample: Rows<'_>) -> Result<Plan, ExplainError> {
        self.check_method()?;
        #[cfg(feature = "trees")]
        if let (true, Source::Trees(trees)) = (self.asks_tree_explainer(), &self.source) {
            let plan = trees.exact()?.plan_of(&self.asked.value, count, sample)?;
            let (least, most) = (Some(0), Some(0));
            return Ok(Plan {
                method: Method::Tree,
                min_evaluations: least,
                max_evaluations: most,
                budget: None,
                players: trees.features(),
                seconds: Some(plan.seconds),
                given: None,
            });
        }
        self.asked.plan(sample.columns())
    }

    /// Returns the number of features of the model if a tree explainer exists, and 0 otherwise.
    pub(super) fn features(&self) -> usize {
        match &self.source {
            #[cfg(feature = "trees")]
            Source::Trees(trees) => trees.features(),
            _ => 0,
        }
    }
}
