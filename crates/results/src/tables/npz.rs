//! A NumPy archive, as read by `numpy.load`. It contains `values`, `base_values`, `predictions`, `data` and
//! so on, each as a `.npy` file; the names of features as an array of strings; and `about`, the head of the
//! results as JSON. It is not compressed.

use std::io::{self, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::npy::{Spool, header};
use crate::batch::Batch;
use crate::json;
use crate::kinds::Results;
use crate::writer::Writer;

/// A writer of an archive.
pub(crate) struct Archive<'a, W> {
    results: &'a dyn Results,
    arrays: Vec<(&'static str, Vec<usize>, Spool)>,
    out: W,
}

impl<'a, W: Write> Archive<'a, W> {
    pub(crate) fn new(results: &'a dyn Results, out: W) -> io::Result<Self> {
        let spooled = |(name, axes)| Ok((name, axes, Spool::new()?));
        let arrays = results.arrays().into_iter().map(spooled).collect::<io::Result<_>>()?;
        Ok(Self { results, arrays, out })
    }
}

impl<W: Write + Send> Writer for Archive<'_, W> {
    fn rows(&mut self, batch: &Batch) -> io::Result<()> {
        for ((_, _, spool), numbers) in self.arrays.iter_mut().zip(self.results.numbers(batch)) {
            spool.write(batch.len(), numbers)?;
        }
        Ok(())
    }

    fn end(mut self: Box<Self>) -> io::Result<()> {
        let mut archive = ZipWriter::new_stream(UntilFailure { out: &mut self.out, has_failed: false });
        // A fixed time makes the bytes reproducible.
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .last_modified_time(DateTime::default())
            .large_file(true);
        for (name, axes, mut spool) in self.arrays {
            archive.start_file(format!("{name}.npy"), options).map_err(io::Error::from)?;
            spool.copy_as_array(&axes, &mut archive)?;
        }
        let about = json::object(&self.results.head())?;
        let about = [("about", vec![about])];
        for (name, texts) in self.results.names().into_iter().chain(about) {
            archive.start_file(format!("{name}.npy"), options).map_err(io::Error::from)?;
            archive.write_all(&of_texts(&texts))?;
        }
        archive.finish().map_err(io::Error::from)?;
        self.out.flush()
    }
}

/// A writer that discards everything after the first error. Otherwise, dropping the archive would try to
/// write its end, and print an error to standard error.
struct UntilFailure<W> {
    out: W,
    has_failed: bool,
}

impl<W: Write> Write for UntilFailure<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.has_failed {
            return Ok(bytes.len());
        }
        let written = self.out.write(bytes);
        self.has_failed = written.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::Interrupted);
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.has_failed { Ok(()) } else { self.out.flush() }
    }
}

/// Returns the `.npy` file of an array of strings, which stores four bytes for each character of the longest
/// string.
fn of_texts(texts: &[String]) -> Vec<u8> {
    let width = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(1);
    let mut bytes = header(&format!("<U{width}"), &[texts.len()]);
    for text in texts {
        let start = bytes.len();
        text.chars().for_each(|letter| bytes.extend(u32::from(letter).to_le_bytes()));
        bytes.resize(start + 4 * width, 0);
    }
    bytes
}
