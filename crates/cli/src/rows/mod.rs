//! Rows of features, read from a file: CSV with a header, or a `.npy` matrix, plain or gzipped. What a file is, is found by its
//! content and not by its name.

mod columns;
mod csv;
mod npy;
mod stream;
mod table;

use std::fs;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result};

pub(crate) use columns::Wanted;
pub(crate) use stream::each_block;
pub(crate) use table::Table;

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
    table::check_start(&bytes)?;
    if bytes.starts_with(npy::MAGIC) { npy::read(&bytes, wanted) } else { csv::read(&bytes, wanted) }
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
