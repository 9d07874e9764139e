//! What the command writes: kinds of results (`attributions`, `interactions`, `indices`, `predictions`, `summary`, `facts`) and formats that they are
//! written in (a file each). Where they go is a [`Destination`].
//!
//! Rows come and go in blocks, so that memory does not grow with their number. A kind of results says of a row what each form of it has
//! (`results`); a format makes bytes of that (`writer`, `format`).

#[cfg(feature = "columnar")]
mod arrow;
mod attributions;
mod block;
mod csv;
mod facts;
mod format;
mod indices;
mod interactions;
mod json;
mod json_text;
mod npy;
mod npz;
#[cfg(feature = "columnar")]
mod parquet;
mod predictions;
mod results;
mod shown;
mod summary;
mod table;
mod writer;

use anyhow::{Result, bail};
use apportion_files::Destination;

/// How results in JSON, which has no infinite numbers, write an infinite input: ∞ and −∞.
pub(crate) const INFINITE: [&str; 2] = ["Infinity", "-Infinity"];

pub(crate) use attributions::Attributions;
pub(crate) use block::Block;
pub(crate) use facts::Facts;
pub(crate) use format::{Format, writer};
pub(crate) use indices::Indices;
pub(crate) use interactions::Interactions;
pub(crate) use predictions::Predictions;
pub(crate) use results::Results;
pub(crate) use shown::shown;
pub(crate) use summary::Summary;

/// Writes rows that are all known, and does what else is to be done before they are seen.
pub(crate) fn write_all(
    destination: &Destination,
    format: Format,
    results: &dyn Results,
    block: &Block,
    before: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let mut sink = destination.open()?;
    let mut writer = writer(format, results, &mut sink)?;
    writer.rows(block)?;
    writer.end()?;
    before()?;
    Ok(sink.finish()?)
}

/// Refuses a standard output that was closed before the command began: the first file that is opened would take its place.
#[cfg(unix)]
pub(crate) fn check_open() -> Result<()> {
    if rustix::io::fcntl_getfd(std::io::stdout()).is_err() {
        bail!("standard output is closed; redirect it to a file, or use --out");
    }
    Ok(())
}

#[cfg(not(unix))]
pub(crate) fn check_open() -> Result<()> {
    Ok(())
}
