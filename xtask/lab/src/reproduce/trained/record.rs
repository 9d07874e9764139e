//! The entries of `index.json`, which `cargo xtask train` leaves beside the networks that it trained: the trainer has this file, too.

use serde::{Deserialize, Serialize};

/// The version of the index: raised when an entry means something else.
pub(crate) const VERSION: u32 = 1;

/// All networks of a folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Index {
    pub(crate) version: u32,
    /// By name.
    pub(crate) networks: Vec<Entry>,
}

/// One network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) dataset: String,
    pub(crate) architecture: String,
    pub(crate) input: Input,
    /// The shape of a row of its input.
    pub(crate) row: Vec<usize>,
    pub(crate) outputs: usize,
    /// Numbers that were learnt.
    pub(crate) parameters: usize,
    pub(crate) seed: u64,
    /// Samples that it was trained on.
    pub(crate) trained_on: usize,
    /// Samples of the test set.
    pub(crate) tested_on: usize,
    /// `accuracy` or `R²`.
    pub(crate) measure: String,
    /// That of the ONNX file on the test set.
    pub(crate) score: f64,
    /// The ONNX file, beside the index.
    pub(crate) file: FileHash,
    /// The data that it was trained and tested on: hashes of the unpacked bytes.
    pub(crate) data: Vec<FileHash>,
}

/// What a row of the input of a network is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Input {
    /// The columns of a table as they are.
    Columns,
    /// Pixels between 0 and 1, channel by channel, each row by row.
    Pixels,
    /// Token ids, cut or padded with 0 at the end.
    Tokens,
    /// Ids of the characters of the words, each word followed by a blank: 1 blank, 2 to 27 a to z, 28 to 37 the digits; cut or padded
    /// with 0 at the end.
    Characters,
}

/// A file by its hash.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct FileHash {
    pub(crate) file: String,
    pub(crate) sha256: String,
}
