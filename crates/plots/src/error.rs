//! Errors in drawing results.

use apportion_results::{ResultsError, SummaryError};

/// The reason why a figure cannot be drawn.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlotError {
    /// The parts of the results do not match each other.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// The statistics over rows cannot be computed.
    #[error(transparent)]
    Summary(#[from] SummaryError),
    /// A number is too large for figures, infinite or NaN.
    #[error(
        "row {row} has {value:e} among its {what}; figures require numbers of at most 1e300 in absolute value"
    )]
    NotFinite {
        /// The kind of number, as named in the message.
        what: &'static str,
        /// The row, by its index in the file.
        row: u64,
        /// The number.
        value: f64,
    },
    /// There is no feature with this name or index.
    #[error("unknown feature {name:?}; {known}")]
    UnknownPlayer {
        /// The unknown name or index.
        name: String,
        /// The known names.
        known: String,
    },
    /// There is no output with this name or index.
    #[error("unknown output {name:?}; {known}")]
    UnknownOutput {
        /// The unknown name or index.
        name: String,
        /// The known outputs.
        known: String,
    },
    /// The results do not contain this row.
    #[error("row {row} is not in the results; {known}")]
    UnknownRow {
        /// The row, by its index in the file.
        row: u64,
        /// The known rows.
        known: String,
    },
    /// Invalid condition for a cohort.
    #[error("invalid condition {condition:?}: {why}")]
    Condition {
        /// The given condition.
        condition: String,
        /// The reason why the condition is invalid.
        why: String,
    },
    /// The results lack data that the figure requires, or do not match the other results of a report.
    #[error("cannot draw {kind}: {why}")]
    Nothing {
        /// The kind of figure.
        kind: &'static str,
        /// The problem, and what to do.
        why: &'static str,
    },
    /// There is no kind of figure with this name.
    #[error("unknown figure {name:?}; expected one of: {known}")]
    UnknownKind {
        /// The unknown name.
        name: String,
        /// The known names.
        known: String,
    },
    /// An error of the drawing library.
    #[error("cannot draw the figure: {0}")]
    Drawing(String),
}
