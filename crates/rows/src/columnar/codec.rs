//! Compression codecs of columnar files. The decompressed size is known in advance and checked.

use std::io::{Cursor, Read};

use crate::allowance::Allowance;
use crate::error::{Result, RowsError};
use crate::zstd::Frames;

/// A compression codec.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Codec {
    Plain,
    Snappy,
    Gzip,
    Brotli,
    Zstd,
    /// One LZ4 block without a frame.
    Lz4Block,
    Lz4Frame,
    /// LZ4 blocks with their lengths, as written by Hadoop. Some writers use the name of this codec for the
    /// other two LZ4 formats.
    Lz4Hadoop,
}

impl Codec {
    /// Decompresses content to `size` bytes.
    pub(crate) fn unpack(self, packed: &[u8], size: usize, allowance: &Allowance) -> Result<Vec<u8>> {
        allowance.unpack(size as u64)?;
        let damaged = || RowsError::corrupt("compressed data in the file is truncated or corrupt");
        let unpacked = match self {
            Self::Plain => Some(packed.to_vec()),
            Self::Snappy => {
                // Snappy data also contains the decompressed size.
                if snap::raw::decompress_len(packed).map_err(|_| damaged())? != size {
                    return Err(damaged());
                }
                let mut unpacked = vec![0; size];
                snap::raw::Decoder::new().decompress(packed, &mut unpacked).ok().map(|_| unpacked)
            }
            Self::Gzip => whole(flate2::bufread::MultiGzDecoder::new(packed), size),
            Self::Brotli => whole(brotli_decompressor::Decompressor::new(packed, 1 << 12), size),
            Self::Zstd => whole(Frames::new(packed), size),
            Self::Lz4Block => lz4_flex::block::decompress(packed, size).ok(),
            Self::Lz4Frame => whole(lz4_flex::frame::FrameDecoder::new(packed), size),
            Self::Lz4Hadoop => hadoop(packed, size)
                .or_else(|| whole(lz4_flex::frame::FrameDecoder::new(packed), size))
                .or_else(|| lz4_flex::block::decompress(packed, size).ok()),
        };
        unpacked.filter(|unpacked| unpacked.len() == size).ok_or_else(damaged)
    }
}

/// Reads all bytes of `reader`, but at most `size` + 1, which is enough to detect content that is too long.
/// Returns `None` if reading fails.
fn whole(reader: impl Read, size: usize) -> Option<Vec<u8>> {
    let mut unpacked = Vec::new();
    reader.take(size as u64 + 1).read_to_end(&mut unpacked).ok()?;
    Some(unpacked)
}

/// Decompresses blocks, each prefixed with its decompressed and its compressed size, both big-endian.
fn hadoop(packed: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut packed = Cursor::new(packed);
    let mut unpacked = Vec::new();
    while (packed.position() as usize) < packed.get_ref().len() {
        let mut lengths = [0; 8];
        packed.read_exact(&mut lengths).ok()?;
        let [a, b, c, d, e, f, g, h] = lengths;
        let [long, short] = [[a, b, c, d], [e, f, g, h]].map(|bytes| u32::from_be_bytes(bytes) as usize);
        let start = packed.position() as usize;
        let block = packed.get_ref().get(start..start.checked_add(short)?)?;
        if unpacked.len() + long > size {
            return None;
        }
        unpacked.extend(lz4_flex::block::decompress(block, long).ok()?);
        packed.set_position((start + short) as u64);
    }
    Some(unpacked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn what_was_packed_comes_out_and_lies_about_its_size_are_refused() {
        let text: Vec<u8> = (0..2000u32).flat_map(|number| (number / 7).to_le_bytes()).collect();
        let snappy = snap::raw::Encoder::new().compress_vec(&text).unwrap();
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&text).unwrap();
        // This LZ4 block consists of literals only.
        let short = b"fourteen bytes";
        let block = [&[0xe0][..], short].concat();
        let framed = [&14u32.to_be_bytes()[..], &15u32.to_be_bytes(), &block].concat();
        for (codec, packed, options) in [
            (Codec::Plain, text.clone(), &text[..]),
            (Codec::Snappy, snappy, &text),
            (Codec::Gzip, gzip.finish().unwrap(), &text),
            (Codec::Lz4Block, block.clone(), short),
            (Codec::Lz4Hadoop, framed, short),
            (Codec::Lz4Hadoop, block, short),
        ] {
            let allowance = Allowance::new(None);
            assert_eq!(codec.unpack(&packed, options.len(), &allowance).unwrap(), options, "{codec:?}");
            for size in [0, options.len() - 1, options.len() + 1] {
                assert!(codec.unpack(&packed, size, &allowance).is_err(), "{codec:?} {size}");
            }
            let cut = &packed[..packed.len() - 1];
            assert!(codec.unpack(cut, options.len(), &allowance).is_err(), "{codec:?}");
            assert!(matches!(codec.unpack(&packed, 1 << 40, &allowance), Err(RowsError::TooLarge { .. })));
        }
    }
}
