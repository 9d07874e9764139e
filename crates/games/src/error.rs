//! Errors of building and evaluating games.

use crate::coalition::{Coalition, CoalitionView};

/// The underlying error of a model.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Error returned when a game cannot be built or evaluated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GameError {
    /// The model of the game returned an error.
    #[error("the model failed on the rows of coalition {coalition}: {source}")]
    Model {
        /// The first coalition of the failed chunk of rows.
        coalition: Coalition,
        /// The error of the model.
        source: BoxError,
    },
    /// The number of values that the model wrote is not rows × outputs.
    #[error("the model returned {given} numbers for {rows} rows of {outputs} outputs; it must return {}", rows * outputs)]
    ModelCount {
        /// Number of values returned.
        given: usize,
        /// Number of rows evaluated.
        rows: usize,
        /// Number of outputs per row that the model declares.
        outputs: usize,
    },
    /// A value of the game is not finite.
    #[error(
        "the value of coalition {coalition} (output {output}) is {value}; a game needs finite values, so check the model at that row"
    )]
    NotFinite {
        /// The evaluated coalition.
        coalition: Coalition,
        /// Index of the output.
        output: usize,
        /// The value.
        value: f64,
    },
    /// The computation needs more memory than is available.
    #[error(transparent)]
    Memory(#[from] crate::memory::TooMuchMemory),
    /// The length of a row differs from the number of features.
    #[error("{what} has {given} values, but {wanted} are wanted, one per feature")]
    Width {
        /// The row: "explicand", "background row 3".
        what: String,
        /// Its length.
        given: usize,
        /// The expected length.
        wanted: usize,
    },
    /// A row contains an infinite value, and the model or the game computes with it. Models that only compare
    /// values accept infinite ones, as does the marginal game. NaN marks a missing value and is allowed.
    #[error("{what} has the value {value:?} in column {column}, and {reason}")]
    InfiniteInput {
        /// The row.
        what: String,
        /// Its column.
        column: usize,
        /// The value, before rounding to the precision of the model.
        value: f64,
        /// The computation that needs a finite number, and what to do.
        reason: &'static str,
    },
    /// A row of data or an explicand has a missing value, which the distribution of the conditional game does
    /// not support.
    #[error(
        "{what} has no value in column {column}; the law of a conditional game needs all of them: fill it in or leave the row out, or use frequencies, for which a missing value is one category more"
    )]
    MissingValue {
        /// The row.
        what: String,
        /// Its column.
        column: usize,
    },
    /// A row has a missing value, which the model does not support.
    #[error(
        "{what} has no value in column {column}, and the model says nothing of rows without it: fill it in or leave the row out"
    )]
    MissingInput {
        /// The row.
        what: String,
        /// Its column.
        column: usize,
    },
    /// There are too few rows of data to fit a distribution.
    #[error("{law} takes at least {least} rows of data, {given} were given; {hint}")]
    TooFewRows {
        /// The distribution.
        law: &'static str,
        /// Number of rows given.
        given: usize,
        /// Minimum number of rows.
        least: usize,
        /// Advice for the user.
        hint: &'static str,
    },
    /// The matrix is not a valid covariance matrix.
    #[error("a covariance is a finite, symmetric, positive semidefinite matrix; {problem}")]
    Covariance {
        /// The reason.
        problem: String,
    },
    /// No row of the data matches the explicand on a coalition.
    #[error(
        "no row of the data agrees with the explicand on coalition {coalition}, so that frequencies say nothing there; give more rows or coarser categories, or a fallback: the marginal law, or the nearest rows"
    )]
    NoAgreement {
        /// The evaluated coalition.
        coalition: Coalition,
    },
    /// An edge refers to a node that the graph does not have.
    #[error("the edge {}–{} names a node that is not there: the graph has {nodes} nodes, counted from 0", edge.0, edge.1)]
    NoSuchNode {
        /// The edge.
        edge: (usize, usize),
        /// Number of nodes of the graph.
        nodes: usize,
    },
    /// An edge joins a node to itself.
    #[error(
        "the edge {node}–{node} leads from a node to itself; leave it out: a player always works with itself"
    )]
    SelfLoop {
        /// The node.
        node: usize,
    },
    /// An edge is given more than once.
    #[error("the edge {}–{} is given more than once; give each edge once, in one direction", edge.0, edge.1)]
    DuplicateEdge {
        /// The edge, with its lower node first.
        edge: (usize, usize),
    },
    /// The number of nodes of a graph differs from the number of players of the game.
    #[error("the graph has {nodes} nodes, but the game has {players} players; give one node for each player")]
    GraphOfOthers {
        /// Number of nodes of the graph.
        nodes: usize,
        /// Number of players of the game.
        players: usize,
    },
    /// The background has no rows.
    #[error("the background has no rows; give at least one")]
    EmptyBackground,
    /// The weights of the rows of a background or of data cannot be normalized.
    #[error("weights of rows must be {rows} finite numbers, none negative and not all zero; {problem}")]
    BackgroundWeights {
        /// Number of rows.
        rows: usize,
        /// The reason.
        problem: String,
    },
    /// The length of a table of values is not a power of two times the number of outputs.
    #[error(
        "a table of {given} values cannot hold 2^n coalitions of {outputs} outputs for any n up to {most}"
    )]
    TableLength {
        /// Length of the table.
        given: usize,
        /// Number of outputs per coalition.
        outputs: usize,
        /// Maximum number of players of a table.
        most: usize,
    },
    /// The game has no players, or more than the operation supports.
    #[error("{what} takes {least} to {most} players; this game has {given}")]
    Players {
        /// The operation.
        what: &'static str,
        /// Number of players of the game.
        given: usize,
        /// Minimum number of players.
        least: usize,
        /// Maximum number of players.
        most: usize,
    },
    /// The groups are not a partition of the players.
    #[error("the groups must hold every player once: {problem}")]
    Partition {
        /// The reason.
        problem: PartitionProblem,
    },
    /// The number of players of a partition differs from that of the game.
    #[error("the partition is of {given} players, the game has {wanted}")]
    PartitionOfOthers {
        /// Number of players of the partition.
        given: usize,
        /// Number of players of the game.
        wanted: usize,
    },
    /// The nested groups are not a hierarchy of the players.
    #[error("the groups must hold every player once, and each other as branches of one tree: {problem}")]
    Hierarchy {
        /// The reason.
        problem: HierarchyProblem,
    },
    /// The number of players of a hierarchy differs from that of the game.
    #[error("the hierarchy is of {given} players, the game has {wanted}")]
    HierarchyOfOthers {
        /// Number of players of the hierarchy.
        given: usize,
        /// Number of players of the game.
        wanted: usize,
    },
    /// An observer of the evaluations requested a stop.
    #[error(
        "interrupted after {evaluations} evaluations; what was evaluated is kept, so that a run can go on from there"
    )]
    Interrupted {
        /// Number of evaluations made so far.
        evaluations: usize,
    },
    /// A parameter of a textbook game, an adapter or a sub-game is out of range.
    #[error("{what}")]
    Parameter {
        /// The invalid parameter and the expected values.
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

/// Error of nested groups that are not a hierarchy of the players.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HierarchyProblem {
    /// A group has no members.
    #[error("{group} is empty; leave it out, or say who is in it")]
    Empty {
        /// The group: its index in the enclosing group, after the indices of the enclosing groups, or its
        /// number.
        group: String,
    },
    /// A player does not exist in the game.
    #[error("there is no player {player}; the players are 0 to {}", *players as i64 - 1)]
    UnknownPlayer {
        /// The player.
        player: usize,
        /// Number of players of the game.
        players: usize,
    },
    /// No player has the given name.
    #[error("{name:?} is a name that no player has")]
    UnknownName {
        /// The name.
        name: String,
    },
    /// A player occurs twice.
    #[error("player {player} stands twice; name each once")]
    Twice {
        /// The player.
        player: usize,
    },
    /// Some players are in no group.
    #[error(
        "{} of {players} players are nowhere, the first being {}; name every one, alone at the top if it belongs to none",
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
    #[error("node {node} is in node {parent}, which is no group; groups are the nodes {players} to {}", *nodes as i64 - 1)]
    UnknownGroup {
        /// The node.
        node: usize,
        /// The given parent.
        parent: usize,
        /// Number of players of the game; the nodes below it are players.
        players: usize,
        /// Number of players and groups.
        nodes: usize,
    },
    /// A group contains itself.
    #[error("node {node} is in itself, through the groups that it is in; one group is in no other")]
    Cycle {
        /// A group of the cycle.
        node: usize,
    },
    /// Two groups have no parent.
    #[error("nodes {first} and {second} are both in no group; put them into one")]
    Tops {
        /// The first of them.
        first: usize,
        /// The second.
        second: usize,
    },
}

