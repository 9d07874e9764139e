//! What was found out about a game, in batches.

use apportion_values::Attributions;

use crate::run::Evaluations;

/// Coalitions that the game is asked for at once.
pub(crate) const BATCH: usize = 1 << 16;

/// What was found out about a game.
pub(crate) struct Found {
    /// The values of all players.
    pub(crate) exact: Attributions,
    /// Evaluations, all of different coalitions, v(∅) and v(N) included.
    pub(crate) evaluations: usize,
}

impl Found {
    pub(crate) fn new(values: Vec<f64>, evaluations: Evaluations<'_>) -> Self {
        let players = values.len() / evaluations.empty.len().max(1);
        let exact = Attributions::of_players(players, values, evaluations.empty, evaluations.full);
        Self { exact, evaluations: evaluations.count }
    }
}
