//! CSV with a header: one line per row, or per row and output if there are several. Numbers have the fewest
//! digits that identify them exactly; missing values are empty cells.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::batch::Batch;
use crate::kinds::{Cells, Results};
use crate::shown;
use crate::writer::{Writer, in_words};

/// A writer of results as CSV.
pub(crate) struct Table<'a, W> {
    results: &'a dyn Results,
    out: W,
}

impl<'a, W: Write> Table<'a, W> {
    /// Creates a writer and writes the header.
    pub(crate) fn new(results: &'a dyn Results, mut out: W) -> io::Result<Self> {
        let mut header = ::csv::Writer::from_writer(Vec::new());
        record(&mut header, results.columns().iter().map(|column| shown::cell_of_text(&column.name)))?;
        out.write_all(&header.into_inner().map_err(|error| error.into_error())?)?;
        Ok(Self { results, out })
    }
}

impl<W: Write + Send> Writer for Table<'_, W> {
    fn rows(&mut self, batch: &Batch) -> io::Result<()> {
        let results = self.results;
        in_words(batch.len(), &mut self.out, |rows, bytes| {
            let columns = results.cells(batch, rows);
            let lines = columns.first().map_or(0, Cells::len);
            for line in 0..lines {
                for (place, cells) in columns.iter().enumerate() {
                    if place > 0 {
                        bytes.push(b',');
                    }
                    cells.write(line, bytes)?;
                }
                bytes.push(b'\n');
            }
            Ok(())
        })
    }

    fn end(mut self: Box<Self>) -> io::Result<()> {
        self.out.flush()
    }
}

impl Cells {
    fn len(&self) -> usize {
        match self {
            Self::Numbers(cells) => cells.len(),
            Self::Counts(cells) => cells.len(),
            Self::Texts(cells) => cells.len(),
        }
    }

    fn write(&self, line: usize, out: &mut Vec<u8>) -> io::Result<()> {
        match self {
            Self::Numbers(cells) if cells[line].is_nan() => {}
            Self::Numbers(cells) => out.extend(zmij::Buffer::new().format(cells[line]).bytes()),
            Self::Counts(cells) => write!(out, "{}", cells[line])?,
            Self::Texts(cells) => {
                let text = shown::cell_of_text(cells[line].as_deref().unwrap_or_default());
                // The text contains no line breaks, because it is escaped.
                match text.contains(['"', ',']) {
                    true => write!(out, "\"{}\"", text.replace('"', "\"\""))?,
                    false => out.extend(text.bytes()),
                }
            }
        }
        Ok(())
    }
}

/// Writes one line of CSV.
fn record<'c, W: Write>(
    table: &mut ::csv::Writer<W>,
    cells: impl IntoIterator<Item = Cow<'c, str>>,
) -> io::Result<()> {
    table.write_record(cells.into_iter().map(|cell| cell.into_owned())).map_err(of_csv)
}

/// Extracts the I/O error from an error of the crate `csv`.
fn of_csv(error: ::csv::Error) -> io::Error {
    match error.into_kind() {
        ::csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}
