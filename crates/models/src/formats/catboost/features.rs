//! The features, which are the columns of a row. Files list them by kind.

use std::collections::HashMap;

/// Maximum number of columns. The file stores only the indices of columns, so without a limit a small file
/// could exhaust the memory.
const MAX_COLUMNS: usize = 1 << 20;

/// The column of a numeric feature, and the treatment of its missing values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Number {
    pub(super) column: usize,
    /// Whether a missing value counts as above every border. Otherwise, it does not count as above any
    /// border.
    pub(super) missing_is_above: bool,
}

/// The kind of a column.
pub(super) enum Kind {
    Number {
        missing_is_above: bool,
    },
    Category,
    /// Text or an embedding.
    Other,
}

/// A feature as described in a file.
pub(super) struct Feature<'a> {
    pub(super) kind: Kind,
    /// Index among the features of its kind.
    pub(super) index: usize,
    /// Index among all columns.
    pub(super) column: usize,
    /// The name; empty if the feature does not have a name.
    pub(super) name: &'a str,
}

#[derive(Default)]
pub(super) struct Features {
    /// Number of columns, including columns that the file omits because the model does not use them.
    pub(super) count: usize,
    named: HashMap<usize, String>,
    /// The numeric columns, keyed by index among the numeric features.
    numbers: HashMap<usize, Number>,
    /// The indices of the categorical columns, keyed by index among the categorical features.
    categories: HashMap<usize, usize>,
}

impl Features {
    /// Adds a feature, or returns why it is invalid.
    pub(super) fn add(&mut self, Feature { kind, index, column, name }: Feature<'_>) -> Result<(), String> {
        if column >= MAX_COLUMNS {
            return Err(format!("column {column} exceeds the maximum of {MAX_COLUMNS} features"));
        }
        if self.named.insert(column, name.to_owned()).is_some() {
            return Err(format!("two features have the column {column}"));
        }
        let twice = match kind {
            Kind::Number { missing_is_above } => {
                self.numbers.insert(index, Number { column, missing_is_above }).is_some()
            }
            Kind::Category => self.categories.insert(index, column).is_some(),
            Kind::Other => false,
        };
        if twice {
            return Err(format!("two features have the index {index}"));
        }
        self.count = self.count.max(column + 1);
        Ok(())
    }

    /// Returns the names of the columns. Columns without a name are named by their index, as in CatBoost.
    /// `None` if no column has a name.
    pub(super) fn names(&self) -> Option<Vec<String>> {
        let name = |column| match self.named.get(&column) {
            Some(name) if !name.is_empty() => name.clone(),
            _ => column.to_string(),
        };
        let any = self.named.values().any(|name| !name.is_empty());
        any.then(|| (0..self.count).map(name).collect())
    }

    /// Returns a numeric column by the index that splits use.
    pub(super) fn number(&self, index: usize) -> Result<Number, String> {
        let known = self.numbers.get(&index).copied();
        known.ok_or_else(|| unknown(index, "numeric", self.numbers.len()))
    }

    /// Returns a categorical column by the index that splits use.
    pub(super) fn category(&self, index: usize) -> Result<usize, String> {
        let known = self.categories.get(&index).copied();
        known.ok_or_else(|| unknown(index, "categorical", self.categories.len()))
    }

    /// Returns the categorical columns, in ascending order.
    pub(super) fn category_columns(&self) -> Vec<usize> {
        let mut columns: Vec<usize> = self.categories.values().copied().collect();
        columns.sort_unstable();
        columns
    }
}

fn unknown(index: usize, kind: &str, count: usize) -> String {
    format!("index {index} is not one of the {count} {kind} features")
}
