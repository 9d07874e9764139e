//! Errors of building and using samplers.

/// Error returned when a distribution, a sample or a rank cannot be computed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SamplerError {
    /// The game has no players, or their number does not fit 32 bits.
    #[error("a sampler takes 1 to {most} players; {given} were given")]
    Players {
        /// Number of players given.
        given: usize,
        /// Maximum number of players.
        most: usize,
    },
    /// A weight of a size distribution is negative or not finite.
    #[error("the weight of size {size} is {weight}; weights must be finite and not negative")]
    Weight {
        /// The size.
        size: usize,
        /// Its weight.
        weight: f64,
    },
    /// All weights of a size distribution are zero.
    #[error("all {sizes} weights of the size law are zero; at least one must be positive")]
    NoWeight {
        /// Number of weights.
        sizes: usize,
    },
    /// A weight of an outcome is negative or not finite.
    #[error("the weight of outcome {outcome} is {weight}; weights must be finite and not negative")]
    OutcomeWeight {
        /// The outcome.
        outcome: usize,
        /// Its weight.
        weight: f64,
    },
    /// A distribution has no possible outcome, or the number of outcomes does not fit 32 bits.
    #[error(
        "nothing can be drawn from {outcomes} outcomes: give 1 to 4294967295, at least one of positive weight"
    )]
    NoOutcome {
        /// Number of outcomes.
        outcomes: usize,
    },
    /// A distribution of sizes has the wrong length.
    #[error(
        "a law of the size of a subset has {given} weights; {wanted} are wanted, one for each size from 0"
    )]
    Sizes {
        /// Number of weights given.
        given: usize,
        /// Expected number of weights.
        wanted: usize,
    },
    /// A sample needs more memory than is available.
    #[error(transparent)]
    Memory(#[from] apportion_games::TooMuchMemory),
    /// A sample has too many rows.
    #[error("a sample of {given} coalitions was asked for; the most is {most}, so lower the budget")]
    TooManyRows {
        /// Number of rows requested.
        given: usize,
        /// Maximum number of rows.
        most: usize,
    },
    /// The size of a coalition exceeds the number of players.
    #[error("there is no coalition of {size} among {players} players")]
    Size {
        /// The size.
        size: usize,
        /// Number of players.
        players: usize,
    },
    /// The rank is too large.
    #[error("there are {count} coalitions of {size} among {players} players; rank {rank} is not below that")]
    Rank {
        /// The rank.
        rank: u128,
        /// Number of coalitions of this size.
        count: u128,
        /// Number of players.
        players: usize,
        /// Size of the coalition.
        size: usize,
    },
    /// The number of coalitions of this size does not fit 128 bits.
    #[error(
        "there are 2^128 or more coalitions of {size} among {players} players, too many for ranks; draw them instead"
    )]
    RankWidth {
        /// Number of players.
        players: usize,
        /// Size of the coalition.
        size: usize,
    },
}
