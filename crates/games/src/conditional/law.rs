//! What a conditional game asks of the law of its features.

use crate::coalition::CoalitionView;
use crate::error::GameError;
use crate::model::Rows;
use crate::synthetic::SyntheticRows;

/// How the rows that a law gives for a coalition stand for the conditional law, which decides what their mean's error is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sampling {
    /// Independent draws of equal weight, as many for every coalition.
    Independent,
    /// Draws of equal weight, as many for every coalition: draws 2j and 2j + 1 mirror each other, pairs are independent.
    Antithetic,
    /// Rows whose number and weights depend on the coalition, taken from a sample.
    Weighted,
    /// All rows of the law, with their probabilities: nothing is left to chance.
    Exact,
}

/// The law of a row of features given some of them, fitted on data or given.
///
/// A law serves any number of explicands and models. It is a function: the same explicand and coalition always give the same rows.
///
/// # Example
///
/// ```
/// use apportion_games::{CoalitionView, ConditionalGame, ConditionalLaw, Coalitions, Game, GameError, Sampling, SyntheticRows};
///
/// /// Absent features equal the first of those present, or zero.
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
/// impl ConditionalLaw for AllAlike {
///     fn columns(&self) -> usize {
///         self.0
///     }
///     fn draws(&self) -> usize {
///         1
///     }
///     fn sampling(&self) -> Sampling {
///         Sampling::Exact
///     }
///     fn given<'a>(
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
/// let (model, law) = (|row: &[f64]| row[0] + 2.0 * row[1], AllAlike(2));
/// let game = ConditionalGame::new(&model, &[3.0, 3.0], &law)?;
/// let mut values = [0.0; 4];
/// game.values(&Coalitions::from_masks(2, 0..4), &mut values)?;
/// assert_eq!(values, [0.0, 9.0, 9.0, 9.0]);
/// # Ok::<(), GameError>(())
/// ```
pub trait ConditionalLaw: Send + Sync {
    /// Number of features `n`, at least one.
    fn columns(&self) -> usize;

    /// Rows that stand for one coalition, `M`: exactly so many where draws have equal weights, else at most so many as a rule.
    fn draws(&self) -> usize;

    /// How the rows stand for the law.
    fn sampling(&self) -> Sampling;

    /// Whether an explicand may have missing values.
    fn takes_missing_values(&self) -> bool {
        false
    }

    /// Whether an explicand may have infinite values.
    fn takes_infinite_values(&self) -> bool {
        false
    }

    /// The same law with `draws` rows for each coalition: those that it gives now and further ones, or the first of them.
    ///
    /// None where it cannot have so many, or where draws are not what its error comes from, as in laws that take the rows of the data.
    fn with_draws(&self, draws: usize) -> Option<Box<dyn ConditionalLaw + '_>> {
        let _ = draws;
        None
    }

    /// The mean `E[X | X_S = x_S]`: a row that has the explicand's values in `coalition`. All that a model needs whose outputs are
    /// [affine](crate::Model::is_affine).
    ///
    /// None where means are not known without draws, of any coalition. `explicand` is as for [`given`](Self::given).
    fn mean(&self, explicand: &[f64], coalition: CoalitionView<'_>) -> Option<Vec<f64>> {
        let _ = (explicand, coalition);
        None
    }

    /// The rows that stand for X given `X_S = x_S`: present features are the explicand's. Not asked for the grand coalition.
    ///
    /// `explicand` has [`columns`](Self::columns) values, none infinite unless the law [takes these](Self::takes_infinite_values).
    ///
    /// # Errors
    ///
    /// [`GameError`] where the law says nothing about the coalition.
    fn given<'a>(
        &'a self,
        explicand: &'a [f64],
        coalition: CoalitionView<'_>,
    ) -> Result<Box<dyn SyntheticRows + 'a>, GameError>;
}

/// Refuses a row with a missing value; `what` names the row.
pub(super) fn refuse_missing(row: &[f64], what: impl FnOnce() -> String) -> Result<(), GameError> {
    match row.iter().position(|value| value.is_nan()) {
        None => Ok(()),
        Some(column) => Err(GameError::MissingValue { what: what(), column }),
    }
}

/// Refuses a row with an infinite value; `what` names the row.
pub(super) fn refuse_infinite(row: &[f64], what: impl FnOnce() -> String) -> Result<(), GameError> {
    match row.iter().position(|value| value.is_infinite()) {
        None => Ok(()),
        Some(column) => Err(GameError::InfiniteInput {
            what: what(),
            column,
            value: row[column],
            reason: "this conditional distribution computes means and distances with it; pass a finite number, or use the marginal game, \
                     which takes infinite values",
        }),
    }
}

/// Refuses rows of data with infinite or missing values.
pub(super) fn check_data(rows: Rows<'_>) -> Result<(), GameError> {
    for (index, row) in rows.iter().enumerate() {
        let what = || format!("row {index} of the data");
        refuse_infinite(row, what)?;
        refuse_missing(row, what)?;
    }
    Ok(())
}
