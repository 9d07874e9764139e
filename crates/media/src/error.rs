//! What can go wrong on the way from a text or an image to a game.

use apportion_games::GameError;

/// Why a text or an image could not be read, or made into a game.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MediaError {
    /// A feature that a player is given does not exist.
    #[error("player {player} has feature {feature}, but a row has the features 0 to {}", *features as i64 - 1)]
    NoSuchFeature {
        /// The player.
        player: usize,
        /// The feature given.
        feature: usize,
        /// Features of a row.
        features: usize,
    },
    /// A feature is in the hands of two players, or twice of one.
    #[error(
        "feature {feature} belongs to player {first} and to player {second}; give each feature to one player at most, once"
    )]
    SharedFeature {
        /// The feature.
        feature: usize,
        /// Who has it first.
        first: usize,
        /// Who has it again.
        second: usize,
    },
    /// A player without features.
    #[error("player {player} has no features; leave it out")]
    NoFeatures {
        /// The player.
        player: usize,
    },
    /// What the game behind reports.
    #[error(transparent)]
    Game(#[from] GameError),
}
