//! Options for reading a model file.

use crate::ensemble::Rounds;

/// Options for reading a model file with [`Ensemble::from_bytes_with`](crate::Ensemble::from_bytes_with).
///
/// ```
/// use apportion_models::{ReadOptions, Rounds};
///
/// let options = ReadOptions::default().rounds(Rounds::Within(0..50)).max_features(1 << 24);
/// assert_eq!(options, ReadOptions::default().max_features(1 << 24).rounds(Rounds::Within(0..50)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadOptions {
    pub(crate) rounds: Rounds,
    pub(crate) max_features: usize,
}

impl ReadOptions {
    /// Sets the boosting rounds to use. The default is [`Rounds::Best`].
    #[must_use]
    pub fn rounds(mut self, rounds: Rounds) -> Self {
        self.rounds = rounds;
        self
    }

    /// Sets the maximum number of features of a model. The default is 2^20. A file of a few bytes can declare
    /// any number of features, and rows or generated names of that length would exhaust the memory.
    #[must_use]
    pub fn max_features(mut self, count: usize) -> Self {
        self.max_features = count;
        self
    }
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { rounds: Rounds::Best, max_features: 1 << 20 }
    }
}
