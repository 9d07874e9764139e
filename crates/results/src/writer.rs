//! The trait of writers for all formats.
//!
//! Rows are written in batches, so that memory does not grow with their number.

use std::io::{self, Write};
use std::ops::Range;

use rayon::prelude::*;

use crate::batch::Batch;

/// Number of rows that each thread formats at a time.
const PIECE: usize = 256;

/// A writer of rows in one format.
pub trait Writer: Send {
    /// Writes the next rows.
    ///
    /// # Errors
    ///
    /// The errors of the file.
    fn rows(&mut self, batch: &Batch) -> io::Result<()>;

    /// Writes everything after the last row.
    ///
    /// # Errors
    ///
    /// The errors of the file.
    fn end(self: Box<Self>) -> io::Result<()>;
}

/// Formats rows in parallel on all threads, and writes the results in order.
pub(crate) fn in_words(
    rows: usize,
    out: &mut dyn Write,
    words: impl Fn(Range<usize>, &mut Vec<u8>) -> io::Result<()> + Sync + Send,
) -> io::Result<()> {
    let pieces: Vec<Range<usize>> =
        (0..rows).step_by(PIECE).map(|first| first..rows.min(first + PIECE)).collect();
    // Process a limited number of pieces at a time, to limit memory use.
    for pieces in pieces.chunks(8 * rayon::current_num_threads()) {
        let written: Vec<io::Result<Vec<u8>>> = pieces
            .par_iter()
            .map(|piece| {
                let mut bytes = Vec::new();
                words(piece.clone(), &mut bytes).map(|()| bytes)
            })
            .collect();
        for bytes in written {
            out.write_all(&bytes?)?;
        }
    }
    Ok(())
}
