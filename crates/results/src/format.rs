//! File formats of results.

use std::fmt;
use std::io::{self, Write};

use crate::json::{Document, Lines};
use crate::kinds::Results;
#[cfg(feature = "columnar")]
use crate::tables::{arrow, parquet};
#[cfg(feature = "tables")]
use crate::tables::{csv, npy, npz};
use crate::writer::Writer;

/// A file format of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// One JSON object, with numbers in full precision.
    Json,
    /// JSON lines: one line with the head, which applies to all rows, then one line per row.
    JsonLines,
    /// CSV with a header, with numbers in full precision.
    #[cfg(feature = "tables")]
    Csv,
    /// A NumPy array of float64 that contains only the values.
    #[cfg(feature = "tables")]
    Npy,
    /// A NumPy archive of arrays, e.g. values, base values, predictions, inputs and names.
    #[cfg(feature = "tables")]
    Npz,
    /// Parquet, with the columns of CSV.
    #[cfg(feature = "columnar")]
    Parquet,
    /// An Arrow stream, with the columns of CSV.
    #[cfg(feature = "columnar")]
    ArrowStream,
    /// An Arrow file, with the columns of CSV.
    #[cfg(feature = "columnar")]
    ArrowFile,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Json => "JSON",
            Self::JsonLines => "JSON lines",
            #[cfg(feature = "tables")]
            Self::Csv => "CSV",
            #[cfg(feature = "tables")]
            Self::Npy => "npy",
            #[cfg(feature = "tables")]
            Self::Npz => "npz",
            #[cfg(feature = "columnar")]
            Self::Parquet => "Parquet",
            #[cfg(feature = "columnar")]
            Self::ArrowStream => "an Arrow stream",
            #[cfg(feature = "columnar")]
            Self::ArrowFile => "an Arrow file",
        })
    }
}

/// Creates a writer that writes results to `out` in this format.
///
/// ```
/// use apportion_results::{Batch, Format, Heading, Values, writer};
///
/// let results = Values { heading: Heading::for_features(["age", "income"]), ..Values::default() };
/// let batch = Batch {
///     rows: vec![0],
///     base: vec![1.0],
///     predictions: vec![3.5],
///     values: vec![2.0, 0.5],
///     ..Batch::default()
/// };
/// let mut written = Vec::new();
/// let mut writer = writer(Format::JsonLines, &results, &mut written)?;
/// writer.rows(&batch)?;
/// writer.end()?;
/// let row = String::from_utf8_lossy(&written).lines().last().map(str::to_owned);
/// let wanted = r#"{"row":0,"base":1.0,"prediction":3.5,"values":[2.0,0.5],"evaluations":0}"#;
/// assert_eq!(row.as_deref(), Some(wanted));
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// The errors of `out`, and of the directory for temporary files, in which NumPy arrays are buffered until
/// the number of rows is known.
pub fn writer<'a, W: Write + Send + 'a>(
    format: Format,
    results: &'a dyn Results,
    out: W,
) -> io::Result<Box<dyn Writer + 'a>> {
    Ok(match format {
        Format::Json => Box::new(Document::new(results, out)),
        Format::JsonLines => Box::new(Lines::new(results, out)),
        #[cfg(feature = "tables")]
        Format::Csv => Box::new(csv::Table::new(results, out)?),
        #[cfg(feature = "tables")]
        Format::Npy => Box::new(npy::Array::new(results, out)?),
        #[cfg(feature = "tables")]
        Format::Npz => Box::new(npz::Archive::new(results, out)?),
        #[cfg(feature = "columnar")]
        Format::Parquet => Box::new(parquet::Groups::new(results, out)?),
        #[cfg(feature = "columnar")]
        Format::ArrowStream => Box::new(arrow::Batches::stream(results, out)?),
        #[cfg(feature = "columnar")]
        Format::ArrowFile => Box::new(arrow::Batches::file(results, out)?),
    })
}
