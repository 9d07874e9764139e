//! Content whose table of contents is at its end, read at any place: bytes in memory, or a file of which only what is asked for is.

use std::fs::File;
use std::io::{BufRead, Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use crate::error::Result;

/// Content that can be read at any place. A copy is of the same content.
#[derive(Debug, Clone)]
pub(crate) enum Content {
    Memory(Bytes),
    File(Arc<File>, u64),
}

impl Content {
    /// All that `bytes` hold.
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

    /// The bytes of a range; none where it is not within the content.
    pub(crate) fn slice(&self, range: Range<u64>) -> Result<Option<Bytes>> {
        if range.start > range.end || range.end > self.len() {
            return Ok(None);
        }
        let Ok(length) = usize::try_from(range.end - range.start) else { return Ok(None) };
        Ok(Some(match self {
            // Within the length, which is a number of bytes in memory.
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

    /// The last bytes, at most so many.
    pub(crate) fn end(&self, most: u64) -> Result<Bytes> {
        let length = self.len();
        Ok(self.slice(length - most.min(length)..length)?.unwrap_or_default())
    }
}
