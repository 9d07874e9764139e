//! Models that predict rows near a reference row at lower cost.

use crate::error::BoxError;

/// Rows given by their differences from a reference row: the changed features of each row, with their new
/// values.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Changes {
    features: Vec<(usize, f64)>,
    /// The end (exclusive) of each row's changes in `features`.
    ends: Vec<usize>,
}

impl Changes {
    /// Creates a list without rows.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a row that differs from the reference in these features, each listed once.
    pub fn push(&mut self, features: impl IntoIterator<Item = (usize, f64)>) {
        self.features.extend(features);
        self.ends.push(self.features.len());
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns an iterator over the changes of each row.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[(usize, f64)]> {
        (0..self.len()).map(|row| {
            let start = if row == 0 { 0 } else { self.ends[row - 1] };
            &self.features[start..self.ends[row]]
        })
    }
}

/// A predictor for rows that differ from a fixed reference row in few features, at a lower cost than
/// predicting the whole row.
///
/// A convolutional network, for example, reuses the activations of the reference and only recomputes those
/// that a changed pixel affects. This makes small coalitions of pixels cheap to evaluate: with a single
/// baseline, a coalition of s players is a row with s changes.
///
/// # Contract
///
/// - `predict` agrees with [`Model::predict`](crate::Model::predict) up to rounding, and the prediction of a
///   row depends only on its changes, not on the other rows or on the thread.
/// - `predict` may be called by several threads at once.
pub trait NearReference: Send + Sync {
    /// Returns the maximum number of changed features for which [`predict`](Self::predict) is cheaper than
    /// predicting the whole row.
    fn max_changes(&self) -> usize;

    /// Writes the outputs of row `j` to `out[j·k .. (j+1)·k]`.
    ///
    /// # Errors
    ///
    /// Same as [`Model::predict`](crate::Model::predict).
    fn predict(&self, rows: &Changes, out: &mut [f64]) -> Result<(), BoxError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_kept_apart() {
        let mut changes = Changes::new();
        assert!(changes.is_empty());
        changes.push([(3, 1.0), (5, -1.0)]);
        changes.push([]);
        changes.push([(0, 2.0)]);
        let rows: Vec<&[(usize, f64)]> = changes.iter().collect();
        assert_eq!(rows, [&[(3, 1.0), (5, -1.0)][..], &[], &[(0, 2.0)]]);
        assert_eq!(changes.len(), 3);
    }
}
