//! What can go wrong when a value is estimated.

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

/// What an estimator may fail at.
pub(crate) type Result<T, E = EstimatorError> = std::result::Result<T, E>;

/// Why an estimator gave no explanation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EstimatorError {
    /// An estimate that takes more memory than there is.
    #[error(transparent)]
    Memory(#[from] apportion_games::TooMuchMemory),
    /// A game without players.
    #[error("the game has no players; there is nobody to attribute anything to")]
    NoPlayers,
    /// Values beyond the numbers there are.
    #[error(
        "the value of player {player} (output {output}) by {method} is {value}: differences of the game's values are larger than any number; divide what the model says by a constant, such as 1e10"
    )]
    NotFinite {
        /// Name of the method.
        method: String,
        /// The first such player.
        player: usize,
        /// The output.
        output: usize,
        /// Its value.
        value: f64,
    },
    /// Fewer evaluations than the method needs.
    #[error(
        "{method} needs a budget of at least {least} evaluations for {players} players (v(∅) and v(N) included); {given} were given"
    )]
    Budget {
        /// Name of the method.
        method: &'static str,
        /// Evaluations given.
        given: usize,
        /// The fewest that the method can use.
        least: usize,
        /// Players of the game.
        players: usize,
    },
    /// A number of draws that cannot be made.
    #[error(
        "{given} draws were asked for; give {}", if least == most { format!("{least}, one for each scenario of the game") } else { format!("{least} to {most}") }
    )]
    Draws {
        /// Draws asked for.
        given: usize,
        /// The fewest.
        least: usize,
        /// The most.
        most: usize,
    },
    /// A game of one scenario, in the mode that uses each scenario once.
    #[error(
        "{method} uses each scenario of the game once, and this game has a single one: give a background of many rows, or use {instead}"
    )]
    OneScenario {
        /// Name of the method.
        method: &'static str,
        /// The method that draws scenarios as often as it likes.
        instead: &'static str,
    },
    /// A player that the game does not have.
    #[error("there is no player {player} among the {players} that have values, which are numbered from 0")]
    UnknownPlayer {
        /// The player asked for.
        player: usize,
        /// Players, or groups, that have values.
        players: usize,
    },
    /// A value that the method does not estimate.
    #[error("{method} estimates {estimates}, not {value}; ask for one of those, or use {instead}")]
    OtherValue {
        /// Name of the method.
        method: &'static str,
        /// The values that it estimates.
        estimates: &'static str,
        /// The value that was asked for.
        value: Box<SolutionConcept>,
        /// Methods that estimate it.
        instead: &'static str,
    },
    /// An interaction index that the method does not estimate.
    #[error(
        "{method} does not estimate the {index} indices; enumerate all coalitions, or ask a tree ensemble"
    )]
    OtherIndex {
        /// Name of the method.
        method: &'static str,
        /// The index that was asked for.
        index: Box<InteractionIndex>,
    },
    /// A run until an accuracy cannot be made, or not be resumed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Stochastic gradients cannot be followed.
    #[error(transparent)]
    Gradient(#[from] GradientError),
    /// A graph has too many coalitions.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// The game could not say what a coalition is worth.
    #[error(transparent)]
    Game(#[from] GameError),
    /// Exact enumeration failed.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// The sampler refused its parameters.
    #[error(transparent)]
    Sampler(#[from] SamplerError),
    /// The regression could not be solved.
    #[error(transparent)]
    Solver(#[from] SolverError),
}
