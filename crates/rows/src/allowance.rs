//! How much packed content may unpack to.

use std::io::{BufRead, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Result, RowsError};

/// Bytes unpacked for each byte packed that are taken without asking. Tables seldom pack to less than a tenth.
const RATIO: u64 = 200;
/// Bytes that are taken however few they were packed into.
const SMALL: u64 = 256 << 20;

/// How much may be unpacked, and how much was: shared by all who read a file.
#[derive(Debug, Clone)]
pub(crate) struct Allowance {
    limit: Option<u64>,
    packed: Arc<AtomicU64>,
    unpacked: Arc<AtomicU64>,
}

impl Allowance {
    /// Up to `limit` bytes in all; where that is not given, as many as the packed bytes allow.
    pub(crate) fn new(limit: Option<u64>) -> Self {
        Self { limit, packed: Arc::default(), unpacked: Arc::default() }
    }

    /// So many bytes were read.
    pub(crate) fn read(&self, bytes: u64) {
        add(&self.packed, bytes);
    }

    /// Refuses to unpack so many bytes where that is beyond what is allowed.
    pub(crate) fn unpack(&self, bytes: u64) -> Result<()> {
        let (packed, unpacked) = (self.packed.load(Ordering::Relaxed), add(&self.unpacked, bytes));
        let most = self.limit.unwrap_or_else(|| packed.saturating_mul(RATIO).max(SMALL));
        if unpacked > most {
            Err(RowsError::TooLarge { packed, unpacked, ratio: unpacked / packed.max(1) })
        } else {
            Ok(())
        }
    }

    /// Refuses so many bytes for values that no byte of the file is behind, as those that are all missing, where that is much. No limit
    /// allows them: a few digits can announce any number.
    #[cfg(feature = "columnar")]
    pub(crate) fn of_nothing(&self, bytes: u64) -> Result<()> {
        let packed = self.packed.load(Ordering::Relaxed);
        if bytes > packed.saturating_mul(RATIO).max(SMALL) {
            let problem = format!(
                "missing values of {bytes} bytes are declared in {packed} bytes; the file is corrupt, or the \
                 column must be removed"
            );
            return Err(RowsError::damaged(problem));
        }
        Ok(())
    }
}

/// Adds to a number, which ends at the largest one.
fn add(number: &AtomicU64, more: u64) -> u64 {
    let sum = number.load(Ordering::Relaxed).saturating_add(more);
    number.store(sum, Ordering::Relaxed);
    sum
}

/// Packed bytes, counted as they are read.
pub(crate) struct Packed<R> {
    pub(crate) bytes: R,
    pub(crate) allowance: Allowance,
}

impl<R: BufRead> Read for Packed<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let read = self.bytes.read(into)?;
        self.allowance.read(read as u64);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Packed<R> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        self.bytes.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        self.allowance.read(bytes as u64);
        self.bytes.consume(bytes);
    }
}

/// Bytes that a decompressor gives, counted as they come; its faults are those of the file.
pub(crate) struct Unpacked<R> {
    pub(crate) bytes: R,
    pub(crate) allowance: Allowance,
    /// What is said where they are damaged.
    pub(crate) damaged: &'static str,
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let read = self.bytes.read(into).map_err(|error| {
            std::io::Error::other(RowsError::damaged(format!("{}: {error}", self.damaged)))
        })?;
        self.allowance.unpack(read as u64).map_err(std::io::Error::other)?;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_is_taken_and_much_only_where_as_much_is_packed_or_it_is_allowed() {
        let allowance = Allowance::new(None);
        allowance.read(10);
        allowance.unpack(SMALL).unwrap();
        let error = allowance.unpack(1).unwrap_err();
        assert!(matches!(error, RowsError::TooLarge { packed: 10, unpacked, .. } if unpacked == SMALL + 1));
        assert!(error.to_string().contains("--unpacked-limit"), "{error}");
        allowance.read(SMALL / RATIO);
        allowance.unpack(1).unwrap();

        let small = Allowance::new(Some(5));
        small.unpack(5).unwrap();
        assert!(small.unpack(1).is_err());
    }
}
