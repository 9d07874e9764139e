//! Errors that occur when creating and using samplers.

use apportion_games::phrases::plural;

/// Error returned when a distribution, a sample or a rank cannot be computed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SamplerError {
    /// The game has no players, or more players than fit in 32 bits.
    #[error("a sampler supports 1 to {max} players, got {actual}")]
    Players {
        /// Number of players given.
        actual: usize,
        /// Maximum number of players.
        max: usize,
    },
    /// A weight of a size distribution is negative or not finite.
    #[error("invalid weight {weight} for size {size}: must be finite and non-negative")]
    Weight {
        /// The size to which the weight applies.
        size: usize,
        /// The invalid weight.
        weight: f64,
    },
    /// All weights of a size distribution are zero.
    #[error("all weights of the size distribution are zero (sizes: {sizes}); at least one must be positive")]
    NoWeight {
        /// Number of weights.
        sizes: usize,
    },
    /// A weight of an outcome is negative or not finite.
    #[error("invalid weight {weight} of outcome {outcome}: must be finite and non-negative")]
    OutcomeWeight {
        /// The outcome to which the weight applies.
        outcome: usize,
        /// The invalid weight.
        weight: f64,
    },
    /// A distribution has no possible outcome, or its number of outcomes does not fit in 32 bits.
    #[error(
        "{}",
        if *outcomes == 0 {
            "there are no outcomes to draw from; pass at least one".to_owned()
        } else if u32::try_from(*outcomes).is_ok() {
            format!("all weights are zero (outcomes: {outcomes}); at least one must be positive")
        } else {
            format!("cannot draw from {outcomes} outcomes; the maximum is {}", u32::MAX)
        }
    )]
    NoOutcome {
        /// Number of outcomes.
        outcomes: usize,
    },
    /// A distribution of subset sizes has the wrong number of weights.
    #[error(
        "the size distribution of a subset has {actual} weight{}, expected {expected} (one per size from 0)",
        plural(*actual)
    )]
    Sizes {
        /// Number of weights given.
        actual: usize,
        /// Expected number of weights.
        expected: usize,
    },
    /// A sample needs more memory than is available.
    #[error(transparent)]
    Memory(#[from] apportion_games::TooMuchMemory),
    /// A sample has too many rows.
    #[error("a sample of {actual} coalitions exceeds the maximum of {max}; lower the budget")]
    TooManyRows {
        /// Number of rows that were requested.
        actual: usize,
        /// Maximum number of rows.
        max: usize,
    },
    /// The size of a coalition exceeds the number of players.
    #[error("invalid coalition size {size}; expected 0 to {players}, the number of players")]
    Size {
        /// The size of the coalition.
        size: usize,
        /// Number of players.
        players: usize,
    },
    /// The rank is not below the number of coalitions of this size.
    #[error(
        "invalid rank {rank}: must be below {count}, the number of coalitions of size {size} (players: \
         {players})"
    )]
    Rank {
        /// The rank that was given.
        rank: u128,
        /// Number of coalitions of this size.
        count: u128,
        /// Number of players.
        players: usize,
        /// Size of the coalition.
        size: usize,
    },
    /// The number of coalitions of this size does not fit in 128 bits.
    #[error(
        "there are 2^128 or more coalitions of size {size} (players: {players}), too many for ranks; draw \
         coalitions at random instead"
    )]
    RankWidth {
        /// Number of players.
        players: usize,
        /// Size of the coalition.
        size: usize,
    },
}
