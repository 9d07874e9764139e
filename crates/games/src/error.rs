//! What can go wrong when a game is built or asked.

use crate::coalition::{Coalition, CoalitionView};

/// The cause that a model gives for its failure.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Why a game could not be built, or could not say what a coalition is worth.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GameError {
    /// The model behind the game returned an error.
    #[error("the model failed on the rows of coalition {coalition}: {source}")]
    Model {
        /// The first coalition of the failed chunk of rows.
        coalition: Coalition,
        /// What the model said.
        source: BoxError,
    },
    /// The model wrote another count of numbers than rows × outputs.
    #[error("the model returned {given} numbers for {rows} rows of {outputs} outputs; it must return {}", rows * outputs)]
    ModelCount {
        /// Numbers returned.
        given: usize,
        /// Rows asked for.
        rows: usize,
        /// Outputs per row that the model declares.
        outputs: usize,
    },
    /// A value of the game is not finite.
    #[error(
        "the value of coalition {coalition} (output {output}) is {value}; a game needs finite values, so check the model at that row"
    )]
    NotFinite {
        /// The coalition asked for.
        coalition: Coalition,
        /// Which of the outputs.
        output: usize,
        /// What came back.
        value: f64,
    },
    /// More memory than there is.
    #[error(transparent)]
    Memory(#[from] crate::memory::TooMuchMemory),
    /// A row has another length than the model or the game has features.
    #[error("{what} has {given} values, but {wanted} are wanted, one per feature")]
    Width {
        /// Which row: "explicand", "background row 3".
        what: String,
        /// Its length.
        given: usize,
        /// The length wanted.
        wanted: usize,
    },
    /// A row holds an infinite value, and the model or the game computes with it. Models that only compare values take infinite ones, and
    /// so does the marginal game. NaN stands for a missing value and is legal.
    #[error("{what} has the value {value:?} in column {column}, and {reason}")]
    InfiniteInput {
        /// Which row.
        what: String,
        /// Its column.
        column: usize,
        /// The value, before it is rounded to the width of the model.
        value: f64,
        /// Which computation needs a finite number, and what to do.
        reason: &'static str,
    },
    /// A row of data or an explicand with a missing value, where the law of a conditional game has no place for one.
    #[error(
        "{what} has no value in column {column}; the law of a conditional game needs all of them: fill it in or leave the row out, or use frequencies, for which a missing value is one category more"
    )]
    MissingValue {
        /// Which row.
        what: String,
        /// Its column.
        column: usize,
    },
    /// A missing value in a row for a model that takes none.
    #[error(
        "{what} has no value in column {column}, and the model says nothing of rows without it: fill it in or leave the row out"
    )]
    MissingInput {
        /// Which row.
        what: String,
        /// Its column.
        column: usize,
    },
    /// Too few rows of data to fit a law.
    #[error("{law} takes at least {least} rows of data, {given} were given; {hint}")]
    TooFewRows {
        /// What was to be fitted.
        law: &'static str,
        /// Rows given.
        given: usize,
        /// The fewest.
        least: usize,
        /// What to do.
        hint: &'static str,
    },
    /// A matrix that is no covariance.
    #[error("a covariance is a finite, symmetric, positive semidefinite matrix; {problem}")]
    Covariance {
        /// What is wrong with it.
        problem: String,
    },
    /// No row of the data agrees with the explicand on a coalition.
    #[error(
        "no row of the data agrees with the explicand on coalition {coalition}, so that frequencies say nothing there; give more rows or coarser categories, or a fallback: the marginal law, or the nearest rows"
    )]
    NoAgreement {
        /// The coalition asked for.
        coalition: Coalition,
    },
    /// An edge to a node that a graph does not have.
    #[error("the edge {}–{} names a node that is not there: the graph has {nodes} nodes, counted from 0", edge.0, edge.1)]
    NoSuchNode {
        /// The edge given.
        edge: (usize, usize),
        /// Nodes of the graph.
        nodes: usize,
    },
    /// An edge from a node to itself.
    #[error(
        "the edge {node}–{node} leads from a node to itself; leave it out: a player always works with itself"
    )]
    SelfLoop {
        /// The node.
        node: usize,
    },
    /// An edge that is given more than once.
    #[error("the edge {}–{} is given more than once; give each edge once, in one direction", edge.0, edge.1)]
    DuplicateEdge {
        /// The edge, its lower node first.
        edge: (usize, usize),
    },
    /// A graph on other players than the game's.
    #[error("the graph has {nodes} nodes, but the game has {players} players; give one node for each player")]
    GraphOfOthers {
        /// Nodes of the graph.
        nodes: usize,
        /// Players of the game.
        players: usize,
    },
    /// A background set without rows.
    #[error("the background has no rows; give at least one")]
    EmptyBackground,
    /// Weights of the rows of a background, or of data, that cannot be normalized.
    #[error("weights of rows must be {rows} finite numbers, none negative and not all zero; {problem}")]
    BackgroundWeights {
        /// Rows that there are.
        rows: usize,
        /// What is wrong with them.
        problem: String,
    },
    /// A table of values whose length is not a power of two times the outputs.
    #[error(
        "a table of {given} values cannot hold 2^n coalitions of {outputs} outputs for any n up to {most}"
    )]
    TableLength {
        /// Numbers given.
        given: usize,
        /// Outputs per coalition.
        outputs: usize,
        /// The most players a table may have.
        most: usize,
    },
    /// A game without players, or with more than the operation can take.
    #[error("{what} takes {least} to {most} players; this game has {given}")]
    Players {
        /// The operation.
        what: &'static str,
        /// Players of the game.
        given: usize,
        /// The fewest.
        least: usize,
        /// The most.
        most: usize,
    },
    /// Groups that are no partition of the players.
    #[error("the groups must hold every player once: {problem}")]
    Partition {
        /// What is wrong with them.
        problem: PartitionProblem,
    },
    /// A partition of another number of players than the game has.
    #[error("the partition is of {given} players, the game has {wanted}")]
    PartitionOfOthers {
        /// Players of the partition.
        given: usize,
        /// Players of the game.
        wanted: usize,
    },
    /// Groups within groups that are no hierarchy of the players.
    #[error("the groups must hold every player once, and each other as branches of one tree: {problem}")]
    Hierarchy {
        /// What is wrong with them.
        problem: HierarchyProblem,
    },
    /// A hierarchy of another number of players than the game has.
    #[error("the hierarchy is of {given} players, the game has {wanted}")]
    HierarchyOfOthers {
        /// Players of the hierarchy.
        given: usize,
        /// Players of the game.
        wanted: usize,
    },
    /// Whoever watched the evaluations asked to stop.
    #[error(
        "interrupted after {evaluations} evaluations; what was evaluated is kept, so that a run can go on from there"
    )]
    Interrupted {
        /// Evaluations made so far.
        evaluations: usize,
    },
    /// A parameter of a textbook game, an adapter or a sub-game outside its range.
    #[error("{what}")]
    Parameter {
        /// What was given and what is wanted.
        what: String,
    },
}

