//! File contents with random access, for formats with metadata at the end: bytes in memory, or a file that is
//! read in parts.

use std::fs::File;
use std::io::{BufRead, Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use crate::error::Result;

/// File contents with random access. Clones share the same contents.
#[derive(Debug, Clone)]
pub(crate) enum Content {
    Memory(Bytes),
    File(Arc<File>, u64),
}

impl Content {
    /// Reads all of `bytes` into memory.
    pub(crate) fn read(bytes: &mut dyn BufRead) -> Result<Self> {
        let mut content = Vec::new();
        bytes.read_to_end(&mut content)?;
        Ok(Self::Memory(content.into()))
    }

    pub(crate) fn of_file(file: File) -> Result<Self> {
        let length = file.metadata()?.len();
        Ok(Self::File(Arc::new(file), length))
    }

    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Memory(bytes) => bytes.len() as u64,
            Self::File(_, length) => *length,
        }
    }

    /// Returns the bytes of a range; `None` if it is out of bounds.
    pub(crate) fn slice(&self, range: Range<u64>) -> Result<Option<Bytes>> {
        if range.start > range.end || range.end > self.len() {
            return Ok(None);
        }
        let Ok(length) = usize::try_from(range.end - range.start) else { return Ok(None) };
        Ok(Some(match self {
            // The cast is lossless, because the range is within the content.
            Self::Memory(bytes) => bytes.slice(range.start as usize..range.end as usize),
            Self::File(file, _) => {
                let mut file = &**file;
                file.seek(SeekFrom::Start(range.start))?;
                let mut bytes = vec![0; length];
                file.read_exact(&mut bytes)?;
                bytes.into()
            }
        }))
    }

    /// Returns the last `most` bytes, or the whole content if it is shorter.
    pub(crate) fn end(&self, most: u64) -> Result<Bytes> {
        let length = self.len();
        Ok(self.slice(length - most.min(length)..length)?.unwrap_or_default())
    }
}
