//! What can go wrong when a sampler is built or asked.

/// Why a law, a sample or a rank could not be had.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SamplerError {
    /// A game without players, or with more than can be numbered in 32 bits.
    #[error("a sampler takes 1 to {most} players; {given} were given")]
    Players {
        /// The number given.
        given: usize,
        /// The largest number.
        most: usize,
    },
    /// A weight of a size law that is negative or not finite.
    #[error("the weight of size {size} is {weight}; weights must be finite and not negative")]
    Weight {
        /// The size it belongs to.
        size: usize,
        /// The weight given.
        weight: f64,
    },
    /// A size law whose weights are all zero.
    #[error("all {sizes} weights of the size law are zero; at least one must be positive")]
    NoWeight {
        /// How many weights were given.
        sizes: usize,
    },
    /// A weight of an outcome that is negative or not finite.
    #[error("the weight of outcome {outcome} is {weight}; weights must be finite and not negative")]
    OutcomeWeight {
        /// The outcome it belongs to.
        outcome: usize,
        /// The weight given.
        weight: f64,
    },
    /// A law of which nothing can be drawn, or with more outcomes than can be numbered in 32 bits.
    #[error(
        "nothing can be drawn from {outcomes} outcomes: give 1 to 4294967295, at least one of positive weight"
    )]
    NoOutcome {
        /// How many were given.
        outcomes: usize,
    },
    /// A law of sizes of another length.
    #[error(
        "a law of the size of a subset has {given} weights; {wanted} are wanted, one for each size from 0"
    )]
    Sizes {
        /// Weights given.
        given: usize,
        /// Weights wanted.
        wanted: usize,
    },
    /// A sample that takes more memory than there is.
    #[error(transparent)]
    Memory(#[from] apportion_games::TooMuchMemory),
    /// More rows than a sample may have.
    #[error("a sample of {given} coalitions was asked for; the most is {most}, so lower the budget")]
    TooManyRows {
        /// Rows asked for.
        given: usize,
        /// The most.
        most: usize,
    },
    /// A coalition larger than its game.
    #[error("there is no coalition of {size} among {players} players")]
    Size {
        /// The size given.
        size: usize,
        /// The number of players.
        players: usize,
    },
    /// A rank that no coalition has.
    #[error("there are {count} coalitions of {size} among {players} players; rank {rank} is not below that")]
    Rank {
        /// The rank given.
        rank: u128,
        /// The number of coalitions of that size.
        count: u128,
        /// The number of players.
        players: usize,
        /// The size of the coalition.
        size: usize,
    },
    /// More coalitions of a size than ranks of 128 bits can tell apart.
    #[error(
        "there are 2^128 or more coalitions of {size} among {players} players, too many for ranks; draw them instead"
    )]
    RankWidth {
        /// The number of players.
        players: usize,
        /// The size of the coalition.
        size: usize,
    },
}
