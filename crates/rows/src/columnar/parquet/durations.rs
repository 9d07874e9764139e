//! Columns of durations, which Parquet has no type for: they are whole numbers, and Arrow's description of the table, which its writers
//! put into the file, says what they are.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use parquet::file::metadata::ParquetMetaData;

use crate::columnar::arrow;

/// The key of Arrow's description: a message with a schema, in Base64.
const KEY: &str = "ARROW:schema";

/// Names of the columns of durations, as far as the file tells. A description that is damaged tells nothing: all is read without it.
pub(super) fn find(contents: &ParquetMetaData) -> Vec<String> {
    let entries = contents.file_metadata().key_value_metadata().map(Vec::as_slice).unwrap_or_default();
    let text = entries.iter().find(|entry| entry.key == KEY).and_then(|entry| entry.value.as_deref());
    let bytes = text.and_then(|text| STANDARD.decode(text).ok());
    bytes.and_then(|description| arrow::durations(&description)).unwrap_or_default()
}
