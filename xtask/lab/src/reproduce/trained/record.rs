//! Format of `index.json`, which `cargo xtask train` writes next to the trained networks. This source file is
//! also compiled into the trainer.

use serde::{Deserialize, Serialize};

/// Version of the index, increased when the meaning of an entry changes.
pub(crate) const VERSION: u32 = 1;

/// Contents of `index.json`: the networks in its directory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Index {
    pub(crate) version: u32,
    /// The networks, sorted by name.
    pub(crate) networks: Vec<Entry>,
}

/// The index entry of a trained network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) dataset: String,
    pub(crate) architecture: String,
    pub(crate) input: Input,
    /// Shape of an input row.
    pub(crate) row: Vec<usize>,
    pub(crate) outputs: usize,
    /// Number of trained parameters.
    pub(crate) parameters: usize,
    pub(crate) seed: u64,
    /// Number of training samples.
    pub(crate) trained_on: usize,
    /// Number of test samples.
    pub(crate) tested_on: usize,
    /// Name of the score: `accuracy` or `R²`.
    pub(crate) measure: String,
    /// Score of the ONNX file on the test set.
    pub(crate) score: f64,
    /// The ONNX file, in the directory of the index.
    pub(crate) file: FileHash,
    /// Training and test data, with hashes of the decompressed bytes.
    pub(crate) data: Vec<FileHash>,
}

/// Meaning of an input row of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Input {
    /// Columns of a table, unchanged.
    Columns,
    /// Pixels between 0 and 1, channel by channel, each row by row.
    Pixels,
    /// Token IDs, truncated or padded with 0 at the end.
    Tokens,
    /// IDs of the characters of the words, each word followed by a space: 1 is a space, 2 to 27 are a to z,
    /// 28 to 37 are the digits. Truncated or padded with 0 at the end.
    Characters,
}

/// A file and its hash.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct FileHash {
    pub(crate) file: String,
    pub(crate) sha256: String,
}
