//! The formats, by name.

use std::io::Write;

use anyhow::{Result, bail};
use clap::ValueEnum;

use super::facts::Facts;
use super::results::Results;
use super::writer::Writer;
#[cfg(feature = "columnar")]
use super::{arrow, parquet};
use super::{csv, json, npy, npz, table};

/// The writer of a format, which writes to `out`.
pub(crate) fn writer<'a, W: Write + Send + 'a>(
    format: Format,
    results: &'a dyn Results,
    out: W,
) -> Result<Box<dyn Writer + 'a>> {
    Ok(match format {
        Format::Json => Box::new(json::Document::new(results, out)),
        Format::Jsonl => Box::new(json::Lines::new(results, out)),
        Format::Csv => Box::new(csv::Table::new(results, out)?),
        Format::Npy => Box::new(npy::Array::new(results, out)?),
        Format::Npz => Box::new(npz::Archive::new(results, out)?),
        #[cfg(feature = "columnar")]
        Format::Parquet => Box::new(parquet::Groups::new(results, out)),
        #[cfg(feature = "columnar")]
        Format::Arrow => Box::new(arrow::Batches::stream(results, out)),
        #[cfg(feature = "columnar")]
        Format::Feather => Box::new(arrow::Batches::file(results, out)),
        Format::Table => Box::new(table::Text::new(results, out)),
    })
}

impl Facts {
    /// Writes them all.
    pub(crate) fn write(&self, format: Format, out: &mut dyn Write) -> Result<()> {
        match format {
            Format::Json | Format::Jsonl => json::facts(self, out),
            Format::Csv => csv::facts(self, out),
            Format::Table => table::facts(self, out),
            _ => bail!("these facts are no table of numbers; give --format json, csv or table"),
        }
    }
}

/// How results are written.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum Format {
    /// One JSON object, every number to the last bit.
    Json,
    /// JSON lines: one that says what holds for all rows, then one for each row.
    Jsonl,
    /// CSV with a header, every number to the last bit.
    Csv,
    /// A NumPy array of float64: the values alone.
    Npy,
    /// NumPy's archive of arrays: values, base, inputs and names.
    Npz,
    /// Parquet, in the columns of CSV.
    #[cfg(feature = "columnar")]
    Parquet,
    /// An Arrow stream, in the columns of CSV.
    #[cfg(feature = "columnar")]
    Arrow,
    /// An Arrow file, in the columns of CSV.
    #[cfg(feature = "columnar")]
    Feather,
    /// For reading, rounded to six digits.
    Table,
}

impl Format {
    /// Its name on the command line.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Whether facts can be written so.
    pub(crate) fn is_for_facts(self) -> bool {
        matches!(self, Self::Json | Self::Jsonl | Self::Csv | Self::Table)
    }

    /// Whether it holds numbers alone, and no names of rows.
    pub(crate) fn is_of_numbers_alone(self) -> bool {
        matches!(self, Self::Npy | Self::Npz)
    }
}
