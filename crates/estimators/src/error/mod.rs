//! Errors of estimators.

mod gradient;
mod graph;
mod run;

use apportion_games::GameError;
use apportion_games::phrases::{expected_index, plural};
use apportion_samplers::SamplerError;
use apportion_solvers::SolverError;
use apportion_values::{InteractionIndex, SolutionConcept, ValueError};

pub use self::gradient::GradientError;
pub use self::graph::GraphError;
pub use self::run::RunError;

/// The result type of estimators.
pub(crate) type Result<T, E = EstimatorError> = std::result::Result<T, E>;

/// Error returned when an estimator fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EstimatorError {
    /// The estimate requires more memory than is available.
    #[error(transparent)]
    Memory(#[from] apportion_games::TooMuchMemory),
    /// The game has no players.
    #[error("the game has no players; expected at least one")]
    NoPlayers,
    /// A value is not finite.
    #[error(
        "{method} computed the value {value} for player {player} (output {output}): differences of coalition \
         values overflow; divide the model output by a constant, such as 1e10"
    )]
    NotFinite {
        /// The name of the method.
        method: String,
        /// The first player with such a value.
        player: usize,
        /// The index of the output.
        output: usize,
        /// The value that is not finite.
        value: f64,
    },
    /// The budget is smaller than the minimum of the method.
    #[error(
        "{method} requires a budget of at least {min} evaluations (including v(∅) and v(N)) for {players} \
         player{}, got {actual}",
        plural(*players)
    )]
    Budget {
        /// The name of the method.
        method: &'static str,
        /// The given number of evaluations.
        actual: usize,
        /// The minimum number of evaluations of the method.
        min: usize,
        /// The number of players of the game.
        players: usize,
    },
    /// The number of draws is out of range.
    #[error(
        "invalid number of draws {actual}; expected {}",
        if min == max { format!("{min} (one per scenario of the game)") } else { format!("{min} to {max}") }
    )]
    Draws {
        /// The requested number of draws.
        actual: usize,
        /// The minimum number of draws.
        min: usize,
        /// The maximum number of draws.
        max: usize,
    },
    /// The method uses each scenario once, but the game has only one scenario.
    #[error(
        "{method} uses each scenario of the game once, but this game has a single scenario; use a background \
         of many rows, or {instead}"
    )]
    OneScenario {
        /// The name of the method.
        method: &'static str,
        /// An alternative method, which draws scenarios with replacement.
        instead: &'static str,
    },
    /// The game does not have the requested player.
    #[error("unknown player {player}; {}", expected_index(*players, "player"))]
    UnknownPlayer {
        /// The requested player.
        player: usize,
        /// The number of players, or groups, that have values.
        players: usize,
    },
    /// The method does not estimate this value.
    #[error("{method} does not support {value}, only {estimates}; use {instead}")]
    OtherValue {
        /// The name of the method.
        method: &'static str,
        /// The values that the method estimates.
        estimates: &'static str,
        /// The requested value.
        value: Box<SolutionConcept>,
        /// Methods that estimate the requested value.
        instead: &'static str,
    },
    /// The method does not estimate this interaction index.
    #[error(
        "{method} does not support the index {index}; use exact enumeration, or a tree method for tree \
         ensembles"
    )]
    OtherIndex {
        /// The name of the method.
        method: &'static str,
        /// The requested index.
        index: Box<InteractionIndex>,
    },
    /// A run failed, or cannot be started or resumed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The stochastic gradient method failed.
    #[error(transparent)]
    Gradient(#[from] GradientError),
    /// A value on a graph requires too many coalitions.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// The game failed to evaluate a coalition.
    #[error(transparent)]
    Game(#[from] GameError),
    /// Exact enumeration failed.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// The sampler rejected its parameters.
    #[error(transparent)]
    Sampler(#[from] SamplerError),
    /// The regression could not be solved.
    #[error(transparent)]
    Solver(#[from] SolverError),
}
