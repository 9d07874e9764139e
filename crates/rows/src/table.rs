//! Rows in memory.

/// Rows × features, row-major, in the order of the wanted features.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// Names of the features as the file has them, where it has a header.
    pub names: Option<Vec<String>>,
    /// Number of features.
    pub columns: usize,
    /// The numbers; NaN where a cell is missing. A category is its code.
    pub values: Vec<f64>,
    /// What says which row each is, where that was asked for.
    pub ids: Option<Ids>,
    /// What each row weighs, finite and not negative, where that was asked for.
    pub weights: Option<Vec<f64>>,
    /// Which of the columns that were named (target, id, ignored ones) the file does not have, where they need not be there.
    pub absent: Vec<String>,
    /// What the reader of the results should know: columns left out, names that differ, unknown categories.
    pub notes: Vec<String>,
}

/// The column that says which row is which.
#[derive(Debug, Clone, PartialEq)]
pub struct Ids {
    /// Its name, where the file has a header.
    pub name: Option<String>,
    /// Its cell in each row, as text.
    pub values: Vec<String>,
}

impl Table {
    /// Number of rows, at least one.
    pub fn len(&self) -> usize {
        self.values.len() / self.columns.max(1)
    }

    /// Whether there is no row; a table that was read has one.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Row `index`.
    pub fn row(&self, index: usize) -> &[f64] {
        &self.values[index * self.columns..(index + 1) * self.columns]
    }

    /// The rows of the given indices, one after the other.
    pub fn gather(&self, rows: &[usize]) -> Vec<f64> {
        rows.iter().flat_map(|&row| self.row(row)).copied().collect()
    }
}

/// Rows that follow each other, on their way from a reader. Who receives them may take values and ids out.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Block {
    /// Names of the features as the file has them, where it has a header.
    pub names: Option<Vec<String>>,
    /// Number of features.
    pub columns: usize,
    /// Rows × features, row-major.
    pub values: Vec<f64>,
    /// What says which row each is; empty where that was not asked for.
    pub ids: Vec<String>,
    /// What each row weighs, finite and not negative; empty where that was not asked for.
    pub weights: Vec<f64>,
}

impl Block {
    pub(crate) fn clear(&mut self) {
        self.values.clear();
        self.ids.clear();
        self.weights.clear();
    }
}

/// Where rows go, block by block: false where no more are wanted.
pub(crate) type Receive<'a> = dyn FnMut(&mut Block) -> bool + 'a;

/// What a reader tells of all rows.
pub(crate) struct Read {
    /// Names of the features, where the file has a header.
    pub(crate) names: Option<Vec<String>>,
    /// Name of the column of ids, where the file has a header.
    pub(crate) id: Option<String>,
    /// Number of features.
    pub(crate) columns: usize,
    /// Which of the columns that were named the file does not have.
    pub(crate) absent: Vec<String>,
    /// What the reader of the results should know.
    pub(crate) notes: Vec<String>,
}
