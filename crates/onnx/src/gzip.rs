//! Networks compressed with gzip.

use std::borrow::Cow;
use std::io::{Error, Read};

use flate2::read::MultiGzDecoder;

use crate::OnnxError;

const MAGIC: &[u8] = &[0x1f, 0x8b];
/// Maximum ratio of decompressed to compressed size. Weights never compress to a hundredth of their size.
/// Files of small networks may, so at least [`MIN_LIMIT`] bytes are allowed.
const MAX_RATIO: usize = 100;
const MIN_LIMIT: usize = 1 << 28;

/// Decompresses a gzip stream; other bytes are returned unchanged.
///
/// # Errors
///
/// [`OnnxError::Gzip`] if the stream is corrupt, or its decompressed size exceeds the limit for its
/// compressed size.
pub(crate) fn unpacked(bytes: &[u8]) -> Result<Cow<'_, [u8]>, OnnxError> {
    if !bytes.starts_with(MAGIC) {
        return Ok(Cow::Borrowed(bytes));
    }
    let most = bytes.len().saturating_mul(MAX_RATIO).max(MIN_LIMIT);
    let mut content = Vec::new();
    let mut decoder = MultiGzDecoder::new(bytes).take(most as u64 + 1);
    decoder.read_to_end(&mut content).map_err(|source| OnnxError::Gzip { source })?;
    if content.len() > most {
        let source = Error::other(format!(
            "the file expands to more than {most} bytes, the larger of 256 MiB and {MAX_RATIO} times its size"
        ));
        return Err(OnnxError::Gzip { source });
    }
    Ok(Cow::Owned(content))
}
