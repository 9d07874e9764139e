//! What writes rows in a format.

use std::io::Write;
use std::ops::Range;

use anyhow::Result;
use apportion::games::parallel;

use super::block::Block;

/// Rows that a thread puts into words at a time.
const PIECE: usize = 256;

/// Writes rows in one format.
pub(crate) trait Writer: Send {
    /// Writes the next rows.
    fn rows(&mut self, block: &Block) -> Result<()>;

    /// Writes what comes after the last row.
    fn end(self: Box<Self>) -> Result<()>;
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
