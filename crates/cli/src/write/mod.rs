//! The output of the command: results (from `apportion-results`, `summary`, `facts`) in machine-readable
//! formats and as text (`text`, `table`), figures and reports (`pictures`), warnings and timings. Results are
//! written to a [`Destination`].

mod facts;
pub(crate) mod pictures;
mod summary;
mod table;
mod text;
pub(crate) mod timings;
pub(crate) mod warnings;
mod writer;

use anyhow::{Result, bail};
use apportion_files::Destination;
use apportion_results::Batch;

use crate::parse::format::Format;

pub(crate) use facts::Facts;
pub(crate) use summary::Summary;
pub(crate) use text::Text;
pub(crate) use writer::writer;

/// Writes complete results, and calls `before` when they have been written but are not yet visible.
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

/// Returns an error if standard output was closed before the command started, because the first file to be
/// opened would then get the descriptor of standard output.
#[cfg(unix)]
pub(crate) fn check_open() -> Result<()> {
    if rustix::io::fcntl_getfd(std::io::stdout()).is_err() {
        bail!("standard output is closed; redirect it to a file or to /dev/null");
    }
    Ok(())
}

#[cfg(not(unix))]
pub(crate) fn check_open() -> Result<()> {
    Ok(())
}
