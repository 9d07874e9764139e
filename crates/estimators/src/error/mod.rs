//! Errors of estimators.

mod gradient;
mod graph;
mod run;

use apportion_games::GameError;
use apportion_samplers::SamplerError;
use apportion_solvers::SolverError;
use apportion_values::{InteractionIndex, SolutionConcept, ValueError};

pub use self::gradient::GradientError;
pub use self::graph::GraphError;
pub use self::run::RunError;

/// The result type of estimators.
pub(crate) type Result<T, E = EstimatorError> = std::result::Result<T, E>;

/// The error type of estimators.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EstimatorError {
    /// The estimate requires more memory than is available.
    #[error(transparent)]
    Memory(#[from] apportion_games::TooMuchMemory),
    /// The game has no players.
    #[error("the game has no players; there is nobody to attribute anything to")]
    NoPlayers,
    /// A value is not finite.
    #[error(
        "the value of player {player} (output {output}) by {method} is {value}: differences of the game's values are larger than any number; divide what the model says by a constant, such as 1e10"
    )]
    NotFinite {
        /// The name of the method.
        method: String,
        /// The first player with such a value.
        player: usize,
        /// The index of the output.
        output: usize,
        /// The value.
        value: f64,
    },
    /// The budget is smaller than the minimum of the method.
    #[error(
        "{method} needs a budget of at least {least} evaluations for {players} players (v(∅) and v(N) included); {given} were given"
    )]
    Budget {
        /// The name of the method.
        method: &'static str,
        /// The given number of evaluations.
        given: usize,
        /// The minimum number of evaluations of the method.
        least: usize,
        /// The number of players of the game.
        players: usize,
    },
    /// The number of draws is out of range.
    #[error(
        "{given} draws were asked for; give {}", if least == most { format!("{least}, one for each scenario of the game") } else { format!("{least} to {most}") }
    )]
    Draws {
        /// The requested number of draws.
        given: usize,
        /// The minimum number of draws.
        least: usize,
        /// The maximum number of draws.
        most: usize,
    },
    /// The method uses each scenario once, but the game has a single scenario.
    #[error(
        "{method} uses each scenario of the game once, and this game has a single one: give a background of many rows, or use {instead}"
    )]
    OneScenario {
        /// The name of the method.
        method: &'static str,
        /// An alternative method, which draws scenarios with replacement.
        instead: &'static str,
    },
    /// The game does not have this player.
    #[error("there is no player {player} among the {players} that have values, which are numbered from 0")]
    UnknownPlayer {
        /// The requested player.
        player: usize,
        /// The number of players, or groups, that have values.
        players: usize,
    },
    /// The method does not estimate this value.
    #[error("{method} estimates {estimates}, not {value}; ask for one of those, or use {instead}")]
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
        "{method} does not estimate the {index} indices; enumerate all coalitions, or ask a tree ensemble"
    )]
    OtherIndex {
        /// The name of the method.
        method: &'static str,
        /// The requested index.
        index: Box<InteractionIndex>,
    },
    /// A run with a tolerance could not be started or resumed.
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
