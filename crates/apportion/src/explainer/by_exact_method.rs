//! Explains rows of tree ensembles and kernel machines exactly, without evaluating a game.

use apportion_estimators::Explanation;
use apportion_games::Rows;

use super::Explainer;
use crate::error::ExplainError;
#[cfg(any(feature = "surrogates", feature = "trees"))]
use crate::method::Method;
use crate::plan::Plan;
#[cfg(any(feature = "kernels", feature = "trees"))]
use crate::source::Source;
use apportion_values::Attributions;

impl Explainer<'_> {
    /// Returns the exact values of all rows; `None` if no exact method without evaluations applies.
    pub(super) fn explain_by_exact_method(
        &self,
        explicands: Rows<'_>,
    ) -> Result<Option<Vec<Explanation>>, ExplainError> {
        let (Some(method), Some(attributions)) = (self.exact_method(), self.exact(explicands)?) else {
            return Ok(None);
        };
        let explanations = (0..attributions.rows()).map(|row| {
            let (value, found) = (self.asked.value.concept(), attributions.of_row(row));
            self.asked.certified(Explanation::exact(method.name(), value, found, (0, 0)))
        });
        Ok(Some(explanations.collect()))
    }

    /// Returns the exact values of all rows without evaluating a game, or `None` if the explainer has to
    /// evaluate a game. The values equal the values of [`explain_rows`](Self::explain_rows). There is no
    /// [`Explanation`] per row, so tables can have any length.
    ///
    /// The kernel for trees is chosen by the number of rows, so the last bits of a row's values may depend on
    /// whether the row is explained alone or in a large table. `Settings::rows` makes them independent of the
    /// other rows.
    ///
    /// # Errors
    ///
    /// The errors of [`explain_rows`](Self::explain_rows).
    pub fn exact(&self, explicands: Rows<'_>) -> Result<Option<Attributions>, ExplainError> {
        self.check_method()?;
        if self.exact_method().is_none() {
            return Ok(None);
        }
        self.asked.results(self.features())?;
        match (&self.source, &self.asked.value, explicands) {
            #[cfg(feature = "trees")]
            (Source::Trees(trees), value, rows) => trees.values(value, rows).map(Some),
            #[cfg(feature = "kernels")]
            (Source::Kernels(kernels), value, rows) => kernels.values(value, rows).map(Some),
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
        #[cfg(feature = "surrogates")]
        if self.uses_table() {
            return self.plan_of_table();
        }
        #[cfg(feature = "surrogates")]
        if self.uses_residual() {
            return self.plan_of_residual();
        }
        match (&self.source, count) {
            #[cfg(feature = "trees")]
            (Source::Trees(trees), count) if self.exact_method().is_some() => {
                let plan = trees.exact()?.plan_of(&self.asked.value, count, sample)?;
                Ok(Plan::without_evaluations(Method::Tree, trees.features(), plan.seconds))
            }
            #[cfg(feature = "kernels")]
            (Source::Kernels(kernels), count) if self.exact_method().is_some() => {
                kernels.plan(&self.asked.value, count)
            }
            _ => self.asked.plan(sample.columns()),
        }
    }

    /// Returns the number of features of a tree ensemble or a kernel machine, and 0 for other models.
    pub(super) fn features(&self) -> usize {
        match &self.source {
            #[cfg(feature = "trees")]
            Source::Trees(trees) => trees.features(),
            #[cfg(feature = "kernels")]
            Source::Kernels(kernels) => kernels.features(),
            _ => 0,
        }
    }
}
