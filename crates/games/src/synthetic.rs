//! Coalition values as weighted means of a model's predictions for synthetic rows.
//!
//! # Notation
//!
//! A *synthetic row* of a coalition `S` has the explicand's values in `S`, and replacement values for absent
//! features. `f` is the model, with `k` outputs; the rows `r` of a coalition have weights `w_r` that sum to
//! 1.
//!
//! ```text
//! v(S) = Σ_r w_r f(r)
//! ```
//!
//! # Chunks
//!
//! Synthetic rows are built and predicted in chunks of a fixed number of cells, so that memory does not grow
//! with coalitions × rows. A chunk contains whole coalitions, or a part of one coalition whose rows do not
//! fit. Sums are pairwise, by the index of a row within its coalition, and chunks are split at powers of two.
//! Therefore the bits of v(S) do not depend on the chunks, the batch or the threads, if the model predicts
//! each row independently of the other rows in a call.

use crate::parallel;
use std::ops::Range;

use crate::cancellation::Cancellation;
use crate::coalition::CoalitionView;
use crate::coalitions::Coalitions;
use crate::error::{BoxError, GameError};
use crate::game::check_finite;
use crate::model::{Model, Rows};
use crate::near::NearReference;

/// Number of cells (f64 numbers) of a chunk of synthetic rows: half a MiB. A row with more columns is a chunk
/// by itself.
const CHUNK_CELLS: usize = 1 << 16;

/// The synthetic rows of a coalition and their weights. A game may panic if the number of rows differs from
/// the number of weights.
pub trait SyntheticRows: Sync {
    /// Returns the weights of the rows: at least one, one per row, non-negative, summing to 1.
    fn weights(&self) -> &[f64];

    /// Appends the rows in `range` to `rows`, one after another. The contents of a row must not depend on the
    /// range.
    ///
    /// # Panics
    ///
    /// May panic if the range is out of bounds.
    fn append(&self, range: Range<usize>, rows: &mut Vec<f64>);
}

/// A single row, with weight 1.
#[cfg(feature = "conditional")]
pub(crate) struct OneRow(pub(crate) Vec<f64>);

#[cfg(feature = "conditional")]
impl SyntheticRows for OneRow {
    fn weights(&self) -> &[f64] {
        &[1.0]
    }

    fn append(&self, range: Range<usize>, rows: &mut Vec<f64>) {
        range.for_each(|_| rows.extend_from_slice(&self.0));
    }
}

impl<R: SyntheticRows + ?Sized> SyntheticRows for Box<R> {
    fn weights(&self) -> &[f64] {
        (**self).weights()
    }

    fn append(&self, range: Range<usize>, rows: &mut Vec<f64>) {
        (**self).append(range, rows);
    }
}

/// A model whose predictions are averaged over synthetic rows.
pub(crate) struct AveragedModel<'a, M: ?Sized> {
    model: &'a M,
    outputs: usize,
    columns: usize,
    /// Maximum number of rows in a chunk, a power of two.
    chunk_rows: usize,
}

impl<M: ?Sized> AveragedModel<'_, M> {
    pub(crate) fn outputs(&self) -> usize {
        self.outputs
    }
}

/// An [`AveragedModel`] of any model, called through a pointer, so that its methods are compiled once.
pub(crate) struct AnyAveraged<'a> {
    predict: &'a dyn Predict,
    parallel: bool,
    outputs: usize,
    columns: usize,
    chunk_rows: usize,
}

/// A borrowed model, which may be unsized.
trait Predict: Sync {
    fn predict_rows(&self, rows: Rows<'_>, out: &mut [f64]) -> Result<(), BoxError>;
}

impl<M: Model + ?Sized> Predict for &M {
    fn predict_rows(&self, rows: Rows<'_>, out: &mut [f64]) -> Result<(), BoxError> {
        self.predict(rows, out)
    }
}

/// A function that returns the rows of a coalition.
type RowsOf<'f, 'b, R> = &'f (dyn Fn(CoalitionView<'b>) -> Result<R, GameError> + Sync + 'f);

/// A function that processes one piece of a slice; its argument is the piece with its index.
type Work<'f> = &'f (dyn Fn((usize, &mut [f64])) -> Result<(), GameError> + Sync + 'f);

impl<'a, M: Model + ?Sized> AveragedModel<'a, M> {
    /// Wraps `model` for rows with `columns` columns, at least one; `what` names such a row in error
    /// messages.
    pub(crate) fn new(model: &'a M, columns: usize, what: &str) -> Result<Self, GameError> {
        if let Some(wanted) = model.features().filter(|&features| features != columns) {
            return Err(GameError::Width { what: what.to_owned(), actual: columns, expected: wanted });
        }
        let outputs = model.outputs();
        if outputs == 0 {
            return Err(GameError::Parameter { what: "a model must have at least one output".to_owned() });
        }
        let fitting = (CHUNK_CELLS / columns).max(1);
        let rows = if model.parallel() { fitting.min(model.rows_per_call()).max(1) } else { fitting };
        // Round down to a power of two.
        Ok(Self { model, outputs, columns, chunk_rows: 1 << rows.ilog2() })
    }

    pub(crate) fn parallel(&self) -> bool {
        self.model.parallel()
    }

    /// Returns the model's predictor for rows near `reference`, if it has one.
    pub(crate) fn near(&self, reference: &[f64]) -> Option<Box<dyn NearReference>> {
        self.model.near(reference)
    }

    /// Returns the type-erased form.
    pub(crate) fn any(&self) -> AnyAveraged<'_> {
        AnyAveraged {
            predict: &self.model,
            parallel: self.parallel(),
            outputs: self.outputs,
            columns: self.columns,
            chunk_rows: self.chunk_rows,
        }
    }
}

