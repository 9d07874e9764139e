//! The trait for conditional distributions.

use crate::coalition::CoalitionView;
use crate::error::GameError;
use crate::model::Rows;
use crate::synthetic::SyntheticRows;

/// How the rows for a coalition represent the conditional distribution; determines the standard error of
/// their mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sampling {
    /// Independent draws of equal weight, the same number for every coalition.
    Independent,
    /// Draws of equal weight, the same number for every coalition. Draws 2j and 2j + 1 are mirror images;
    /// different pairs are independent.
    Antithetic,
    /// Rows of a data sample. Their number and weights depend on the coalition.
    Weighted,
    /// All rows of the distribution with their probabilities, without sampling.
    Exact,
}

/// A joint distribution of the features that can be conditioned on some of them; fitted to data or specified.
///
/// A distribution can be used for any number of explicands and models. It is deterministic: the same
/// explicand and coalition always yield the same rows.
///
/// # Example
///
/// ```
/// use apportion_games::{
///     CoalitionView, Coalitions, ConditionalGame, ConditionalDistribution, Game, GameError, Sampling, SyntheticRows,
/// };
///
/// /// Absent features equal the first present one, or zero.
/// struct AllAlike(usize);
///
/// struct OneRow(Vec<f64>);
///
/// impl SyntheticRows for OneRow {
///     fn weights(&self) -> &[f64] {
///         &[1.0]
///     }
///     fn append(&self, range: std::ops::Range<usize>, rows: &mut Vec<f64>) {
///         rows.extend(range.flat_map(|_| &self.0));
///     }
/// }
///
/// impl ConditionalDistribution for AllAlike {
///     fn columns(&self) -> usize {
///         self.0
///     }
///     fn draws(&self) -> usize {
///         1
///     }
///     fn sampling(&self) -> Sampling {
///         Sampling::Exact
///     }
///     fn condition<'a>(
///         &'a self,
///         explicand: &'a [f64],
///         coalition: CoalitionView<'_>,
///     ) -> Result<Box<dyn SyntheticRows + 'a>, GameError> {
///         let value = coalition.members().next().map_or(0.0, |first| explicand[first]);
///         let row = (0..self.0).map(|i| if coalition.contains(i) { explicand[i] } else { value });
///         Ok(Box::new(OneRow(row.collect())))
///     }
/// }
///
/// let (model, distribution) = (|row: &[f64]| row[0] + 2.0 * row[1], AllAlike(2));
/// let game = ConditionalGame::new(&model, &[3.0, 3.0], &distribution)?;
/// let mut values = [0.0; 4];
/// game.values(&Coalitions::from_masks(2, 0..4), &mut values)?;
/// assert_eq!(values, [0.0, 9.0, 9.0, 9.0]);
/// # Ok::<(), GameError>(())
/// ```
pub trait ConditionalDistribution: Send + Sync {
    /// Returns the number of features `n`, at least one.
    fn columns(&self) -> usize;

    /// Returns the number of rows `M` per coalition. If draws have equal weights, this is the exact number,
    /// otherwise usually the maximum.
    fn draws(&self) -> usize;

    /// Returns how the rows represent the distribution.
    fn sampling(&self) -> Sampling;

    /// Returns whether an explicand may have missing values.
    fn takes_missing_values(&self) -> bool {
        false
    }

    /// Returns whether an explicand may have infinite values.
    fn takes_infinite_values(&self) -> bool {
        false
    }

    /// Returns the same distribution with `draws` rows per coalition. A smaller number keeps the first
    /// `draws` of the current rows; a larger one keeps all current rows and adds more.
    ///
    /// Returns `None` if this number is not possible, or if more draws would not reduce the error, as for
    /// distributions that use the rows of the data.
    fn with_draws(&self, draws: usize) -> Option<Box<dyn ConditionalDistribution + '_>> {
        let _ = draws;
        None
    }

    /// Returns the mean `E[X | X_S = x_S]`, a row with the explicand's values in `coalition`. For models
    /// whose outputs are [affine](crate::Model::is_affine), the prediction for this row is the coalition
    /// value.
    ///
    /// Returns `None`, for every coalition, if means can only be estimated from draws. The requirements on
    /// `explicand` are those of [`condition`](Self::condition).
    fn mean(&self, explicand: &[f64], coalition: CoalitionView<'_>) -> Option<Vec<f64>> {
        let _ = (explicand, coalition);
        None
    }

    /// Returns the rows that represent X given `X_S = x_S`: present features have the explicand's values. Not
    /// called for the grand coalition.
    ///
    /// `explicand` has [`columns`](Self::columns) values, which must not be infinite unless the distribution
    /// [supports it](Self::takes_infinite_values).
    ///
    /// # Errors
    ///
    /// [`GameError`] if the distribution is undefined for the coalition.
    fn condition<'a>(
        &'a self,
        explicand: &'a [f64],
        coalition: CoalitionView<'_>,
    ) -> Result<Box<dyn SyntheticRows + 'a>, GameError>;
}

/// Returns an error if `row` has a missing value; `what` names the row.
pub(super) fn refuse_missing(row: &[f64], what: impl FnOnce() -> String) -> Result<(), GameError> {
    match row.iter().position(|value| value.is_nan()) {
        None => Ok(()),
        Some(column) => Err(GameError::MissingValue { what: what(), column }),
    }
}

/// Returns an error if `row` has an infinite value; `what` names the row.
pub(super) fn refuse_infinite(row: &[f64], what: impl FnOnce() -> String) -> Result<(), GameError> {
    match row.iter().position(|value| value.is_infinite()) {
        None => Ok(()),
        Some(column) => Err(GameError::InfiniteInput {
            what: what(),
            column,
            value: row[column],
            reason: "this conditional distribution requires finite values; pass a finite number, or use the \
                     marginal game, which accepts infinite values",
        }),
    }
}

/// Returns an error if the data have infinite or missing values.
pub(super) fn check_data(rows: Rows<'_>) -> Result<(), GameError> {
    for (index, row) in rows.iter().enumerate() {
        let what = || format!("row {index} of the data");
        refuse_infinite(row, what)?;
        refuse_missing(row, what)?;
    }
    Ok(())
}
