//! Models: functions from rows of features to outputs.

use crate::error::{BoxError, GameError};
use crate::near::NearReference;

/// A borrowed matrix of rows, row-major.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rows<'a> {
    values: &'a [f64],
    columns: usize,
}

impl<'a> Rows<'a> {
    /// Creates a view of rows of `columns` numbers each, stored consecutively in `values`.
    ///
    /// # Panics
    ///
    /// If `columns` is zero or does not divide the length of `values`.
    pub fn new(values: &'a [f64], columns: usize) -> Self {
        assert!(
            columns > 0 && values.len().is_multiple_of(columns),
            "{} values cannot form rows of {columns} columns",
            values.len()
        );
        Self { values, columns }
    }

    /// Creates a view like [`new`](Self::new), but returns an error for invalid lengths. Use it for rows that
    /// are read from a file or received over a network.
    ///
    /// ```
    /// use apportion_games::Rows;
    ///
    /// assert_eq!(Rows::try_new(&[1.0, 2.0, 3.0, 4.0], 2)?.len(), 2);
    /// assert!(Rows::try_new(&[1.0, 2.0, 3.0], 2).is_err());
    /// # Ok::<(), apportion_games::GameError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`GameError::Parameter`] without columns, [`GameError::Width`] if the last row is too short.
    pub fn try_new(values: &'a [f64], columns: usize) -> Result<Self, GameError> {
        check_whole("row", values.len(), columns)?;
        Ok(Self { values, columns })
    }

    /// Returns the number of rows.
    pub fn len(self) -> usize {
        self.values.len() / self.columns
    }

    /// Returns whether there are no rows.
    pub fn is_empty(self) -> bool {
        self.values.is_empty()
    }

    /// Returns the number of columns.
    pub fn columns(self) -> usize {
        self.columns
    }

    /// Returns all numbers, row-major.
    pub fn values(self) -> &'a [f64] {
        self.values
    }

    /// Returns row `index`.
    ///
    /// # Panics
    ///
    /// If the row does not exist.
    pub fn row(self, index: usize) -> &'a [f64] {
        &self.values[index * self.columns..(index + 1) * self.columns]
    }

    /// Returns an iterator over the rows.
    pub fn iter(self) -> impl ExactSizeIterator<Item = &'a [f64]> {
        self.values.chunks_exact(self.columns)
    }

    /// Returns the rows in `range`.
    ///
    /// # Panics
    ///
    /// If the range is out of bounds.
    pub fn slice(self, range: std::ops::Range<usize>) -> Self {
        Self {
            values: &self.values[range.start * self.columns..range.end * self.columns],
            columns: self.columns,
        }
    }
}

/// Returns an error for rows without columns, or for an incomplete last row. `what` names a row in the error,
/// such as "background row".
pub(crate) fn check_whole(what: &str, values: usize, columns: usize) -> Result<(), GameError> {
    if columns == 0 {
        return Err(GameError::Parameter { what: format!("a {what} must have at least one column") });
    }
    if values.is_multiple_of(columns) {
        return Ok(());
    }
    Err(GameError::Width {
        what: format!("{what} {}", values / columns),
        actual: values % columns,
        expected: columns,
    })
}