/// Error of groups that are not a partition of the players.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PartitionProblem {
    /// A group has no players.
    #[error("group {group} is empty")]
    Empty {
        /// Index of the group, from 0.
        group: usize,
    },
    /// A player does not exist in the game.
    #[error("group {group} has the player {player}, but the players are 0 to {}", *players as i64 - 1)]
    UnknownPlayer {
        /// Index of the group.
        group: usize,
        /// The player.
        player: usize,
        /// Number of players of the game.
        players: usize,
    },
    /// No player has the given name.
    #[error("group {group} has the player {name:?}, a name that no player has")]
    UnknownName {
        /// Index of the group.
        group: usize,
        /// The name.
        name: String,
    },
    /// A player occurs twice.
    #[error(
        "player {player} is {}",
        if first == second { format!("twice in group {first}") } else { format!("in group {first} and again in group {second}") }
    )]
    Twice {
        /// The player.
        player: usize,
        /// The first group that contains it.
        first: usize,
        /// The second group that contains it; the same as the first if the player occurs twice in one group.
        second: usize,
    },
    /// Some players are in no group.
    #[error("{} of {players} players are in no group, the first being {}", missing.len(), missing.first().copied().unwrap_or_default())]
    Missing {
        /// The missing players, in ascending order.
        missing: Vec<usize>,
        /// Number of players of the game.
        players: usize,
    },
}
