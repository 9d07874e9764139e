//! What can go wrong when results are drawn.

use apportion_results::ResultsError;

/// Why there is no figure.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlotError {
    /// Results whose parts do not belong together.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// A number that no figure has a place for.
    #[error("row {row} has {value:e} among its {what}; a figure needs numbers of at most 1e300 in size")]
    NotFinite {
        /// Which numbers.
        what: &'static str,
        /// The row, by its number in the file.
        row: u64,
        /// What stands there.
        value: f64,
    },
    /// A player that is asked for by a name that none has.
    #[error("there is no feature {name:?}; {known}")]
    UnknownPlayer {
        /// The name.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// An output that is asked for and is not there.
    #[error("there is no output {name:?}; {known}")]
    UnknownOutput {
        /// Its name or number.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// A row that is asked for and is not there.
    #[error("row {row} is not among the results; {known}")]
    UnknownRow {
        /// The row, by its number in the file.
        row: u64,
        /// Those that there are.
        known: String,
    },
    /// A condition that divides rows into cohorts, and cannot be read.
    #[error(
        "{condition:?} divides no rows: {why}; write a feature, one of < <= > >= = !=, and a number or a word, such as \"age >= 40\""
    )]
    Condition {
        /// As it was given.
        condition: String,
        /// What is wrong with it.
        why: String,
    },
    /// Results without what a figure shows.
    #[error("{kind} has nothing to show: {why}")]
    Nothing {
        /// The figure.
        kind: &'static str,
        /// What is missing, and what to do.
        why: &'static str,
    },
    /// The name of a figure that there is not.
    #[error("there is no figure {name:?}; known are {known}")]
    UnknownKind {
        /// The name.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// What the drawing library says.
    #[error("the figure cannot be drawn: {0}")]
    Drawing(String),
}
