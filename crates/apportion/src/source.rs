//! What is explained: a model, and what stands in for features that are absent.

use apportion_games::{Background, Coalition, ConditionalGame, ConditionalLaw, Game, MarginalGame, Model};
use apportion_trees::{CompiledBackground, Ensemble, LinkedEnsemble, PathDependentGame};

use crate::error::ExplainError;

/// A model with the game that it plays.
pub(crate) enum Source<'a> {
    /// The marginal game of any model.
    Model(&'a dyn Model, Background),
    /// The marginal game of a tree ensemble.
    Trees(&'a Ensemble, Background),
    /// The marginal game of a tree ensemble against a background without its rows, which only the oracle can play.
    Compiled(&'a Ensemble, CompiledBackground),
    /// The marginal game of the outputs of a tree ensemble, behind its link.
    Linked(&'a Ensemble, LinkedEnsemble<'a>, Background),
    /// The path-dependent game of a tree ensemble.
    PathDependent(&'a Ensemble),
    /// The conditional game of any model.
    Conditional(&'a dyn Model, &'a dyn ConditionalLaw),
}

/// A conditional game of any model under any law.
pub(crate) type Conditional<'a> = ConditionalGame<'a, dyn Model + 'a, dyn ConditionalLaw + 'a>;

impl<'a> Source<'a> {
    /// The trees, where there are any.
    pub(crate) fn ensemble(&self) -> Option<&'a Ensemble> {
        match self {
            Self::Model(..) | Self::Conditional(..) => None,
            Self::Trees(ensemble, _)
            | Self::Compiled(ensemble, _)
            | Self::Linked(ensemble, ..)
            | Self::PathDependent(ensemble) => Some(ensemble),
        }
    }

    /// Whether several threads may ask the model.
    pub(crate) fn parallel(&self) -> bool {
        match self {
            Self::Model(model, _) | Self::Conditional(model, _) => model.parallel(),
            Self::Trees(..) | Self::Compiled(..) | Self::Linked(..) | Self::PathDependent(_) => true,
        }
    }

    /// The game of one explicand, and the players that cannot matter in it.
    pub(crate) fn game(&self, explicand: &[f64]) -> Result<(Box<dyn Game + '_>, Coalition), ExplainError> {
        let marginal = |model, background| -> Result<(Box<dyn Game + '_>, Coalition), ExplainError> {
            let game = MarginalGame::new(model, explicand, background)?;
            let null_players = game.null_players();
            Ok((Box::new(game), null_players))
        };
        match self {
            Self::Model(model, background) => marginal(*model, background),
            Self::Trees(ensemble, background) => marginal(*ensemble as &dyn Model, background),
            Self::Linked(_, outputs, background) => marginal(outputs as &dyn Model, background),
            Self::Compiled(..) => Err(ExplainError::NoRows),
            // A feature that changes no prediction by itself still says something about the others.
            Self::Conditional(model, law) => {
                let game = ConditionalGame::new(*model, explicand, *law)?;
                let nobody = Coalition::empty(game.players());
                Ok((Box::new(game), nobody))
            }
            Self::PathDependent(ensemble) => {
                let game = PathDependentGame::new(ensemble, explicand)?;
                let null_players = game.null_players();
                Ok((Box::new(game), null_players))
            }
        }
    }
}
