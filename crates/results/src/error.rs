//! Errors of results.

/// An error for results whose parts do not match each other.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ResultsError {
    /// The length of an array does not match the rows, players, features and outputs.
    #[error(
        "wrong number of {what}: {actual}, expected {expected} (rows: {rows}, players: {players}, outputs: \
         {outputs})"
    )]
    Count {
        /// The name of the array.
        what: &'static str,
        /// The length of the array.
        actual: usize,
        /// The expected length.
        expected: usize,
        /// The number of rows of the batch.
        rows: usize,
        /// The number of players.
        players: usize,
        /// The number of outputs.
        outputs: usize,
    },
    /// The number of names differs from the number of players, features or outputs.
    #[error("wrong number of names for {what}: {names}, expected {count}")]
    Names {
        /// The kind of items that are named: players, features or outputs.
        what: &'static str,
        /// The number of players, features or outputs.
        count: usize,
        /// The number of names.
        names: usize,
    },
    /// The text or image does not match the players.
    #[error("the {medium} does not match the players: {why}")]
    Medium {
        /// The kind of medium: text or image.
        medium: &'static str,
        /// The reason why the text or image does not match.
        why: String,
    },
}

/// An error of a summary.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SummaryError {
    /// The length of an array does not match the heading.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// A value is NaN or infinite.
    #[error("cannot summarize values that are NaN or infinite; exclude the rows with such values")]
    NotFinite,
    /// The number of rows exceeds the maximum.
    #[error("cannot summarize {actual} rows; the maximum is {max}")]
    TooManyRows {
        /// The number of rows, or `u64::MAX` if it is larger.
        actual: u64,
        /// The maximum.
        max: u64,
    },
    /// The headings of two summaries, or of a summary and new rows, differ.
    #[error(
        "cannot merge summaries with different options ({name}: {first} and {second}); compute both \
         summaries with the same options"
    )]
    Different {
        /// The name of the first entry of the heading that differs.
        name: &'static str,
        /// The entry of the summary, as JSON.
        first: String,
        /// The entry of the other summary, as JSON.
        second: String,
    },
    /// The bytes have a format that this version cannot read.
    #[error(
        "unsupported summary format {actual}: apportion {} reads formats 1 to {max}; use the version that \
         wrote it",
        env!("CARGO_PKG_VERSION")
    )]
    Format {
        /// The format of the bytes.
        actual: i64,
        /// The latest format that can be read.
        max: i64,
    },
    /// The bytes are not those of a summary.
    #[error("invalid summary ({problem}); expected bytes that to_bytes returned")]
    Invalid {
        /// The problem with the bytes.
        problem: String,
    },
}

/// The error if results cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The bytes could not be read.
    #[error("cannot read the results")]
    Io(#[from] std::io::Error),
    /// The document is corrupt, or does not contain results of `apportion explain`.
    #[error("{0}")]
    Document(String),
    /// The receiver of the rows returned an error.
    #[error(transparent)]
    Receiver(Box<dyn std::error::Error + Send + Sync>),
}

impl ReadError {
    pub(crate) fn document(problem: impl Into<String>) -> Self {
        Self::Document(problem.into())
    }
}
