//! What tells the parts of Arrow data apart.

/// The first bytes of a file, and the last.
pub(super) const MAGIC: &[u8] = b"ARROW1";
/// What a message begins with, since version 0.15 of the format.
pub(super) const MARK: u32 = u32::MAX;

/// The message describes the columns.
pub(super) const SCHEMA: u8 = 1;
/// The message has values that columns refer to.
pub(super) const DICTIONARY: u8 = 2;
/// The message has a batch of rows.
pub(super) const ROWS: u8 = 3;
