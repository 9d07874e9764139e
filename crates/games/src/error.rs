//! Errors that occur when creating and evaluating games.

use crate::coalition::{Coalition, CoalitionView};
use crate::phrases::{expected_index, plural};

/// The underlying error of a model.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Error returned when a game cannot be built or evaluated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GameError {
    /// The model that the game evaluates returned an error.
    #[error("the model failed on the rows of coalition {coalition}: {source}")]
    Model {
        /// The first coalition in the chunk of rows that was passed to the model.
        coalition: Coalition,
        /// The error that the model returned.
        source: BoxError,
    },
    /// The number of values that the model returned is not rows × outputs.
    #[error(
        "the model returned {actual} value{} for {rows} row{} and {outputs} output{}; expected {}, one per \
         row and output",
        plural(*actual),
        plural(*rows),
        plural(*outputs),
        rows * outputs
    )]
    ModelCount {
        /// Number of values returned.
        actual: usize,
        /// Number of rows evaluated.
        rows: usize,
        /// Number of outputs per row that the model declares.
        outputs: usize,
    },
    /// A coalition value is NaN or infinite.
    #[error(
        "the value of coalition {coalition} (output {output}) is {value}, but coalition values must be \
         finite; check the predictions of the model (or the values of the game)"
    )]
    NotFinite {
        /// The coalition that was evaluated.
        coalition: Coalition,
        /// Index of the output.
        output: usize,
        /// The coalition value.
        value: f64,
    },
    /// The computation needs more memory than is available.
    #[error(transparent)]
    Memory(#[from] crate::memory::TooMuchMemory),
    /// The length of a row differs from the number of features.
    #[error("{what} has {actual} value{}, expected {expected} (one per feature)", plural(*actual))]
    Width {
        /// The row as named in the message, such as "explicand" or "background row 3".
        what: String,
        /// The actual length of the row.
        actual: usize,
        /// The expected length.
        expected: usize,
    },
    /// A row contains an infinite value, which the model or the game does not support. Models that only
    /// compare values accept infinite values, as does the marginal game. NaN marks a missing value and is
    /// allowed.
    #[error("{what} has the value {value:?} in column {column}, but {reason}")]
    InfiniteInput {
        /// The row as named in the message, such as "explicand" or "background row 3".
        what: String,
        /// The column that contains the value.
        column: usize,
        /// The value, before rounding to the precision of the model.
        value: f64,
        /// The reason why the value must be finite, and what to do.
        reason: &'static str,
    },
    /// A row of data or an explicand has a missing value, which the distribution of the conditional game does
    /// not support.
    #[error(
        "{what} has a missing value in column {column}, which this conditional distribution does not \
         support; impute the value, remove the row, or use the frequency distribution, which treats missing \
         values as a category"
    )]
    MissingValue {
        /// The row as named in the message, such as "explicand" or "row 3".
        what: String,
        /// The column of the missing value.
        column: usize,
    },
    /// A row has a missing value, which the model does not support.
    #[error(
        "{what} has a missing value in column {column}, which the model does not support; impute the value \
         or remove the row"
    )]
    MissingInput {
        /// The row as named in the message, such as "explicand" or "row 3".
        what: String,
        /// The column of the missing value.
        column: usize,
    },
    /// There are too few rows of data to fit a distribution.
    #[error("{distribution} requires at least {min} row{} of data, got {actual}; {hint}", plural(*min))]
    TooFewRows {
        /// The name of the distribution.
        distribution: &'static str,
        /// Number of rows given.
        actual: usize,
        /// Minimum number of rows.
        min: usize,
        /// Advice for the user, at the end of the message.
        hint: &'static str,
    },
    /// The matrix is not a valid covariance matrix.
    #[error("invalid covariance matrix: {problem}")]
    Covariance {
        /// The reason why the matrix is invalid, and what to do.
        problem: String,
    },
    /// No row of the data matches the explicand on a coalition.
    #[error(
        "no row of the data matches the explicand on coalition {coalition}, so the frequencies are \
         undefined; use more rows, coarser categories, or a fallback: --fallback marginal or nearest \
         (Python: fallback=…, Rust: with_fallback)"
    )]
    NoAgreement {
        /// The coalition that was evaluated.
        coalition: Coalition,
    },
    /// An edge refers to a node that the graph does not have.
    #[error("unknown node in edge {}–{}; {}", edge.0, edge.1, expected_index(*nodes, "node"))]
    NoSuchNode {
        /// The edge, as a pair of nodes.
        edge: (usize, usize),
        /// Number of nodes of the graph.
        nodes: usize,
    },
    /// An edge joins a node to itself.
    #[error("invalid edge {node}–{node}: it joins a node to itself; remove it")]
    SelfLoop {
        /// The node that is joined to itself.
        node: usize,
    },
    /// An edge is given more than once.
    #[error("duplicate edge {}–{}; specify each edge once, in one direction", edge.0, edge.1)]
    DuplicateEdge {
        /// The edge, as a pair of nodes in ascending order.
        edge: (usize, usize),
    },
    /// The graph has a different number of nodes than the game has players.
    #[error(
        "the graph has {nodes} node{}, but the game has {players} player{}; expected one node per player",
        plural(*nodes),
        plural(*players)
    )]
    GraphOfOthers {
        /// Number of nodes of the graph.
        nodes: usize,
        /// Number of players of the game.
        players: usize,
    },
    /// The background has no rows.
    #[error("the background has no rows; expected at least one")]
    EmptyBackground,
    /// The weights of background rows, or of data rows, cannot be normalized.
    #[error(
        "invalid row weights: {problem}; expected one finite, non-negative weight per row (rows: {rows}), at \
         least one of them positive"
    )]
    BackgroundWeights {
        /// Number of rows.
        rows: usize,
        /// The reason why the weights are invalid.
        problem: String,
    },
    /// The length of a table of coalition values is not a power of two times the number of outputs.
    #[error(
        "invalid table length {actual}; expected 2^n × {outputs} (coalitions × outputs) for n players, with \
         n at most {max}"
    )]
    TableLength {
        /// The length of the table.
        actual: usize,
        /// Number of outputs per coalition.
        outputs: usize,
        /// Maximum number of players of a table.
        max: usize,
    },
    /// The game has fewer or more players than the operation supports.
    #[error("{what} supports {min} to {max} players, got {actual}")]
    Players {
        /// The operation, or the kind of game, that limits the number of players.
        what: &'static str,
        /// Number of players of the game.
        actual: usize,
        /// Minimum number of players.
        min: usize,
        /// Maximum number of players.
        max: usize,
    },
    /// The groups are not a partition of the players.
    #[error("invalid groups: {problem}")]
    Partition {
        /// The reason why the groups are invalid.
        problem: PartitionProblem,
    },
    /// The partition and the game have different numbers of players.
    #[error(
        "the partition has {actual} player{}, but the game has {expected}; pass a partition of the game's \
         players",
        plural(*actual)
    )]
    PartitionOfOthers {
        /// Number of players of the partition.
        actual: usize,
        /// Number of players of the game.
        expected: usize,
    },
    /// The nested groups are not a hierarchy of the players.
    #[error("invalid nested groups: {problem}")]
    Hierarchy {
        /// The reason why the nested groups are invalid.
        problem: HierarchyProblem,
    },
    /// The hierarchy and the game have different numbers of players.
    #[error(
        "the hierarchy has {actual} player{}, but the game has {expected}; pass a hierarchy of the game's \
         players",
        plural(*actual)
    )]
    HierarchyOfOthers {
        /// Number of players of the hierarchy.
        actual: usize,
        /// Number of players of the game.
        expected: usize,
    },
    /// An observer of the evaluations requested a stop.
    #[error(
        "{}",
        match *evaluations {
            0 => "interrupted before the first evaluation; start the run again".to_owned(),
            1 => "interrupted after 1 evaluation; resume the run to reuse its value".to_owned(),
            _ => format!("interrupted after {evaluations} evaluations; resume the run to reuse their values"),
        }
    )]
    Interrupted {
        /// Number of evaluations made so far.
        evaluations: usize,
    },
    /// A parameter of a game, a model, a background or a distribution is out of range.
    #[error("{what}")]
    Parameter {
        /// The invalid parameter and the values that are expected.
        what: String,
    },
}

