//! The background: the rows from which absent players take their values.
//!
//! # Notation
//!
//! `B` rows of `n` features, row `b` with weight `w_b`; the weights are non-negative and sum to 1. A single
//! row is a *baseline*. NaN marks a missing value. Infinite values are allowed: rows are mixed without
//! arithmetic, and the model decides how to handle them.

use rand::RngExt;

use crate::error::GameError;
use crate::model::{Rows, check_whole};
use crate::phrases::plural;
use crate::stream::{Purpose, stream};

/// A background dataset: a single row (a baseline) or several weighted rows.
///
/// ```
/// use apportion_games::Background;
///
/// let baseline = Background::baseline([0.5, 0.0, f64::NAN])?;
/// assert_eq!((baseline.len(), baseline.columns()), (1, 3));
///
/// let weighted = Background::rows([0.0, 1.0, 2.0, 3.0], 2)?.with_weights(&[1.0, 3.0])?;
/// assert_eq!(weighted.row(1), [2.0, 3.0]);
/// assert_eq!(weighted.weights(), [0.25, 0.75]);
/// # Ok::<(), apportion_games::GameError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Background {
    values: Vec<f64>,
    columns: usize,
    weights: Vec<f64>,
}

impl Background {
    /// Creates a background of a single row.
    ///
    /// # Errors
    ///
    /// [`GameError::Parameter`] for a row without columns.
    pub fn baseline(row: impl Into<Vec<f64>>) -> Result<Self, GameError> {
        let values = row.into();
        let columns = values.len();
        Self::rows(values, columns)
    }

    /// Creates a background of equally weighted rows of `columns` numbers each, stored consecutively in
    /// `values`.
    ///
    /// # Errors
    ///
    /// [`GameError::EmptyBackground`] if there are no rows, [`GameError::Parameter`] if there are no columns,
    /// [`GameError::Width`] if the last row is incomplete.
    pub fn rows(values: impl Into<Vec<f64>>, columns: usize) -> Result<Self, GameError> {
        let values = values.into();
        check_whole("background row", values.len(), columns)?;
        if values.is_empty() {
            return Err(GameError::EmptyBackground);
        }
        let rows = values.len() / columns;
        Ok(Self { values, columns, weights: vec![1.0 / rows as f64; rows] })
    }

    /// Draws at most `max_rows` of `rows` without replacement, with the given seed. The drawn rows keep their
    /// order and have equal weights. Returns all rows if there are at most `max_rows`.
    ///
    /// # Errors
    ///
    /// Same as [`rows`](Self::rows); also [`GameError::EmptyBackground`] if `max_rows` is 0.
    pub fn sample(rows: Rows<'_>, max_rows: usize, seed: u64) -> Result<Self, GameError> {
        let sampled = Self::sampled_rows(rows.len(), max_rows, seed);
        let values: Vec<f64> = sampled.into_iter().flat_map(|row| rows.row(row)).copied().collect();
        Self::rows(values, rows.columns())
    }

    /// Returns the indices of the rows that [`sample`](Self::sample) draws from `count` rows, in ascending
    /// order. Use this function for data that do not fit in memory.
    pub fn sampled_rows(count: usize, max_rows: usize, seed: u64) -> Vec<usize> {
        let mut random = stream(seed, Purpose::Background, 0);
        let mut wanted = max_rows.min(count);
        let mut sampled = Vec::with_capacity(wanted);
        for row in 0..count {
            // Select a row with probability (rows still needed) / (rows remaining): Knuth, The Art of
            // Computer Programming, section 3.4.2, algorithm S.
            if random.random_range(0..(count - row) as u64) < wanted as u64 {
                sampled.push(row);
                wanted -= 1;
            }
        }
        sampled
    }

    /// Replaces the weights of the rows with `weights`, which are normalized to sum to 1.
    ///
    /// A row of weight zero is still evaluated and must have finite predictions; remove it if that is not
    /// desired.
    ///
    /// # Errors
    ///
    /// [`GameError::BackgroundWeights`] unless there is one weight per row, all of them finite and
    /// non-negative, and at least one positive.
    pub fn with_weights(mut self, weights: &[f64]) -> Result<Self, GameError> {
        let largest = check_weights(weights, self.len())?;
        // Divide by the largest weight first: the sum of very large weights would overflow.
        let total: f64 = weights.iter().map(|weight| weight / largest).sum();
        self.weights = weights.iter().map(|weight| weight / largest / total).collect();
        Ok(self)
    }

    /// Returns the number of rows `B`.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Returns `false`: a background has at least one row.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// Returns the number of columns `n`.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns row `index`.
    ///
    /// # Panics
    ///
    /// If `index` is not below [`len`](Self::len).
    pub fn row(&self, index: usize) -> &[f64] {
        &self.values[index * self.columns..(index + 1) * self.columns]
    }

