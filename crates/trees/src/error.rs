//! The error type of the tree explainers.

use apportion_games::phrases::plural;
use apportion_games::{GameError, TooMuchMemory};
use apportion_models::ModelError;
use apportion_values::ValueError;

use crate::engine::settings::Kernel;

/// The error if a model file cannot be read, or rows cannot be explained.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TreeError {
    /// The model file could not be read, or the model lacks something that the method requires: cover,
    /// constant leaves, a supported link.
    #[error(transparent)]
    Model(ModelError),
    /// The model is valid but of a kind that is not supported.
    #[error("{what} is not supported; {help}")]
    Unsupported {
        /// The unsupported feature.
        what: String,
        /// The suggested alternative.
        help: &'static str,
    },
    /// The bytes are not a valid compiled background, or are truncated.
    #[error(
        "invalid compiled background: byte {offset}: {problem}{}",
        if problem.contains("; ") { "" } else { "; compile the background again" }
    )]
    CompiledBackground {
        /// The offset of the error, in bytes from the start.
        offset: usize,
        /// The problem: the value found and the value expected.
        problem: String,
    },
    /// The background was compiled for another model.
    #[error(
        "the background was compiled for a different model (fingerprint {background}…, but this model has \
         {model}…); compile the background again for this model"
    )]
    OtherModel {
        /// The first digits of the fingerprint of the model for which the background was compiled.
        background: String,
        /// The first digits of the fingerprint of this model.
        model: String,
    },
    /// The interactions do not fit into memory.
    #[error("{memory}")]
    TooManyPairs {
        /// The number of rows to explain.
        rows: usize,
        /// The number of features or groups.
        players: usize,
        /// The number of outputs of the model.
        outputs: usize,
        /// The bytes required and the bytes available.
        memory: TooMuchMemory,
    },
    /// An output is infinite after the link function.
    #[error(
        "output {output} after the {link} link overflows a 64-bit number for a row, or for a mixture of a \
         row with the background; explain the margin instead"
    )]
    OutputOverflow {
        /// The name of the link function.
        link: &'static str,
        /// The index of the output.
        output: usize,
    },
    /// A value, a prediction or a base value is not finite.
    #[error(
        "{what} for output {output} of row {row} is not finite: sums or differences of leaf values \
         overflow a 64-bit number, or a 32-bit number with single precision; scale the model's outputs down, \
         or use double precision"
    )]
    Overflow {
        /// The kind of number: a value, an interaction, the prediction or the base value.
        what: &'static str,
        /// The index of the row.
        row: usize,
        /// The index of the output.
        output: usize,
    },
    /// Exact values after the link function would take too long.
    #[error(
        "exact values after the {link} link require at least {steps} steps, but at most {max} are allowed: \
         row {row} and background row {background_row} take different branches in {}, and each mixture of \
         the two rows takes one step; use fewer rows or background rows, group features, use a sampling \
         method, explain the margin, or raise the limit (Rust: with_max_steps)",
        parting.map_or_else(
            || "more than 62 features or groups".to_owned(),
            |parting| format!("{parting} feature{0} or group{0}", plural(parting))
        )
    )]
    TooManySteps {
        /// The name of the link function.
        link: &'static str,
        /// The number of steps counted before giving up.
        steps: u64,
        /// The maximum number of steps.
        max: u64,
        /// The number of features or groups on which the most expensive pair of rows takes different
        /// branches; `None` for more than 62.
        parting: Option<usize>,
        /// The row of that pair.
        row: usize,
        /// The background row of that pair.
        background_row: usize,
    },
    /// The requested kernel cannot be used on a tree.
    #[error("kernel {kernel} is not supported for tree {tree}: {problem}; {help}")]
    Kernel {
        /// The requested kernel.
        kernel: Kernel,
        /// The index of the tree, from 0.
        tree: usize,
        /// The property of the tree that the kernel does not support.
        problem: String,
        /// The suggested alternative.
        help: &'static str,
    },
    /// The rows, the background, its weights or the groups are invalid. For example, rows have the wrong
    /// shape, or contain infinite values with which the model has to compute.
    #[error(transparent)]
    Game(#[from] GameError),
    /// The value or the interaction index is not defined for the model. For example, its weights by coalition
    /// size are defined for a different number of features, or it has too many interactions.
    #[error(transparent)]
    Value(#[from] ValueError),
}

/// Maps rows that a model rejects to [`TreeError::Game`], like rows that a tree explainer rejects.
impl From<ModelError> for TreeError {
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::Game(error) => Self::Game(error),
            error => Self::Model(error),
        }
    }
}