impl GameError {
    /// Converts the error of a model on a chunk of rows whose first coalition is `first`.
    ///
    /// A boxed [`GameError`], such as the wrong count that [`batch_model`](crate::batch_model) detects, is
    /// returned unchanged.
    pub(crate) fn from_model(source: BoxError, first: CoalitionView<'_>) -> Self {
        match source.downcast::<Self>() {
            Ok(error) => *error,
            Err(source) => Self::Model { coalition: first.to_coalition(), source },
        }
    }
}

impl From<PartitionProblem> for GameError {
    fn from(problem: PartitionProblem) -> Self {
        Self::Partition { problem }
    }
}

impl From<HierarchyProblem> for GameError {
    fn from(problem: HierarchyProblem) -> Self {
        Self::Hierarchy { problem }
    }
}

/// The reason why nested groups are not a hierarchy of the players.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HierarchyProblem {
    /// A group has no members.
    #[error(
        "{group} is empty; {}",
        if group == "the root group" { "add members" } else { "remove it or add members" }
    )]
    Empty {
        /// The group as shown in the message: its path of indices from the root ("group 1.1"), its node
        /// number ("node 3"), or "the root group".
        group: String,
    },
    /// A player does not exist in the game.
    #[error("unknown player {player}; {}", expected_index(*players, "player"))]
    UnknownPlayer {
        /// The player that does not exist.
        player: usize,
        /// Number of players of the game.
        players: usize,
    },
    /// No player has the given name.
    #[error("unknown player {name:?}; use one of the names passed to from_names")]
    UnknownName {
        /// The name that no player has.
        name: String,
    },
    /// A player occurs twice.
    #[error("player {player} is listed twice; list each player once")]
    Twice {
        /// The player that occurs twice.
        player: usize,
    },
    /// Some players are in no group.
    #[error(
        "missing players: {} of {players}, the first is {}; list every player, at the top level if the \
         player belongs to no group",
        missing.len(),
        missing.first().copied().unwrap_or_default()
    )]
    Missing {
        /// The missing players, in ascending order.
        missing: Vec<usize>,
        /// Number of players of the game.
        players: usize,
    },
    /// The parent of a node is not a group.
    #[error(
        "invalid parent {parent} of node {node}; {}",
        match nodes.saturating_sub(*players) {
            0 => "there are no groups, so add the parents of the groups to the list".to_owned(),
            1 => format!("expected {players}, the only group"),
            _ => format!("expected a group, {players} to {}", nodes - 1),
        }
    )]
    UnknownGroup {
        /// The node whose parent is not a group.
        node: usize,
        /// The parent that was given for the node.
        parent: usize,
        /// Number of players of the game; nodes below this number are players.
        players: usize,
        /// Number of players and groups.
        nodes: usize,
    },
    /// A group contains itself.
    #[error("node {node} contains itself; the groups must form a tree with a single root")]
    Cycle {
        /// A group in the cycle.
        node: usize,
    },
    /// Two groups have no parent.
    #[error("nodes {first} and {second} both have no parent; put them into one group")]
    Tops {
        /// The first node without a parent.
        first: usize,
        /// The second node without a parent.
        second: usize,
    },
}

