//! What can be wrong with results.

/// Results whose parts do not belong together.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ResultsError {
    /// An array of another length than its rows, players, features and outputs make.
    #[error(
        "{what}: {given} numbers were given, and {expected} belong to {rows} rows of {players} players and {outputs} outputs"
    )]
    Count {
        /// Which numbers.
        what: &'static str,
        /// How many there are.
        given: usize,
        /// How many there should be.
        expected: usize,
        /// Rows of the batch.
        rows: usize,
        /// Players.
        players: usize,
        /// Outputs.
        outputs: usize,
    },
    /// Players, features or outputs without names, or names without them.
    #[error("{names} names for {count} {what}; give one for each")]
    Names {
        /// What has the names.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// How many names.
        names: usize,
    },
    /// A text or an image that does not belong to the players.
    #[error("the {medium} does not belong to the players: {why}")]
    Medium {
        /// What it is.
        medium: &'static str,
        /// What is wrong with it.
        why: String,
    },
}

/// Why results cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The bytes do not come.
    #[error("the results cannot be read")]
    Io(#[from] std::io::Error),
    /// They are no results of explain, or damaged ones.
    #[error("{0}")]
    Document(String),
    /// Who receives the rows refuses them.
    #[error(transparent)]
    Receiver(Box<dyn std::error::Error + Send + Sync>),
}

impl ReadError {
    pub(crate) fn document(problem: impl Into<String>) -> Self {
        Self::Document(problem.into())
    }
}
