//! Arrow: a record batch for each batch of rows, with the columns of CSV, as a stream or as a file (Feather).
//! The metadata contains the head of the results as JSON.

use std::io::{self, Write};

use apportion_rows::{ArrowColumn, ArrowKind, ArrowWriter};

use crate::batch::Batch;
use crate::json;
use crate::kinds::{Cells, Column, Kind, Results};
use crate::writer::Writer;

/// A writer of an Arrow stream or file.
pub(crate) struct Batches<'a, W> {
    results: &'a dyn Results,
    writer: ArrowWriter<W>,
}

impl<'a, W: Write> Batches<'a, W> {
    pub(crate) fn stream(results: &'a dyn Results, out: W) -> io::Result<Self> {
        let (columns, head) = beginning(results)?;
        Ok(Self { results, writer: ArrowWriter::stream(out, fields(&columns), &[("apportion", &head)])? })
    }

    pub(crate) fn file(results: &'a dyn Results, out: W) -> io::Result<Self> {
        let (columns, head) = beginning(results)?;
        Ok(Self { results, writer: ArrowWriter::file(out, fields(&columns), &[("apportion", &head)])? })
    }
}

/// Returns the columns, and the head as JSON.
fn beginning(results: &dyn Results) -> io::Result<(Vec<Column>, String)> {
    Ok((results.columns(), json::object(&results.head())?))
}

fn fields(columns: &[Column]) -> impl Iterator<Item = (&str, ArrowKind)> {
    columns.iter().map(|Column { name, kind }| {
        let kind = match kind {
            Kind::Number => ArrowKind::Float64,
            Kind::Count => ArrowKind::Int64,
            Kind::Text => ArrowKind::Text,
        };
        (name.as_str(), kind)
    })
}

impl<W: Write + Send> Writer for Batches<'_, W> {
    fn rows(&mut self, batch: &Batch) -> io::Result<()> {
        let cells: Vec<ArrowColumn> =
            self.results.cells(batch, 0..batch.len()).into_iter().map(of_cells).collect();
        self.writer.write(&cells)
    }

    fn end(self: Box<Self>) -> io::Result<()> {
        self.writer.finish()?.flush()
    }
}

fn of_cells(cells: Cells) -> ArrowColumn {
    match cells {
        Cells::Numbers(cells) => ArrowColumn::float64(cells),
        Cells::Counts(cells) => ArrowColumn::int64(cells.into_iter().map(|count| count as i64)),
        Cells::Texts(cells) => ArrowColumn::text(cells.iter().map(Option::as_deref)),
    }
}