impl AnyAveraged<'_> {
    pub(crate) fn outputs(&self) -> usize {
        self.outputs
    }

    /// Writes v(S) for each coalition in `batch`. `rows_of` returns the rows of a coalition; their usual
    /// number is `usual_rows`.
    pub(crate) fn values<'b, R: SyntheticRows>(
        &self,
        batch: &'b Coalitions,
        usual_rows: usize,
        rows_of: RowsOf<'_, 'b, R>,
        out: &mut [f64],
    ) -> Result<(), GameError> {
        assert_eq!(batch.players(), self.columns, "the coalitions belong to another game");
        assert_eq!(
            out.len(),
            batch.len() * self.outputs,
            "`out` must hold one value per coalition and output"
        );
        let coalitions = (self.chunk_rows / usual_rows.max(1)).max(1);
        self.pieces(out, coalitions * self.outputs, &|(index, out)| {
            let first = index * coalitions;
            let together = first..first + out.len() / self.outputs;
            let rows_of = |index| {
                Cancellation::check();
                rows_of(batch.row(index))
            };
            let rows = together.map(rows_of).collect::<Result<Vec<R>, _>>()?;
            if rows.iter().map(|rows| rows.weights().len()).sum::<usize>() <= self.chunk_rows {
                return self.whole(batch.row(first), &rows, out);
            }
            for ((index, rows), out) in (first..).zip(&rows).zip(out.chunks_exact_mut(self.outputs)) {
                self.split(batch.row(index), rows, out)?;
            }
            Ok(())
        })?;
        check_finite(batch, self.outputs, out)
    }

    /// Writes the prediction for row `scenarios[j]` of each coalition S_j in `batch`. If S_j has only one
    /// row, writes the prediction for this row.
    pub(crate) fn values_in_scenarios<'b, R: SyntheticRows>(
        &self,
        batch: &'b Coalitions,
        scenarios: &[usize],
        rows_of: RowsOf<'_, 'b, R>,
        out: &mut [f64],
    ) -> Result<(), GameError> {
        assert_eq!(batch.players(), self.columns, "the coalitions belong to another game");
        assert_eq!(scenarios.len(), batch.len(), "expected one scenario per coalition");
        assert_eq!(
            out.len(),
            batch.len() * self.outputs,
            "`out` must hold one value per coalition and output"
        );
        self.pieces(out, self.chunk_rows * self.outputs, &|(index, out)| {
            let first = index * self.chunk_rows;
            let count = out.len() / self.outputs;
            let mut synthetic = Vec::with_capacity(count * self.columns);
            for (index, &scenario) in (first..).zip(&scenarios[first..first + count]) {
                let rows = rows_of(batch.row(index))?;
                let row = if rows.weights().len() == 1 { 0 } else { scenario };
                rows.append(row..row + 1, &mut synthetic);
            }
            out.copy_from_slice(&self.predict(&synthetic, batch.row(first))?);
            Ok(())
        })?;
        check_finite(batch, self.outputs, out)
    }

    /// Returns the predictions of all rows of one coalition, row-major.
    #[cfg(feature = "conditional")]
    pub(crate) fn predictions(
        &self,
        coalition: CoalitionView<'_>,
        rows: &dyn SyntheticRows,
    ) -> Result<Vec<f64>, GameError> {
        let count = rows.weights().len();
        let mut predictions = vec![0.0; count * self.outputs];
        self.pieces(&mut predictions, self.chunk_rows * self.outputs, &|(index, out)| {
            let first = index * self.chunk_rows;
            let synthetic = self.synthetic(rows, first..first + out.len() / self.outputs);
            out.copy_from_slice(&self.predict(&synthetic, coalition)?);
            Ok(())
        })?;
        Ok(predictions)
    }

    /// Splits `out` into pieces of length `piece`, and runs `work` on each piece and its index. If several
    /// calls fail, returns the error for the lowest index.
    pub(crate) fn pieces(&self, out: &mut [f64], piece: usize, work: Work<'_>) -> Result<(), GameError> {
        let in_parallel = self.parallel && out.len() > piece;
        let mut pieces = out.chunks_mut(piece).enumerate();
        if in_parallel {
            return parallel::try_map(pieces, work).map(drop);
        }
        pieces.try_for_each(|piece| {
            Cancellation::check();
            work(piece)
        })
    }

    /// Writes the values of consecutive coalitions, starting at `first`. All their rows fit in one chunk.
    fn whole<R: SyntheticRows>(
        &self,
        first: CoalitionView<'_>,
        rows: &[R],
        out: &mut [f64],
    ) -> Result<(), GameError> {
        let count: usize = rows.iter().map(|rows| rows.weights().len()).sum();
        let mut synthetic = Vec::with_capacity(count * self.columns);
        for rows in rows {
            rows.append(0..rows.weights().len(), &mut synthetic);
        }
        let mut predictions = &mut self.predict(&synthetic, first)?[..];
        for (rows, out) in rows.iter().zip(out.chunks_exact_mut(self.outputs)) {
            let (mine, others) = predictions.split_at_mut(rows.weights().len() * self.outputs);
            weigh(mine, rows.weights());
            out.copy_from_slice(pairwise(mine, self.outputs));
            predictions = others;
        }
        Ok(())
    }

    /// Writes the value of one coalition whose rows may need several chunks.
    fn split(
        &self,
        coalition: CoalitionView<'_>,
        rows: &dyn SyntheticRows,
        out: &mut [f64],
    ) -> Result<(), GameError> {
        let (count, k) = (rows.weights().len(), self.outputs);
        let mut sums = vec![0.0; count.div_ceil(self.chunk_rows) * k];
        self.pieces(&mut sums, k, &|(index, sum)| {
            let range = index * self.chunk_rows..count.min((index + 1) * self.chunk_rows);
            let synthetic = self.synthetic(rows, range.clone());
            let mut predictions = self.predict(&synthetic, coalition)?;
            weigh(&mut predictions, &rows.weights()[range]);
            sum.copy_from_slice(pairwise(&mut predictions, k));
            Ok(())
        })?;
        out.copy_from_slice(pairwise(&mut sums, k));
        Ok(())
    }

    fn synthetic(&self, rows: &dyn SyntheticRows, range: Range<usize>) -> Vec<f64> {
        let mut synthetic = Vec::with_capacity(range.len() * self.columns);
        rows.append(range, &mut synthetic);
        synthetic
    }

    /// Returns the predictions for the synthetic rows of a chunk; `first` is its first coalition.
    fn predict(&self, synthetic: &[f64], first: CoalitionView<'_>) -> Result<Vec<f64>, GameError> {
        let rows = Rows::new(synthetic, self.columns);
        // NaN reveals outputs that the model did not write.
        let mut predictions = vec![f64::NAN; rows.len() * self.outputs];
        match self.predict.predict_rows(rows, &mut predictions) {
            Ok(()) => Ok(predictions),
            Err(source) => Err(GameError::from_model(source, first)),
        }
    }
}

