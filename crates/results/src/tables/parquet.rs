//! Parquet: a row group for each batch of rows, with the columns of CSV. The metadata contains the head of
//! the results as JSON.

use std::io::{self, Write};

use apportion_rows::{ParquetColumn, ParquetKind, ParquetWriter};

use crate::batch::Batch;
use crate::json;
use crate::kinds::{Cells, Column, Kind, Results};
use crate::writer::Writer;

/// A writer of Parquet.
pub(crate) struct Groups<'a, W: Write + Send> {
    results: &'a dyn Results,
    writer: ParquetWriter<W>,
}

impl<'a, W: Write + Send> Groups<'a, W> {
    pub(crate) fn new(results: &'a dyn Results, out: W) -> io::Result<Self> {
        let (columns, head) = (results.columns(), json::object(&results.head())?);
        let fields = columns.iter().map(|Column { name, kind }| (name.as_str(), of_kind(*kind)));
        let writer = ParquetWriter::new(out, fields, &[("apportion", &head)])?;
        Ok(Self { results, writer })
    }
}

impl<W: Write + Send> Writer for Groups<'_, W> {
    fn rows(&mut self, batch: &Batch) -> io::Result<()> {
        let cells = self.results.cells(batch, 0..batch.len()).into_iter().map(of_cells);
        self.writer.write(&cells.collect::<Vec<_>>())
    }

    fn end(self: Box<Self>) -> io::Result<()> {
        self.writer.finish()?.flush()
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
