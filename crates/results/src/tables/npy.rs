//! A NumPy array of little-endian float64 in C order, in version 1.0 of the format: rows × players × outputs,
//! rows × players × players × outputs for interactions, or rows × outputs for predictions. The axis of the
//! outputs is omitted if there is one output.
//!
//! The header contains the number of rows, so the numbers are buffered in a temporary file until all rows are
//! known.

use std::fs::File;
use std::io::{self, BufWriter, Seek as _, Write};

use crate::batch::Batch;
use crate::kinds::Results;
use crate::writer::Writer;

/// A writer of results as a single array.
pub(crate) struct Array<'a, W> {
    results: &'a dyn Results,
    axes: Vec<usize>,
    spool: Spool,
    out: W,
}

impl<'a, W: Write> Array<'a, W> {
    pub(crate) fn new(results: &'a dyn Results, out: W) -> io::Result<Self> {
        let axes = results.arrays().into_iter().next().map(|(_, axes)| axes).unwrap_or_default();
        Ok(Self { results, axes, spool: Spool::new()?, out })
    }
}

impl<W: Write + Send> Writer for Array<'_, W> {
    fn rows(&mut self, batch: &Batch) -> io::Result<()> {
        self.results.numbers(batch).first().map_or(Ok(()), |numbers| self.spool.write(batch.len(), numbers))
    }

    fn end(mut self: Box<Self>) -> io::Result<()> {
        self.spool.copy_as_array(&self.axes, &mut self.out)?;
        self.out.flush()
    }
}

/// Numbers that are buffered in an unnamed temporary file.
pub(super) struct Spool {
    rows: usize,
    file: BufWriter<File>,
}

impl Spool {
    pub(super) fn new() -> io::Result<Self> {
        let says = "cannot create a temporary file in";
        let file = tempfile::tempfile().map_err(|error| {
            in_folder(
                error,
                says,
                " (it buffers the numbers until their count is known); set TMPDIR to another directory",
            )
        })?;
        Ok(Self { rows: 0, file: BufWriter::new(file) })
    }

    /// Appends the numbers of `rows` rows.
    pub(super) fn write(&mut self, rows: usize, numbers: &[f64]) -> io::Result<()> {
        self.rows += rows;
        let written = numbers.iter().try_for_each(|number| self.file.write_all(&number.to_le_bytes()));
        let says = "cannot write a temporary file in";
        written.map_err(|error| in_folder(error, says, "; set TMPDIR to another directory"))
    }

    /// Writes all numbers as an array, whose axes are the rows, then `axes`.
    pub(super) fn copy_as_array(&mut self, axes: &[usize], out: &mut dyn Write) -> io::Result<()> {
        let shape: Vec<usize> = std::iter::once(self.rows).chain(axes.iter().copied()).collect();
        out.write_all(&header("<f8", &shape))?;
        self.file.flush()?;
        let file = self.file.get_mut();
        file.rewind()?;
        io::copy(file, out)?;
        Ok(())
    }
}

/// Adds the directory for temporary files to the message of an I/O error.
fn in_folder(error: io::Error, says: &str, more: &str) -> io::Error {
    io::Error::new(error.kind(), format!("{says} {}{more}: {error}", std::env::temp_dir().display()))
}

/// Returns the header: magic, version, length, and the dictionary, padded so that the entries start at a
/// multiple of 64 bytes.
pub(super) fn header(kind: &str, shape: &[usize]) -> Vec<u8> {
    const BEFORE: usize = 10;
    let axes: Vec<String> = shape.iter().map(usize::to_string).collect();
    let shape = if axes.len() == 1 { format!("{},", axes[0]) } else { axes.join(", ") };
    let mut text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}");
    let length = (BEFORE + text.len() + 1).next_multiple_of(64) - BEFORE;
    text.extend(std::iter::repeat_n(' ', length - 1 - text.len()));
    text.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    // There are at most four lengths with at most 20 digits each, far below the limit of 65535 bytes in
    // version 1.0.
    bytes.extend((length as u16).to_le_bytes());
    bytes.extend(text.into_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_start_at_a_multiple_of_64_bytes() {
        for (shape, says) in [(&[7][..], "(7,)"), (&[2, 10], "(2, 10)"), (&[2, 10, 3], "(2, 10, 3)")] {
            let bytes = header("<f8", shape);
            assert_eq!(bytes.len() % 64, 0);
            assert_eq!(usize::from(u16::from_le_bytes([bytes[8], bytes[9]])), bytes.len() - 10);
            let text = String::from_utf8(bytes[10..].to_vec()).unwrap();
            assert!(text.contains(says) && text.ends_with('\n'), "{text:?}");
        }
    }
}