/// Multiplies each row in `rows` by its weight.
pub(crate) fn weigh(rows: &mut [f64], weights: &[f64]) {
    let outputs = rows.len() / weights.len();
    for (row, weight) in rows.chunks_exact_mut(outputs).zip(weights) {
        row.iter_mut().for_each(|value| *value *= weight);
    }
}

/// Returns the pairwise sum of the rows in `rows`, which have `k` numbers each. Overwrites `rows`.
///
/// Rows `2^p · j` to `2^p · (j + 1)` form a separate subtree of the summation, so that sums of such blocks
/// can be computed separately with identical bits.
pub(crate) fn pairwise(rows: &mut [f64], k: usize) -> &[f64] {
    let mut count = rows.len() / k;
    while count > 1 {
        for pair in 0..count / 2 {
            for output in 0..k {
                rows[pair * k + output] = rows[2 * pair * k + output] + rows[(2 * pair + 1) * k + output];
            }
        }
        if count % 2 == 1 {
            rows.copy_within((count - 1) * k..count * k, count / 2 * k);
        }
        count = count.div_ceil(2);
    }
    &rows[..k]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_aligned_blocks_sum_to_the_same_bits() {
        let k = 2;
        for count in [1, 2, 3, 7, 8, 9, 63, 64, 65, 200] {
            let rows: Vec<f64> = (0..count * k).map(|i| (i as f64 * 0.7).sin() / 3.0).collect();
            let mut blocks: Vec<f64> =
                rows.chunks(8 * k).flat_map(|block| pairwise(&mut block.to_vec(), k).to_vec()).collect();
            assert_eq!(pairwise(&mut blocks, k), pairwise(&mut rows.clone(), k), "{count} rows");
        }
    }

    #[test]
    fn the_last_row_of_an_odd_count_is_counted_once() {
        for count in 1..20 {
            let mut rows: Vec<f64> = (0..count).map(f64::from).collect();
            assert_eq!(pairwise(&mut rows, 1), [f64::from(count * (count - 1) / 2)]);
        }
    }
}
