//! Rows on the command line: their source, and the options for their columns.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Error, Result};
use apportion::options::quoted;
use apportion_rows::{Block, ChoiceError, ColumnUse, RowsError, Sentinel, Source};
use clap::Args;
use serde::{Serialize, Serializer};

use crate::failure::Usage;

pub(crate) use apportion_rows::{Ids, Table, Wanted};

/// The path that stands for standard input.
const STANDARD_INPUT: &str = "-";

/// The options for the columns of rows.
#[derive(Debug, Clone, Default, Args, Serialize)]
pub(crate) struct Columns {
    /// Column to set aside, by name or index [default: the one named target, where there is one]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) target: Option<String>,

    /// Column that says which row is which, by name or index: set aside unless it is a feature, and written beside the results
    #[arg(long, value_name = "COLUMN")]
    pub(crate) id: Option<String>,

    /// Column that says how much each row of the background counts, by name or index: of the background file, or of the rows file where
    /// that is the background. Set aside unless it is a feature. Whole weights are repeated rows; of others their proportion counts
    #[arg(long, value_name = "COLUMN")]
    pub(crate) weights: Option<String>,

    /// Columns to leave out, by name or index: "unnamed,notes"; a name that holds a comma in quotes. May be given several times
    #[arg(long, value_name = "COLUMNS", value_parser = names)]
    ignore: Vec<Names>,

    /// A value that stands for a missing one, such as -999, beside an empty cell and the usual words (NA, NaN, null, None, ?, …). May be
    /// given several times
    #[arg(long, value_name = "VALUE", value_parser = sentinel, allow_negative_numbers = true)]
    #[serde(serialize_with = "sentinels")]
    missing: Vec<Sentinel>,

    /// What separates the cells of CSV: one character, or tab [default: comma, semicolon, tab or pipe, as the header tells]
    #[arg(long, value_name = "C", value_parser = separator)]
    separator: Option<u8>,

    /// Numbers in text are written with a comma, as in 1,5
    #[arg(long)]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    decimal_comma: bool,

    /// Bytes that packed rows may unpack to [default: 200 times their size, at least 256 MiB]
    #[arg(long, value_name = "BYTES")]
    #[serde(skip)]
    unpacked_limit: Option<u64>,
}

/// Names in a single argument.
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
        _ => Err(format!("{text:?} separates no cells; give one character, such as \";\", or tab")),
    }
}

impl Columns {
    /// Returns the options for reading all columns, except those that are set aside.
    pub(crate) fn all(&self) -> Wanted<'_> {
        Wanted {
            target: self.target.as_deref(),
            id: self.id.as_deref(),
            weight: self.weights.as_deref(),
            ignored: self.ignore.iter().flat_map(|Names(names)| names).map(String::as_str).collect(),
            named_columns_required: true,
            missing: &self.missing,
            separator: self.separator,
            decimal_comma: self.decimal_comma,
            unpacked_limit: self.unpacked_limit,
            ..Wanted::default()
        }
    }
}

/// Reads the specified features from a file, or from standard input if the path is `-`.
pub(crate) fn read(path: &Path, wanted: &Wanted<'_>) -> Result<Table> {
    open(path)?.read(wanted).map_err(|error| in_words(error.into()))
}

/// Reads the same in blocks. Returns notes for the user.
pub(crate) fn each_block(
    path: &Path,
    wanted: &Wanted<'_>,
    receive: impl FnMut(&mut Block) -> Result<()>,
) -> Result<Vec<String>> {
    open(path)?.each_block(wanted, receive).map_err(in_words)
}

fn open(path: &Path) -> Result<Source<'static>> {
    static IS_READ: AtomicBool = AtomicBool::new(false);
    if !is_standard_input(path) {
        return Ok(Source::open(path)?);
    }
    if IS_READ.swap(true, Ordering::Relaxed) {
        let says = "standard input (-) can be read once only; give the name of a file for one of them";
        return Err(Usage(says.to_owned()).into());
    }
    Ok(Source::stream("standard input", std::io::stdin().lock()))
}

/// Adds the names of the command-line options to an error about the choice of columns.
fn in_words(error: Error) -> Error {
    let with_options = |error: &ChoiceError| RowsError::Columns {
        problem: error.in_words(|of| match of {
            ColumnUse::Target => Some("--target"),
            ColumnUse::Id => Some("--id"),
            ColumnUse::Ignored => Some("--ignore"),
            _ => None,
        }),
    };
    match error.downcast() {
        Ok(RowsError::In { name, source }) => {
            let source = match *source {
                RowsError::Choice(error) => with_options(&error),
                other => other,
            };
            RowsError::In { name, source: Box::new(source) }.into()
        }
        Ok(other) => other.into(),
        Err(error) => error,
    }
}

pub(crate) fn is_standard_input(path: &Path) -> bool {
    path == Path::new(STANDARD_INPUT)
}
