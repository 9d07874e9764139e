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
    /// The rows of `columns` numbers each that lie one after the other in `values`.
    ///
    /// # Panics
    ///
    /// If `columns` is zero or does not divide the length of `values`.
    pub fn new(values: &'a [f64], columns: usize) -> Self {
        assert!(
            columns > 0 && values.len().is_multiple_of(columns),
            "{} values are not rows of {columns} columns",
            values.len()
        );
        Self { values, columns }
    }

    /// As [`new`](Self::new), for values whose number is not known to be right: rows that come from a file or over the wire.
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

    /// Number of rows.
    pub fn len(self) -> usize {
        self.values.len() / self.columns
    }

    /// Whether there are no rows.
    pub fn is_empty(self) -> bool {
        self.values.is_empty()
    }

    /// Numbers per row.
    pub fn columns(self) -> usize {
        self.columns
    }

    /// All numbers, row-major.
    pub fn values(self) -> &'a [f64] {
        self.values
    }

    /// Row `index`.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    pub fn row(self, index: usize) -> &'a [f64] {
        &self.values[index * self.columns..(index + 1) * self.columns]
    }

    /// The rows in order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = &'a [f64]> {
        self.values.chunks_exact(self.columns)
    }

    /// The rows in `range`.
    ///
    /// # Panics
    ///
    /// If the range reaches beyond the rows.
    pub fn slice(self, range: std::ops::Range<usize>) -> Self {
        Self {
            values: &self.values[range.start * self.columns..range.end * self.columns],
            columns: self.columns,
        }
    }
}

/// Refuses rows without columns, and a last row that is too short. `what` a row is: "background row".
pub(crate) fn check_whole(what: &str, values: usize, columns: usize) -> Result<(), GameError> {
    if columns == 0 {
        return Err(GameError::Parameter { what: format!("a {what} has at least one column, not 0") });
    }
    if values.is_multiple_of(columns) {
        return Ok(());
    }
    Err(GameError::Width {
        what: format!("{what} {}", values / columns),
        given: values % columns,
        wanted: columns,
    })
}

/// A function from rows of features to `k` outputs per row.
///
/// A closure from one row to one number is a model; [`batch_model`] makes one of a closure over many rows.
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
    /// Number of outputs `k`.
    fn outputs(&self) -> usize {
        1
    }

    /// Number of features that a row must have, where the model knows it.
    fn features(&self) -> Option<usize> {
        None
    }

    /// Whether several threads may call [`predict`](Self::predict) at once and gain by it. Where not, batches are sent one after
    /// the other.
    fn parallel(&self) -> bool {
        true
    }

    /// The most rows that one call should be given where several threads predict at once. Few, so that a slow model keeps every thread
    /// busy; more where a call costs something beside its rows. Values of games do not depend on it.
    fn rows_per_call(&self) -> usize {
        64
    }

    /// Whether outputs are affine functions of the features, of rows without missing values, up to rounding: the mean of predictions is
    /// then the prediction of the mean.
    ///
    /// Conditional games whose law [knows its means](crate::ConditionalLaw::mean) ask for it, and need no draws then.
    fn is_affine(&self) -> bool {
        false
    }

    /// This model about one row, where rows that differ from it in few features cost it less than others; none where they do not.
    ///
    /// Games of one baseline ask for it, and take it for small coalitions. Making it may cost as much as a few predictions.
    fn near(&self, reference: &[f64]) -> Option<Box<dyn NearReference>> {
        let _ = reference;
        None
    }

    /// Writes the outputs of row `j` to `out[j·k .. (j+1)·k]`.
    ///
    /// # Errors
    ///
    /// Whatever the model cannot do, boxed; the game that asked adds the coalition. A model that produces its outputs as a list
    /// must check the count ([`batch_model`] does).
    fn predict(&self, rows: Rows<'_>, out: &mut [f64]) -> Result<(), BoxError>;
}

/// One row in, one number out.
impl<F: Fn(&[f64]) -> f64 + Send + Sync> Model for F {
    fn predict(&self, rows: Rows<'_>, out: &mut [f64]) -> Result<(), BoxError> {
        for (value, row) in out.iter_mut().zip(rows.iter()) {
            *value = self(row);
        }
        Ok(())
    }
}

/// A model made of a closure over many rows; see [`batch_model`].
#[derive(Debug, Clone)]
pub struct BatchModel<F> {
    outputs: usize,
    predict: F,
    parallel: bool,
}

/// Makes a model of a closure that takes all rows at once and returns rows × `outputs` numbers, row-major, or an error.
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
    /// The same model, never called by two threads at once.
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
                given: predictions.len(),
                rows: rows.len(),
                outputs: self.outputs,
            }));
        }
        out.copy_from_slice(&predictions);
        Ok(())
    }
}
