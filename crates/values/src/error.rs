//! What can go wrong when a value is computed from its definition.

use apportion_games::{Coalition, GameError};

/// Why a value could not be computed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ValueError {
    /// A name that is no solution concept.
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
    /// A probability of presence outside (0, 1).
    #[error(
        "a weighted Banzhaf value takes a probability of presence between 0 and 1, both excluded, not {given}"
    )]
    Presence {
        /// The number given.
        given: f64,
    },
    /// Parameters of Beta-Shapley that are not positive, or too small or large for `f64`.
    #[error(
        "a Beta-Shapley value takes two positive parameters, from 1e-100 to 1e100, not {alpha:?} and {beta:?}"
    )]
    Beta {
        /// The first, α.
        alpha: f64,
        /// The second, β.
        beta: f64,
    },
    /// Weights by size that do not make a value.
    #[error(
        "weights by size are one weight for each size 0 to n − 1 of the coalition that a player joins, none negative, summing to one over \
         all coalitions; {problem}"
    )]
    Weights {
        /// What is wrong with them.
        problem: WeightsProblem,
    },
    /// Weights by size for a game of another number of players.
    #[error(
        "the value has weights by size for {weights} players, the game has {players}: give one weight for each size 0 to {}",
        players.saturating_sub(1)
    )]
    WeightsForOtherPlayers {
        /// Players that the weights are for.
        weights: usize,
        /// Players of the game.
        players: usize,
    },
    /// The law of a player in a linear value that breaks its assumptions.
    #[error("the law of player {player} is none: {problem}")]
    Law {
        /// The player.
        player: usize,
        /// What is wrong.
        problem: LawProblem,
    },
    /// Laws for a game of another number of players.
    #[error("the value has laws for {laws} players, the game has {players}: give one law for each player")]
    LawsForOtherPlayers {
        /// Number of laws.
        laws: usize,
        /// Players of the game.
        players: usize,
    },
    /// A weight of a player that is not positive.
    #[error("weights of players are positive and finite, and that of player {player} is {weight}")]
    PlayerWeight {
        /// The player.
        player: usize,
        /// Its weight.
        weight: f64,
    },
    /// A value of players in groups, or of groups, without them.
    #[error("{value} is a value of players in groups: say which players belong together")]
    NoPartition {
        /// The name of the value.
        value: String,
    },
    /// A value of players on a graph, without it.
    #[error("{value} is a value of players on a graph: say who is next to whom")]
    NoGraph {
        /// The name of the value.
        value: String,
    },
    /// Groups for a value of single players.
    #[error(
        "{value} values are of single players: leave the groups out, or ask for owen, banzhaf-owen, two-step or quotient-{value}"
    )]
    NeedlessGroups {
        /// The name of the value.
        value: String,
    },
    /// A graph for a value that does not look at one.
    #[error(
        "{value} values do not depend on who is next to whom: leave the graph out, or ask for l-shapley=K, c-shapley=K or myerson"
    )]
    NeedlessGraph {
        /// The name of the value.
        value: String,
    },
    /// Printed coefficients of weights by size that do not reach far enough.
    #[error(
        "printed coefficients take two players around each connected coalition, and the neighbourhood of player {player} leaves room for \
         less among {players} players, so that weights by size do not tell them; take those of the neighbourhood"
    )]
    PrintedWeights {
        /// The player.
        player: usize,
        /// Players of the game.
        players: usize,
    },
    /// A mixing measure that is none.
    #[error(
        "a mixing measure has points in [0, 1], a weight for each, none negative, summing to one; given were {problem}"
    )]
    Mixture {
        /// What is wrong with it.
        problem: String,
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
    /// Groups too many or too large for enumeration.
    #[error(
        "exact values of players in groups take 2^(groups − 1 + members) coalitions for each group (two-step values 2^groups, and 2^members for \
         each), at most 2^{most}; here are {groups} groups, the largest of {largest}: use an estimator, or a tree oracle"
    )]
    Structure {
        /// Number of groups.
        groups: usize,
        /// Players of the largest.
        largest: usize,
        /// The most of groups − 1 + members.
        most: usize,
    },
    /// A hierarchy too wide for enumeration.
    #[error(
        "exact values over a hierarchy take 2^k coalitions for each group, k being its members and the siblings of the groups around it, at \
         most 2^{most}; here some k is {needed}: use an estimator, or a tree oracle"
    )]
    Levels {
        /// The most k.
        needed: usize,
        /// The most that there may be.
        most: usize,
    },
    /// A value that is not defined over a hierarchy.
    #[error(
        "{value} takes no groups within groups: give groups of features alone, or ask for owen, banzhaf-owen or coalitional=BETWEEN/WITHIN"
    )]
    NoLevels {
        /// The name of the value.
        value: String,
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
    /// A name that is no interaction index.
    #[error(
        "unknown interaction index {given:?}; known are the names of semivalues (shapley, banzhaf, …), k-shapley, shapley-taylor, \
         faithful-shapley, faithful-banzhaf, faithful-weighted-banzhaf=P, k-additive-shapley, chaining, moebius, co-moebius, walsh, \
         generalized-NAME, generalized-chaining, generalized-internal, generalized-external, joint-shapley"
    )]
    UnknownIndex {
        /// The name given.
        given: String,
    },
    /// An order of interactions that cannot be.
    #[error("the order of interactions, the most players of a coalition, is 1 to {most}, not {given}")]
    Order {
        /// The order given.
        given: usize,
        /// The most.
        most: usize,
    },
    /// More coalitions than interactions are told of.
    #[error(
        "interactions of order {order} of {players} players, of {outputs} outputs, are more than {most} numbers: ask for a lower order"
    )]
    TooManyInteractions {
        /// Players of the game.
        players: usize,
        /// The order.
        order: usize,
        /// Outputs of the game.
        outputs: usize,
        /// The most numbers.
        most: usize,
    },
    /// An index that is not finite, of finite values of coalitions.
    #[error(
        "the values of coalitions are too large: the interaction index of {coalition} (output {output}) overflows; scale the game down"
    )]
    InteractionOverflow {
        /// The coalition.
        coalition: Coalition,
        /// Which of the outputs.
        output: usize,
    },
    /// The game failed.
    #[error(transparent)]
    Game(#[from] GameError),
}

