//! Detection of duration columns. Parquet does not have a type for durations, and stores them as integers.
//! However, writers that use Arrow add the Arrow schema, which contains the type, to the file.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use parquet::file::metadata::ParquetMetaData;

use crate::columnar::arrow;

/// The metadata key of the Arrow schema, which is a message in Base64.
const KEY: &str = "ARROW:schema";

/// Returns the names of the duration columns. An invalid Arrow schema is ignored.
pub(super) fn find(contents: &ParquetMetaData) -> Vec<String> {
    let entries = contents.file_metadata().key_value_metadata().map(Vec::as_slice).unwrap_or_default();
    let text = entries.iter().find(|entry| entry.key == KEY).and_then(|entry| entry.value.as_deref());
    let bytes = text.and_then(|text| STANDARD.decode(text).ok());
    bytes.and_then(|description| arrow::durations(&description)).unwrap_or_default()
}
