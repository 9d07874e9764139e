//! What a method says of one sample.

/// A number for each feature, and what it took.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scores {
    pub(super) values: Vec<f64>,
    /// Evaluations of the game; of saliencies predictions.
    pub(super) evaluations: usize,
}
