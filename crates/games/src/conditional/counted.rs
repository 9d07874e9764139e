//! Rows of data with their counts.

use crate::background::check_weights;
use crate::error::GameError;
use crate::model::Rows;

/// Rows of data, each with a positive count.
///
/// Integer weights are multiplicities: a row of weight 3 counts as three equal rows. Other weights are
/// proportions; they are scaled to sum to the number of rows, which covariances and ranks use as the sample
/// size.
#[derive(Debug, Clone)]
pub(super) struct CountedRows {
    rows: Vec<f64>,
    columns: usize,
    counts: Vec<f64>,
}

impl CountedRows {
    /// Copies `rows`; each row has the count 1.
    pub(super) fn once(rows: Rows<'_>) -> Self {
        Self { rows: rows.values().to_vec(), columns: rows.columns(), counts: vec![1.0; rows.len()] }
    }

    /// Selects the rows of nonzero weight and derives their counts from the weights.
    pub(super) fn weighted(rows: Rows<'_>, weights: &[f64]) -> Result<Self, GameError> {
        let largest = check_weights(weights, rows.len())?;
        let are_whole = largest < MAX_MULTIPLICITY && weights.iter().all(|weight| weight.fract() == 0.0);
        let per_share = if are_whole {
            1.0
        } else {
            // Divide by the largest weight first: the sum of very large weights would overflow.
            let mut shares: Vec<f64> = weights.iter().map(|weight| weight / largest).collect();
            shares.retain(|&share| share > 0.0);
            shares.sort_by(f64::total_cmp);
            shares.len() as f64 / shares.iter().sum::<f64>()
        };
        let mut counted = Self { rows: Vec::new(), columns: rows.columns(), counts: Vec::new() };
        for (row, &weight) in rows.iter().zip(weights) {
            let count = if are_whole { weight } else { weight / largest * per_share };
            if count > 0.0 {
                counted.rows.extend_from_slice(row);
                counted.counts.push(count);
            }
        }
        Ok(counted)
    }

    /// Returns the rows in ascending order of their values, so that results do not depend on the order of the
    /// data.
    pub(super) fn sorted(&self) -> Self {
        let (rows, mut order) = (self.rows(), (0..self.counts.len()).collect::<Vec<_>>());
        let compare = |a: &f64, b: &f64| a.total_cmp(b);
        order.sort_by(|&a, &b| {
            let by_value = rows.row(a).iter().zip(rows.row(b)).map(|(a, b)| compare(a, b));
            by_value
                .fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
                .then_with(|| compare(&self.counts[a], &self.counts[b]))
        });
        Self {
            rows: order.iter().flat_map(|&row| rows.row(row)).copied().collect(),
            columns: self.columns,
            counts: order.iter().map(|&row| self.counts[row]).collect(),
        }
    }

    pub(super) fn rows(&self) -> Rows<'_> {
        Rows::new(&self.rows, self.columns)
    }

    /// Returns the count of each row.
    pub(super) fn counts(&self) -> &[f64] {
        &self.counts
    }

    /// Returns the sum of the counts.
    pub(super) fn total(&self) -> f64 {
        self.counts.iter().sum()
    }
}

/// Integer weights are used as multiplicities if all of them are below this limit. The sum of 8192 such
/// weights is at most 2^53, so it is exact.
const MAX_MULTIPLICITY: f64 = (1u64 << 40) as f64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_weights_are_multiplicities_and_others_sum_to_the_rows_that_count() {
        let rows = [1.0, 2.0, 3.0, 4.0];
        let counts = |weights: &[f64]| CountedRows::weighted(Rows::new(&rows, 1), weights).unwrap();
        assert_eq!(counts(&[3.0, 0.0, 1.0, 2.0]).counts(), [3.0, 1.0, 2.0]);
        assert_eq!(counts(&[3.0, 0.0, 1.0, 2.0]).rows().values(), [1.0, 3.0, 4.0]);
        assert_eq!(counts(&[0.5, 0.0, 0.25, 0.25]).counts(), [1.5, 0.75, 0.75]);
        assert_eq!(counts(&[1e308; 4]).counts(), [1.0; 4]);
        for refused in [&[1.0; 3][..], &[0.0; 4], &[-1.0, 1.0, 1.0, 1.0], &[f64::NAN, 1.0, 1.0, 1.0]] {
            assert!(CountedRows::weighted(Rows::new(&rows, 1), refused).is_err());
        }
    }

    #[test]
    fn sorted_rows_forget_the_order() {
        let (a, b) = ([2.0, 1.0, 0.0, 5.0, 2.0, 0.0], [2.0, 0.0, 2.0, 1.0, 0.0, 5.0]);
        let sorted = |rows: &[f64], weights: &[f64]| {
            CountedRows::weighted(Rows::new(rows, 2), weights).unwrap().sorted()
        };
        let (a, b) = (sorted(&a, &[1.0, 2.0, 3.0]), sorted(&b, &[3.0, 1.0, 2.0]));
        assert_eq!((a.rows().values(), a.counts()), (b.rows().values(), b.counts()));
        assert_eq!(a.rows().row(0), [0.0, 5.0]);
    }
}