    /// Returns all rows as a view that can be passed to a model.
    pub fn as_rows(&self) -> Rows<'_> {
        Rows::new(&self.values, self.columns)
    }

    /// Returns the weights `w_b`, one per row; they sum to 1 up to rounding.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Returns whether all rows have the same weight, up to rounding.
    pub fn has_equal_weights(&self) -> bool {
        let mean = 1.0 / self.weights.len() as f64;
        self.weights.iter().all(|weight| (weight - mean).abs() <= 1e-9 * mean)
    }
}

/// Returns the largest weight, or an error if the weights cannot be normalized or if their number is not
/// `rows`.
pub(crate) fn check_weights(weights: &[f64], rows: usize) -> Result<f64, GameError> {
    let refuse = |problem| Err(GameError::BackgroundWeights { rows, problem });
    if weights.len() != rows {
        return refuse(format!("got {} weight{}", weights.len(), plural(weights.len())));
    }
    if let Some(row) = weights.iter().position(|weight| !(weight.is_finite() && *weight >= 0.0)) {
        return refuse(format!("the weight of row {row} is {}", weights[row]));
    }
    let largest = weights.iter().copied().fold(0.0, f64::max);
    if largest == 0.0 { refuse("all weights are zero".to_owned()) } else { Ok(largest) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_weights_are_the_default_and_sum_to_one() {
        let background = Background::rows(vec![0.0; 12], 3).unwrap();
        assert_eq!(background.weights(), [0.25; 4]);
    }

    #[test]
    fn weights_are_divided_by_their_sum_even_where_the_sum_overflows() {
        let background = Background::rows([1.0, 2.0], 1).unwrap().with_weights(&[1e308, 1e308]).unwrap();
        assert_eq!(background.weights(), [0.5, 0.5]);
    }

    #[test]
    fn a_sample_has_distinct_rows_in_their_order_and_every_row_as_often() {
        let numbers: Vec<f64> = (0..20).map(f64::from).collect();
        let rows = Rows::new(&numbers, 2);
        let mut counts = [0; 10];
        for seed in 0..2000 {
            let sample = Background::sample(rows, 4, seed).unwrap();
            let firsts: Vec<usize> = (0..4).map(|row| sample.row(row)[0] as usize / 2).collect();
            assert!(firsts.windows(2).all(|pair| pair[0] < pair[1]), "{firsts:?}");
            firsts.into_iter().for_each(|row| counts[row] += 1);
        }
        // Each row is expected 800 times, with a standard deviation of 22.
        assert!(counts.iter().all(|count| (690..910).contains(count)), "{counts:?}");
        assert_eq!(Background::sample(rows, 10, 1).unwrap(), Background::rows(numbers.clone(), 2).unwrap());
        assert_eq!(Background::sample(rows, 100, 1).unwrap().len(), 10);
        assert!(matches!(Background::sample(rows, 0, 1), Err(GameError::EmptyBackground)));
    }

    // Result files record the seed, so samples must not change between versions.
    #[test]
    fn first_samples_are_fixed() {
        let numbers: Vec<f64> = (0..100).map(f64::from).collect();
        let sample = Background::sample(Rows::new(&numbers, 1), 5, 42).unwrap();
        assert_eq!((0..5).map(|row| sample.row(row)[0]).collect::<Vec<_>>(), [6.0, 34.0, 43.0, 49.0, 81.0]);
    }

    #[test]
    fn weights_that_cannot_be_normalized_are_refused() {
        let background = Background::rows([1.0, 2.0], 1).unwrap();
        for weights in
            [&[1.0][..], &[1.0, 1.0, 1.0], &[0.0, 0.0], &[-1.0, 2.0], &[f64::NAN, 1.0], &[f64::INFINITY, 1.0]]
        {
            let refused = background.clone().with_weights(weights);
            assert!(matches!(refused, Err(GameError::BackgroundWeights { rows: 2, .. })), "{weights:?}");
        }
    }

    #[test]
    fn missing_and_infinite_values_are_kept() {
        assert!(Background::baseline([f64::NAN, 0.0]).is_ok());
        let background = Background::rows([0.0, f64::INFINITY, 2.0, f64::NEG_INFINITY], 2).unwrap();
        assert_eq!(background.row(1), [2.0, f64::NEG_INFINITY]);
    }

    #[test]
    fn a_background_without_rows_columns_or_with_an_incomplete_row_is_refused() {
        assert!(matches!(Background::rows([], 2), Err(GameError::EmptyBackground)));
        assert!(matches!(Background::baseline([]), Err(GameError::Parameter { .. })));
        assert!(matches!(
            Background::rows([1.0, 2.0, 3.0], 2),
            Err(GameError::Width { actual: 1, expected: 2, .. })
        ));
    }
}
