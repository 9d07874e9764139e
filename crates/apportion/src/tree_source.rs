//! A tree ensemble, its game and its exact values.

use std::sync::OnceLock;

use apportion_games::{Background, Coalition, Game, Model, Rows, Shared};
use apportion_trees::{
    CompiledBackground, Ensemble, Exact, LinkedEnsemble, LinkedTreeExplainer, MarginalTreeExplainer,
    PathDependentGame, PathDependentTreeExplainer, Settings, TreeError,
};
use apportion_values::{Attributions, Value};

use crate::error::ExplainError;
use crate::marginal::marginal;
use crate::method::Method;

/// A game of a tree ensemble.
enum TreeGame<'a> {
    /// The marginal game.
    Marginal(Background),
    /// The marginal game with a compiled background, whose rows are not available; only the exact method
    /// supports it.
    Compiled(CompiledBackground),
    /// The marginal game of the outputs after the link function.
    Linked(Box<LinkedEnsemble<'a>>, Background),
    /// The path-dependent game.
    PathDependent,
}

/// An ensemble with one game. The tree explainer is built at its first use and kept.
pub(crate) struct Trees<'a> {
    ensemble: Shared<'a, Ensemble>,
    plays: TreeGame<'a>,
    pub(crate) settings: Settings,
    tree_explainer: OnceLock<Box<dyn Exact + 'a>>,
}

impl<'a> Trees<'a> {
    fn new(ensemble: Shared<'a, Ensemble>, plays: TreeGame<'a>) -> Self {
        Self { ensemble, plays, settings: Settings::default(), tree_explainer: OnceLock::new() }
    }

    pub(crate) fn marginal(ensemble: Shared<'a, Ensemble>, background: Background) -> Self {
        Self::new(ensemble, TreeGame::Marginal(background))
    }

    pub(crate) fn compiled(ensemble: Shared<'a, Ensemble>, background: CompiledBackground) -> Self {
        Self::new(ensemble, TreeGame::Compiled(background))
    }

    pub(crate) fn linked(ensemble: Shared<'a, Ensemble>, background: Background) -> Result<Self, TreeError> {
        let outputs = LinkedEnsemble::new(ensemble.clone())?;
        Ok(Self::new(ensemble, TreeGame::Linked(Box::new(outputs), background)))
    }

    pub(crate) fn path_dependent(ensemble: Shared<'a, Ensemble>) -> Self {
        Self::new(ensemble, TreeGame::PathDependent)
    }

    /// Returns whether exact values can be computed, regardless of the time required.
    pub(crate) fn has_exact(&self) -> bool {
        match self.plays {
            TreeGame::Linked(..) => LinkedTreeExplainer::check(&self.ensemble).is_ok(),
            _ => true,
        }
    }

    pub(crate) fn features(&self) -> usize {
        self.ensemble.feature_count()
    }

    /// Returns the game of one explicand and its null players.
    pub(crate) fn game(&self, explicand: &[f64]) -> Result<(Box<dyn Game + '_>, Coalition), ExplainError> {
        match &self.plays {
            TreeGame::Marginal(background) => marginal(&*self.ensemble as &dyn Model, explicand, background),
            TreeGame::Linked(outputs, background) => {
                marginal(&**outputs as &dyn Model, explicand, background)
            }
            TreeGame::Compiled(_) => Err(ExplainError::NoRows),
            TreeGame::PathDependent => {
                let game = PathDependentGame::new(&self.ensemble, explicand)?;
                let null_players = game.null_players();
                Ok((Box::new(game), null_players))
            }
        }
    }

    /// Returns the model of the marginal game and its background.
    ///
    /// # Errors
    ///
    /// [`ExplainError::NoRows`] for a compiled background, [`ExplainError::NotTable`] for the path-dependent
    /// game.
    #[cfg(feature = "surrogates")]
    pub(crate) fn model_and_background(&self) -> Result<(&dyn Model, &Background), ExplainError> {
        match &self.plays {
            TreeGame::Marginal(background) => Ok((&*self.ensemble, background)),
            TreeGame::Linked(outputs, background) => Ok((&**outputs, background)),
            TreeGame::Compiled(_) => Err(ExplainError::NoRows),
            TreeGame::PathDependent => Err(ExplainError::NotTable),
        }
    }

    /// Returns the exact values of all rows.
    pub(crate) fn values(&self, value: &Value, rows: Rows<'_>) -> Result<Attributions, ExplainError> {
        if !Method::Tree.computes(value) {
            return Err(ExplainError::Unsupported { method: Method::Tree, value: Box::new(value.clone()) });
        }
        Ok(self.exact()?.values_of(value, rows)?)
    }

    /// Returns the tree explainer, which is built at its first use.
    pub(crate) fn exact(&self) -> Result<&dyn Exact, TreeError> {
        let tree_explainer = match self.tree_explainer.get() {
            Some(tree_explainer) => tree_explainer,
            None => {
                let tree_explainer = self.new_tree_explainer()?;
                self.tree_explainer.get_or_init(|| tree_explainer)
            }
        };
        Ok(&**tree_explainer)
    }

    fn new_tree_explainer(&self) -> Result<Box<dyn Exact + 'a>, TreeError> {
        let (ensemble, settings) = (self.ensemble.clone(), self.settings);
        Ok(match &self.plays {
            TreeGame::Marginal(background) => {
                let weights = Some(background.weights());
                let tree_explainer = MarginalTreeExplainer::new(ensemble, background.as_rows(), weights)?;
                Box::new(tree_explainer.with_settings(settings))
            }
            TreeGame::Compiled(background) => {
                let tree_explainer = MarginalTreeExplainer::from_compiled(ensemble, background.clone())?;
                Box::new(tree_explainer.with_settings(settings))
            }
            TreeGame::Linked(_, background) => {
                let weights = Some(background.weights());
                let tree_explainer = LinkedTreeExplainer::new(ensemble, background.as_rows(), weights)?;
                Box::new(tree_explainer.with_settings(settings))
            }
            TreeGame::PathDependent => {
                Box::new(PathDependentTreeExplainer::new(ensemble)?.with_settings(settings))
            }
        })
    }
}
