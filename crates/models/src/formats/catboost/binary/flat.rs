//! Tables, lists and strings of a FlatBuffer. Each is read on access, after checking that it lies within the
//! bytes.
//!
//! All numbers are little-endian. A table begins with the distance back to its vtable (here called plan). For
//! each field, the plan stores its distance from the start of the table. If the distance is 0 or the plan is
//! too short, the field has its default value. Fields that are not plain numbers store the distance forward
//! to their content. Lists begin with their length.

use crate::error::ModelError;

/// The bytes of a part of the file, and its name for error messages.
#[derive(Clone, Copy)]
pub(super) struct Buffer<'a> {
    bytes: &'a [u8],
    name: &'a str,
}

/// A table of a buffer.
#[derive(Clone, Copy)]
pub(super) struct Table<'a> {
    buffer: Buffer<'a>,
    start: usize,
    plan: &'a [u8],
}

impl<'a> Buffer<'a> {
    /// Creates a buffer, whose `name` appears in error messages.
    pub(super) fn new(bytes: &'a [u8], name: &'a str) -> Self {
        Self { bytes, name }
    }

    pub(super) fn error(&self, problem: impl Into<String>) -> ModelError {
        ModelError::Schema { at: self.name.to_owned(), problem: problem.into() }
    }

    /// Returns the root table of the buffer.
    pub(super) fn root(self) -> Result<Table<'a>, ModelError> {
        self.table(self.target(0)?)
    }

    /// Returns `count` bytes at an offset.
    fn take(&self, at: usize, count: usize) -> Result<&'a [u8], ModelError> {
        let bytes = at.checked_add(count).and_then(|end| self.bytes.get(at..end));
        bytes.ok_or_else(|| {
            self.error(format!(
                "expected {count} bytes at byte {at} of {}: the file is truncated or corrupt",
                self.bytes.len()
            ))
        })
    }

    fn number(&self, at: usize) -> Result<u32, ModelError> {
        Ok(u32::from_le_bytes(chunk(self.take(at, 4)?)))
    }

    /// Returns the target of the distance stored at an offset.
    fn target(&self, at: usize) -> Result<usize, ModelError> {
        Ok(at.saturating_add(self.number(at)? as usize))
    }

    fn table(self, start: usize) -> Result<Table<'a>, ModelError> {
        let back = i64::from(self.number(start)? as i32);
        let plan = i64::try_from(start).ok().and_then(|start| usize::try_from(start - back).ok());
        let plan = plan.ok_or_else(|| self.error(format!("missing vtable of the table at byte {start}")))?;
        let length = u16::from_le_bytes(chunk(self.take(plan, 2)?));
        Ok(Table { buffer: self, start, plan: self.take(plan, usize::from(length))?.get(4..).unwrap_or(&[]) })
    }

    /// Returns a list whose elements have `size` bytes each.
    fn list(&self, at: usize, size: usize) -> Result<&'a [u8], ModelError> {
        let length = self.number(at)? as usize;
        self.take(at + 4, length.saturating_mul(size))
    }
}

/// Returns the first `N` bytes as an array. All callers check the length first.
fn chunk<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.first_chunk().copied().unwrap_or([0; N])
}

impl<'a> Table<'a> {
    pub(super) fn error(&self, problem: impl Into<String>) -> ModelError {
        self.buffer.error(problem)
    }

    /// Returns the offset of a field, or `None` if it has its default value.
    fn place(&self, field: usize) -> Option<usize> {
        let entry = self.plan.get(2 * field..)?.first_chunk()?;
        match u16::from_le_bytes(*entry) {
            0 => None,
            distance => Some(self.start + usize::from(distance)),
        }
    }

    /// Returns a field of `N` bytes.
    fn bytes<const N: usize>(&self, field: usize) -> Result<Option<[u8; N]>, ModelError> {
        self.place(field).map(|at| Ok(chunk(self.buffer.take(at, N)?))).transpose()
    }

    pub(super) fn byte(&self, field: usize) -> Result<u8, ModelError> {
        Ok(self.bytes::<1>(field)?.map_or(0, |[byte]| byte))
    }

    pub(super) fn int(&self, field: usize, default: i32) -> Result<i32, ModelError> {
        Ok(self.bytes(field)?.map_or(default, i32::from_le_bytes))
    }

