//! Kinds of results, a file each: what writers of formats need of each.

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
pub use values::{Values, Words};

/// A kind of results: what holds for all rows, and what each form of results has for a row.
pub trait Results: Sync {
    /// What holds for all rows, by name in order.
    fn head(&self) -> Vec<(&str, Value)>;

    /// The name of the list of rows in JSON.
    fn list(&self) -> &'static str;

    /// Writes the object of a row in JSON.
    ///
    /// # Errors
    ///
    /// What serde_json returns.
    fn object(&self, batch: &Batch, row: usize, out: &mut Vec<u8>) -> io::Result<()>;

    /// The columns of tables for programs.
    fn columns(&self) -> Vec<Column>;

    /// The cells of these columns, of some rows.
    fn cells(&self, batch: &Batch, rows: Range<usize>) -> Vec<Cells>;

    /// The arrays of numbers: each with its name and its axes behind that of the rows. The first is the one that stands alone.
    fn arrays(&self) -> Vec<(&'static str, Vec<usize>)>;

    /// The numbers of these arrays.
    fn numbers<'b>(&self, batch: &'b Batch) -> Vec<&'b [f64]>;

    /// Lists of names that belong to the arrays.
    fn names(&self) -> Vec<(&'static str, Vec<String>)>;
}

/// A column of a table for programs.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// The name in its header.
    pub name: String,
    /// What its cells are.
    pub kind: Kind,
}

/// What the cells of a column are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// A float64.
    Number,
    /// A whole number that is not negative.
    Count,
    /// A text.
    Text,
}

impl Column {
    /// Of numbers.
    pub fn numbers(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: Kind::Number }
    }

    /// Of counts.
    pub fn counts(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: Kind::Count }
    }

    /// Of texts.
    pub fn texts(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: Kind::Text }
    }
}

/// Cells of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Cells {
    /// NaN where one is missing.
    Numbers(Vec<f64>),
    /// None is missing.
    Counts(Vec<u64>),
    /// None where one is missing.
    Texts(Vec<Option<String>>),
}

/// The axis of the outputs, which is there where there are several.
fn several(outputs: usize) -> impl Iterator<Item = usize> {
    (outputs > 1).then_some(outputs).into_iter()
}

/// The names of the outputs, where there are several: their own, else numbers.
pub(crate) fn names_of_outputs(outputs: &[String]) -> Option<Vec<String>> {
    let numbered = || (0..outputs.len()).map(|output| output.to_string()).collect();
    let are_named = outputs.iter().any(|name| !name.is_empty());
    (outputs.len() > 1).then(|| if are_named { outputs.to_vec() } else { numbered() })
}

/// The names of the outputs as a part of a head, where they have some.
fn classes(outputs: &[String]) -> Option<(&'static str, Value)> {
    outputs.iter().any(|name| !name.is_empty()).then(|| ("classes", outputs.into()))
}
