//! Scores of one sample.

/// A score for each feature, and the cost.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scores {
    pub(super) values: Vec<f64>,
    /// Evaluations of the game; for saliency, predictions.
    pub(super) evaluations: usize,
}
