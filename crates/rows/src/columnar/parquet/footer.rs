//! The table of contents at the end of a Parquet file.

use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};

use super::pages::damaged;
use super::thrift::walk;
use crate::columnar::Content;
use crate::error::{Result, RowsError};

/// The last bytes of every such file.
const MAGIC: &[u8] = b"PAR1";
/// Groups inside of each other in a table.
const DEPTH: usize = 64;

/// Reads it, after a look at what it claims.
pub(super) fn read(file: &Content) -> Result<ParquetMetaData> {
    let cut = || RowsError::damaged("the Parquet file is truncated: it does not end as one");
    let end = file.end((MAGIC.len() + 4) as u64)?;
    let (_, length) = end.strip_suffix(MAGIC).and_then(|rest| rest.split_last_chunk()).ok_or_else(cut)?;
    let end = file.len() - end.len() as u64;
    let start = end.checked_sub(u64::from(u32::from_le_bytes(*length))).ok_or_else(damaged)?;
    let footer = file.slice(start..end)?.ok_or_else(damaged)?;
    check(&footer).ok_or_else(damaged)?;
    ParquetMetaDataReader::decode_metadata(&footer)
        .map_err(|error| RowsError::damaged(format!("the Parquet file is damaged: {error}")))
}

/// Walks through all lists, none of which may be longer than the footer, and through the tree of the columns, in which no group may be
/// deeper than [`DEPTH`] or have more columns than there are.
fn check(footer: &[u8]) -> Option<()> {
    // Elements of the tree in their order, each with the number below it.
    let mut below: Vec<i64> = Vec::new();
    walk(footer, &mut |path, value| match path {
        // A name, which each has, and the number behind it.
        [2, 4] => below.push(0),
        [2, 5] => {
            if let Some(last) = below.last_mut() {
                *last = value;
            }
        }
        _ => {}
    })?;
    let count = i64::try_from(below.len()).ok()?;
    let mut open: Vec<i64> = Vec::new();
    for &number in &below {
        if !(0..=count).contains(&number) || open.len() > DEPTH {
            return None;
        }
        if let Some(last) = open.last_mut() {
            *last -= 1;
        }
        if number > 0 {
            open.push(number);
        } else {
            while open.last() == Some(&0) {
                open.pop();
            }
        }
    }
    Some(())
}
