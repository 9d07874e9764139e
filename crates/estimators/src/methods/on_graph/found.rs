//! What was found out about a game, in batches.

use crate::run::Evaluations;

/// Coalitions that the game is asked for at once.
pub(crate) const BATCH: usize = 1 << 16;

/// What was found out about a game.
pub(crate) struct Found {
    /// φ: n × k.
    pub(crate) values: Vec<f64>,
    /// v(∅): k numbers.
    pub(crate) base: Vec<f64>,
    /// v(N): k numbers.
    pub(crate) full: Vec<f64>,
    /// Evaluations, all of different coalitions, v(∅) and v(N) included.
    pub(crate) evaluations: usize,
}

impl Found {
    pub(crate) fn new(values: Vec<f64>, evaluations: Evaluations<'_>) -> Self {
        Self { values, base: evaluations.empty, full: evaluations.full, evaluations: evaluations.count }
    }
}
