//! What is wrong with a cell.

use crate::nearest::shown;

/// Why a cell cannot be used: the predicate of a sentence about the cell.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CellError {
    /// A text that is not a number, where the model has no categories.
    #[error("{} is not numeric", shown(text))]
    NotANumber {
        /// The text.
        text: String,
    },
    /// A number whose decimal mark is the other one.
    #[error("{} uses a different decimal mark", shown(text))]
    DecimalMark {
        /// The text.
        text: String,
    },
    /// A whole number that is not exact as a 64-bit floating-point number.
    #[error("integer beyond 2^53 is not exact as float64")]
    Inexact,
    /// A number beyond the largest one.
    #[error("{} overflows float64 (largest magnitude 1.8e308)", shown(text))]
    Overflow {
        /// The text.
        text: String,
    },
    /// A category that the model does not know, and that its library refuses.
    #[error("unknown category {}", shown(word))]
    UnknownCategory {
        /// The cell.
        word: String,
        /// The category that was probably meant.
        nearest: Option<String>,
        /// All categories.
        categories: Vec<String>,
    },
    /// A text in a column whose first cells are numbers, for a program that reads texts.
    #[error("{} is text in a column whose first rows contain numbers", shown(text))]
    TextAmongNumbers {
        /// The text.
        text: String,
    },
}
