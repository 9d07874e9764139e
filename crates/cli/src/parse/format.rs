//! The output formats, as values of `--format`.

use apportion_results as results;
use clap::ValueEnum;

/// The format of results.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum Format {
    /// A JSON object with exact numbers.
    Json,
    /// JSON lines: one with the common information, then one per row.
    Jsonl,
    /// CSV with a header and exact numbers.
    Csv,
    /// A NumPy array of float64 with the values only.
    Npy,
    /// A NumPy archive of values, base values, inputs and names.
    Npz,
    /// Parquet with the columns of CSV.
    #[cfg(feature = "columnar")]
    Parquet,
    /// An Arrow stream with the columns of CSV.
    #[cfg(feature = "columnar")]
    Arrow,
    /// An Arrow file with the columns of CSV.
    #[cfg(feature = "columnar")]
    Feather,
    /// A table for reading, rounded to six digits.
    Table,
}

impl Format {
    /// Returns the name of the format on the command line.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Returns the machine-readable format, or `None` for tables.
    pub(crate) fn for_programs(self) -> Option<results::Format> {
        Some(match self {
            Self::Json => results::Format::Json,
            Self::Jsonl => results::Format::JsonLines,
            Self::Csv => results::Format::Csv,
            Self::Npy => results::Format::Npy,
            Self::Npz => results::Format::Npz,
            #[cfg(feature = "columnar")]
            Self::Parquet => results::Format::Parquet,
            #[cfg(feature = "columnar")]
            Self::Arrow => results::Format::ArrowStream,
            #[cfg(feature = "columnar")]
            Self::Feather => results::Format::ArrowFile,
            Self::Table => return None,
        })
    }

    /// Returns whether the facts of `inspect` and `groups` can be written in this format.
    pub(crate) fn is_for_facts(self) -> bool {
        matches!(self, Self::Json | Self::Jsonl | Self::Csv | Self::Table)
    }

    /// Returns whether the format stores only numbers, and no row IDs.
    pub(crate) fn is_of_numbers_alone(self) -> bool {
        matches!(self, Self::Npy | Self::Npz)
    }
}
