//! Errors of computing values from their definitions.

use apportion_games::{Coalition, GameError};

/// Error returned when a value cannot be computed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ValueError {
    /// The name is not a solution concept.
    #[error(
        "unknown value {given:?}; known are shapley, banzhaf, weighted-banzhaf=P, beta=A,B, by-size=W0,W1,…, size-law=P0,P1,…, \
         mixture=T:W,T:W,…; of players in groups owen, banzhaf-owen, symmetric-coalitional-banzhaf, two-step, \
         coalitional=BETWEEN/WITHIN; of groups quotient-shapley, quotient-banzhaf, quotient-NAME; of players on a graph l-shapley=K, \
         c-shapley=K (both also as K,present; the second as K,printed, K,marginal and K,graph), myerson, l-banzhaf=K, c-banzhaf=K, myerson-banzhaf, \
         local=K/NAME, connected=K/NAME, graph-restricted/NAME"
    )]
    UnknownValue {
        /// The name given.
        given: String,
    },
    /// A probability of presence is outside (0, 1).
    #[error(
        "a weighted Banzhaf value takes a probability of presence between 0 and 1, both excluded, not {given}"
    )]
    Presence {
        /// The given probability.
        given: f64,
    },
    /// Parameters of Beta-Shapley are not positive, or too small or too large for `f64`.
    #[error(
        "a Beta-Shapley value takes two positive parameters, from 1e-100 to 1e100, not {alpha:?} and {beta:?}"
    )]
    Beta {
        /// The first parameter, α.
        alpha: f64,
        /// The second parameter, β.
        beta: f64,
    },
    /// Weights by size do not define a value.
    #[error(
        "weights by size are one weight for each size 0 to n − 1 of the coalition that a player joins, none negative, summing to one over \
         all coalitions; {problem}"
    )]
    Weights {
        /// The reason.
        problem: WeightsProblem,
    },
    /// The number of weights by size does not match the number of players of the game.
    #[error(
        "the value has weights by size for {weights} players, the game has {players}: give one weight for each size 0 to {}",
        players.saturating_sub(1)
    )]
    WeightsForOtherPlayers {
        /// Number of players that the weights are for.
        weights: usize,
        /// Number of players of the game.
        players: usize,
    },
    /// The coalition distribution of a player in a linear value is invalid.
    #[error("the law of player {player} is none: {problem}")]
    Law {
        /// The player.
        player: usize,
        /// The reason.
        problem: LawProblem,
    },
    /// The number of coalition distributions does not match the number of players of the game.
    #[error("the value has laws for {laws} players, the game has {players}: give one law for each player")]
    LawsForOtherPlayers {
        /// Number of distributions.
        laws: usize,
        /// Number of players of the game.
        players: usize,
    },
    /// The weight of a player is not positive and finite.
    #[error("weights of players are positive and finite, and that of player {player} is {weight}")]
    PlayerWeight {
        /// The player.
        player: usize,
        /// Its weight.
        weight: f64,
    },
    /// A value of players in groups, or of groups, requires groups.
    #[error("{value} is a value of players in groups: say which players belong together")]
    NoPartition {
        /// The name of the value.
        value: String,
    },
    /// A value of players on a graph requires a graph.
    #[error("{value} is a value of players on a graph: say who is next to whom")]
    NoGraph {
        /// The name of the value.
        value: String,
    },
    /// Groups were given for a value that does not use them.
    #[error(
        "{value} values are of single players: leave the groups out, or ask for owen, banzhaf-owen, two-step or quotient-{value}"
    )]
    NeedlessGroups {
        /// The name of the value.
        value: String,
    },
    /// A graph was given for a value that does not use it.
    #[error(
        "{value} values do not depend on who is next to whom: leave the graph out, or ask for l-shapley=K, c-shapley=K or myerson"
    )]
    NeedlessGraph {
        /// The name of the value.
        value: String,
    },
    /// Weights by size do not determine the printed coefficients.
    #[error(
        "printed coefficients take two players around each connected coalition, and the neighbourhood of player {player} leaves room for \
         less among {players} players, so that weights by size do not tell them; take those of the neighbourhood"
    )]
    PrintedWeights {
        /// The player.
        player: usize,
        /// Number of players of the game.
        players: usize,
    },
    /// Invalid mixing measure.
    #[error(
        "a mixing measure has points in [0, 1], a weight for each, none negative, summing to one; given were {problem}"
    )]
    Mixture {
        /// The reason.
        problem: String,
    },
    /// The game has no players, or too many for enumeration.
    #[error(
        "exact enumeration takes 1 to {most} players (2^n evaluations); this game has {given}: use an estimator, or a tree oracle"
    )]
    Players {
        /// Number of players of the game.
        given: usize,
        /// Maximum number of players.
        most: usize,
    },
    /// There are too many groups, or they are too large, for enumeration.
    #[error(
        "exact values of players in groups take 2^(groups − 1 + members) coalitions for each group (two-step values 2^groups, and 2^members for \
         each), at most 2^{most}; here are {groups} groups, the largest of {largest}: use an estimator, or a tree oracle"
    )]
    Structure {
        /// Number of groups.
        groups: usize,
        /// Number of players of the largest group.
        largest: usize,
        /// Maximum of groups − 1 + members.
        most: usize,
    },
    /// The hierarchy is too wide for enumeration.
    #[error(
        "exact values over a hierarchy take 2^k coalitions for each group, k being its members and the siblings of the groups around it, at \
         most 2^{most}; here some k is {needed}: use an estimator, or a tree oracle"
    )]
    Levels {
        /// The largest k.
        needed: usize,
        /// Maximum k.
        most: usize,
    },
    /// The value is not defined over a hierarchy.
    #[error(
        "{value} takes no groups within groups: give groups of features alone, or ask for owen, banzhaf-owen or coalitional=BETWEEN/WITHIN"
    )]
    NoLevels {
        /// The name of the value.
        value: String,
    },
    /// The sum of finite values of coalitions is not finite.
    #[error(
        "the values of coalitions are too large: their sum for player {player} (output {output}) overflows; scale the game down"
    )]
    Overflow {
        /// The first player whose value overflows.
        player: usize,
        /// Index of the output.
        output: usize,
    },
    /// The name is not an interaction index.
    #[error(
        "unknown interaction index {given:?}; known are the names of semivalues (shapley, banzhaf, …), k-shapley, shapley-taylor, \
         faithful-shapley, faithful-banzhaf, faithful-weighted-banzhaf=P, k-additive-shapley, chaining, moebius, co-moebius, walsh, \
         generalized-NAME, generalized-chaining, generalized-internal, generalized-external, joint-shapley"
    )]
    UnknownIndex {
        /// The name given.
        given: String,
    },
    /// The order of interactions is out of range.
    #[error("the order of interactions, the most players of a coalition, is 1 to {most}, not {given}")]
    Order {
        /// The order given.
        given: usize,
        /// Maximum order.
        most: usize,
    },
    /// There are more interactions than the result can contain.
    #[error(
        "interactions of order {order} of {players} players, of {outputs} outputs, are more than {most} numbers: ask for a lower order"
    )]
    TooManyInteractions {
        /// Number of players of the game.
        players: usize,
        /// The order.
        order: usize,
        /// Number of outputs of the game.
        outputs: usize,
        /// Maximum number of values.
        most: usize,
    },
    /// The index of finite coalition values is not finite.
    #[error(
        "the values of coalitions are too large: the interaction index of {coalition} (output {output}) overflows; scale the game down"
    )]
    InteractionOverflow {
        /// The coalition.
        coalition: Coalition,
        /// Index of the output.
        output: usize,
    },
    /// The game returned an error.
    #[error(transparent)]
    Game(#[from] GameError),
}

