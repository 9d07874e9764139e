//! Rounds of boosting: which trees of a file make the model.

use std::ops::Range;

/// Which rounds of a model file are used.
///
/// A round is what the library adds at a time: of XGBoost and LightGBM one tree, or several in parallel, for each output; of all other
/// formats one tree of the file. The sum begins with the base margin in any case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rounds {
    /// Where early stopping left the number of the best round in the file (XGBoost's `best_iteration`), the rounds up to that, as the
    /// library's own `predict` has it; else all.
    #[default]
    Best,
    /// All of the file.
    All,
    /// These, counted from 0: `0..10` is the model after ten rounds.
    Within(Range<usize>),
}

/// The rounds of an ensemble.
#[derive(Debug, Clone, Default)]
pub(super) struct Counted {
    /// How many trees there were after each round of the file.
    pub(super) ends: Vec<usize>,
    /// How many rounds there are up to the best one, where the file says that.
    pub(super) best: Option<usize>,
    pub(super) used: Range<usize>,
    /// Whether the model is the mean over its rounds, and not their sum.
    pub(super) averaged: bool,
}
