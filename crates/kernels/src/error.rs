//! The error type of this crate.

use apportion_games::phrases::plural;
use apportion_games::{GameError, TooMuchMemory};
use apportion_values::ValueError;

/// Error returned when a kernel machine is invalid, or when rows cannot be explained.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KernelError {
    /// An array does not have the length that the number of features, centres and outputs determines.
    #[error("{what} has {actual} number{}, expected {expected}", plural(*actual))]
    Length {
        /// The array as named in the message, such as "the coefficients".
        what: &'static str,
        /// The actual length.
        actual: usize,
        /// The expected length, with its factors.
        expected: String,
    },
    /// A number is not finite, or outside its range.
    #[error("invalid {what} {actual} at index {index}; expected {expected}")]
    Number {
        /// The number as named in the message, such as "coefficient".
        what: &'static str,
        /// The index of the number in its array.
        index: usize,
        /// The given number.
        actual: f64,
        /// The numbers that are expected.
        expected: &'static str,
    },
    /// The machine has no features or no outputs.
    #[error("invalid kernel machine without {what}; expected at least one")]
    Empty {
        /// The missing part: "features" or "outputs".
        what: &'static str,
    },
    /// The bytes are not a valid kernel machine.
    #[error("invalid kernel machine file: {problem}; save the kernel machine again")]
    File {
        /// The problem: the content found and the content expected.
        problem: String,
    },
    /// The request is valid, but there is no exact method for it.
    #[error("{what} is not supported; {help}")]
    Unsupported {
        /// The unsupported request.
        what: String,
        /// The suggested alternative.
        help: &'static str,
    },
    /// The result, or the memory for its computation, is too large.
    #[error(transparent)]
    Memory(#[from] TooMuchMemory),
    /// The rows or the background have the wrong shape, or contain values that are missing or infinite.
    #[error(transparent)]
    Game(#[from] GameError),
    /// The value is not defined for this number of features, or is not finite.
    #[error(transparent)]
    Value(#[from] ValueError),
}
