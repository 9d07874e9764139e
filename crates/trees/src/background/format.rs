//! The file format of a compiled background.
//!
//! # Layout
//!
//! Integers and floats are little-endian. A *varint* is an unsigned integer in the encoding LEB128, with the
//! minimum number of bytes. Each byte contains seven bits, the lowest first; its highest bit is set if
//! another byte follows.
//!
//! | bytes | |
//! |---|---|
//! | 8 | `APPBGRND` |
//! | 4 | version of the format, 1 |
//! | 4 | kind of weights: 0 for row counts, 1 for `f64` |
//! | 32 | SHA-256 of the model: see [`Ensemble::fingerprint`] |
//! | 8 | number of rows of positive weight |
//! | 8 | sum of their weights, `f64` |
//! | … | the leaves of the first tree, in the order of its nodes, then the leaves of the second tree, … |
//! | 32 | SHA-256 of all preceding bytes |
//!
//! A leaf starts with the number of its patterns, a varint. The patterns follow in ascending order. Each
//! pattern is stored as a varint, its difference from the previous pattern (for the first: from 0). Its
//! weight follows: a varint for row counts, otherwise an `f64` of 8 bytes. Bit j of a pattern belongs to the
//! j-th feature on the path from the root to the leaf, in the order of the first split on each feature. Every
//! leaf has at least one pattern, and its weights sum to the total.
//!
//! v(∅) is not stored, because it can be computed from the patterns.

use std::io;

use sha2::{Digest, Sha256};

use super::{CompiledBackground, base, feature_paths};
use crate::engine::bits::all_of;
use crate::engine::histograms::Histograms;
use crate::error::TreeError;
use apportion_models::Ensemble;

const MAGIC: &[u8; 8] = b"APPBGRND";
const VERSION: u32 = 1;
const HEADER: usize = 8 + 4 + 4 + 32 + 8 + 8;
const CHECKSUM: usize = 32;

/// The maximum relative difference between a leaf's total weight and the overall total. They differ because
/// the weights are summed in a different order.
const TOLERANCE: f64 = 1e-9;

/// The header of the [file](CompiledBackground::write) of a compiled background.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CompiledHead {
    /// The number of rows of positive weight.
    pub rows: u64,
    /// The sum of the weights of these rows.
    pub total_weight: f64,
    /// Whether all weights are row counts.
    pub are_counts: bool,
    /// SHA-256 of the model for which the background was compiled: see [`Ensemble::fingerprint`].
    pub fingerprint: [u8; 32],
}

impl CompiledBackground {
    /// Writes the background in a binary format with a version and a checksum. Most patterns of rows of
    /// weight 1 take 2 to 4 bytes.
    ///
    /// # Errors
    ///
    /// The errors of `out`.
    pub fn write(&self, mut out: impl io::Write) -> io::Result<()> {
        out.write_all(&self.to_bytes())
    }

    /// Returns the bytes that [`write`](Self::write) writes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER + CHECKSUM + 4 * self.pattern_count());
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(u32::from(!self.counted).to_le_bytes());
        bytes.extend(self.fingerprint);
        bytes.extend(self.rows.to_le_bytes());
        bytes.extend(self.total.to_le_bytes());
        for patterns in self.trees.iter().flat_map(Histograms::leaves) {
            write_varint(patterns.len() as u64, &mut bytes);
            let mut last = 0;
            for &(pattern, weight) in patterns {
                write_varint(pattern - last, &mut bytes);
                last = pattern;
                match self.counted {
                    true => write_varint(weight as u64, &mut bytes),
                    false => bytes.extend(weight.to_le_bytes()),
                }
            }
        }
        let checksum = Sha256::digest(&bytes);
        bytes.extend(checksum);
        bytes
    }

    /// Returns whether a file starts like a compiled background, for any model and in any version of the
    /// format.
    pub fn is_one(bytes: &[u8]) -> bool {
        bytes.starts_with(MAGIC)
    }

    /// Reads the header of a compiled background. Unlike [`read`](Self::read), it does not require the model.
    ///
    /// # Errors
    ///
    /// The same [`TreeError::CompiledBackground`] as for [`read`](Self::read).
    pub fn head(bytes: &[u8]) -> Result<CompiledHead, TreeError> {
        Ok(head_and_rest(bytes)?.0)
    }

    /// Reads the bytes of a file that was compiled for `ensemble`.
    ///
    /// # Errors
    ///
    /// [`TreeError::CompiledBackground`] for bytes that are not such a file, are truncated or corrupt, or
    /// have another version; [`TreeError::OtherModel`] if it was compiled for another model;
    /// [`TreeError::Unsupported`] for a model for which backgrounds cannot be
    /// [compiled](super::BackgroundCompiler::new).
    pub fn read(bytes: &[u8], ensemble: &Ensemble) -> Result<Self, TreeError> {
        let (head, mut reader) = head_and_rest(bytes)?;
        let CompiledHead { rows, total_weight: total, are_counts: counted, fingerprint } = head;
        let mut background = Self {
            fingerprint,
            features: ensemble.feature_count(),
            rows,
            total,
            counted,
            base: Vec::new(),
            trees: Vec::new(),
        };
        background.check(ensemble)?;
        let paths = feature_paths(ensemble)?;
        for (tree, paths) in ensemble.trees().iter().zip(&paths) {
            let nodes = ensemble.nodes_of(tree);
            let mut histograms = Histograms::empty(nodes.len());
            for (leaf, _) in nodes.iter().enumerate().filter(|(_, node)| node.is_leaf()) {
                let patterns = reader.leaf(&background, all_of(paths.features(leaf).len()))?;
                histograms.set(leaf, patterns.into_iter());
            }
            background.trees.push(histograms);
        }
        if reader.at != reader.bytes.len() {
            return reader
                .refuse(format!("unexpected bytes after the last leaf: {}", reader.bytes.len() - reader.at));
        }
        background.base = base(ensemble, &paths, &background.trees, total);
        Ok(background)
    }
}

