//! Results in whatever format, written as they come.

use std::io::Write;
use std::ops::Range;

use anyhow::Result;
use apportion::games::parallel;

use super::Format;
use super::block::Block;
use super::results::Results;
#[cfg(feature = "columnar")]
use super::{arrow, parquet};
use super::{csv, json, npy, npz, table};

/// Rows that a thread puts into words at a time.
const PIECE: usize = 256;

/// Writes rows in one format.
pub(crate) trait Writer: Send {
    /// Writes the next rows.
    fn rows(&mut self, block: &Block) -> Result<()>;

    /// Writes what comes after the last row.
    fn end(self: Box<Self>) -> Result<()>;
}

/// The writer of a format, which writes to `out`.
pub(crate) fn writer<'a, W: Write + Send + 'a>(
    format: Format,
    results: &'a dyn Results,
    out: W,
) -> Result<Box<dyn Writer + 'a>> {
    Ok(match format {
        Format::Json => Box::new(json::Document::new(results, out)),
        Format::Jsonl => Box::new(json::Lines::new(results, out)),
        Format::Csv => Box::new(csv::Table::new(results, out)?),
        Format::Npy => Box::new(npy::Array::new(results, out)?),
        Format::Npz => Box::new(npz::Archive::new(results, out)?),
        #[cfg(feature = "columnar")]
        Format::Parquet => Box::new(parquet::Groups::new(results, out)),
        #[cfg(feature = "columnar")]
        Format::Arrow => Box::new(arrow::Batches::stream(results, out)),
        #[cfg(feature = "columnar")]
        Format::Feather => Box::new(arrow::Batches::file(results, out)),
        Format::Table => Box::new(table::Text::new(results, out)),
    })
}

/// Has rows put into words by all threads, and writes these in order.
pub(super) fn in_words(
    rows: usize,
    out: &mut dyn Write,
    words: impl Fn(Range<usize>, &mut Vec<u8>) -> Result<()> + Sync + Send,
) -> Result<()> {
    let pieces: Vec<Range<usize>> =
        (0..rows).step_by(PIECE).map(|first| first..rows.min(first + PIECE)).collect();
    // So many pieces are in memory at a time.
    for pieces in pieces.chunks(8 * rayon::current_num_threads()) {
        let written = parallel::map(pieces, |piece| {
            let mut bytes = Vec::new();
            words(piece.clone(), &mut bytes).map(|()| bytes)
        });
        for bytes in written {
            out.write_all(&bytes?)?;
        }
    }
    Ok(())
}