impl GameError {
    /// What a model's failure on a chunk of rows, whose first coalition is `first`, means for the game.
    ///
    /// A [`GameError`] in the box, such as the wrong count that [`batch_model`](crate::batch_model) finds, is the error itself.
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

/// Why groups within groups are no hierarchy of the players.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HierarchyProblem {
    /// A group without members.
    #[error("{group} is empty; leave it out, or say who is in it")]
    Empty {
        /// Which group: its place in the group that it is in, after the places of those around it, or its number.
        group: String,
    },
    /// A player that the game does not have.
    #[error("there is no player {player}; the players are 0 to {}", *players as i64 - 1)]
    UnknownPlayer {
        /// The player.
        player: usize,
        /// Players of the game.
        players: usize,
    },
    /// A name that no player has.
    #[error("{name:?} is a name that no player has")]
    UnknownName {
        /// The name.
        name: String,
    },
    /// A player that stands twice.
    #[error("player {player} stands twice; name each once")]
    Twice {
        /// The player.
        player: usize,
    },
    /// Players in no group.
    #[error(
        "{} of {players} players are nowhere, the first being {}; name every one, alone at the top if it belongs to none",
        missing.len(),
        missing.first().copied().unwrap_or_default()
    )]
    Missing {
        /// Those players, in ascending order.
        missing: Vec<usize>,
        /// Players of the game.
        players: usize,
    },
    /// A node that is said to be in what is no group.
    #[error("node {node} is in node {parent}, which is no group; groups are the nodes {players} to {}", *nodes as i64 - 1)]
    UnknownGroup {
        /// The node.
        node: usize,
        /// What it is said to be in.
        parent: usize,
        /// Players of the game, which are the nodes before the groups.
        players: usize,
        /// Players and groups.
        nodes: usize,
    },
    /// A group that is in itself.
    #[error("node {node} is in itself, through the groups that it is in; one group is in no other")]
    Cycle {
        /// A group of the circle.
        node: usize,
    },
    /// Two groups that are in no other.
    #[error("nodes {first} and {second} are both in no group; put them into one")]
    Tops {
        /// The one.
        first: usize,
        /// The other.
        second: usize,
    },
}

/// Why groups are no partition of the players.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PartitionProblem {
    /// A group without players.
    #[error("group {group} is empty")]
    Empty {
        /// Which group, from 0.
        group: usize,
    },
    /// A player that the game does not have.
    #[error("group {group} has the player {player}, but the players are 0 to {}", *players as i64 - 1)]
    UnknownPlayer {
        /// The group.
        group: usize,
        /// The player.
        player: usize,
        /// Players of the game.
        players: usize,
    },
    /// A name that no player has.
    #[error("group {group} has the player {name:?}, a name that no player has")]
    UnknownName {
        /// The group.
        group: usize,
        /// The name.
        name: String,
    },
    /// A player that stands twice.
    #[error(
        "player {player} is {}",
        if first == second { format!("twice in group {first}") } else { format!("in group {first} and again in group {second}") }
    )]
    Twice {
        /// The player.
        player: usize,
        /// The group in which it stands first.
        first: usize,
        /// The group in which it stands again; the same where it is named twice in one.
        second: usize,
    },
    /// Players in no group.
    #[error("{} of {players} players are in no group, the first being {}", missing.len(), missing.first().copied().unwrap_or_default())]
    Missing {
        /// Those players, in ascending order.
        missing: Vec<usize>,
        /// Players of the game.
        players: usize,
    },
}
