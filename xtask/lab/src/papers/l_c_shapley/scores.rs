//! Scores of one sample.

/// A score for each feature, and the number of evaluations that the scores required.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scores {
    pub(super) values: Vec<f64>,
    /// Number of evaluations of the game; for saliency, number of predictions.
    pub(super) evaluations: usize,
}
