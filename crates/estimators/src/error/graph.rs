//! Errors of values on graphs.

use apportion_values::SolutionConcept;

/// Error returned for values on a graph that require too many coalitions.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// The neighbourhoods have more coalitions in total than the limit.
    #[error(
        "{value} requires more coalitions in total than the limit of {limit}: the neighbourhood of player \
         {player} (players: {size}) alone requires at least {coalitions}; use a smaller order, fewer players \
         (patches, words, groups), {instead}, or a higher limit"
    )]
    Neighbourhood {
        /// The requested value.
        value: Box<SolutionConcept>,
        /// The player whose neighbourhood has the most coalitions, or the first player whose neighbourhood
        /// alone exceeds the limit.
        player: usize,
        /// The number of players in the neighbourhood.
        size: usize,
        /// The number of coalitions that this player requires, or the number at which counting stopped.
        coalitions: usize,
        /// The maximum number of coalitions for all players together.
        limit: usize,
        /// A cheaper approximation of the value.
        instead: &'static str,
    },
    /// The neighbourhoods have more distinct coalitions in total than the limit.
    #[error(
        "neighbourhoods of order {order} have at least {} coalitions in total, more than the limit of \
         {limit}: the largest neighbourhood, of player {player}, has {nodes} players and 2^{nodes} \
         coalitions; use a smaller order, fewer players (patches, words, groups), C-Shapley (connected \
         coalitions only), local sampling, or a higher limit",
        in_figures(*coalitions)
    )]
    LocalCoalitions {
        /// The order of the neighbourhoods.
        order: usize,
        /// The first player with a neighbourhood of maximum size.
        player: usize,
        /// The number of players in that neighbourhood.
        nodes: usize,
        /// The number of distinct coalitions in all neighbourhoods, or the number at which counting stopped.
        coalitions: f64,
        /// The maximum number of coalitions.
        limit: usize,
    },
    /// The graph has more connected coalitions than the limit.
    #[error(
        "the graph has at least {at_least} connected coalitions, more than the limit of {limit}; use a \
         C-Shapley value of small order, fewer players (patches, words, groups), {instead}, or a higher limit"
    )]
    ConnectedCoalitions {
        /// The number of coalitions at which counting stopped.
        at_least: usize,
        /// The maximum number of coalitions.
        limit: usize,
        /// A cheaper approximation of the value.
        instead: &'static str,
    },
    /// The order of the regression is zero, or the graph has more connected coalitions of this order than the
    /// limit.
    #[error(
        "{}",
        if *order == 0 {
            "invalid order 0 of the regression: must be at least 1".to_owned()
        } else {
            format!(
                "order {order} of the regression requires more connected coalitions than the limit of \
                 {limit}; use a smaller order, fewer players (patches, words, groups), or a higher limit"
            )
        }
    )]
    ConnectedSets {
        /// The given order.
        order: usize,
        /// The maximum number of coalitions.
        limit: usize,
    },
}

/// Formats a count in full if it is short enough to read, otherwise in scientific notation.
fn in_figures(count: f64) -> String {
    if count < 1e15 { count.to_string() } else { format!("{count:.2e}") }
}
