//! The footer of a Parquet file.

use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};

use super::pages::damaged;
use super::thrift::{Kind, excerpt, walk};
use crate::columnar::Content;
use crate::error::{Result, RowsError};

/// The magic bytes at the end of a file.
const MAGIC: &[u8] = b"PAR1";
/// Maximum nesting depth of groups in the schema.
const DEPTH: usize = 64;

/// Reads the footer and checks what it declares.
pub(super) fn read(file: &Content) -> Result<ParquetMetaData> {
    let cut = || RowsError::corrupt("the Parquet file is truncated: the magic bytes at its end are missing");
    let end = file.end((MAGIC.len() + 4) as u64)?;
    let (_, length) = end.strip_suffix(MAGIC).and_then(|rest| rest.split_last_chunk()).ok_or_else(cut)?;
    let end = file.len() - end.len() as u64;
    let start = end.checked_sub(u64::from(u32::from_le_bytes(*length))).ok_or_else(damaged)?;
    let footer = file.slice(start..end)?.ok_or_else(damaged)?;
    // The decoder identifies fields by their number alone, ignoring their type. It does not consume bytes for
    // the booleans of lists that it skips, so a short file can make it count to two billion, any number of
    // times. Therefore, it only receives the fields that it needs, each with the correct type.
    let footer = excerpt(&footer, field).ok_or_else(damaged)?;
    check(&footer).ok_or_else(damaged)?;
    ParquetMetaDataReader::decode_metadata(&footer)
        .map_err(|error| RowsError::corrupt(format!("the Parquet file is corrupt: {error}")))
}

/// Returns the type of the footer's field at this path, or `None` if the field is not read. Source: Apache
/// Parquet, "parquet.thrift", `FileMetaData`.
fn field(path: &[i16]) -> Option<Kind> {
    Some(match path {
        // Version, number of rows, schema, row groups, and key-value metadata.
        [1 | 3] => Kind::Integer,
        [2 | 4 | 5] => Kind::Structures,
        // A schema element: type, length, repetition, name, number of children, converted type, scale,
        // precision, logical type.
        [2, 1..=3 | 5..=8] => Kind::Integer,
        [2, 4] => Kind::Text,
        // Logical types: scale and precision of decimals; UTC flag and unit of times; bits and sign of
        // integers.
        [2, 10] | [2, 10, _] => Kind::Structure,
        [2, 10, 5, 1 | 2] => Kind::Integer,
        [2, 10, 7 | 8, 1] => Kind::Boolean,
        [2, 10, 7 | 8, 2] | [2, 10, 7 | 8, 2, _] => Kind::Structure,
        [2, 10, 10, 1] => Kind::Byte,
        [2, 10, 10, 2] => Kind::Boolean,
        // A row group: columns, bytes, rows.
        [4, 1] => Kind::Structures,
        [4, 2 | 3] => Kind::Integer,
        // A column chunk: file path and offset. Its metadata: type, encodings, codec, values, sizes and
        // offsets.
        [4, 1, 1] => Kind::Text,
        [4, 1, 2] => Kind::Integer,
        [4, 1, 3] => Kind::Structure,
        [4, 1, 3, 1 | 4..=7 | 9 | 11] => Kind::Integer,
        [4, 1, 3, 2] => Kind::Integers,
        [5, 1 | 2] => Kind::Text,
        _ => return None,
    })
}

/// Checks the tree of the schema: no group is nested deeper than [`DEPTH`] or has more children than there
/// are elements.
fn check(footer: &[u8]) -> Option<()> {
    // For each schema element, the number of its children.
    let mut below: Vec<i64> = Vec::new();
    walk(footer, &mut |path, value| match path {
        // Every element has a name, which precedes the number of children.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_are_not_read_are_not_given_to_the_decoder() {
        let (version, rows, columns) = ([0x15, 0x04], [0x16, 0x06], [0x19, 0x1c, 0x48, 1, b'a', 0x00]);
        let plain = [&version[..], &columns, &rows, &[0x00]].concat();
        // These bytes are a list of three booleans and a struct. The decoder treats the list as empty, and
        // would continue at its first byte.
        let more = [&plain[..plain.len() - 1], &[0xf9, 0x31, 0x59, 0xf1, 0xff, 0x1c, 0x16, 0x02, 0x00, 0x00]]
            .concat();
        assert_eq!(excerpt(&more, field), excerpt(&plain, field));
        assert!(excerpt(&plain, field).is_some());
        // If the version is a string, the decoder would continue within the string.
        assert_eq!(excerpt(&[0x18, 3, 0x19, 0xf1, 0xff, 0x00], field), None);
    }
}