/// What is wrong with weights by size.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WeightsProblem {
    /// There is none.
    #[error("none were given")]
    None,
    /// One is negative or not finite.
    #[error("the weight of size {size} is {weight}")]
    Weight {
        /// The size.
        size: usize,
        /// Its weight.
        weight: f64,
    },
    /// They do not sum to one.
    #[error("they sum to {sum}")]
    Sum {
        /// The sum over all coalitions.
        sum: f64,
    },
}

/// What is wrong with the law of a player.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LawProblem {
    /// Not one weight for each coalition, or none.
    #[error(
        "it has {coalitions} coalitions and {weights} weights, where as many of both are wanted, at least one"
    )]
    Lengths {
        /// Number of coalitions.
        coalitions: usize,
        /// Number of weights.
        weights: usize,
    },
    /// Coalitions of another number of players.
    #[error("its coalitions are of {given} players, where laws for {wanted} players were given")]
    OtherPlayers {
        /// Players of its coalitions.
        given: usize,
        /// Number of laws.
        wanted: usize,
    },
    /// A coalition that the player is in already.
    #[error("the player cannot join the coalition {coalition}, of which it is a member")]
    Member {
        /// The coalition.
        coalition: Coalition,
    },
    /// A weight that breaks (A1).
    #[error("(A1) asks for weights of at least 0, and that of the coalition {coalition} is {weight}")]
    Weight {
        /// The coalition.
        coalition: Coalition,
        /// Its weight.
        weight: f64,
    },
    /// Weights that break (A2).
    #[error("(A2) asks for weights that sum to 1, and these sum to {sum}, {:e} off: divide them by that", (sum - 1.0).abs())]
    Sum {
        /// The sum.
        sum: f64,
    },
}
