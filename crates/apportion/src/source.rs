//! What is explained: a model, and what stands in for features that are absent.

use apportion_games::{Background, Coalition, Game, Model, Shared};
#[cfg(feature = "conditional")]
use apportion_games::{ConditionalGame, ConditionalLaw};

use crate::error::ExplainError;
use crate::marginal::marginal;
#[cfg(feature = "trees")]
use crate::tree_source::Trees;

/// A model with the game that it plays.
pub(crate) enum Source<'a> {
    /// The marginal game of any model.
    Model(Shared<'a, dyn Model + 'a>, Background),
    /// A game of a tree ensemble.
    #[cfg(feature = "trees")]
    Trees(Box<Trees<'a>>),
    /// The conditional game of any model.
    #[cfg(feature = "conditional")]
    Conditional(Shared<'a, dyn Model + 'a>, Shared<'a, dyn ConditionalLaw + 'a>),
}

/// A conditional game of any model under any law.
#[cfg(feature = "conditional")]
pub(crate) type Conditional<'a> = ConditionalGame<'a, dyn Model + 'a, dyn ConditionalLaw + 'a>;

impl Source<'_> {
    /// Whether there is an oracle that knows the exact values.
    pub(crate) fn has_oracle(&self) -> bool {
        match self {
            Self::Model(..) => false,
            #[cfg(feature = "trees")]
            Self::Trees(_) => true,
            #[cfg(feature = "conditional")]
            Self::Conditional(..) => false,
        }
    }

    /// Whether that oracle is asked unless another method is named.
    pub(crate) fn prefers_oracle(&self) -> bool {
        match self {
            #[cfg(feature = "trees")]
            Self::Trees(trees) => trees.has_exact(),
            _ => self.has_oracle(),
        }
    }

    /// Whether several threads may ask the model.
    pub(crate) fn parallel(&self) -> bool {
        match self {
            Self::Model(model, _) => model.parallel(),
            #[cfg(feature = "trees")]
            Self::Trees(_) => true,
            #[cfg(feature = "conditional")]
            Self::Conditional(model, _) => model.parallel(),
        }
    }

    /// The game of one explicand, and the players that cannot matter in it.
    pub(crate) fn game(&self, explicand: &[f64]) -> Result<(Box<dyn Game + '_>, Coalition), ExplainError> {
        match self {
            Self::Model(model, background) => marginal(&**model, explicand, background),
            #[cfg(feature = "trees")]
            Self::Trees(trees) => trees.game(explicand),
            // A feature that changes no prediction by itself still says something about the others.
            #[cfg(feature = "conditional")]
            Self::Conditional(model, law) => {
                let game = ConditionalGame::new(&**model, explicand, &**law)?;
                let nobody = Coalition::empty(game.players());
                Ok((Box::new(game), nobody))
            }
        }
    }
}