/// A function from rows of features to `k` outputs per row.
///
/// A closure from one row to one number is a model; [`batch_model`] creates a model from a closure over many
/// rows.
///
/// ```
/// use apportion_games::{Model, Rows};
///
/// let model = |row: &[f64]| 3.0 * row[0] - row[1];
/// let mut out = [0.0; 2];
/// model.predict(Rows::new(&[1.0, 0.0, 2.0, 5.0], 2), &mut out)?;
/// assert_eq!(out, [3.0, 1.0]);
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub trait Model: Send + Sync {
    /// Returns the number of outputs `k`.
    fn outputs(&self) -> usize {
        1
    }

    /// Returns the number of features that a row must have, if the model specifies it.
    fn features(&self) -> Option<usize> {
        None
    }

    /// Returns whether concurrent calls of [`predict`](Self::predict) from several threads are faster. If
    /// not, callers predict one batch after another.
    fn parallel(&self) -> bool {
        true
    }

    /// Returns the maximum number of rows per call when several threads predict at once. A small number keeps
    /// every thread busy if the model is slow; a larger one is better if calls have an overhead. Coalition
    /// values do not depend on this number.
    fn rows_per_call(&self) -> usize {
        64
    }

    /// Returns whether all outputs are affine functions of the features, up to rounding and for rows without
    /// missing values. The mean of predictions is then the prediction for the mean.
    ///
    /// Conditional games whose distribution [provides means](crate::ConditionalDistribution::mean) then need
    /// no draws.
    fn is_affine(&self) -> bool {
        false
    }

    /// Returns a predictor for rows near `reference`, if the model can predict rows that differ from
    /// `reference` in few features at lower cost; otherwise `None`.
    ///
    /// Games with a single baseline use this predictor for small coalitions. Creating it may cost as much as
    /// a few predictions.
    fn near(&self, reference: &[f64]) -> Option<Box<dyn NearReference>> {
        let _ = reference;
        None
    }

    /// Writes the outputs of row `j` to `out[j·k .. (j+1)·k]`.
    ///
    /// # Errors
    ///
    /// Any error of the model, boxed; the game adds the coalition to it. A model that produces its outputs as
    /// a list must check the number of outputs, as [`batch_model`] does.
    fn predict(&self, rows: Rows<'_>, out: &mut [f64]) -> Result<(), BoxError>;
}

/// Maps one row to one number.
impl<F: Fn(&[f64]) -> f64 + Send + Sync> Model for F {
    fn predict(&self, rows: Rows<'_>, out: &mut [f64]) -> Result<(), BoxError> {
        for (value, row) in out.iter_mut().zip(rows.iter()) {
            *value = self(row);
        }
        Ok(())
    }
}

/// A model that wraps a closure over many rows; see [`batch_model`].
#[derive(Debug, Clone)]
pub struct BatchModel<F> {
    outputs: usize,
    predict: F,
    parallel: bool,
}

/// Creates a model from a closure that takes all rows at once and returns rows × `outputs` numbers,
/// row-major, or an error.
///
/// ```
/// use apportion_games::{Model, Rows, batch_model};
///
/// let model = batch_model(2, |rows: Rows<'_>| Ok(rows.iter().flat_map(|row| [row[0], -row[0]]).collect()));
/// let mut out = [0.0; 2];
/// model.predict(Rows::new(&[4.0], 1), &mut out)?;
/// assert_eq!(out, [4.0, -4.0]);
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub fn batch_model<F>(outputs: usize, predict: F) -> BatchModel<F>
where
    F: Fn(Rows<'_>) -> Result<Vec<f64>, BoxError> + Send + Sync,
{
    BatchModel { outputs, predict, parallel: true }
}

impl<F> BatchModel<F> {
    /// Makes the model serial: it is never called by two threads at once.
    pub fn serial(mut self) -> Self {
        self.parallel = false;
        self
    }
}

impl<F> Model for BatchModel<F>
where
    F: Fn(Rows<'_>) -> Result<Vec<f64>, BoxError> + Send + Sync,
{
    fn outputs(&self) -> usize {
        self.outputs
    }

    fn parallel(&self) -> bool {
        self.parallel
    }

    fn predict(&self, rows: Rows<'_>, out: &mut [f64]) -> Result<(), BoxError> {
        let predictions = (self.predict)(rows)?;
        if predictions.len() != out.len() {
            return Err(Box::new(GameError::ModelCount {
                actual: predictions.len(),
                rows: rows.len(),
                outputs: self.outputs,
            }));
        }
        out.copy_from_slice(&predictions);
        Ok(())
    }
}
