//! Reading, checks and decompression of the pages of a Parquet column, for the decoders of the crate
//! `parquet`.
//!
//! The decoders trust the sizes that a page declares. Therefore, they only receive pages whose declared
//! values fit in their bytes, and whose declared bytes are within the [`Allowance`].

use std::ops::Range;

use bytes::Bytes;
use parquet::basic::{Encoding, Type};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::schema::types::ColumnDescPtr;

use super::thrift::walk;
use crate::allowance::Allowance;
use crate::columnar::Content;
use crate::columnar::codec::Codec;
use crate::error::{Result, RowsError};

/// The pages of a column in a row group, in order.
pub(super) struct Pages {
    pub(super) file: Content,
    /// The range of the remaining pages in the file.
    pub(super) chunk: Range<u64>,
    /// The part of this range that is in memory, from its start.
    pub(super) window: Bytes,
    pub(super) codec: Codec,
    pub(super) column: ColumnDescPtr,
    pub(super) allowance: Allowance,
    /// The number of values in the remaining pages.
    pub(super) values: u64,
}

/// A page header; −1 for missing fields.
#[derive(Debug, Clone, Copy)]
struct Head {
    kind: i64,
    unpacked: i64,
    packed: i64,
    values: i64,
    encoding: i64,
    /// The encoding of definition levels.
    levels: i64,
    nulls: i64,
    rows: i64,
    definition_bytes: i64,
    repetition_bytes: i64,
    is_packed: bool,
}

/// The number of bytes that are read at a time. It is larger than most pages, but small enough that many
/// columns take little memory.
const WINDOW: usize = 1 << 18;

const DATA: i64 = 0;
const DICTIONARY: i64 = 2;
const DATA_V2: i64 = 3;

impl Head {
    /// Reads the page header at the start of `bytes`. Returns it with its length.
    fn read(bytes: &[u8]) -> Option<(Self, usize)> {
        let mut head = Self {
            kind: -1,
            unpacked: -1,
            packed: -1,
            values: -1,
            encoding: -1,
            levels: -1,
            nulls: -1,
            rows: -1,
            definition_bytes: -1,
            repetition_bytes: -1,
            is_packed: true,
        };
        let length = walk(bytes, &mut |path, value| match path {
            [1] => head.kind = value,
            [2] => head.unpacked = value,
            [3] => head.packed = value,
            [5 | 7 | 8, 1] => head.values = value,
            [5 | 7, 2] | [8, 4] => head.encoding = value,
            [5, 3] => head.levels = value,
            [8, 2] => head.nulls = value,
            [8, 3] => head.rows = value,
            [8, 5] => head.definition_bytes = value,
            [8, 6] => head.repetition_bytes = value,
            [8, 7] => head.is_packed = value == 1,
            _ => {}
        })?;
        Some((head, length))
    }
}

impl Pages {
    fn next(&mut self) -> Result<Option<Page>> {
        loop {
            if self.values == 0 || self.chunk.is_empty() {
                return Ok(None);
            }
            let (head, length) = self.head()?;
            let page = length.checked_add(size(head.packed)?).ok_or_else(damaged)?;
            self.look_at(page)?;
            if page > self.window.len() {
                return Err(damaged());
            }
            let data = self.window.split_to(page).split_off(length);
            self.chunk.start += page as u64;
            match head.kind {
                DATA => return self.data(head, &data).map(Some),
                DATA_V2 => return self.data_v2(head, &data).map(Some),
                DICTIONARY => return self.dictionary(head, &data).map(Some),
                // Skip all other pages, such as index pages.
                _ => {}
            }
        }
    }

    /// Reads the next page header. Returns it with its length.
    fn head(&mut self) -> Result<(Head, usize)> {
        let mut bytes = WINDOW;
        loop {
            self.look_at(bytes)?;
            if let Some(read) = Head::read(&self.window) {
                return Ok(read);
            }
            // Statistics can make headers long.
            if self.window.len() < bytes {
                return Err(damaged());
            }
            bytes = bytes.saturating_mul(8);
        }
    }

    /// Ensures that the next `bytes` bytes, or all remaining bytes if there are fewer, are in memory.
    fn look_at(&mut self, bytes: usize) -> Result<()> {
        if self.window.len() < bytes && (self.window.len() as u64) < self.chunk.end - self.chunk.start {
            let end = self.chunk.start.saturating_add(bytes.max(WINDOW) as u64).min(self.chunk.end);
            self.window = self.file.slice(self.chunk.start..end)?.ok_or_else(damaged)?;
        }
        Ok(())
    }

    fn data(&mut self, head: Head, packed: &Bytes) -> Result<Page> {
        let buf = self.unpack(packed, size(head.unpacked)?)?;
        let num_values = self.count(head)?;
        let encoding = encoding(head.encoding)?;
        let levels = match (self.column.max_def_level(), head.levels) {
            (0, _) => 0,
            // The levels are prefixed with their length in bytes.
            (_, 3) => {
                let length: [u8; 4] =
                    buf.get(..4).and_then(|bytes| bytes.try_into().ok()).ok_or_else(damaged)?;
                4 + u32::from_le_bytes(length) as usize
            }
            _ => return Err(unknown_encoding(head.levels)),
        };
        self.check(encoding, buf.get(levels..).ok_or_else(damaged)?, num_values)?;
        Ok(Page::DataPage {
            buf,
            num_values,
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        })
    }

