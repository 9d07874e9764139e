//! The error type of explainers.

use apportion_estimators::EstimatorError;
use apportion_games::GameError;
use apportion_games::phrases::plural;
#[cfg(feature = "kernels")]
use apportion_kernels::KernelError;
#[cfg(feature = "trees")]
use apportion_models::ModelError;
#[cfg(feature = "surrogates")]
use apportion_surrogates::SurrogateError;
#[cfg(feature = "trees")]
use apportion_trees::TreeError;
use apportion_values::{InteractionIndex, Value, ValueError};

use crate::method::Method;
use crate::options::OptionError;

/// The reason why a prediction or a game could not be explained.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExplainError {
    /// There is no method with this name.
    #[error(
        "unknown method {actual:?}; expected one of: {}",
        Method::all().map(Method::name).collect::<Vec<_>>().join(", ")
    )]
    UnknownMethod {
        /// The given name.
        actual: String,
    },
    /// The text cannot be parsed as a budget.
    #[error(
        "invalid budget {actual:?}; expected a number of evaluations (2000), a multiple of the number of \
         features (10n or 0.5n), or auto"
    )]
    Budget {
        /// The given text.
        actual: String,
    },
    /// The budget is smaller than the number of coalitions that [`Method::Exact`] evaluates.
    #[error(
        "method exact requires a budget of at least {} for {players} player{}{}, got {actual}; omit the \
         budget, or use auto or a sampling method",
        if *min == 1usize.checked_shl(*players as u32).unwrap_or(0) {
            format!("2^{players} = {min} evaluations")
        } else {
            format!("{min} evaluations")
        },
        plural(*players),
        if *min == 1usize.checked_shl(*players as u32).unwrap_or(0) { "" } else { " in these groups" }
    )]
    ExactBudget {
        /// The given number of evaluations.
        actual: usize,
        /// The number of coalitions to evaluate.
        min: usize,
        /// The number of players of the game.
        players: usize,
    },
    /// The budget is larger than the maximum size of a sample.
    #[error(
        "budget {actual} is too large: the maximum is {max} evaluations for {players} player{}",
        plural(*players)
    )]
    LargeBudget {
        /// The given number of evaluations.
        actual: usize,
        /// The maximum number of evaluations.
        max: usize,
        /// The number of players of the game.
        players: usize,
    },
    /// The method does not compute the requested value.
    #[error(
        "{method} does not support {} values; use one of: {}",
        value.concept(),
        Method::all().filter(|method| method.computes(value)).map(Method::name).collect::<Vec<_>>().join(", ")
    )]
    Unsupported {
        /// The requested method.
        method: Method,
        /// The requested value.
        value: Box<Value>,
    },
    /// Exact values or interactions of trees were requested for a model that is not a tree ensemble, or with
    /// a method for any model.
    #[error(
        "exact values and interactions of trees require a tree ensemble, and method tree or auto; for other \
         models use auto, exact or a sampling method"
    )]
    NotTrees,
    /// Exact values of a kernel machine were requested for another model.
    #[error(
        "method kernel-machine requires a kernel machine; for other models use auto, exact or a sampling \
         method"
    )]
    NotKernelMachine,
    /// Values of an additive game were requested without a declaration of its terms.
    #[error(
        "method additive requires a model or game that is declared additive; declare it, or use auto, exact \
         or a sampling method"
    )]
    NotAdditive,
    /// A model was declared additive, but its game is not the marginal game of a function: it is conditional,
    /// or the model is a tree ensemble or a kernel machine.
    #[error(
        "only the marginal game of a function can be declared additive, not a conditional game, a tree \
         ensemble or a kernel machine; use the marginal game of a function, or remove the declaration"
    )]
    NotMarginal,
    /// The table method was requested for a game that is not the marginal game of a model with background
    /// rows.
    #[error(
        "method table requires rows of a model and background rows (the marginal game); for other games use \
         auto, exact or a sampling method"
    )]
    NotTable,
    /// The table method was requested, but the crate was built without it.
    #[cfg(not(feature = "surrogates"))]
    #[error(
        "method table requires a build with the feature surrogates of the crate apportion; use another method"
    )]
    NoTableMethod,
    /// The method does not compute the requested interaction index.
    #[error(
        "{method} does not support {index} interactions of order {order}; use learned-spectrum for shapley \
         and banzhaf of order 2, exact for up to 25 players, or tree for tree ensembles"
    )]
    Index {
        /// The requested method.
        method: Method,
        /// The requested interaction index.
        index: Box<InteractionIndex>,
        /// The requested order.
        order: usize,
    },
    /// The method evaluates the game, which requires background rows, but a compiled background does not
    /// contain rows.
    #[error(
        "a compiled background contains no rows to evaluate the game with; use method auto or tree, or pass \
         the rows of the background"
    )]
    NoRows,
    /// The options are not valid.
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
    /// The exact method for trees failed.
    #[cfg(feature = "trees")]
    #[error(transparent)]
    Trees(#[from] TreeError),
    /// The table method failed.
    #[cfg(feature = "surrogates")]
    #[error(transparent)]
    Surrogates(#[from] SurrogateError),
    /// The exact method for kernel machines failed.
    #[cfg(feature = "kernels")]
    #[error(transparent)]
    Kernels(#[from] KernelError),
}

impl From<OptionError> for ExplainError {
    fn from(error: OptionError) -> Self {
        Self::Options(Box::new(error))
    }
}