    /// Returns a field that is a non-negative integer.
    pub(super) fn count(&self, field: usize, default: i32) -> Result<usize, ModelError> {
        let number = self.int(field, default)?;
        usize::try_from(number).map_err(|_| self.error(format!("expected a count, got {number}")))
    }

    pub(super) fn float(&self, field: usize, default: f32) -> Result<f32, ModelError> {
        Ok(self.bytes(field)?.map_or(default, f32::from_le_bytes))
    }

    pub(super) fn double(&self, field: usize, default: f64) -> Result<f64, ModelError> {
        Ok(self.bytes(field)?.map_or(default, f64::from_le_bytes))
    }

    /// Returns the offset to which a field points.
    fn target(&self, field: usize) -> Result<Option<usize>, ModelError> {
        self.place(field).map(|at| self.buffer.target(at)).transpose()
    }

    pub(super) fn table(&self, field: usize) -> Result<Option<Table<'a>>, ModelError> {
        self.target(field)?.map(|at| self.buffer.table(at)).transpose()
    }

    /// Returns a list of bytes, numbers or plain records of `size` bytes each. Empty if the field is missing.
    pub(super) fn list(&self, field: usize, size: usize) -> Result<&'a [u8], ModelError> {
        Ok(self.target(field)?.map(|at| self.buffer.list(at, size)).transpose()?.unwrap_or(&[]))
    }

    pub(super) fn ints(&self, field: usize) -> Result<Vec<i32>, ModelError> {
        Ok(ints(self.list(field, 4)?))
    }

    pub(super) fn floats(&self, field: usize) -> Result<Vec<f32>, ModelError> {
        Ok(self.list(field, 4)?.chunks_exact(4).map(|bytes| f32::from_le_bytes(chunk(bytes))).collect())
    }

    pub(super) fn doubles(&self, field: usize) -> Result<Vec<f64>, ModelError> {
        Ok(self.list(field, 8)?.chunks_exact(8).map(|bytes| f64::from_le_bytes(chunk(bytes))).collect())
    }

    /// Returns a string, or `None` if the field is missing.
    pub(super) fn text(&self, field: usize) -> Result<Option<&'a str>, ModelError> {
        self.target(field)?.map(|at| self.text_at(at)).transpose()
    }

    fn text_at(&self, at: usize) -> Result<&'a str, ModelError> {
        let bytes = self.buffer.list(at, 1)?;
        std::str::from_utf8(bytes).map_err(|_| self.error(format!("invalid UTF-8 at byte {at}")))
    }

    /// Returns a field that is a list of tables. Empty if the field is missing.
    pub(super) fn tables(&self, field: usize) -> Result<Vec<Table<'a>>, ModelError> {
        self.each(field, |at| self.buffer.table(at))
    }

    /// Returns a field that is a list of strings. Empty if the field is missing.
    pub(super) fn texts(&self, field: usize) -> Result<Vec<&'a str>, ModelError> {
        self.each(field, |at| self.text_at(at))
    }

    /// Reads the items to which the elements of a list of offsets point.
    fn each<T>(
        &self,
        field: usize,
        read: impl Fn(usize) -> Result<T, ModelError>,
    ) -> Result<Vec<T>, ModelError> {
        let Some(at) = self.target(field)? else { return Ok(Vec::new()) };
        let count = self.buffer.list(at, 4)?.len() / 4;
        (0..count).map(|index| read(self.buffer.target(at + 4 + 4 * index)?)).collect()
    }
}

/// Decodes consecutive 32-bit integers.
pub(super) fn ints(bytes: &[u8]) -> Vec<i32> {
    bytes.chunks_exact(4).map(|bytes| i32::from_le_bytes(chunk(bytes))).collect()
}

/// Returns the first four bytes, as an integer, and the last four bytes of each record of 8 bytes.
pub(super) fn pairs(bytes: &[u8]) -> impl Iterator<Item = (i32, [u8; 4])> {
    bytes.chunks_exact(8).map(|bytes| (i32::from_le_bytes(chunk(bytes)), chunk(&bytes[4..])))
}

/// Returns the two halves of each record of 4 bytes.
pub(super) fn pairs_of_16(bytes: &[u8]) -> impl Iterator<Item = [u16; 2]> {
    let half = |bytes: &[u8]| u16::from_le_bytes(chunk(bytes));
    bytes.chunks_exact(4).map(move |bytes| [half(bytes), half(&bytes[2..])])
}
