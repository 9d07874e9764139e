//! Kinds of results, and the trait through which the writers for all formats access them.

mod indices;
mod interactions;
mod predictions;
mod values;

use std::io;
use std::ops::Range;

use serde_json::Value;

use crate::batch::Batch;

pub use indices::Indices;
pub use interactions::Interactions;
pub use predictions::Predictions;
pub use values::{CategoryNames, Values};

/// A kind of results. It provides the head, which applies to all rows, and the contents of each row in every
/// format.
pub trait Results: Sync {
    /// Returns the members of the head, which apply to all rows, as pairs of name and value in the order of
    /// the file.
    fn head(&self) -> Vec<(&str, Value)>;

    /// Returns the name of the list of rows in JSON.
    fn list(&self) -> &'static str;

    /// Writes a row as a JSON object.
    ///
    /// # Errors
    ///
    /// The errors of serde_json.
    fn object(&self, batch: &Batch, row: usize, out: &mut Vec<u8>) -> io::Result<()>;

    /// Returns the columns of tables (CSV, Parquet, Arrow).
    fn columns(&self) -> Vec<Column>;

    /// Returns the cells of some rows, one element for each of the [`columns`](Self::columns).
    fn cells(&self, batch: &Batch, rows: Range<usize>) -> Vec<Cells>;

    /// Returns the numeric arrays, each with its name and the lengths of its axes after the row axis. The npy
    /// format contains the first array only.
    fn arrays(&self) -> Vec<(&'static str, Vec<usize>)>;

    /// Returns the numbers in each of the [`arrays`](Self::arrays).
    fn numbers<'b>(&self, batch: &'b Batch) -> Vec<&'b [f64]>;

    /// Returns the lists of names that accompany the arrays.
    fn names(&self) -> Vec<(&'static str, Vec<String>)>;
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// The name of the column, as in the header.
    pub name: String,
    /// The type of the cells.
    pub kind: Kind,
}

/// The type of the cells of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// Floating-point numbers (`float64`).
    Number,
    /// Non-negative integers.
    Count,
    /// Strings.
    Text,
}

impl Column {
    /// Creates a numeric column.
    pub fn numbers(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: Kind::Number }
    }

    /// Creates a column of counts.
    pub fn counts(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: Kind::Count }
    }

    /// Creates a column of strings.
    pub fn texts(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: Kind::Text }
    }
}

/// The cells of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Cells {
    /// Numbers, with NaN for missing numbers.
    Numbers(Vec<f64>),
    /// Counts, which are never missing.
    Counts(Vec<u64>),
    /// Strings, with `None` for missing strings.
    Texts(Vec<Option<String>>),
}

/// Yields the number of outputs if there are several, as the length of their axis; otherwise nothing.
fn several(outputs: usize) -> impl Iterator<Item = usize> {
    (outputs > 1).then_some(outputs).into_iter()
}

/// Returns the names of the outputs if there are several, or their indices if they do not have names.
pub(crate) fn names_of_outputs(outputs: &[String]) -> Option<Vec<String>> {
    let numbered = || (0..outputs.len()).map(|output| output.to_string()).collect();
    let are_named = outputs.iter().any(|name| !name.is_empty());
    (outputs.len() > 1).then(|| if are_named { outputs.to_vec() } else { numbered() })
}

/// Returns the names of the outputs as the member `classes` of a head, if outputs have names.
fn classes(outputs: &[String]) -> Option<(&'static str, Value)> {
    outputs.iter().any(|name| !name.is_empty()).then(|| ("classes", outputs.into()))
}
