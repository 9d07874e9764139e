//! Rows of the data as synthetic rows of a coalition.

use std::ops::Range;

use crate::coalition::CoalitionView;
use crate::model::Rows;
use crate::synthetic::SyntheticRows;

/// Selected rows of the data, each with a weight, in which the features of a coalition have the explicand's
/// values.
pub(super) struct RowsOfData<'a> {
    data: Rows<'a>,
    explicand: &'a [f64],
    present: Vec<usize>,
    chosen: Vec<usize>,
    weights: Vec<f64>,
}

impl<'a> RowsOfData<'a> {
    /// Creates the set of rows `chosen`, with weights proportional to `weights`.
    pub(super) fn new(
        data: Rows<'a>,
        explicand: &'a [f64],
        coalition: CoalitionView<'_>,
        chosen: Vec<usize>,
        mut weights: Vec<f64>,
    ) -> Self {
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= total);
        Self { data, explicand, present: coalition.members().collect(), chosen, weights }
    }
}

impl SyntheticRows for RowsOfData<'_> {
    fn weights(&self) -> &[f64] {
        &self.weights
    }

    fn append(&self, range: Range<usize>, rows: &mut Vec<f64>) {
        for &index in &self.chosen[range] {
            let start = rows.len();
            rows.extend_from_slice(self.data.row(index));
            let row = &mut rows[start..];
            for &member in &self.present {
                row[member] = self.explicand[member];
            }
        }
    }
}
