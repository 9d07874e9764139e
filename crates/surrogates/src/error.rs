//! Errors of learning and of using surrogates.

use apportion_games::phrases::plural;
use apportion_games::{BoxError, GameError, TooMuchMemory};
use apportion_models::ModelError;
use apportion_trees::TreeError;
use apportion_values::{Value, ValueError};

/// The result of this crate's functions.
pub(crate) type Result<T> = std::result::Result<T, SurrogateError>;

/// Error returned when a surrogate cannot be learned or used, or when rows cannot be explained.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SurrogateError {
    /// Rows, a background or a game are invalid.
    #[error(transparent)]
    Game(#[from] GameError),
    /// The trees of the surrogate are invalid.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The exact values of the surrogate cannot be computed.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// The value is not defined for this number of features.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// The computation needs more memory than is available.
    #[error(transparent)]
    Memory(#[from] TooMuchMemory),
    /// The model returned an error.
    #[error("the model failed on {rows}: {source}")]
    Prediction {
        /// The rows that were passed to the model.
        rows: String,
        /// The error that the model returned.
        source: BoxError,
    },
    /// The model returned NaN or an infinite number.
    #[error(
        "the model returned {value} for {rows} (output {output}), but outputs must be finite; check the \
         predictions of the model for such rows"
    )]
    NotFinite {
        /// The row, as named in the message.
        rows: String,
        /// The index of the output.
        output: usize,
        /// The number that the model returned.
        value: f64,
    },
    /// The budget is too small for a single pair of coalitions.
    #[error(
        "method table requires a budget of at least {min} predictions for each explained row, got {budget}"
    )]
    Budget {
        /// The budget passed.
        budget: usize,
        /// The minimum budget.
        min: usize,
    },
    /// The regression does not compute the value.
    #[error(
        "the regression of the table method computes Shapley and Banzhaf values of features or groups, not \
         {} values; use auto, exact or a sampling method",
        value.concept()
    )]
    Unsupported {
        /// The requested value.
        value: Box<Value>,
    },
    /// The background rows have different weights.
    #[error(
        "the regression of the table method requires equal background weights, but row {row} has {actual} of \
         the total weight, expected {expected}; repeat rows instead, remove rows of weight 0, or use another \
         method"
    )]
    Weights {
        /// The index of the background row.
        row: usize,
        /// The weight of the row, as a fraction of the sum of all weights.
        actual: f64,
        /// The weight of each row if all rows have the same weight.
        expected: f64,
    },
    /// The bytes are not a valid surrogate.
    #[error("invalid surrogate file: {problem}; learn the surrogate again")]
    File {
        /// The problem that was found.
        problem: String,
    },
    /// There are no rows to learn from.
    #[error("a surrogate requires at least one row to learn from, got none")]
    NoRows,
    /// The numbers of rows and of outputs do not match.
    #[error("expected {expected} target value{} (rows × outputs), got {actual}", plural(*expected))]
    Targets {
        /// The number of target values passed.
        actual: usize,
        /// The expected number.
        expected: usize,
    },
    /// The surrogate was learned with another background.
    #[error(
        "the surrogate was learned with a different background (fingerprint {expected}, but now {actual}); \
         pass the same background rows and weights, or learn a new surrogate"
    )]
    OtherBackground {
        /// The first digits of the fingerprint of the background that was passed.
        actual: String,
        /// The first digits of the fingerprint in the surrogate.
        expected: String,
    },
    /// The surrogate was learned from another model.
    #[error(
        "the surrogate was learned from a different model: for background row {row}, output {output}, the \
         model returns {actual}, but the surrogate was learned from {expected}; learn a new surrogate"
    )]
    OtherModel {
        /// The index of the background row.
        row: usize,
        /// The index of the output.
        output: usize,
        /// The output of the model.
        actual: f64,
        /// The output stored in the surrogate.
        expected: f64,
    },
    /// The number of features or of outputs differs from that of the surrogate.
    #[error("the surrogate has {expected} {what}{}, got {actual}; learn a new surrogate", plural(*expected))]
    OtherShape {
        /// `feature` or `output`.
        what: &'static str,
        /// The number passed.
        actual: usize,
        /// The number in the surrogate.
        expected: usize,
    },
}