    fn data_v2(&mut self, head: Head, packed: &Bytes) -> Result<Page> {
        let (definition, repetition) = (size(head.definition_bytes)?, size(head.repetition_bytes)?);
        let levels = definition.checked_add(repetition).filter(|&levels| levels <= packed.len());
        let levels = levels.ok_or_else(damaged)?;
        let unpacked = size(head.unpacked)?.checked_sub(levels).ok_or_else(damaged)?;
        let values = match head.is_packed && self.codec != Codec::Plain {
            // All values are missing.
            true if unpacked == 0 => Bytes::new(),
            true => self.unpack(&packed.slice(levels..), unpacked)?,
            false => packed.slice(levels..),
        };
        let num_values = self.count(head)?;
        let encoding = encoding(head.encoding)?;
        self.check(encoding, &values, num_values)?;
        Ok(Page::DataPageV2 {
            buf: [&packed[..levels], &values].concat().into(),
            num_values,
            encoding,
            num_nulls: small(head.nulls)?,
            num_rows: small(head.rows)?,
            def_levels_byte_len: small(head.definition_bytes)?,
            rep_levels_byte_len: small(head.repetition_bytes)?,
            is_compressed: false,
            statistics: None,
        })
    }

    fn dictionary(&self, head: Head, packed: &Bytes) -> Result<Page> {
        let buf = self.unpack(packed, size(head.unpacked)?)?;
        let num_values = small(head.values)?;
        let width = match self.column.physical_type() {
            Type::INT32 | Type::FLOAT | Type::BYTE_ARRAY => 4,
            Type::INT64 | Type::DOUBLE => 8,
            Type::INT96 => 12,
            Type::FIXED_LEN_BYTE_ARRAY => usize::try_from(self.column.type_length()).unwrap_or(0),
            Type::BOOLEAN => 0,
        };
        if width == 0 || num_values as usize > buf.len() / width {
            return Err(damaged());
        }
        // Assume that a value takes 32 bytes of memory.
        self.allowance.unpack(u64::from(num_values) * 32)?;
        let encoding = encoding(head.encoding)?;
        Ok(Page::DictionaryPage { buf, num_values, encoding, is_sorted: false })
    }

    fn unpack(&self, packed: &Bytes, size: usize) -> Result<Bytes> {
        match self.codec {
            Codec::Plain if packed.len() == size => Ok(packed.clone()),
            Codec::Plain => Err(damaged()),
            codec => codec.unpack(packed, size, &self.allowance).map(Bytes::from),
        }
    }

    /// Returns the number of values in a page, and subtracts it from the number of remaining values.
    fn count(&mut self, head: Head) -> Result<u32> {
        let values = small(head.values)?;
        self.values = self.values.checked_sub(u64::from(values)).ok_or_else(damaged)?;
        Ok(values)
    }

    /// Rejects encoded values for which a decoder would allocate as much memory as they declare.
    fn check(&self, encoding: Encoding, values: &[u8], count: u32) -> Result<()> {
        match encoding {
            // The values start with the block size, the number of miniblocks, and the count.
            Encoding::DELTA_LENGTH_BYTE_ARRAY => {
                let mut rest = values;
                let mut number = 0;
                for _ in 0..3 {
                    number = unsigned(&mut rest).ok_or_else(damaged)?;
                }
                if number > u64::from(count) { Err(damaged()) } else { Ok(()) }
            }
            Encoding::DELTA_BYTE_ARRAY => Err(RowsError::columns(format!(
                "encoding DELTA_BYTE_ARRAY of column {:?} is not supported; write it plain or with a \
                 dictionary",
                self.column.name()
            ))),
            _ => Ok(()),
        }
    }
}

/// Reads a variable-length integer: seven bits per byte, the lowest first.
fn unsigned(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 127) << shift;
        if byte < 128 {
            return Some(number);
        }
    }
    None
}

pub(super) fn damaged() -> RowsError {
    RowsError::corrupt("the Parquet file is corrupt")
}

fn unknown_encoding(number: i64) -> RowsError {
    RowsError::damaged(format!(
        "Parquet encoding {number} is not supported; rewrite the file with a different encoding"
    ))
}

fn size(number: i64) -> Result<usize> {
    usize::try_from(number).map_err(|_| damaged())
}

fn small(number: i64) -> Result<u32> {
    u32::try_from(number).ok().filter(|&number| number <= i32::MAX as u32).ok_or_else(damaged)
}

fn encoding(number: i64) -> Result<Encoding> {
    Ok(match number {
        0 => Encoding::PLAIN,
        2 => Encoding::PLAIN_DICTIONARY,
        3 => Encoding::RLE,
        5 => Encoding::DELTA_BINARY_PACKED,
        6 => Encoding::DELTA_LENGTH_BYTE_ARRAY,
        7 => Encoding::DELTA_BYTE_ARRAY,
        8 => Encoding::RLE_DICTIONARY,
        9 => Encoding::BYTE_STREAM_SPLIT,
        other => return Err(unknown_encoding(other)),
    })
}

impl Iterator for Pages {
    type Item = ParquetResult<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> ParquetResult<Option<Page>> {
        Self::next(self).map_err(|error| ParquetError::External(Box::new(error)))
    }

    // The decoders call this method only to skip records or to read lists, which this crate does not do.
    fn peek_next_page(&mut self) -> ParquetResult<Option<PageMetadata>> {
        Err(ParquetError::NYI("pages are read in their order".to_owned()))
    }

    fn skip_next_page(&mut self) -> ParquetResult<()> {
        Err(ParquetError::NYI("pages are read in their order".to_owned()))
    }
}
