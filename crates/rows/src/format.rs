//! Detection of file formats from the first bytes.

use crate::encoding::{Endian, utf_16};
use crate::error::{Result, RowsError};
use crate::{npy, zstd};

/// The number of bytes that determine the format.
pub(crate) const ENOUGH: usize = 512;
/// The number of bytes that identify an Arrow stream.
pub(crate) const ARROW_ENOUGH: usize = 8;

/// A compression of whole files.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Packing {
    Gzip,
    Zstd,
}

/// A supported file format, without compression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Format {
    Csv,
    /// CSV in UTF-16.
    Utf16(Endian),
    Npy,
    Parquet,
    ArrowFile,
    ArrowStream,
}

/// Returns the compression of content from its first bytes.
pub(crate) fn packing(start: &[u8]) -> Option<Packing> {
    match start {
        [0x1f, 0x8b, ..] => Some(Packing::Gzip),
        start if start.starts_with(zstd::MAGIC) => Some(Packing::Zstd),
        // The content begins with a skippable frame.
        [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Packing::Zstd),
        _ => None,
    }
}

/// Returns the format of content from its first bytes. For unsupported formats, the error names the format.
pub(crate) fn format(start: &[u8]) -> Result<Format> {
    let refuse = |what: &str, remedy: &'static str| Err(RowsError::Format { what: what.to_owned(), remedy });
    // A header may begin with letters that are also the magic bytes of a format.
    let is_binary = start.iter().any(|&byte| byte < b'\t');
    match start {
        [] => Err(RowsError::Empty),
        start if start.starts_with(npy::MAGIC) => Ok(Format::Npy),
        [b'P', b'A', b'R', b'1', ..] if is_binary => Ok(Format::Parquet),
        start if start.starts_with(b"ARROW1\0\0") => Ok(Format::ArrowFile),
        // A message begins with a marker and the length of its metadata, which is a multiple of eight.
        [0xff, 0xff, 0xff, 0xff, length, ..] if length % 8 == 0 => Ok(Format::ArrowStream),
        [b'P', b'A', b'R', b'E', ..] if is_binary => refuse("encrypted Parquet", "decrypt it; "),
        [b'F', b'E', b'A', b'1', ..] if is_binary => {
            refuse("Feather version 1", "rewrite it as version 2 (pyarrow.feather.write_feather); ")
        }
        [b'P', b'K', 3, 4, ..] => {
            refuse("zip archive, e.g. .npz or .xlsx", "extract it, or save the sheet as CSV; ")
        }
        [0xd0, 0xcf, 0x11, 0xe0, ..] => refuse("Excel .xls", "save the sheet as CSV; "),
        [b'B', b'Z', b'h', ..] if is_binary => refuse("bzip2", "decompress it; "),
        [0xfd, b'7', b'z', b'X', b'Z', ..] => refuse("xz", "decompress it; "),
        [0x04, 0x22, 0x4d, 0x18, ..] => refuse("lz4", "decompress it; "),
        [0x89, b'H', b'D', b'F', ..] => refuse("HDF5", "convert it; "),
        start if start.starts_with(b"SQLite format 3\0") => refuse("SQLite database", "export the table; "),
        [b'O', b'b', b'j', 1, ..] => refuse("Avro", "convert it; "),
        [b'O', b'R', b'C', ..] if is_binary => refuse("ORC", "convert it; "),
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => {
            refuse("text in UTF-32", "convert it with iconv -f UTF-32 -t UTF-8; ")
        }
        [0x80, 2..=5, ..] => refuse("Python pickle", "save the table with to_csv or to_parquet; "),
        start if packing(start).is_some() => refuse("compressed twice", "decompress it once; "),
        [b'{', b'"', ..] | [b'[', b'{' | b'[', ..] => refuse("JSON", "convert it; "),
        start => match utf_16(start) {
            Some(endian) => Ok(Format::Utf16(endian)),
            None if start.contains(&0) => Err(RowsError::Format { what: unknown(start), remedy: "" }),
            None => Ok(Format::Csv),
        },
    }
}

/// Describes a file of an unknown format by its first bytes.
fn unknown(start: &[u8]) -> String {
    let shown: String = start.iter().take(8).map(|byte| format!("{byte:02x} ")).collect();
    format!("starts with the bytes {}", shown.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_read_is_named_with_what_to_do() {
        for (start, says) in [
            (&b"PK\x03\x04"[..], "zip archive"),
            (b"FEA1\0\0", "write_feather"),
            (b"\xff\xfe\0\0a\0\0\0", "iconv -f UTF-32 -t UTF-8"),
            (b"BZh91AY\x01", "bzip2"),
            (b"{\"a\": 1}", "JSON"),
            (b"\x80\x04\x95", "pickle"),
            (b"a,b\0", "61 2c 62 00"),
            (b"\x1f\x8b\x08", "compressed twice"),
            (b"", "empty"),
        ] {
            let message = format(start).unwrap_err().to_string();
            assert!(message.contains(says) && message.contains("CSV with a header"), "{message}");
        }
        assert_eq!(format(b"a,b\n").unwrap(), Format::Csv);
        assert_eq!(format(b"\xef\xbb\xbfa,b\n").unwrap(), Format::Csv);
        assert_eq!(format(b"\xff\xfea\0,\0b\0").unwrap(), Format::Utf16(Endian::Little));
        assert_eq!(format(b"\0a\0,\0b\0\n\0c\0,\0d").unwrap(), Format::Utf16(Endian::Big));
        assert_eq!(format(b"PAR1,ORCID\n").unwrap(), Format::Csv);
        assert_eq!(format(b"PAR1\x15\x04").unwrap(), Format::Parquet);
        assert_eq!(format(b"\xff\xff\xff\xff\x10\x01\0\0").unwrap(), Format::ArrowStream);
        assert_eq!(format(npy::MAGIC).unwrap(), Format::Npy);
    }
}
