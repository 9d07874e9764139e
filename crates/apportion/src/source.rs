//! The model to explain and its game, which defines how absent features are replaced.

use apportion_games::{Background, Coalition, Game, Model, Shared};
#[cfg(feature = "conditional")]
use apportion_games::{ConditionalDistribution, ConditionalGame};
use apportion_values::Value;

use crate::error::ExplainError;
#[cfg(feature = "kernels")]
use crate::kernel_source::Kernels;
use crate::marginal::marginal;
use crate::method::Method;
#[cfg(feature = "trees")]
use crate::tree_source::Trees;

/// A model and its game.
pub(crate) enum Source<'a> {
    /// The marginal game of any model.
    Model(Shared<'a, dyn Model + 'a>, Background),
    /// A game of a tree ensemble.
    #[cfg(feature = "trees")]
    Trees(Box<Trees<'a>>),
    /// The marginal game of a kernel machine.
    #[cfg(feature = "kernels")]
    Kernels(Box<Kernels<'a>>),
    /// The conditional game of any model.
    #[cfg(feature = "conditional")]
    Conditional(Shared<'a, dyn Model + 'a>, Shared<'a, dyn ConditionalDistribution + 'a>),
}

/// A conditional game of any model with any distribution.
#[cfg(feature = "conditional")]
pub(crate) type Conditional<'a> = ConditionalGame<'a, dyn Model + 'a, dyn ConditionalDistribution + 'a>;

impl Source<'_> {
    /// Returns the exact method that needs no evaluations, or `None` if there is no such method for the
    /// model.
    pub(crate) fn exact_method(&self) -> Option<Method> {
        match self {
            Self::Model(..) => None,
            #[cfg(feature = "trees")]
            Self::Trees(_) => Some(Method::Tree),
            #[cfg(feature = "kernels")]
            Self::Kernels(_) => Some(Method::KernelMachine),
            #[cfg(feature = "conditional")]
            Self::Conditional(..) => None,
        }
    }

    /// Returns whether [`Method::Auto`] computes `value` with the exact method that needs no evaluations.
    pub(crate) fn prefers_exact_method(&self, value: &Value) -> bool {
        match self {
            // Exact methods do not support graphs.
            _ if value.graph().is_some() => false,
            #[cfg(feature = "trees")]
            Self::Trees(trees) => trees.has_exact(),
            _ => self.exact_method().is_some_and(|method| method.computes(value)),
        }
    }

    /// Returns the model of the marginal game and its background.
    ///
    /// # Errors
    ///
    /// [`ExplainError::NotTable`] for other games, [`ExplainError::NoRows`] for a compiled background.
    #[cfg(feature = "surrogates")]
    pub(crate) fn model_and_background(&self) -> Result<(&dyn Model, &Background), ExplainError> {
        match self {
            Self::Model(model, background) => Ok((&**model, background)),
            #[cfg(feature = "trees")]
            Self::Trees(trees) => trees.model_and_background(),
            #[cfg(feature = "kernels")]
            Self::Kernels(kernels) => Ok(kernels.model_and_background()),
            #[cfg(feature = "conditional")]
            Self::Conditional(..) => Err(ExplainError::NotTable),
        }
    }

    /// Returns whether the model can be called from several threads.
    pub(crate) fn parallel(&self) -> bool {
        match self {
            Self::Model(model, _) => model.parallel(),
            #[cfg(feature = "trees")]
            Self::Trees(_) => true,
            #[cfg(feature = "kernels")]
            Self::Kernels(_) => true,
            #[cfg(feature = "conditional")]
            Self::Conditional(model, _) => model.parallel(),
        }
    }

    /// Returns the game of one explicand and its null players.
    pub(crate) fn game(&self, explicand: &[f64]) -> Result<(Box<dyn Game + '_>, Coalition), ExplainError> {
        match self {
            Self::Model(model, background) => marginal(&**model, explicand, background),
            #[cfg(feature = "trees")]
            Self::Trees(trees) => trees.game(explicand),
            #[cfg(feature = "kernels")]
            Self::Kernels(kernels) => kernels.game(explicand),
            // In a conditional game, even a feature on which no prediction depends is not a null player,
            // because its value is informative about the other features.
            #[cfg(feature = "conditional")]
            Self::Conditional(model, distribution) => {
                let game = ConditionalGame::new(&**model, explicand, &**distribution)?;
                let nobody = Coalition::empty(game.players());
                Ok((Box::new(game), nobody))
            }
        }
    }
}
