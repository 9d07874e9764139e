//! Text output of results for a terminal, with one submodule for each kind of results.

mod indices;
mod interactions;
mod predictions;
mod values;

use std::io::{self, Write};

use apportion_results::{Batch, Results, Writer};

/// Results that can be written as text.
pub(crate) trait Text: Results {
    /// Returns the title above all rows.
    fn title(&self) -> String;

    /// Writes rows as text.
    fn text(&self, batch: &Batch, out: &mut dyn Write) -> io::Result<()>;
}

/// A writer of text.
pub(super) struct Page<'a, W> {
    results: &'a dyn Text,
    begun: bool,
    out: W,
}

impl<'a, W: Write> Page<'a, W> {
    pub(super) fn new(results: &'a dyn Text, out: W) -> Self {
        Self { results, begun: false, out }
    }
}

impl<W: Write + Send> Writer for Page<'_, W> {
    fn rows(&mut self, batch: &Batch) -> io::Result<()> {
        if !self.begun {
            self.begun = true;
            self.out.write_all(self.results.title().as_bytes())?;
        }
        self.results.text(batch, &mut self.out)
    }

    fn end(mut self: Box<Self>) -> io::Result<()> {
        self.out.flush()
    }
}
