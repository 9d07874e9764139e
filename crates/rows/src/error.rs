//! The error type for reading rows.

use crate::choice_error::ChoiceError;

/// The supported formats, for messages about other files.
#[cfg(feature = "columnar")]
const KNOWN: &str =
    "CSV with a header, a .npy matrix, Parquet or Arrow, optionally compressed with gzip or zstd";
#[cfg(not(feature = "columnar"))]
const KNOWN: &str = "CSV with a header or a .npy matrix, optionally compressed with gzip or zstd";

/// The error if rows cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RowsError {
    /// An error with the name of the file in which it occurred.
    #[error("cannot read rows from {name}")]
    In {
        /// The path of the file, or the name of the stream.
        name: String,
        /// The error itself.
        source: Box<RowsError>,
    },
    /// The file could not be opened or read.
    #[error(transparent)]
    Io(std::io::Error),
    /// The file is empty.
    #[error("the file is empty; expected {KNOWN}")]
    Empty,
    /// The format is not supported.
    #[error("unsupported file format ({what}); {remedy}expected {KNOWN}")]
    Format {
        /// The format, or the first bytes of the file.
        what: String,
        /// How to convert the file, ending with `; `; may be empty.
        remedy: &'static str,
    },
    /// The file begins like a supported format but is not valid.
    #[error("{problem}")]
    Damaged {
        /// The problem, and what to do.
        problem: String,
    },
    /// The decompressed content is much larger than the file.
    #[error(
        "the file expands from {packed} bytes to {unpacked} bytes or more, at least {ratio} times its size; \
         if such a size is expected, pass --unpacked-limit BYTES"
    )]
    TooLarge {
        /// The number of bytes read.
        packed: u64,
        /// The number of decompressed bytes so far.
        unpacked: u64,
        /// The quotient of `unpacked` and `packed`, rounded down.
        ratio: u64,
    },
    /// The delimiter cannot be detected from the first lines.
    #[error("ambiguous delimiter in the header {header:?}: {candidates}; set it with --separator C (or tab)")]
    Separator {
        /// The beginning of the first line.
        header: String,
        /// The delimiters that the first lines may have.
        candidates: String,
    },
    /// The features cannot be chosen among the columns.
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    /// The columns cannot be read.
    #[error("{problem}")]
    Columns {
        /// The problem, and what to do.
        problem: String,
    },
    /// A cell cannot be used.
    #[error("{place}: {problem}")]
    Cell {
        /// The row and the column.
        place: String,
        /// The problem, and what to do.
        problem: String,
    },
    /// A row cannot be used.
    #[error("{problem}")]
    Row {
        /// The row, the problem, and what to do.
        problem: String,
    },
}

/// The result type of this crate.
pub(crate) type Result<T> = std::result::Result<T, RowsError>;

impl RowsError {
    pub(crate) fn damaged(problem: impl Into<String>) -> Self {
        Self::Damaged { problem: problem.into() }
    }

    /// Returns the error for a file that is truncated or corrupt.
    pub(crate) fn corrupt(problem: impl Into<String>) -> Self {
        Self::damaged(problem.into() + "; write the file again")
    }

    pub(crate) fn columns(problem: impl Into<String>) -> Self {
        Self::Columns { problem: problem.into() }
    }

    pub(crate) fn row(problem: impl Into<String>) -> Self {
        Self::Row { problem: problem.into() }
    }
}

impl From<std::io::Error> for RowsError {
    /// Extracts an error of this crate that passed through a reader; other errors become [`RowsError::Io`].
    fn from(error: std::io::Error) -> Self {
        match error.downcast() {
            Ok(inner) => inner,
            Err(error) => Self::Io(error),
        }
    }
}
