//! Errors that occur when computing values from their definitions.

use apportion_games::phrases::plural;
use apportion_games::{Coalition, GameError};

/// Error returned when a value cannot be computed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ValueError {
    /// The name is not the name of a solution concept.
    #[error(
        "unknown value {actual:?}; expected one of: shapley, banzhaf, weighted-banzhaf=P, beta=A,B, \
         by-size=W0,W1,…, size-distribution=P0,P1,…, mixture=T:W,T:W,…; for players in groups: owen, \
         banzhaf-owen, symmetric-coalitional-banzhaf, two-step, coalitional=BETWEEN/WITHIN; for groups: \
         quotient-shapley, quotient-banzhaf, quotient-NAME; for players on a graph: l-shapley=K, c-shapley=K \
         (both also as K,present; the second also as K,printed, K,marginal and K,graph), myerson, \
         l-banzhaf=K, c-banzhaf=K, myerson-banzhaf, local=K/NAME, connected=K/NAME, graph-restricted/NAME"
    )]
    UnknownValue {
        /// The unknown name.
        actual: String,
    },
    /// A probability of presence is outside (0, 1).
    #[error(
        "invalid probability of presence {actual} for a weighted Banzhaf value: must be between 0 and 1 \
         (exclusive)"
    )]
    Presence {
        /// The given probability.
        actual: f64,
    },
    /// A parameter of a Beta-Shapley value is outside the range from 1e-100 to 1e100.
    #[error(
        "invalid parameters {alpha:?} and {beta:?} for a Beta-Shapley value: must be positive, from 1e-100 \
         to 1e100"
    )]
    Beta {
        /// The first parameter, α.
        alpha: f64,
        /// The second parameter, β.
        beta: f64,
    },
    /// Weights by size do not define a value.
    #[error(
        "invalid weights by size: {problem}; expected one non-negative weight w_s for each coalition size s \
         from 0 to n − 1, such that the sum of C(n − 1, s) · w_s is 1"
    )]
    Weights {
        /// The reason why the weights are invalid.
        problem: WeightsProblem,
    },
    /// The probabilities of the coalition sizes do not define a value.
    #[error(
        "invalid size distribution: {}; expected one non-negative probability for each coalition size from 0 \
         to n − 1, with a sum of 1",
        problem.of_probabilities()
    )]
    SizeDistribution {
        /// The reason why the probabilities are invalid.
        problem: WeightsProblem,
    },
    /// The number of weights by size does not match the number of players of the game.
    #[error(
        "the value is defined by size for {weights} player{}, but the game has {players}; pass {}",
        plural(*weights),
        match *players {
            0 | 1 => "one number, for coalition size 0".to_owned(),
            players => format!("{players} numbers, one for each coalition size from 0 to {}", players - 1),
        }
    )]
    WeightsForOtherPlayers {
        /// Number of players for which there are weights.
        weights: usize,
        /// Number of players of the game.
        players: usize,
    },
    /// The coalition distribution of a player in a linear value is invalid.
    #[error("invalid coalition distribution of player {player}: {problem}")]
    Distribution {
        /// The player whose distribution is invalid.
        player: usize,
        /// The reason why the distribution is invalid.
        problem: DistributionProblem,
    },
    /// The number of coalition distributions does not match the number of players of the game.
    #[error(
        "the value has coalition distributions for {distributions} player{}, but the game has {players}; \
         pass one distribution per player",
        plural(*distributions)
    )]
    DistributionsForOtherPlayers {
        /// Number of distributions.
        distributions: usize,
        /// Number of players of the game.
        players: usize,
    },
    /// The weight of a player is not positive and finite.
    #[error("invalid weight {weight} of player {player}: must be positive and finite")]
    PlayerWeight {
        /// The player whose weight is invalid.
        player: usize,
        /// The weight of the player.
        weight: f64,
    },
    /// A value for players in groups, or for groups, requires groups.
    #[error("{value} requires groups; pass a partition of the players into groups")]
    NoPartition {
        /// The name of the value.
        value: String,
    },
    /// A value for players on a graph requires a graph.
    #[error("{value} requires a graph; pass a graph with one node per player")]
    NoGraph {
        /// The name of the value.
        value: String,
    },
    /// Groups were given for a value that does not use them.
    #[error(
        "{value} values cannot be combined with groups; remove the groups, or use owen, banzhaf-owen, \
         two-step or quotient-shapley"
    )]
    NeedlessGroups {
        /// The name of the value.
        value: String,
    },
    /// A graph was given for a value that does not use a graph.
    #[error(
        "{value} values cannot be combined with a graph; remove the graph, or use l-shapley=K, c-shapley=K \
         or myerson"
    )]
    NeedlessGraph {
        /// The name of the value.
        value: String,
    },
    /// The coefficients printed by Chen et al. (2019) cannot be computed from these weights by size.
    #[error(
        "weights by size cannot be combined with the coefficients printed in the paper: the neighbourhood \
         of player {player} excludes fewer than 2 of the {players} players; omit \"printed\" to use the \
         default coefficients (Coefficients::Neighbourhood)"
    )]
    PrintedWeights {
        /// The player whose neighbourhood excludes fewer than 2 players.
        player: usize,
        /// Number of players of the game.
        players: usize,
    },
    /// The mixing measure is invalid.
    #[error(
        "invalid mixing measure: {problem}; expected points in [0, 1] with one non-negative weight each, or \
         a non-negative density; the weights must sum to 1, and the density must integrate to 1"
    )]
    Mixture {
        /// The reason why the mixing measure is invalid.
        problem: String,
    },
    /// The game has no players, or too many for enumeration.
    #[error(
        "exact enumeration supports 1 to {max} players (2^n evaluations), got {actual}; {}",
        if *actual == 0 { "use a game with at least one player" } else { "use an estimator or a tree method" }
    )]
    Players {
        /// Number of players of the game.
        actual: usize,
        /// Maximum number of players.
        max: usize,
    },
    /// There are too many groups, or they are too large, for enumeration.
    #[error(
        "there are too many groups or members for exact values (groups: {groups}, members of the largest \
         group: {largest}): each group requires 2^(groups − 1 + members) coalitions (two-step values: \
         2^groups in total, and 2^members for each group), and at most 2^{max} are supported; use an \
         estimator or a tree method"
    )]
    Structure {
        /// Number of groups.
        groups: usize,
        /// Number of players in the largest group.
        largest: usize,
        /// Maximum value of groups − 1 + members.
        max: usize,
    },
    /// The hierarchy requires too many coalitions for enumeration.
    #[error(
        "the hierarchy is too wide for exact values: each group requires 2^k coalitions, where k is the \
         number of the group's members plus, for each enclosing group, the number of that group's members \
         minus one; the largest k is {needed}, but at most {max} is supported; use an estimator or a tree \
         method"
    )]
    Levels {
        /// The largest k over all groups; a group requires 2^k coalitions.
        needed: usize,
        /// Maximum value of k.
        max: usize,
    },
    /// The value is not defined over a hierarchy.
    #[error(
        "{value} does not support nested groups; use groups of features only, or owen, banzhaf-owen or \
         coalitional=BETWEEN/WITHIN"
    )]
    NoLevels {
        /// The name of the value.
        value: String,
    },
    /// A sum of coalition values overflows, although each of them is finite.
    #[error(
        "coalition values are too large: the sum for player {player} (output {output}) overflows; divide the \
         coalition values by a constant"
    )]
    Overflow {
        /// The first player whose value overflows.
        player: usize,
        /// Index of the output.
        output: usize,
    },
    /// The name is not the name of an interaction index.
    #[error(
        "unknown interaction index {actual:?}; expected the name of a semivalue (shapley, banzhaf, …) or one \
         of: k-shapley, shapley-taylor, faithful-shapley, faithful-banzhaf, faithful-weighted-banzhaf=P, \
         k-additive-shapley, chaining, moebius, co-moebius, walsh, generalized-NAME, generalized-chaining, \
         generalized-internal, generalized-external, joint-shapley"
    )]
    UnknownIndex {
        /// The unknown name.
        actual: String,
    },
    /// The order of interactions is out of range.
    #[error(
        "invalid interaction order {actual}; expected {} (players per interaction)",
        if *max == 1 { "1".to_owned() } else { format!("1 to {max}") }
    )]
    Order {
        /// The order that was given.
        actual: usize,
        /// Maximum order.
        max: usize,
    },
    /// There are more interactions than the result can contain.
    #[error(
        "interactions of order {order} for {players} player{} and {outputs} output{} exceed the maximum of \
         {max} values; use a lower order",
        plural(*players),
        plural(*outputs)
    )]
    TooManyInteractions {
        /// Number of players of the game.
        players: usize,
        /// The order of the interactions.
        order: usize,
        /// Number of outputs of the game.
        outputs: usize,
        /// Maximum number of values.
        max: usize,
    },
    /// An interaction index overflows, although all coalition values are finite.
    #[error(
        "coalition values are too large: the interaction index of {coalition} (output {output}) overflows; \
         divide the coalition values by a constant"
    )]
    InteractionOverflow {
        /// The coalition whose interaction index overflows.
        coalition: Coalition,
        /// Index of the output.
        output: usize,
    },
    /// The declared interactions have too many subsets.
    #[error(
        "too many subsets of interactions: more than {max} for {interactions} declared interaction{} of up \
         to {largest} player{}; declare fewer or smaller interactions",
        plural(*interactions),
        plural(*largest)
    )]
    TooManyTerms {
        /// Number of declared interactions.
        interactions: usize,
        /// Number of players of the largest interaction.
        largest: usize,
        /// Maximum number of subsets of all interactions.
        max: usize,
    },
    /// The game is not a sum of functions of single players and of the declared interactions.
    #[error(
        "the game is not a sum of the declared terms: for all players they add up to {sum} (output \
         {output}), but the value of the game is {value}, a difference of {:.2e}; declare the missing \
         interactions, or do not declare the game as additive",
        value - sum
    )]
    NotAdditive {
        /// Index of the output.
        output: usize,
        /// The sum of all terms.
        sum: f64,
        /// The value of the coalition of all players.
        value: f64,
    },
    /// The game returned an error.
    #[error(transparent)]
    Game(#[from] GameError),
}

