//! What the command writes: kinds of results (`attributions`, `interactions`, `predictions`, `summary`, `facts`), formats that they are
//! written in (a file each), and where they go (`destination`).
//!
//! Rows come and go in blocks, so that memory does not grow with their number. A kind of results says of a row what each form of it has
//! (`results`); a format makes bytes of that (`writer`).

#[cfg(feature = "columnar")]
mod arrow;
mod attributions;
mod block;
mod csv;
mod destination;
mod facts;
mod interactions;
mod json;
mod npy;
mod npz;
#[cfg(feature = "columnar")]
mod parquet;
mod predictions;
mod results;
mod shown;
mod summary;
mod table;
mod writer;

use anyhow::Result;
use clap::ValueEnum;

pub(crate) use attributions::Attributions;
pub(crate) use block::Block;
pub(crate) use destination::{Destination, is_broken_pipe};
pub(crate) use facts::Facts;
pub(crate) use interactions::Interactions;
pub(crate) use predictions::Predictions;
pub(crate) use results::Results;
pub(crate) use shown::shown;
pub(crate) use summary::Summary;
pub(crate) use writer::writer;

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

impl Destination {
    /// Writes rows that are all known, and does what else is to be done before they are seen.
    pub(crate) fn write_all(
        &self,
        format: Format,
        results: &dyn Results,
        block: &Block,
        before: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let mut sink = self.open()?;
        let mut writer = writer(format, results, &mut sink)?;
        writer.rows(block)?;
        writer.end()?;
        before()?;
        sink.finish()
    }
}
