//! What is wrong with a cell.

use crate::nearest::shown;

/// Why a cell cannot be used: the predicate of a sentence about the cell.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CellError {
    /// A text that is not a number, where the model has no categories.
    #[error("is {}, which is not a number", shown(text))]
    NotANumber {
        /// The text.
        text: String,
    },
    /// A number whose decimal mark is the other one.
    #[error("is {}, a number with another decimal mark", shown(text))]
    DecimalMark {
        /// The text.
        text: String,
    },
    /// A whole number that is not exact as a 64-bit floating-point number.
    #[error("is a whole number beyond 2^53, which is not exact as float64")]
    Inexact,
    /// A number beyond the largest one.
    #[error("is {}, which is beyond the largest number of float64 (1.8e308)", shown(text))]
    Overflow {
        /// The text.
        text: String,
    },
    /// A category that the model does not know, and that its library refuses.
    #[error("is {}, which is no category of this column in training", shown(word))]
    UnknownCategory {
        /// The cell.
        word: String,
        /// The category that was probably meant.
        nearest: Option<String>,
        /// All categories.
        categories: Vec<String>,
    },
    /// A text in a column whose first cells are numbers, for a program that reads texts.
    #[error("is {}, a text in a column whose first rows hold numbers", shown(text))]
    TextAmongNumbers {
        /// The text.
        text: String,
    },
}
