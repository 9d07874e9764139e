//! Prediction of rows near a reference row. The cost depends on the number of cells that the changes affect.
//!
//! If the graph of a file is a sequence of layers (convolutions, activations, pooling, dense layers), it is
//! read as such. For a reference row, the values of every layer are stored. For a row with some changes, only
//! the affected values of each layer are computed, layer by layer:
//!
//! - The sums of a convolution, of a dense layer and of an average are updated by the changes of their inputs
//!   times the weights.
//! - The maximum of a window is recomputed if a cell of the window changed.
//! - A cell whose value is bitwise unchanged (such as an activation that is zero before and after) does not
//!   affect later layers.
//!
//! Cells that may have changed are stored as one span of columns for each row of the grid. They are processed
//! in a fixed order and reset afterwards, so that the prediction of a row depends only on its changes.

mod average;
mod chain;
mod constants;
mod convolution;
mod cost;
mod dense;
mod graph;
mod lanes;
mod layer;
mod max;
mod plane;
mod pointwise;
#[cfg(test)]
mod tests;
mod window;

use std::sync::Arc;

use apportion_games::{BoxError, Changes, GameError, NearReference};

use crate::error::OnnxError;

pub(crate) use chain::Chain;
use chain::State;
pub(crate) use graph::{chain, vocabulary_size};

/// A sequential network with the values of its layers for a reference row.
#[derive(Debug)]
pub(crate) struct NearRow {
    chain: Arc<Chain>,
    reference: State,
}

impl NearRow {
    /// Creates the network with this reference row, or returns `None` if a value of some layer is not finite.
    pub(crate) fn new(chain: Arc<Chain>, row: &[f32]) -> Option<Self> {
        let reference = chain.whole(row);
        reference.is_finite().then_some(Self { chain, reference })
    }

    /// Returns the outputs for the reference row.
    pub(crate) fn outputs(&self) -> Vec<f32> {
        let mut out = vec![0.0; self.chain.outputs()];
        self.chain.write(&self.reference, &mut out);
        out
    }

    fn refuse_illegal(&self, row: usize, changes: &[(usize, f64)]) -> Result<(), OnnxError> {
        let features = self.chain.features();
        for &(column, value) in changes {
            if column >= features {
                let (given, wanted) = (column + 1, features);
                return Err(
                    GameError::Width { what: format!("row {row}"), actual: given, expected: wanted }.into()
                );
            }
            if value.is_nan() {
                return Err(OnnxError::Missing { row, column });
            }
            if !(value as f32).is_finite() {
                let what = format!("row {row}");
                return Err(
                    GameError::InfiniteInput { what, column, value, reason: crate::error::COMPUTES }.into()
                );
            }
        }
        Ok(())
    }

    fn write_predictions(&self, rows: &Changes, out: &mut [f64]) -> Result<(), OnnxError> {
        let outputs = self.chain.outputs();
        let mut scratch = self.chain.scratch(&self.reference);
        let mut values = vec![0.0; outputs];
        for (row, (changes, out)) in rows.iter().zip(out.chunks_exact_mut(outputs)).enumerate() {
            self.refuse_illegal(row, changes)?;
            self.chain.follow(&self.reference, changes, &mut scratch, &mut values);
            for (output, (out, &value)) in out.iter_mut().zip(&values).enumerate() {
                let value = f64::from(value);
                if !value.is_finite() {
                    return Err(OnnxError::NotFinite { row, output, value });
                }
                *out = value;
            }
        }
        Ok(())
    }
}

impl NearReference for NearRow {
    fn max_changes(&self) -> usize {
        self.chain.max_changes()
    }

    fn predict(&self, rows: &Changes, out: &mut [f64]) -> Result<(), BoxError> {
        self.write_predictions(rows, out).map_err(OnnxError::boxed)
    }
}
