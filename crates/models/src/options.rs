//! How a model file is read.

use crate::ensemble::Rounds;

/// How a model file is read, for [`Ensemble::from_bytes_with`](crate::Ensemble::from_bytes_with).
///
/// ```
/// use apportion_models::{ReadOptions, Rounds};
///
/// let options = ReadOptions::default().rounds(Rounds::Within(0..50)).most_features(1 << 24);
/// assert_eq!(options, ReadOptions::default().most_features(1 << 24).rounds(Rounds::Within(0..50)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadOptions {
    pub(crate) rounds: Rounds,
    pub(crate) most_features: usize,
}

impl ReadOptions {
    /// Which rounds of boosting are used, instead of [`Rounds::Best`].
    #[must_use]
    pub fn rounds(mut self, rounds: Rounds) -> Self {
        self.rounds = rounds;
        self
    }

    /// The most features that a model may have, instead of 2^20. A file of a few bytes can claim any number, and rows that it is
    /// asked of, or names that are made up for it, would take all memory.
    #[must_use]
    pub fn most_features(mut self, count: usize) -> Self {
        self.most_features = count;
        self
    }
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { rounds: Rounds::Best, most_features: 1 << 20 }
    }
}
