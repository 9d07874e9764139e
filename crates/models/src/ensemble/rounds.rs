//! Selection of boosting rounds.

use std::ops::Range;

/// The boosting rounds of a model file that are used.
///
/// A round consists of the trees that the library adds in one iteration: for XGBoost and LightGBM, one tree
/// (or several parallel trees) for each output. In all other formats, each tree of the file is a round. The
/// base margin is always included.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rounds {
    /// The rounds up to the best one, if early stopping stored the best round in the file (XGBoost's
    /// `best_iteration`). Otherwise all rounds. The library's own `predict` uses the same rounds.
    #[default]
    Best,
    /// All rounds of the file.
    All,
    /// A range of rounds, counted from 0: `0..10` is the model after ten rounds.
    Within(Range<usize>),
}

/// The rounds of an ensemble.
#[derive(Debug, Clone, Default)]
pub(super) struct Counted {
    /// The number of trees after each round of the file.
    pub(super) ends: Vec<usize>,
    /// The number of rounds up to the best one, if the file stores it.
    pub(super) best: Option<usize>,
    pub(super) used: Range<usize>,
    /// Whether the model is the mean over its rounds instead of their sum.
    pub(super) averaged: bool,
}
