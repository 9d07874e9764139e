//! Reads rows from a file or from standard input.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Error, Result};
use apportion_rows::{Block, ChoiceError, ColumnUse, RowsError, Source};

use crate::failure::Usage;

pub(crate) use apportion_rows::{Ids, RowOptions, Table};

/// The path that denotes standard input.
const STANDARD_INPUT: &str = "-";

/// Reads the specified features from a file, or from standard input if the path is `-`.
pub(crate) fn read(path: &Path, wanted: &RowOptions<'_>) -> Result<Table> {
    open(path)?.read(wanted).map_err(|error| in_words(error.into()))
}

/// Reads the specified features in blocks. Returns notes for the user.
pub(crate) fn each_block(
    path: &Path,
    wanted: &RowOptions<'_>,
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
        let says = "standard input (-) can be read only once; pass the path of a file for one of the inputs";
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
