//! What the command writes: kinds of results (those of `apportion-results`, `summary`, `facts`), in the formats of programs, and as people read
//! them (`text`, `table`). Where they go is a [`Destination`].

mod facts;
mod format;
mod summary;
mod table;
mod text;

use anyhow::{Result, bail};
use apportion_files::Destination;
use apportion_results::Batch;

pub(crate) use facts::Facts;
pub(crate) use format::{Format, writer};
pub(crate) use summary::Summary;
pub(crate) use text::Text;

/// Writes rows that are all known, and does what else is to be done before they are seen.
pub(crate) fn write_all(
    destination: &Destination,
    format: Format,
    results: &dyn Text,
    batch: &Batch,
    before: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let mut sink = destination.open()?;
    let mut writer = writer(format, results, &mut sink)?;
    writer.rows(batch)?;
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
