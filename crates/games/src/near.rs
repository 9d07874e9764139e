//! Models that predict rows near one that they know.

use crate::error::BoxError;

/// Rows that differ from a reference row in some features: for each row the features that differ, and their values.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Changes {
    features: Vec<(usize, f64)>,
    /// Where the changes of each row end.
    ends: Vec<usize>,
}

impl Changes {
    /// No rows.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a row that differs from the reference in these features, each named once.
    pub fn push(&mut self, features: impl IntoIterator<Item = (usize, f64)>) {
        self.features.extend(features);
        self.ends.push(self.features.len());
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The changes of each row, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[(usize, f64)]> {
        (0..self.len()).map(|row| {
            let start = if row == 0 { 0 } else { self.ends[row - 1] };
            &self.features[start..self.ends[row]]
        })
    }
}

/// A model that has predicted one row, the reference, and predicts rows that differ from it in few features at less cost than others.
///
/// A convolutional network knows what it computed for the reference, and follows only what a changed pixel reaches. That is what makes
/// values of small coalitions of pixels affordable: with one reference in place of absent features, a coalition of s players is a row
/// with s changes.
///
/// # Contract
///
/// - `predict` agrees with [`Model::predict`](crate::Model::predict) up to rounding, and the prediction of a row depends on its changes
///   alone, not on the other rows or on the thread.
/// - Several threads may call it at once.
pub trait NearReference: Send + Sync {
    /// The most changes of a row that is cheaper here than predicted as a whole.
    fn most_changes(&self) -> usize;

    /// Writes the outputs of row `j` to `out[j·k .. (j+1)·k]`.
    ///
    /// # Errors
    ///
    /// As [`Model::predict`](crate::Model::predict).
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
