//! What can go wrong when an oracle is asked.

use apportion_games::{GameError, TooMuchMemory};
use apportion_models::ModelError;
use apportion_values::ValueError;

use crate::engine::settings::Kernel;

/// Why a model file could not be read, or rows could not be explained.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TreeError {
    /// A model file that could not be read, or a model that has not what is asked for: covers, constant
    /// leaves, a known link.
    #[error(transparent)]
    Model(ModelError),
    /// A sound model of a kind that cannot be explained here.
    #[error("{what} is not supported; {wanted}")]
    Unsupported {
        /// What was found.
        what: String,
        /// What to do or use.
        wanted: &'static str,
    },
    /// Bytes that are no compiled background, or only a part of one.
    #[error("this is no sound compiled background: byte {offset}: {problem}")]
    CompiledBackground {
        /// Where, in bytes from the start.
        offset: usize,
        /// What was found and what was wanted.
        problem: String,
    },
    /// A background that was compiled for another model.
    #[error(
        "the background was compiled for another model (of fingerprint {background}…, where this model has {model}…): compile it again \
         for this one"
    )]
    OtherModel {
        /// How the fingerprint of the model begins that it was compiled for.
        background: String,
        /// How that of the model begins.
        model: String,
    },
    /// More pairwise interactions than there is memory for.
    #[error("{memory}")]
    TooManyPairs {
        /// Rows to explain.
        rows: usize,
        /// Features, or groups.
        players: usize,
        /// Outputs of the model.
        outputs: usize,
        /// The bytes that they take, and the bytes that can be used.
        memory: TooMuchMemory,
    },
    /// Outputs that are infinite.
    #[error(
        "output {output} behind the {link} link is too large for a 64-bit number on some row, or mixture of a row with the background; explain the margin"
    )]
    OutputOverflow {
        /// The name of the link.
        link: &'static str,
        /// Which of the outputs.
        output: usize,
    },
    /// Values, predictions or a base that are not finite.
    #[error(
        "{what} for output {output} of row {row} is not finite: the leaves are so large that sums or differences of them overflow, in 64 bits or \
         in the precision of the tables; scale the model's outputs down, or take double precision"
    )]
    Overflow {
        /// Which number: a value, an interaction, the prediction, the base.
        what: &'static str,
        /// Which of the rows.
        row: usize,
        /// Which of the outputs.
        output: usize,
    },
    /// Exact values of outputs that would take too long.
    #[error(
        "exact values behind the {link} link would take {steps} steps or more, where {most} are allowed: row {row} and background row \
         {background_row} go different ways in {}, and every mixture of the two is a step; give fewer rows or background rows, put \
         features in groups, allow more steps, estimate the values with a method for any model, or explain the margin",
        parting.map_or_else(|| "more than 62 features or groups".to_owned(), |parting| format!("{parting} features or groups"))
    )]
    TooManySteps {
        /// The name of the link.
        link: &'static str,
        /// Steps that were counted until it was too much.
        steps: u64,
        /// The most that are allowed.
        most: u64,
        /// Features or groups in which the costliest pair of rows goes different ways; `None` for more
        /// than 62.
        parting: Option<usize>,
        /// The row of that pair.
        row: usize,
        /// Its background row.
        background_row: usize,
    },
    /// A kernel that was asked for and cannot be used on a tree.
    #[error("the kernel {kernel} cannot be used on tree {tree}: {problem}; {wanted}")]
    Kernel {
        /// What was asked for.
        kernel: Kernel,
        /// Which tree, from 0.
        tree: usize,
        /// What it has that the kernel cannot take.
        problem: String,
        /// What to use.
        wanted: &'static str,
    },
    /// Rows or a background of the wrong shape, or with infinite values that the model computes with.
    #[error(transparent)]
    Game(#[from] GameError),
    /// A value that is not defined for as many features: weights by size that are for another number.
    #[error(transparent)]
    Value(#[from] ValueError),
}

/// Rows that a model refuses are [`TreeError::Game`], as those that an oracle refuses are.
impl From<ModelError> for TreeError {
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::Game(error) => Self::Game(error),
            error => Self::Model(error),
        }
    }
}
