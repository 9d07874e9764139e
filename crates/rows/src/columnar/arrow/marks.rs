//! Markers in Arrow data.

/// The magic bytes at the start and the end of a file.
pub(super) const MAGIC: &[u8] = b"ARROW1";
/// The marker at the start of a message, since version 0.15 of the format.
pub(super) const MARK: u32 = u32::MAX;

/// The message type of a schema.
pub(super) const SCHEMA: u8 = 1;
/// The message type of a dictionary batch.
pub(super) const DICTIONARY: u8 = 2;
/// The message type of a batch of rows.
pub(super) const ROWS: u8 = 3;
