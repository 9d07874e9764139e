//! The exact result for a game, computed in batches.

use apportion_values::Attributions;

use crate::run::Evaluations;

/// The number of coalitions to evaluate in one batch.
pub(crate) const BATCH: usize = 1 << 16;

/// Exact values of a game, with the number of evaluations.
pub(crate) struct ExactResult {
    /// The values of all players.
    pub(crate) exact: Attributions,
    /// The number of evaluations, all of distinct coalitions, including v(∅) and v(N).
    pub(crate) evaluations: usize,
}

impl ExactResult {
    pub(crate) fn new(values: Vec<f64>, evaluations: Evaluations<'_>) -> Self {
        let players = values.len() / evaluations.empty.len().max(1);
        let exact = Attributions::for_players(players, values, evaluations.empty, evaluations.full);
        Self { exact, evaluations: evaluations.count }
    }
}
