//! Rows in memory, and what no file of rows may hold.

use anyhow::{Result, bail};

/// Rows × features, row-major, in the order of the model's features.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Table {
    /// Names of the features, where the file has a header.
    pub(crate) names: Option<Vec<String>>,
    /// Number of features.
    pub(crate) columns: usize,
    /// The numbers; NaN where a cell is missing, never infinite.
    pub(crate) values: Vec<f64>,
    /// What the reader of the results should know: columns left out, names that differ.
    pub(crate) notes: Vec<String>,
}

impl Table {
    /// Number of rows, at least one.
    pub(crate) fn len(&self) -> usize {
        self.values.len() / self.columns
    }

    /// Row `index`.
    pub(crate) fn row(&self, index: usize) -> &[f64] {
        &self.values[index * self.columns..(index + 1) * self.columns]
    }

    /// The rows of the given indices, one after the other.
    pub(crate) fn gather(&self, rows: &[usize]) -> Vec<f64> {
        rows.iter().flat_map(|&row| self.row(row)).copied().collect()
    }
}

/// Refuses a file that begins as no file of rows does.
pub(super) fn check_start(bytes: &[u8]) -> Result<()> {
    match bytes {
        [] => bail!("the file is empty; give CSV with a header, or a .npy matrix"),
        [b'P', b'K', 3, 4, ..] => {
            bail!("this is a zip archive (.npz?); give CSV with a header, or a .npy matrix")
        }
        _ => Ok(()),
    }
}

/// Refuses an infinite number, saying where it stands.
pub(super) fn finite(value: f64, place: impl FnOnce() -> String) -> Result<f64> {
    if value.is_infinite() {
        bail!("{} is {value}; give a finite number, or leave the value missing", place());
    }
    Ok(value)
}
