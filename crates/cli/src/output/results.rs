//! What every kind of results tells the writers of formats.

use std::io::Write;
use std::ops::Range;

use anyhow::Result;
use serde_json::Value;

use super::block::Block;

/// A kind of results: what holds for all rows, and how a row is told in each form.
pub(crate) trait Results: Sync {
    /// What holds for all rows, by name in order, where `first` are the first of them.
    fn head(&self, first: &Block) -> Vec<(&'static str, Value)>;

    /// What JSON calls the list of rows.
    fn list(&self) -> &'static str;

    /// Writes what JSON says of a row.
    fn object(&self, block: &Block, row: usize, out: &mut Vec<u8>) -> Result<()>;

    /// The columns of tables for programs.
    fn columns(&self) -> Vec<Column>;

    /// The cells of these columns, of some rows.
    fn cells(&self, block: &Block, rows: Range<usize>) -> Vec<Cells>;

    /// The arrays of numbers: each with its name and its axes behind that of the rows. The first is the one that stands alone.
    fn arrays(&self) -> Vec<(&'static str, Vec<usize>)>;

    /// The numbers of these arrays.
    fn numbers<'b>(&self, block: &'b Block) -> Vec<&'b [f64]>;

    /// Lists of names for who reads arrays.
    fn names(&self) -> Vec<(&'static str, Vec<String>)>;

    /// What stands above all rows, to be read by people.
    fn title(&self) -> String;

    /// Writes some rows for people.
    fn text(&self, block: &Block, out: &mut dyn Write) -> Result<()>;
}

/// A column of a table for programs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: Kind,
}

/// What the cells of a column are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Number,
    Count,
    Text,
}

impl Column {
    pub(crate) fn numbers(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: Kind::Number }
    }

    pub(crate) fn counts(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: Kind::Count }
    }

    pub(crate) fn texts(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: Kind::Text }
    }
}

/// Cells of a column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cells {
    /// NaN where one is missing.
    Numbers(Vec<f64>),
    Counts(Vec<usize>),
    Texts(Vec<Option<String>>),
}