/// The reason why groups are not a partition of the players.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PartitionProblem {
    /// A group has no players.
    #[error("group {group} is empty; remove it or add players")]
    Empty {
        /// Index of the group, from 0.
        group: usize,
    },
    /// A player does not exist in the game.
    #[error(
        "group {group} contains the unknown player {player}; {}",
        expected_index(*players, "player")
    )]
    UnknownPlayer {
        /// Index of the group.
        group: usize,
        /// The player that does not exist.
        player: usize,
        /// Number of players of the game.
        players: usize,
    },
    /// No player has the given name.
    #[error("group {group} contains the unknown player {name:?}; use one of the names passed to from_names")]
    UnknownName {
        /// Index of the group.
        group: usize,
        /// The name that no player has.
        name: String,
    },
    /// A player occurs twice.
    #[error(
        "player {player} is {}; list each player in exactly one group",
        if first == second {
            format!("listed twice in group {first}")
        } else {
            format!("in two groups: {first} and {second}")
        }
    )]
    Twice {
        /// The player that occurs twice.
        player: usize,
        /// The first group that contains it.
        first: usize,
        /// The second group that contains it; equal to the first if the player occurs twice in one group.
        second: usize,
    },
    /// Some players are in no group.
    #[error(
        "missing players: {} of {players}, the first is {}; list each player in exactly one group",
        missing.len(),
        missing.first().copied().unwrap_or_default()
    )]
    Missing {
        /// The missing players, in ascending order.
        missing: Vec<usize>,
        /// Number of players of the game.
        players: usize,
    },
}
