//! Errors of single cells.

use crate::nearest::shown;

/// The error if a cell cannot be used. The message is meant to follow the position of the cell and a colon.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CellError {
    /// A string is not a number, and the feature does not have categories.
    #[error("{} is not numeric", shown(text))]
    NotANumber {
        /// The text of the cell.
        text: String,
    },
    /// A number has a decimal point although commas are expected, or the reverse.
    #[error("{} uses a different decimal mark", shown(text))]
    DecimalMark {
        /// The text of the cell.
        text: String,
    },
    /// A 64-bit floating-point number cannot represent an integer exactly.
    #[error("integers beyond 2^53 cannot be represented exactly as float64")]
    Inexact,
    /// A number is too large for a 64-bit floating-point number.
    #[error("{} overflows float64 (largest magnitude 1.8e308)", shown(text))]
    Overflow {
        /// The text of the cell.
        text: String,
    },
    /// A category did not occur in training, and the library of the model rejects unknown categories.
    #[error("unknown category {}", shown(word))]
    UnknownCategory {
        /// The text of the cell.
        word: String,
        /// The most similar category, if there is a similar one.
        nearest: Option<String>,
        /// All categories of the feature.
        categories: Vec<String>,
    },
    /// A cell contains text although the first cells of the column are numbers. This is an error for programs
    /// that read cells as strings.
    #[error("{} is text in a column whose first rows contain numbers", shown(text))]
    TextAmongNumbers {
        /// The text of the cell.
        text: String,
    },
}
