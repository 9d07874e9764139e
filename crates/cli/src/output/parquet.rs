//! Parquet: a group for each batch of rows, in the columns of CSV. The head of the results is in the metadata, as JSON.

use std::io::Write;

use anyhow::Result;
use apportion_rows::{ParquetColumn, ParquetKind, ParquetWriter};

use super::block::Block;
use super::json;
use super::results::{Cells, Column, Kind, Results};
use super::writer::Writer;

/// A file that is being written; its head is known when the first rows are.
pub(super) struct Groups<'a, W: Write + Send> {
    results: &'a dyn Results,
    out: Option<W>,
    writer: Option<ParquetWriter<W>>,
}

impl<'a, W: Write + Send> Groups<'a, W> {
    pub(super) fn new(results: &'a dyn Results, out: W) -> Self {
        Self { results, out: Some(out), writer: None }
    }
}

impl<W: Write + Send> Writer for Groups<'_, W> {
    fn rows(&mut self, block: &Block) -> Result<()> {
        if let Some(out) = self.out.take() {
            let columns = self.results.columns();
            let fields = columns.iter().map(|Column { name, kind }| (name.as_str(), of_kind(*kind)));
            let head = json::object(&self.results.head(block))?;
            self.writer = Some(ParquetWriter::new(out, fields, &[("apportion", &head)])?);
        }
        let cells = self.results.cells(block, 0..block.len()).into_iter().map(of_cells);
        self.writer.as_mut().map_or(Ok(()), |writer| Ok(writer.write(&cells.collect::<Vec<_>>())?))
    }

    fn end(self: Box<Self>) -> Result<()> {
        if let Some(writer) = self.writer {
            writer.finish()?.flush()?;
        }
        Ok(())
    }
}

fn of_kind(kind: Kind) -> ParquetKind {
    match kind {
        Kind::Number => ParquetKind::Float64,
        Kind::Count => ParquetKind::Int64,
        Kind::Text => ParquetKind::Text,
    }
}

fn of_cells(cells: Cells) -> ParquetColumn {
    match cells {
        Cells::Numbers(cells) => ParquetColumn::Float64(cells),
        Cells::Counts(cells) => ParquetColumn::Int64(cells.into_iter().map(|count| count as i64).collect()),
        Cells::Texts(cells) => ParquetColumn::Text(cells),
    }
}
