//! The columns of a row, as a file lists them by kind.

use std::collections::HashMap;

/// Columns come as bare numbers, so a short file could ask for any memory.
const MOST_COLUMNS: usize = 1 << 20;

/// A column of numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Number {
    pub(super) column: usize,
    /// Whether a missing value is above every border; if not, it is above none.
    pub(super) missing_is_above: bool,
}

/// What a column holds.
pub(super) enum Kind {
    Number {
        missing_is_above: bool,
    },
    Category,
    /// Text or an embedding.
    Other,
}

/// A feature as a file states it.
pub(super) struct Feature<'a> {
    pub(super) kind: Kind,
    /// Among those of its kind.
    pub(super) index: usize,
    /// Among all columns.
    pub(super) column: usize,
    /// Empty where it has none.
    pub(super) name: &'a str,
}

#[derive(Default)]
pub(super) struct Features {
    /// Number of columns. Columns that the file leaves out are of no use to the model.
    pub(super) count: usize,
    named: HashMap<usize, String>,
    /// By index, which counts the numbers only.
    numbers: HashMap<usize, Number>,
    /// By index, which counts the categories only: the column.
    categories: HashMap<usize, usize>,
}

impl Features {
    /// Takes in the next feature, or says what is wrong with it.
    pub(super) fn add(&mut self, Feature { kind, index, column, name }: Feature<'_>) -> Result<(), String> {
        if column >= MOST_COLUMNS {
            return Err(format!("column {column}, where {MOST_COLUMNS} features are the most"));
        }
        if self.named.insert(column, name.to_owned()).is_some() {
            return Err(format!("column {column} is the place of two features"));
        }
        let twice = match kind {
            Kind::Number { missing_is_above } => {
                self.numbers.insert(index, Number { column, missing_is_above }).is_some()
            }
            Kind::Category => self.categories.insert(index, column).is_some(),
            Kind::Other => false,
        };
        if twice {
            return Err(format!("{index} is the index of two features"));
        }
        self.count = self.count.max(column + 1);
        Ok(())
    }

    /// The names of the columns, those without one named by their number, as CatBoost does; `None` where no column has a name.
    pub(super) fn names(&self) -> Option<Vec<String>> {
        let name = |column| match self.named.get(&column) {
            Some(name) if !name.is_empty() => name.clone(),
            _ => column.to_string(),
        };
        let any = self.named.values().any(|name| !name.is_empty());
        any.then(|| (0..self.count).map(name).collect())
    }

    /// The column of numbers that a split names.
    pub(super) fn number(&self, index: usize) -> Result<Number, String> {
        let known = self.numbers.get(&index).copied();
        known.ok_or_else(|| unknown(index, "numbers", self.numbers.len()))
    }

    /// The column of categories that a split names.
    pub(super) fn category(&self, index: usize) -> Result<usize, String> {
        let known = self.categories.get(&index).copied();
        known.ok_or_else(|| unknown(index, "categories", self.categories.len()))
    }

    /// The columns of categories, in ascending order.
    pub(super) fn category_columns(&self) -> Vec<usize> {
        let mut columns: Vec<usize> = self.categories.values().copied().collect();
        columns.sort_unstable();
        columns
    }
}

fn unknown(index: usize, kind: &str, count: usize) -> String {
    format!("{index}, but the {count} features of {kind} have other numbers")
}
