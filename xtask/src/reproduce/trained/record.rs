//! `index.json`, which `cargo xtask train` leaves beside the networks that it trained.

use serde::Deserialize;

/// The version of the file that this program reads.
pub(super) const VERSION: u32 = 1;

/// All networks of a folder.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Index {
    pub(super) version: u32,
    pub(super) networks: Vec<Entry>,
}

/// One network.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Entry {
    pub(crate) name: String,
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
    /// The name of the score: `accuracy` or `R²`.
    pub(crate) measure: String,
    /// On the test set.
    pub(crate) score: f64,
    pub(super) file: FileHash,
    /// What it was trained and tested on: hashes of the unpacked bytes.
    pub(super) data: Vec<FileHash>,
}

/// What a row of the input of a network is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct FileHash {
    pub(super) file: String,
    pub(super) sha256: String,
}
