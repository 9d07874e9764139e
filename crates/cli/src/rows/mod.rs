//! Rows of features, read from a file: CSV with a header, or a `.npy` matrix, plain or gzipped. What a file is, is found by its
//! content and not by its name.

mod columns;
mod csv;
mod npy;
mod stream;

use std::fs;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, bail};

pub(crate) use columns::Wanted;
pub(crate) use stream::each_block;

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

/// Reads the features that `wanted` asks for from a file.
pub(crate) fn read(path: &Path, wanted: &Wanted<'_>) -> Result<Table> {
    parse(path, wanted).with_context(|| format!("cannot read rows from {}", path.display()))
}

/// Reads all columns of a file but the target.
pub(crate) fn read_all(path: &Path, target: Option<&str>) -> Result<Table> {
    read(path, &Wanted { names: None, named_by: "nobody", count: None, target, target_required: true })
}

fn parse(path: &Path, wanted: &Wanted<'_>) -> Result<Table> {
    let bytes = unpack(fs::read(path)?)?;
    match bytes.as_slice() {
        [] => bail!("the file is empty; give CSV with a header, or a .npy matrix"),
        [b'P', b'K', 3, 4, ..] => {
            bail!("this is a zip archive (.npz?); give CSV with a header, or a .npy matrix")
        }
        bytes if bytes.starts_with(npy::MAGIC) => npy::read(bytes, wanted),
        bytes => csv::read(bytes, wanted),
    }
}

/// The bytes themselves, or what they hold where they are gzipped.
fn unpack(bytes: Vec<u8>) -> Result<Vec<u8>> {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(bytes);
    }
    let mut unpacked = Vec::new();
    flate2::read::MultiGzDecoder::new(bytes.as_slice())
        .read_to_end(&mut unpacked)
        .context("the gzipped data is truncated or damaged")?;
    Ok(unpacked)
}

/// Refuses an infinite number, saying where it stands.
fn finite(value: f64, place: impl FnOnce() -> String) -> Result<f64> {
    if value.is_infinite() {
        bail!("{} is {value}; give a finite number, or leave the value missing", place());
    }
    Ok(value)
}
