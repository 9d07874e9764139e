//! What can go wrong when a prediction is explained.

use apportion_estimators::EstimatorError;
use apportion_games::GameError;
#[cfg(feature = "trees")]
use apportion_models::ModelError;
#[cfg(feature = "trees")]
use apportion_trees::TreeError;
use apportion_values::{InteractionIndex, Value, ValueError};

use crate::method::Method;
use crate::options::OptionError;

/// Why there is no explanation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExplainError {
    /// A name that is no method.
    #[error("unknown method {given:?}; expected one of: {}", Method::all().map(Method::name).collect::<Vec<_>>().join(", "))]
    UnknownMethod {
        /// The name given.
        given: String,
    },
    /// Not a budget.
    #[error(
        "{given:?} is not a budget; give a number of evaluations (2000), a multiple of the players (10n), or auto"
    )]
    Budget {
        /// The text given.
        given: String,
    },
    /// A budget below all coalitions, for a method that evaluates all of them.
    #[error(
        "budget {given} is too small: method exact needs at least {} for {players} players{}; omit the budget, or use auto or a \
         method that samples",
        if *least == 1usize.checked_shl(*players as u32).unwrap_or(0) { format!("2^{players} = {least} evaluations") } else { format!("{least} evaluations") },
        if *least == 1usize.checked_shl(*players as u32).unwrap_or(0) { "" } else { " in these groups" }
    )]
    ExactBudget {
        /// Evaluations given.
        given: usize,
        /// Evaluations of all coalitions.
        least: usize,
        /// Players of the game.
        players: usize,
    },
    /// A method that cannot compute the value asked for.
    #[error(
        "{method} does not compute {} values; these do: {}",
        value.concept(),
        Method::all().filter(|method| method.computes(value)).map(Method::name).collect::<Vec<_>>().join(", ")
    )]
    Unsupported {
        /// The method.
        method: Method,
        /// The value.
        value: Box<Value>,
    },
    /// The tree oracle was asked for a model that is not a tree ensemble.
    #[error(
        "method tree needs a tree ensemble; for any other model use auto, exact or a method that samples"
    )]
    NotTrees,
    /// A method that does not compute an index of coalitions.
    #[error(
        "{method} does not compute {index} interactions of order {order}; learned-spectrum estimates shapley and banzhaf of order 2, exact has all of up to 25 players, tree those of tree ensembles"
    )]
    Index {
        /// The method.
        method: Method,
        /// The index.
        index: Box<InteractionIndex>,
        /// The order.
        order: usize,
    },
    /// A method that evaluates the game, against a background whose rows are not there.
    #[error(
        "a compiled background has no rows to evaluate the game with: use the methods auto or tree with it, or give the background's rows"
    )]
    NoRows,
    /// Options that are not valid.
    #[error(transparent)]
    Options(Box<OptionError>),
    /// The game could not be built.
    #[error(transparent)]
    Game(#[from] GameError),
    /// The value is not defined for this game.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// The estimator failed.
    #[error(transparent)]
    Estimator(#[from] EstimatorError),
    /// A model file could not be read.
    #[cfg(feature = "trees")]
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The tree oracle failed.
    #[cfg(feature = "trees")]
    #[error(transparent)]
    Trees(#[from] TreeError),
}

impl From<OptionError> for ExplainError {
    fn from(error: OptionError) -> Self {
        Self::Options(Box::new(error))
    }
}
