//! What can go wrong when rows are read.

use crate::choice_error::ChoiceError;

/// What can be read: the end of messages about files that cannot.
#[cfg(feature = "columnar")]
const KNOWN: &str =
    "CSV with a header, a .npy matrix, Parquet or Arrow, optionally compressed with gzip or zstd";
#[cfg(not(feature = "columnar"))]
const KNOWN: &str = "CSV with a header or a .npy matrix, optionally compressed with gzip or zstd";

/// Why rows could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RowsError {
    /// Which rows they were.
    #[error("cannot read rows from {name}")]
    In {
        /// The file, or what it was called.
        name: String,
        /// What is wrong with them.
        source: Box<RowsError>,
    },
    /// The file could not be opened or read.
    #[error(transparent)]
    Io(std::io::Error),
    /// A file without content.
    #[error("the file is empty; expected {KNOWN}")]
    Empty,
    /// Content of a format that is not read here.
    #[error("unsupported file format ({what}); {remedy}expected {KNOWN}")]
    Format {
        /// The format, or how the file begins.
        what: String,
        /// How to get from there to what can be read; may be empty.
        remedy: &'static str,
    },
    /// Content that begins as a format, and does not go on as one.
    #[error("{problem}")]
    Damaged {
        /// What was found and what was wanted.
        problem: String,
    },
    /// Packed content that takes more memory than its size lets expect.
    #[error(
        "{packed} bytes expand to {unpacked} bytes or more, at least {ratio} times as many; if this is \
         expected, pass --unpacked-limit BYTES"
    )]
    TooLarge {
        /// Bytes read.
        packed: u64,
        /// Bytes they unpack to, as far as it was found out.
        unpacked: u64,
        /// Bytes unpacked for each byte packed that are taken without asking.
        ratio: u64,
    },
    /// A first line that can be cut in several ways.
    #[error("ambiguous delimiter in the header {header:?}: {candidates}; set it with --separator C (or tab)")]
    Separator {
        /// The beginning of the first line.
        header: String,
        /// What it could be.
        candidates: String,
    },
    /// The columns cannot be the features.
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    /// Columns that cannot be read.
    #[error("{problem}")]
    Columns {
        /// What is there, what is wanted, and what to do.
        problem: String,
    },
    /// A cell that cannot be used.
    #[error("{place}: {problem}")]
    Cell {
        /// Its row and column.
        place: String,
        /// What it holds, what is wanted, and what to do.
        problem: String,
    },
    /// A row that cannot be used.
    #[error("{problem}")]
    Row {
        /// Which row, what it holds and what is wanted.
        problem: String,
    },
}

/// A result of this crate.
pub(crate) type Result<T> = std::result::Result<T, RowsError>;

impl RowsError {
    pub(crate) fn damaged(problem: impl Into<String>) -> Self {
        Self::Damaged { problem: problem.into() }
    }

    pub(crate) fn columns(problem: impl Into<String>) -> Self {
        Self::Columns { problem: problem.into() }
    }

    pub(crate) fn row(problem: impl Into<String>) -> Self {
        Self::Row { problem: problem.into() }
    }
}

impl From<std::io::Error> for RowsError {
    /// The error of this crate that went through a reader, or that of the system.
    fn from(error: std::io::Error) -> Self {
        match error.downcast() {
            Ok(inner) => inner,
            Err(error) => Self::Io(error),
        }
    }
}
