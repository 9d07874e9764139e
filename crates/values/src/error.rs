//! What can go wrong when a value is computed from its definition.

use apportion_games::GameError;

/// Why a value could not be computed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ValueError {
    /// A name that is no solution concept.
    #[error("unknown value {given:?}; known are shapley, banzhaf")]
    UnknownValue {
        /// The name given.
        given: String,
    },
    /// More players than enumeration can take, or none.
    #[error(
        "exact enumeration takes 1 to {most} players (2^n evaluations); this game has {given}: use an estimator, or a tree oracle"
    )]
    Players {
        /// Players of the game.
        given: usize,
        /// The most.
        most: usize,
    },
    /// A sum of finite values of coalitions is not finite.
    #[error(
        "the values of coalitions are too large: their sum for player {player} (output {output}) overflows; scale the game down"
    )]
    Overflow {
        /// The first player whose value overflows.
        player: usize,
        /// Which of the outputs.
        output: usize,
    },
    /// The game failed.
    #[error(transparent)]
    Game(#[from] GameError),
}
