//! How much memory a document may take.

use super::Value;

/// What the values of a document take, and the most that they may. Models are lists of numbers for the most part and take a few times
/// their size; a file of empty lists would take twenty times its own.
pub(super) struct Memory {
    left: usize,
}

impl Memory {
    /// For a file of so many bytes.
    pub(super) fn for_file(bytes: usize) -> Self {
        const LEAST: usize = 1 << 26;
        const TIMES: usize = 8;
        Self { left: bytes.saturating_mul(TIMES).max(LEAST) }
    }

    /// Takes what a value, other than a number in a list, takes; with its name, where it is a member.
    pub(super) fn take(&mut self, name: Option<&str>) -> Result<(), String> {
        /// What an allocation takes at least.
        const ALLOCATED: usize = 32;
        let name = name.map_or(0, |name| size_of::<String>() + name.len().max(ALLOCATED));
        let size = size_of::<Value<'_>>() + name;
        self.left = self.left.checked_sub(size).ok_or(
            "its values would take more than eight times the file in memory, which no model does; is it another kind of document?",
        )?;
        Ok(())
    }
}
