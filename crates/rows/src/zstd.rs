//! Decompression of Zstandard: concatenated frames, including skippable frames.

use std::io::{self, BufRead, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// The magic bytes of a frame.
pub(crate) const MAGIC: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// A reader that decompresses all frames of `source`. The decompression of a frame takes at most 128 MiB of
/// memory.
pub(crate) struct Frames<R> {
    source: R,
    decoder: FrameDecoder,
    is_inside: bool,
}

impl<R: BufRead> Frames<R> {
    pub(crate) fn new(source: R) -> Self {
        Self { source, decoder: FrameDecoder::new(), is_inside: false }
    }

    /// Starts the next frame. Returns `false` at the end.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.source) {
                Ok(()) => {
                    self.is_inside = true;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    io::copy(&mut (&mut self.source).take(u64::from(length)), &mut io::sink())?;
                }
                Err(error) => return Err(io::Error::other(error)),
            }
        }
        Ok(false)
    }

    /// Compares the stored checksum of the frame with the checksum of its content.
    fn end(&mut self) -> io::Result<()> {
        self.is_inside = false;
        match (self.decoder.get_checksum_from_data(), self.decoder.get_calculated_checksum()) {
            (Some(stored), Some(found)) if stored != found => Err(io::Error::other("checksum mismatch")),
            _ => Ok(()),
        }
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        loop {
            if !self.is_inside && !self.begin()? {
                return Ok(0);
            }
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                self.decoder
                    .decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1))
                    .map_err(io::Error::other)?;
            }
            let read = self.decoder.read(into)?;
            if read > 0 {
                return Ok(read);
            }
            self.end()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a frame with one raw block and no checksum.
    fn frame(content: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        // The header declares a single segment, whose size takes one byte. The only block follows, which is
        // raw.
        bytes.extend([0x20, content.len() as u8]);
        bytes.extend(&(((content.len() as u32) << 3) | 1).to_le_bytes()[..3]);
        bytes.extend(content);
        bytes
    }

    #[test]
    fn frames_follow_each_other_and_some_are_skipped() {
        let skipped = [&0x184d_2a50_u32.to_le_bytes()[..], &3u32.to_le_bytes(), b"???"].concat();
        let bytes = [skipped.clone(), frame(b"one, "), skipped, frame(b""), frame(b"two")].concat();
        let mut text = String::new();
        Frames::new(&bytes[..]).read_to_string(&mut text).unwrap();
        assert_eq!(text, "one, two");
        for end in 1..bytes.len() {
            let mut cut = Vec::new();
            let result = Frames::new(&bytes[..end]).read_to_end(&mut cut);
            assert!(result.is_err() || b"one, two".starts_with(&cut[..]), "cut at {end}");
        }
    }
}
