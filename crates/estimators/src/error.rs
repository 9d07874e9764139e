//! What can go wrong when a value is estimated.

use apportion_games::GameError;
use apportion_samplers::SamplerError;
use apportion_solvers::SolverError;
use apportion_values::{SolutionConcept, ValueError};

/// Why an estimator gave no explanation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EstimatorError {
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
    /// An accuracy that cannot be asked for.
    #[error("{what} {given} cannot be asked for; give {wanted}")]
    Until {
        /// Which of its numbers.
        what: &'static str,
        /// The number given.
        given: f64,
        /// What is possible.
        wanted: &'static str,
    },
    /// A range that the game has left.
    #[error(
        "a range of {given} was given, but values of the game already differ by {seen}; give the largest value less the least"
    )]
    Range {
        /// The range given.
        given: f64,
        /// The largest value seen less the least.
        seen: f64,
    },
    /// More evaluations than a run can remember.
    #[error(
        "a run remembers what it evaluates, at most {most} coalitions of this game; {given} evaluations were asked for"
    )]
    TooManyEvaluations {
        /// Evaluations asked for.
        given: usize,
        /// The most.
        most: usize,
    },
    /// A checkpoint of something else.
    #[error(
        "the checkpoint is of another {what}: it has {stored}, this run has {wanted}; resume with what it was made of, or start anew"
    )]
    OtherCheckpoint {
        /// What differs.
        what: &'static str,
        /// In the checkpoint.
        stored: String,
        /// In the run that was to be resumed.
        wanted: String,
    },
    /// A checkpoint that was cut off or changed.
    #[error("the checkpoint was cut off or changed since it was written; start anew")]
    SpoiledCheckpoint,
    /// A step that leads nowhere.
    #[error(
        "the step size, or its delay, is {given}; steps must be positive and finite, delays finite and not negative"
    )]
    StepSize {
        /// What was given.
        given: f64,
    },
    /// A mini-batch without draws.
    #[error("{given} draws per step were asked for; give at least 1")]
    Batch {
        /// Draws given.
        given: usize,
    },
    /// A bound that nothing can meet.
    #[error("the bound {name} is {given}; it must be positive and finite")]
    Bound {
        /// Which bound.
        name: &'static str,
        /// What was given.
        given: f64,
    },
    /// A bound on the norm that no attribution of what there is to divide can meet.
    #[error(
        "‖φ‖ ≤ {given} was asked for, but equal shares of output {output} have the norm {least}, and all others a larger one; give a larger \
         bound, or none"
    )]
    NormBound {
        /// The bound given.
        given: f64,
        /// |v(N) − v(∅)| / √n.
        least: f64,
        /// Which output.
        output: usize,
    },
    /// A kernel that no coalition is near in.
    #[error("the kernel width is {given}; it must be positive and finite, in units of the cosine distance")]
    KernelWidth {
        /// What was given.
        given: f64,
    },
    /// Neighbourhoods with more coalitions than may be evaluated.
    #[error(
        "{value} takes more than the {limit} coalitions that are allowed: the neighbourhood of player {player}, of {size} players, has at \
         least {coalitions}, and all of them together have more; take a smaller order, fewer players (patches, words, groups), {instead}, or a higher limit"
    )]
    Neighbourhood {
        /// The value.
        value: Box<SolutionConcept>,
        /// The player whose neighbourhood has the most, or the first that has too many by itself.
        player: usize,
        /// Players of the neighbourhood.
        size: usize,
        /// Coalitions that this player takes, or where counting stopped.
        coalitions: usize,
        /// The most of all players together.
        limit: usize,
        /// What comes near it at less cost.
        instead: &'static str,
    },
    /// Neighbourhoods with more coalitions than may be evaluated, all taken together.
    #[error(
        "neighbourhoods of order {order} have at least {} coalitions in all, more than the {limit} that are allowed; that of \
         player {player} is the largest, with {nodes} players and 2^{nodes} of them; take a smaller order, fewer players (patches, words, \
         groups), C-Shapley, whose coalitions are connected, local sampling, or a higher limit",
        in_figures(*coalitions)
    )]
    LocalCoalitions {
        /// The order of the neighbourhoods.
        order: usize,
        /// The first player whose neighbourhood is as large as any.
        player: usize,
        /// Players of that neighbourhood.
        nodes: usize,
        /// Different coalitions of all neighbourhoods, or where counting stopped.
        coalitions: f64,
        /// The most.
        limit: usize,
    },
    /// More connected coalitions than may be evaluated.
    #[error(
        "the graph has at least {at_least} connected coalitions, more than the {limit} that are allowed; take a C-Shapley value of small \
         order, fewer players (patches, words, groups), {instead}, or a higher limit"
    )]
    ConnectedCoalitions {
        /// Where counting stopped.
        at_least: usize,
        /// The most.
        limit: usize,
        /// What comes near it at less cost.
        instead: &'static str,
    },
    /// An order of connected coalitions that has none, or more than may be evaluated.
    #[error(
        "the regression of order {order} has no connected coalitions, or more than the {limit} that are allowed: its order is at least 1; take a \
         smaller one, fewer players (patches, words, groups), or a higher limit"
    )]
    ConnectedSets {
        /// The order given.
        order: usize,
        /// The most coalitions.
        limit: usize,
    },
    /// Stochastic gradients whose steps are too long.
    #[error(
        "step {step} of the stochastic gradient led {norm} away from the start, which no Shapley value is: the steps are too long; give \
         shorter ones, delayed ones, or a bound on the norm"
    )]
    Diverged {
        /// The step at which it was found.
        step: usize,
        /// The distance from the start.
        norm: f64,
    },
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

/// A count in full as long as a person can read it, else by its power of ten.
fn in_figures(count: f64) -> String {
    if count < 1e15 { count.to_string() } else { format!("{count:.2e}") }
}
