//! The options for the columns of rows.

use anyhow::Result;
use apportion::options::quoted;
use apportion_rows::{RowOptions, Sentinel};
use clap::Args;
use serde::{Serialize, Serializer};

/// The options for the columns of rows.
#[derive(Debug, Clone, Default, Args, Serialize)]
pub(crate) struct Columns {
    /// Target column, by name or index, which is not a feature [default: target, if it exists]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) target: Option<String>,

    /// Column of row identifiers, by name or index
    ///
    /// Identifiers are copied to the results. The column is not a feature, unless the model has one of this
    /// name.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) id: Option<String>,

    /// Column of the weights of background rows, by name or index
    ///
    /// The column belongs to the background file, or to the rows file if that is the background. It is not a
    /// feature, unless the model has one of this name. Integer weights are equivalent to repeated rows; for
    /// other weights, only the proportions matter.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) weights: Option<String>,

    /// Columns to ignore, by name or index: "unnamed,notes"
    ///
    /// Quote names that contain a comma. Can be repeated.
    #[arg(long, value_name = "COLUMNS", value_parser = names)]
    ignore: Vec<Names>,

    /// Value that marks missing cells, e.g. -999
    ///
    /// Empty cells and the usual markers (NA, NaN, null, None, ?, …) are always missing. Can be repeated.
    #[arg(long, value_name = "VALUE", value_parser = sentinel, allow_negative_numbers = true)]
    #[serde(serialize_with = "sentinels")]
    missing: Vec<Sentinel>,

    /// Delimiter of CSV: one character, or tab [default: comma, semicolon, tab or pipe, detected from the
    /// header]
    #[arg(long, value_name = "C", value_parser = separator)]
    separator: Option<u8>,

    /// Read numbers with a decimal comma, as in 1,5
    #[arg(long)]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    decimal_comma: bool,

    /// Maximum number of bytes of decompressed rows [default: 200 times their size, at least 256 MiB]
    #[arg(long, value_name = "BYTES")]
    #[serde(skip)]
    unpacked_limit: Option<u64>,
}

/// A list of names in a single argument.
#[derive(Debug, Clone, Serialize)]
struct Names(Vec<String>);

fn names(text: &str) -> Result<Names, String> {
    Ok(Names(quoted::split(text, ',', &[',']).into_iter().map(quoted::unquoted).collect()))
}

fn sentinel(text: &str) -> Result<Sentinel, std::convert::Infallible> {
    text.parse()
}

fn sentinels<S: Serializer>(sentinels: &[Sentinel], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(sentinels.iter().map(|sentinel| match sentinel {
        Sentinel::Number(number) => number.to_string(),
        Sentinel::Text(text) => text.clone(),
    }))
}

fn separator(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\r' | b'\n') => Ok(*byte),
        _ => Err(format!("invalid separator {text:?}; expected a single character, such as \";\", or tab")),
    }
}

impl Columns {
    /// Returns the options for reading all columns, except the target, the ID, the weights and the ignored
    /// columns.
    pub(crate) fn all(&self) -> RowOptions<'_> {
        RowOptions {
            target: self.target.as_deref(),
            id: self.id.as_deref(),
            weight: self.weights.as_deref(),
            ignored: self.ignore.iter().flat_map(|Names(names)| names).map(String::as_str).collect(),
            named_columns_required: true,
            missing: &self.missing,
            separator: self.separator,
            decimal_comma: self.decimal_comma,
            unpacked_limit: self.unpacked_limit,
            ..RowOptions::default()
        }
    }
}
