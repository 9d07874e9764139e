//! Explaining by an oracle, which knows exact values and plays no game.

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
    /// Exact values of all rows; none where no oracle is to be asked.
    pub(super) fn explain_by_oracle(
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

    /// Exact values of all rows, where an oracle knows them, and `None` where a game is to be played: the numbers of
    /// [`explain_rows`](Self::explain_rows) without an [`Explanation`] for each row, for tables of any length.
    ///
    /// The kernel is chosen by the number of rows, so that a row alone and the same row in a large table may differ in the last bits. With
    /// [`Settings::rows`](apportion_trees::Settings::rows) the values of a row do not depend on the other rows.
    ///
    /// # Errors
    ///
    /// As [`explain_rows`](Self::explain_rows).
    #[cfg(feature = "trees")]
    pub fn exact(&self, explicands: Rows<'_>) -> Result<Option<Attributions>, ExplainError> {
        self.check_method()?;
        match &self.source {
            Source::Trees(trees) if self.asks_oracle() => {
                self.asked.results(trees.features())?;
                Ok(Some(trees.values(&self.asked.value, explicands)?))
            }
            _ => Ok(None),
        }
    }

    /// What would be done with `count` rows, of which `sample` has some, and what it would take; nothing is evaluated.
    ///
    /// # Errors
    ///
    /// As [`explain_rows`](Self::explain_rows), but for what the runs themselves would refuse.
    pub fn plan(&self, count: usize, sample: Rows<'_>) -> Result<Plan, ExplainError> {
        self.check_method()?;
        #[cfg(feature = "trees")]
        if let (true, Source::Trees(trees)) = (self.asks_oracle(), &self.source) {
            let plan = trees.exact()?.plan_of(&self.asked.value, count, sample)?;
            let (least, most) = (Some(0), Some(0));
            return Ok(Plan { method: Method::Tree, least, most, seconds: Some(plan.seconds) });
        }
        self.asked.plan(sample.columns())
    }

    /// The features of the model, where an oracle knows them.
    pub(super) fn features(&self) -> usize {
        match &self.source {
            #[cfg(feature = "trees")]
            Source::Trees(trees) => trees.features(),
            _ => 0,
        }
    }
}
