//! What writes rows in a format.
//!
//! Rows come and go in batches, so that memory does not grow with their number.

use std::io::{self, Write};
use std::ops::Range;

use rayon::prelude::*;

use crate::batch::Batch;

/// Rows that a thread puts into words at a time.
const PIECE: usize = 256;

/// Writes rows in one format.
pub trait Writer: Send {
    /// Writes the next rows.
    ///
    /// # Errors
    ///
    /// What the file returns.
    fn rows(&mut self, batch: &Batch) -> io::Result<()>;

    /// Writes what comes after the last row.
    ///
    /// # Errors
    ///
    /// What the file returns.
    fn end(self: Box<Self>) -> io::Result<()>;
}

/// Has rows put into words by all threads, and writes these in order.
pub(crate) fn in_words(
    rows: usize,
    out: &mut dyn Write,
    words: impl Fn(Range<usize>, &mut Vec<u8>) -> io::Result<()> + Sync + Send,
) -> io::Result<()> {
    let pieces: Vec<Range<usize>> =
        (0..rows).step_by(PIECE).map(|first| first..rows.min(first + PIECE)).collect();
    // So many pieces are in memory at a time.
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
