//! Limit on the memory of a document.

use super::Value;

/// The memory that a document may still use. Models consist mostly of lists of numbers, and take a few times
/// the size of their files in memory. A file of empty lists would take twenty times its size.
pub(super) struct Memory {
    left: usize,
}

impl Memory {
    /// Creates the limit for a file with this number of bytes.
    pub(super) fn for_file(bytes: usize) -> Self {
        const MIN_LIMIT: usize = 1 << 26;
        const TIMES: usize = 8;
        Self { left: bytes.saturating_mul(TIMES).max(MIN_LIMIT) }
    }

    /// Subtracts the memory of a value and, if it is a member of an object, of its name. Not called for
    /// numbers in a list.
    pub(super) fn take(&mut self, name: Option<&str>) -> Result<(), String> {
        /// Minimum memory of an allocation, in bytes.
        const ALLOCATED: usize = 32;
        let name = name.map_or(0, |name| size_of::<String>() + name.len().max(ALLOCATED));
        let size = size_of::<Value<'_>>() + name;
        self.left = self
            .left
            .checked_sub(size)
            .ok_or("the document takes more than eight times the file size in memory, unlike a model")?;
        Ok(())
    }
}
