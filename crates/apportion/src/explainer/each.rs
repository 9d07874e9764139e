//! Explains many rows in bounded memory, block by block.

use std::ops::ControlFlow;

use apportion_estimators::Explanation;
use apportion_games::Rows;

use super::Explainer;
use crate::error::ExplainError;
use crate::method::Method;
use crate::observer::CountRows;

/// Rows per thread in a block. At the end of a block, a thread idles for a fraction of a row's time until the
/// other threads have finished, unless it can help them.
const ROWS_PER_THREAD: usize = 16;
/// Rows in a block of the tree method, which has a fixed cost per call.
const ROWS_OF_TREE_METHOD: usize = 1 << 12;

impl Explainer<'_> {
    /// Explains all rows in parallel and passes each explanation to `receive`. Use this for tables whose
    /// explanations do not fit in memory.
    ///
    /// `receive` is called with the index of a row and its explanation, in the order of the rows, on the
    /// calling thread. If it returns [`ControlFlow::Break`], no more rows are explained.
    ///
    /// Rows are explained in blocks: 16 rows per thread, one row if the model can only be called from one
    /// thread and there is no surrogate, and 4096 rows for the tree method. Without a learned surrogate or a
    /// tolerance, the regression of [`Method::Table`] explains all rows as one block, because they form one
    /// table. The size of a block is the number of explanations in memory. It is also the maximum number of
    /// rows that are explained unnecessarily if `receive` stops. The explanations equal the results of
    /// [`explain_rows`](Self::explain_rows) bit for bit. For the tree method, which chooses its kernel by the
    /// number of rows, they are equal up to rounding.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    ///
    /// use apportion::{Background, Explainer, Rows};
    ///
    /// let model = |row: &[f64]| row[0] + 2.0 * row[1];
    /// let explainer = Explainer::new(&model, Background::baseline(vec![0.0; 2])?);
    /// let rows: Vec<f64> = (0..2000).map(f64::from).collect();
    /// let mut first_above = None;
    /// explainer.explain_each(Rows::new(&rows, 2), |row, explanation| {
    ///     if explanation.values[1] < 100.0 {
    ///         return ControlFlow::Continue(());
    ///     }
    ///     first_above = Some(row);
    ///     ControlFlow::Break(())
    /// })?;
    /// assert_eq!(first_above, Some(25));
    /// # Ok::<(), apportion::ExplainError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`explain`](Self::explain) for the first failing row, after the preceding rows have been
    /// passed on. For the tree method, the preceding blocks have been passed on, and the row index in the
    /// error counts from the beginning of the block.
    pub fn explain_each(
        &self,
        explicands: Rows<'_>,
        mut receive: impl FnMut(usize, Explanation) -> ControlFlow<()>,
    ) -> Result<(), ExplainError> {
        self.check_method()?;
        let block = if let Some(rows) = self.rows_of_tables(explicands.len()) {
            rows
        } else if self.exact_method() == Some(Method::Tree) {
            ROWS_OF_TREE_METHOD
        } else if self.source.parallel() {
            ROWS_PER_THREAD * rayon::current_num_threads()
        } else {
            1
        };
        for first in (0..explicands.len()).step_by(block) {
            let rows = explicands.slice(first..explicands.len().min(first + block));
            let explained = match self.explain_by_exact_method(rows)? {
                Some(explanations) => explanations.into_iter().map(Ok).collect(),
                #[cfg(feature = "surrogates")]
                None if self.uses_table() => {
                    self.explain_by_table(rows, &CountRows(|| {}))?.into_iter().map(Ok).collect()
                }
                #[cfg(feature = "surrogates")]
                None if self.uses_residual() => {
                    let found = self.explain_rows_by_residual(rows, &CountRows(|| {}), false)?;
                    found.into_iter().map(Ok).collect()
                }
                None => self.explain_rows_by_game(rows, &CountRows(|| {}), false),
            };
            for (row, explanation) in (first..).zip(explained) {
                if receive(row, explanation?).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Returns the number of rows in a block of the table method, if it is used.
    #[cfg(feature = "surrogates")]
    fn rows_of_tables(&self, rows: usize) -> Option<usize> {
        if self.uses_residual() {
            return None;
        }
        let of_rows = ROWS_PER_THREAD * rayon::current_num_threads();
        self.uses_table().then_some(if self.explains_rows_together() { rows.max(1) } else { of_rows })
    }

    #[cfg(not(feature = "surrogates"))]
    fn rows_of_tables(&self, _: usize) -> Option<usize> {
        None
    }
}
