//! What can go wrong on a graph.

use apportion_values::SolutionConcept;

/// Why values on a graph were refused: they take too many coalitions.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// Neighbourhoods with more coalitions than may be evaluated.
    #[error(
        "{value} takes more than the {limit} coalitions that are allowed: the neighbourhood of player {player}, of {size} players, has at \
         least {coalitions}, and all of them together have more; take a smaller order, fewer players (patches, words, groups), {instead}, or a higher limit"
    )]
    Neighbourhood {
        /// The value.
        value: Box<SolutionConcept>,
        /// The player whose neighbourhood has the most, or the first that has too many by itself.
        player: usize,
        /// Players of the neighbourhood.
        size: usize,
        /// Coalitions that this player takes, or where counting stopped.
        coalitions: usize,
        /// The most of all players together.
        limit: usize,
        /// What comes near it at less cost.
        instead: &'static str,
    },
    /// Neighbourhoods with more coalitions than may be evaluated, all taken together.
    #[error(
        "neighbourhoods of order {order} have at least {} coalitions in all, more than the {limit} that are allowed; that of \
         player {player} is the largest, with {nodes} players and 2^{nodes} of them; take a smaller order, fewer players (patches, words, \
         groups), C-Shapley, whose coalitions are connected, local sampling, or a higher limit",
        in_figures(*coalitions)
    )]
    LocalCoalitions {
        /// The order of the neighbourhoods.
        order: usize,
        /// The first player whose neighbourhood is as large as any.
        player: usize,
        /// Players of that neighbourhood.
        nodes: usize,
        /// Different coalitions of all neighbourhoods, or where counting stopped.
        coalitions: f64,
        /// The most.
        limit: usize,
    },
    /// More connected coalitions than may be evaluated.
    #[error(
        "the graph has at least {at_least} connected coalitions, more than the {limit} that are allowed; take a C-Shapley value of small \
         order, fewer players (patches, words, groups), {instead}, or a higher limit"
    )]
    ConnectedCoalitions {
        /// Where counting stopped.
        at_least: usize,
        /// The most.
        limit: usize,
        /// What comes near it at less cost.
        instead: &'static str,
    },
    /// An order of connected coalitions that has none, or more than may be evaluated.
    #[error(
        "the regression of order {order} has no connected coalitions, or more than the {limit} that are allowed: its order is at least 1; take a \
         smaller one, fewer players (patches, words, groups), or a higher limit"
    )]
    ConnectedSets {
        /// The order given.
        order: usize,
        /// The most coalitions.
        limit: usize,
    },
}

/// A count in full as long as a person can read it, else by its power of ten.
fn in_figures(count: f64) -> String {
    if count < 1e15 { count.to_string() } else { format!("{count:.2e}") }
}
