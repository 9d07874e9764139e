//! Explainers of tree ensembles.

use apportion_games::Background;
use apportion_trees::{CompiledBackground, Ensemble, Settings};

use super::Explainer;
use crate::error::ExplainError;
use crate::source::Source;
use crate::tree_source::Trees;

impl<'a> Explainer<'a> {
    /// An explainer of a tree ensemble, by its marginal game; [`Method::Auto`](crate::Method::Auto) means exact values without sampling.
    pub fn of_trees(ensemble: &'a Ensemble, background: Background) -> Self {
        Self::of_source(Trees::marginal(ensemble, background))
    }

    /// An explainer of a tree ensemble, by its marginal game against a background that was compiled for it and whose rows are not needed;
    /// only the methods [`Method::Auto`](crate::Method::Auto) and [`Method::Tree`](crate::Method::Tree) can do without.
    pub fn of_compiled(ensemble: &'a Ensemble, background: CompiledBackground) -> Self {
        Self::of_source(Trees::compiled(ensemble, background))
    }

    /// An explainer of what a tree ensemble says behind its [link](Ensemble::link) (probabilities, rates, scores), by the marginal game
    /// of these outputs. [`Method::Auto`](crate::Method::Auto) means exact values, where they can be had in acceptable time; estimates of the same game are
    /// those of any other method.
    ///
    /// # Errors
    ///
    /// [`ExplainError::Trees`] where the link of the model is not known.
    pub fn of_outputs(ensemble: &'a Ensemble, background: Background) -> Result<Self, ExplainError> {
        Ok(Self::of_source(Trees::linked(ensemble, background)?))
    }

    /// An explainer of a tree ensemble, by its path-dependent game, which needs the training cover in the model but no background;
    /// [`Method::Auto`](crate::Method::Auto) means exact values without sampling.
    pub fn path_dependent(ensemble: &'a Ensemble) -> Self {
        Self::of_source(Trees::path_dependent(ensemble))
    }

    /// How the tree oracle computes: its kernel, its precision. By default the kernel of least predicted time, in `f64`. Outputs behind
    /// a link have one way to be computed, which takes no settings.
    pub fn settings(mut self, settings: Settings) -> Self {
        if let Source::Trees(trees) = &mut self.source {
            trees.settings = settings;
        }
        self
    }

    fn of_source(trees: Trees<'a>) -> Self {
        Self::of(Source::Trees(Box::new(trees)))
    }
}
