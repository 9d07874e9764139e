//! Limits on the size of decompressed content.

use std::io::{BufRead, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Result, RowsError};

/// The maximum number of decompressed bytes per compressed byte. Tables rarely compress to less than a tenth
/// of their size.
const RATIO: u64 = 200;
/// The number of decompressed bytes that is allowed for any file.
const SMALL: u64 = 256 << 20;

/// The limit on decompressed bytes, and the number of bytes so far, shared by all readers of a file.
#[derive(Debug, Clone)]
pub(crate) struct Allowance {
    limit: Option<u64>,
    packed: Arc<AtomicU64>,
    unpacked: Arc<AtomicU64>,
}

impl Allowance {
    /// Allows `limit` decompressed bytes in total or, for `None`, a number that depends on the number of
    /// compressed bytes.
    pub(crate) fn new(limit: Option<u64>) -> Self {
        Self { limit, packed: Arc::default(), unpacked: Arc::default() }
    }

    /// Counts compressed bytes that were read.
    pub(crate) fn read(&self, bytes: u64) {
        add(&self.packed, bytes);
    }

    /// Counts decompressed bytes. Fails if their number exceeds the limit.
    pub(crate) fn unpack(&self, bytes: u64) -> Result<()> {
        let (packed, unpacked) = (self.packed.load(Ordering::Relaxed), add(&self.unpacked, bytes));
        let most = self.limit.unwrap_or_else(|| packed.saturating_mul(RATIO).max(SMALL));
        if unpacked > most {
            Err(RowsError::TooLarge { packed, unpacked, ratio: unpacked / packed.max(1) })
        } else {
            Ok(())
        }
    }

    /// Checks the size of values that take no bytes in the file, such as missing values. The user cannot
    /// raise this limit, because a few digits in a file can declare any number of such values.
    #[cfg(feature = "columnar")]
    pub(crate) fn of_nothing(&self, bytes: u64) -> Result<()> {
        let packed = self.packed.load(Ordering::Relaxed);
        if bytes > packed.saturating_mul(RATIO).max(SMALL) {
            let problem = format!(
                "missing values declared in {packed} bytes of the file would take {bytes} bytes in memory; \
                 if the file is not corrupt, remove the empty column"
            );
            return Err(RowsError::damaged(problem));
        }
        Ok(())
    }
}

/// Adds to a number, saturating, and returns the sum.
fn add(number: &AtomicU64, more: u64) -> u64 {
    let sum = number.load(Ordering::Relaxed).saturating_add(more);
    number.store(sum, Ordering::Relaxed);
    sum
}

/// A reader that counts compressed bytes as they are read.
pub(crate) struct CompressedReader<R> {
    pub(crate) bytes: R,
    pub(crate) allowance: Allowance,
}

impl<R: BufRead> Read for CompressedReader<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let read = self.bytes.read(into)?;
        self.allowance.read(read as u64);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for CompressedReader<R> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        self.bytes.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        self.allowance.read(bytes as u64);
        self.bytes.consume(bytes);
    }
}

/// A reader that counts the bytes that a decompressor returns, and converts its errors to errors about the
/// file.
pub(crate) struct DecompressedReader<R> {
    pub(crate) bytes: R,
    pub(crate) allowance: Allowance,
    /// The message for corrupt data.
    pub(crate) damaged: &'static str,
}

impl<R: Read> Read for DecompressedReader<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let read = self.bytes.read(into).map_err(|error| {
            std::io::Error::other(RowsError::corrupt(format!("{}: {error}", self.damaged)))
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
