//! Errors of results.

/// An error for results whose parts do not match each other.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ResultsError {
    /// The length of an array does not match the rows, players, features and outputs.
    #[error(
        "{what}: expected {expected} numbers for {rows} rows, {players} players and {outputs} outputs, got \
         {actual}"
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
    #[error("expected {count} names for {what}, got {names}")]
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
        /// Why the text or image does not match.
        why: String,
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
