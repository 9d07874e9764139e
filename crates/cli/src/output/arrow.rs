//! Arrow: a batch for each batch of rows, in the columns of CSV, as a stream or as a file (Feather). The head of the results is in the
//! metadata, as JSON.

use std::io::Write;

use anyhow::Result;
use apportion_rows::{ArrowColumn, ArrowKind, ArrowWriter};

use super::block::Block;
use super::json;
use super::results::{Cells, Column, Kind, Results};
use super::writer::Writer;

/// A file that is being written; its head is known when the first rows are.
pub(super) struct Batches<'a, W> {
    results: &'a dyn Results,
    is_file: bool,
    out: Option<W>,
    writer: Option<ArrowWriter<W>>,
}

impl<'a, W: Write> Batches<'a, W> {
    pub(super) fn stream(results: &'a dyn Results, out: W) -> Self {
        Self { results, is_file: false, out: Some(out), writer: None }
    }

    pub(super) fn file(results: &'a dyn Results, out: W) -> Self {
        Self { results, is_file: true, out: Some(out), writer: None }
    }
}

impl<W: Write + Send> Writer for Batches<'_, W> {
    fn rows(&mut self, block: &Block) -> Result<()> {
        if let Some(out) = self.out.take() {
            let columns = self.results.columns();
            let fields = columns.iter().map(|Column { name, kind }| (name.as_str(), of_kind(*kind)));
            let head = json::object(&self.results.head(block))?;
            let begin = if self.is_file { ArrowWriter::file } else { ArrowWriter::stream };
            self.writer = Some(begin(out, fields, &[("apportion", &head)])?);
        }
        let cells: Vec<ArrowColumn> =
            self.results.cells(block, 0..block.len()).into_iter().map(of_cells).collect();
        self.writer.as_mut().map_or(Ok(()), |writer| Ok(writer.write(&cells)?))
    }

    fn end(self: Box<Self>) -> Result<()> {
        if let Some(writer) = self.writer {
            writer.finish()?.flush()?;
        }
        Ok(())
    }
}

fn of_kind(kind: Kind) -> ArrowKind {
    match kind {
        Kind::Number => ArrowKind::Float64,
        Kind::Count => ArrowKind::Int64,
        Kind::Text => ArrowKind::Text,
    }
}

fn of_cells(cells: Cells) -> ArrowColumn {
    match cells {
        Cells::Numbers(cells) => ArrowColumn::float64(cells),
        Cells::Counts(cells) => ArrowColumn::int64(cells.into_iter().map(|count| count as i64)),
        Cells::Texts(cells) => ArrowColumn::text(cells.iter().map(Option::as_deref)),
    }
}