/// The reason why weights by size are invalid.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WeightsProblem {
    /// There are no weights.
    #[error("there are no weights")]
    None,
    /// A weight is negative or not finite.
    #[error("the weight of size {size} is {weight}")]
    Weight {
        /// The coalition size to which the weight applies.
        size: usize,
        /// The invalid weight.
        weight: f64,
    },
    /// The weights of all coalitions do not sum to one.
    #[error("the weights of all coalitions sum to {sum}")]
    Sum {
        /// The sum of the weights over all coalitions.
        sum: f64,
    },
}

impl WeightsProblem {
    /// Formats the problem if the weights are the probabilities of coalition sizes.
    fn of_probabilities(&self) -> String {
        match self {
            Self::None => "there are no probabilities".to_owned(),
            Self::Weight { size, weight } => format!("the probability of size {size} is {weight}"),
            Self::Sum { sum } => format!("the probabilities sum to {sum}"),
        }
    }
}

/// The reason why the coalition distribution of a player is invalid.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DistributionProblem {
    /// There are no coalitions, or the number of coalitions differs from the number of weights.
    #[error(
        "got {coalitions} coalition{} and {weights} weight{}, expected at least one coalition, and one \
         weight per coalition",
        plural(*coalitions),
        plural(*weights)
    )]
    Lengths {
        /// Number of coalitions.
        coalitions: usize,
        /// Number of weights.
        weights: usize,
    },
    /// The number of players of the coalitions differs from the number of distributions.
    #[error(
        "the coalitions have {actual} player{}, but {expected} distribution{} passed; pass coalitions of all \
         players, and one distribution per player",
        plural(*actual),
        if *expected == 1 { " was" } else { "s were" }
    )]
    OtherPlayers {
        /// Number of players of the coalitions.
        actual: usize,
        /// Number of distributions.
        expected: usize,
    },
    /// A coalition that the player should join already contains the player.
    #[error("the player is a member of coalition {coalition}; remove the player from the coalition")]
    Member {
        /// The coalition that contains the player.
        coalition: Coalition,
    },
    /// A weight violates (A1) of a [`LinearValue`](crate::LinearValue): it is negative or not finite.
    #[error("the weight of coalition {coalition} is {weight}; (A1) requires finite weights of at least 0")]
    Weight {
        /// The coalition with the invalid weight.
        coalition: Coalition,
        /// The weight of the coalition.
        weight: f64,
    },
    /// The weights violate (A2) of a [`LinearValue`](crate::LinearValue): they do not sum to 1.
    #[error(
        "the weights sum to {sum}, off by {:e}; scale the weights to a sum of 1, as (A2) requires",
        (sum - 1.0).abs()
    )]
    Sum {
        /// The sum of the weights.
        sum: f64,
    },
}