/// Returns the header of a file with a valid checksum, and a reader that is positioned after the header.
fn head_and_rest(bytes: &[u8]) -> Result<(CompiledHead, Reader<'_>), TreeError> {
    let refuse = |offset: usize, problem: String| Err(TreeError::CompiledBackground { offset, problem });
    if !bytes.starts_with(MAGIC) {
        let problem = "expected the signature APPBGRND; use a file written by apportion compile-background \
                       or the library"
            .to_owned();
        return refuse(0, problem);
    }
    let Some((rest, checksum)) =
        bytes.split_last_chunk::<CHECKSUM>().filter(|(rest, _)| rest.len() >= HEADER)
    else {
        return refuse(bytes.len(), format!("truncated: expected at least {} bytes", HEADER + CHECKSUM));
    };
    let mut reader = Reader { bytes: rest, at: MAGIC.len() };
    let version = u32::from_le_bytes(reader.array()?);
    if version != VERSION {
        return refuse(8, format!("unsupported version {version}, expected {VERSION}"));
    }
    if Sha256::digest(rest)[..] != checksum[..] {
        return refuse(
            rest.len(),
            "the checksum does not match: the file is corrupt or truncated".to_owned(),
        );
    }
    let are_counts = match u32::from_le_bytes(reader.array()?) {
        0 => true,
        1 => false,
        kind => return refuse(12, format!("invalid weight kind {kind}; expected 0 or 1")),
    };
    let fingerprint = reader.array()?;
    let rows = u64::from_le_bytes(reader.array()?);
    let total_weight = f64::from_le_bytes(reader.array()?);
    if rows == 0
        || !(total_weight.is_normal() && total_weight > 0.0)
        || (are_counts && total_weight != rows as f64)
    {
        return refuse(48, format!("invalid total weight {total_weight} of {rows} rows"));
    }
    Ok((CompiledHead { rows, total_weight, are_counts, fingerprint }, reader))
}

fn write_varint(mut number: u64, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// The bytes of a file, with the current read position.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn refuse<T>(&self, problem: impl Into<String>) -> Result<T, TreeError> {
        Err(TreeError::CompiledBackground { offset: self.at, problem: problem.into() })
    }

    fn array<const LENGTH: usize>(&mut self) -> Result<[u8; LENGTH], TreeError> {
        match self.bytes[self.at..].first_chunk::<LENGTH>() {
            Some(&array) => {
                self.at += LENGTH;
                Ok(array)
            }
            None => self.refuse("unexpected end of file"),
        }
    }

    fn varint(&mut self) -> Result<u64, TreeError> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let [byte] = self.array()?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits || (byte == 0 && shift > 0) {
                break;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        self.refuse("invalid integer: too large, or encoded in more bytes than necessary")
    }

    /// Reads the patterns of a leaf whose path features are the bits of `all`.
    fn leaf(&mut self, background: &CompiledBackground, all: u64) -> Result<Vec<(u64, f64)>, TreeError> {
        let count = self.varint()?;
        let least = if background.counted { 2 } else { 9 };
        if count == 0 || count > ((self.bytes.len() - self.at) / least) as u64 {
            return self
                .refuse(format!("invalid number of patterns {count}: the remaining bytes are too few"));
        }
        let mut patterns = Vec::with_capacity(count as usize);
        let (mut last, mut sum, mut rows) = (0u64, 0.0, 0u64);
        for index in 0..count {
            let distance = self.varint()?;
            let pattern = last.checked_add(distance).filter(|&pattern| pattern <= all);
            let Some(pattern) = pattern.filter(|_| index == 0 || distance > 0) else {
                return self.refuse(
                    "invalid pattern: not above the previous one, or more bits than the leaf has features",
                );
            };
            last = pattern;
            let weight = if background.counted {
                let more = self.varint()?;
                rows = rows.saturating_add(more);
                more as f64
            } else {
                f64::from_le_bytes(self.array()?)
            };
            if !(weight.is_finite() && weight > 0.0) {
                return self.refuse(format!("invalid pattern weight {weight}"));
            }
            sum += weight;
            patterns.push((pattern, weight));
        }
        let fits = match background.counted {
            true => rows == background.rows,
            false => (sum - background.total).abs() <= TOLERANCE * background.total,
        };
        if !fits {
            return self.refuse(format!("the weights of a leaf sum to {sum}, expected {}", background.total));
        }
        Ok(patterns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_come_back_and_are_written_in_one_way() {
        for number in [0, 1, 127, 128, 300, 1 << 35, u64::MAX >> 1, u64::MAX] {
            let mut bytes = Vec::new();
            write_varint(number, &mut bytes);
            assert_eq!(Reader { bytes: &bytes, at: 0 }.varint().unwrap(), number);
            for end in 0..bytes.len() {
                assert!(Reader { bytes: &bytes[..end], at: 0 }.varint().is_err());
            }
        }
        for bytes in [
            &[0x80, 0][..],
            &[0xff, 0x80, 0],
            &[0xff; 10],
            &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2],
        ] {
            assert!(Reader { bytes, at: 0 }.varint().is_err(), "{bytes:?}");
        }
    }
}
