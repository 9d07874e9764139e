//! Tables of rows in memory.

/// Rows × features, row-major, with the features in the requested order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// The names of the features in the file, if it has a header.
    pub names: Option<Vec<String>>,
    /// The number of features.
    pub columns: usize,
    /// The values; NaN for missing cells, codes for categories.
    pub values: Vec<f64>,
    /// The IDs of the rows, if requested.
    pub ids: Option<Ids>,
    /// The weights of the rows, finite and not negative, if requested.
    pub weights: Option<Vec<f64>>,
    /// Specified columns (target, ID, ignored) that the file does not have, if they are optional.
    pub absent: Vec<String>,
    /// Notes for the user: ignored columns, different names, unknown categories.
    pub notes: Vec<String>,
}

/// The column that identifies the rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Ids {
    /// The name of the ID column, if the file has a header.
    pub name: Option<String>,
    /// The cell of each row, as text.
    pub values: Vec<String>,
}

impl Table {
    /// Returns the number of rows. A table that was read has at least one, unless
    /// [`RowOptions::may_be_empty`](crate::RowOptions::may_be_empty) is set.
    pub fn len(&self) -> usize {
        self.values.len() / self.columns.max(1)
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the values of a row.
    pub fn row(&self, index: usize) -> &[f64] {
        &self.values[index * self.columns..(index + 1) * self.columns]
    }

    /// Returns the rows with the given indices, concatenated.
    pub fn gather(&self, rows: &[usize]) -> Vec<f64> {
        rows.iter().flat_map(|&row| self.row(row)).copied().collect()
    }
}

/// A block of consecutive rows, as passed to a receiver. The receiver may move the values and IDs out of it.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Block {
    /// The names of the features in the file, if it has a header.
    pub names: Option<Vec<String>>,
    /// The number of features.
    pub columns: usize,
    /// Rows × features, row-major.
    pub values: Vec<f64>,
    /// The IDs of the rows; empty if not requested.
    pub ids: Vec<String>,
    /// The weights of the rows, finite and not negative; empty if not requested.
    pub weights: Vec<f64>,
}

impl Block {
    pub(crate) fn clear(&mut self) {
        self.values.clear();
        self.ids.clear();
        self.weights.clear();
    }
}

/// A function that receives blocks of rows, and returns `false` to stop reading.
pub(crate) type RowReceiver<'a> = dyn FnMut(&mut Block) -> bool + 'a;

/// The information about all rows that a reader returns at the end.
pub(crate) struct Read {
    /// The names of the features, if the file has a header.
    pub(crate) names: Option<Vec<String>>,
    /// The name of the ID column, if the file has a header.
    pub(crate) id: Option<String>,
    /// The number of features.
    pub(crate) columns: usize,
    /// Specified columns that the file does not have.
    pub(crate) absent: Vec<String>,
    /// Notes for the user.
    pub(crate) notes: Vec<String>,
}
