//! Many rows in bounded memory: explained in blocks, handed over one by one.

use std::ops::ControlFlow;

use apportion_estimators::Explanation;
use apportion_games::Rows;

use super::Explainer;
use crate::error::ExplainError;
use crate::follow::CountRows;

/// Rows of a block for each thread. At the end of a block a thread waits for the others for a part of a row, unless it can help.
const ROWS_PER_THREAD: usize = 16;
/// Rows of a block that the tree oracle explains, which prepares something for each call.
const ROWS_OF_ORACLE: usize = 1 << 12;

impl Explainer<'_> {
    /// Explains all rows, in parallel, and hands each explanation over as it comes: for so many rows that their explanations should not
    /// be in memory all at once.
    ///
    /// `receive` gets the number of a row and its explanation, in the order of the rows, on the calling thread. Where it answers
    /// [`ControlFlow::Break`], no further row is handed over.
    ///
    /// Rows are explained in blocks of 16 for each thread, one after the other where the model is called by one thread only, and in
    /// blocks of 4096 by the tree oracle. So many explanations are in memory, and so many rows may have been explained in vain when
    /// `receive` stops. The explanations have the bits of [`explain_rows`](Self::explain_rows); those of the tree oracle, which chooses
    /// its kernel by the number of rows, up to rounding.
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
    /// As [`explain`](Self::explain), of the first failing row, after those before it were handed over; of the tree oracle, after the
    /// blocks before it, and its error counts rows from the beginning of the block.
    pub fn explain_each(
        &self,
        explicands: Rows<'_>,
        mut receive: impl FnMut(usize, Explanation) -> ControlFlow<()>,
    ) -> Result<(), ExplainError> {
        self.check_method()?;
        let block = if self.asks_oracle() {
            ROWS_OF_ORACLE
        } else if self.source.parallel() {
            ROWS_PER_THREAD * rayon::current_num_threads()
        } else {
            1
        };
        for first in (0..explicands.len()).step_by(block) {
            let rows = explicands.slice(first..explicands.len().min(first + block));
            let explained = match self.explain_by_oracle(rows)? {
                Some(explanations) => explanations.into_iter().map(Ok).collect(),
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
}