/// Why weights by size are invalid.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WeightsProblem {
    /// There are no weights.
    #[error("none were given")]
    None,
    /// A weight is negative or not finite.
    #[error("the weight of size {size} is {weight}")]
    Weight {
        /// The size.
        size: usize,
        /// Its weight.
        weight: f64,
    },
    /// The weights do not sum to one.
    #[error("they sum to {sum}")]
    Sum {
        /// The sum over all coalitions.
        sum: f64,
    },
}

/// Why the coalition distribution of a player is invalid.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LawProblem {
    /// There are no coalitions, or the numbers of coalitions and weights differ.
    #[error(
        "it has {coalitions} coalitions and {weights} weights, where as many of both are wanted, at least one"
    )]
    Lengths {
        /// Number of coalitions.
        coalitions: usize,
        /// Number of weights.
        weights: usize,
    },
    /// The number of players of the coalitions differs from that of the distributions.
    #[error("its coalitions are of {given} players, where laws for {wanted} players were given")]
    OtherPlayers {
        /// Number of players of the coalitions.
        given: usize,
        /// Number of distributions.
        wanted: usize,
    },
    /// The player is a member of a coalition that it should join.
    #[error("the player cannot join the coalition {coalition}, of which it is a member")]
    Member {
        /// The coalition.
        coalition: Coalition,
    },
    /// A weight violates (A1).
    #[error("(A1) asks for weights of at least 0, and that of the coalition {coalition} is {weight}")]
    Weight {
        /// The coalition.
        coalition: Coalition,
        /// Its weight.
        weight: f64,
    },
    /// The weights violate (A2).
    #[error("(A2) asks for weights that sum to 1, and these sum to {sum}, {:e} off: divide them by that", (sum - 1.0).abs())]
    Sum {
        /// The sum.
        sum: f64,
    },
}
