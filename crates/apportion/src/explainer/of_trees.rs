//! Explainers of tree ensembles.

use apportion_games::{Background, Rows, Shared};
use apportion_trees::{CompiledBackground, Diagonal, Ensemble, Settings};
use apportion_values::Attributions;

use super::Explainer;
use crate::error::ExplainError;
use crate::method::Method;
use crate::source::Source;
use crate::tree_source::Trees;

impl<'a> Explainer<'a> {
    /// An explainer of a tree ensemble, by its marginal game; [`Method::Auto`](crate::Method::Auto) means exact values without sampling.
    pub fn of_trees(ensemble: impl Into<Shared<'a, Ensemble>>, background: Background) -> Self {
        Self::of_source(Trees::marginal(ensemble.into(), background))
    }

    /// An explainer of a tree ensemble, by its marginal game against a background that was compiled for it and whose rows are not needed;
    /// only the methods [`Method::Auto`](crate::Method::Auto) and [`Method::Tree`](crate::Method::Tree) can do without.
    pub fn of_compiled(ensemble: impl Into<Shared<'a, Ensemble>>, background: CompiledBackground) -> Self {
        Self::of_source(Trees::compiled(ensemble.into(), background))
    }

    /// An explainer of what a tree ensemble says behind its [link](Ensemble::link) (probabilities, rates, scores), by the marginal game
    /// of these outputs. [`Method::Auto`](crate::Method::Auto) means exact values, where they can be had in acceptable time; estimates of the same game are
    /// those of any other method. Behind a link there is no oracle for linear leaves, as linear models have: these are explained as any model is.
    ///
    /// # Errors
    ///
    /// [`ExplainError::Trees`] where the link of the model is not known.
    pub fn of_outputs(
        ensemble: impl Into<Shared<'a, Ensemble>>,
        background: Background,
    ) -> Result<Self, ExplainError> {
        Ok(Self::of_source(Trees::linked(ensemble.into(), background)?))
    }

    /// An explainer of a tree ensemble, by its path-dependent game, which needs the training cover in the model but no background;
    /// [`Method::Auto`](crate::Method::Auto) means exact values without sampling.
    pub fn path_dependent(ensemble: impl Into<Shared<'a, Ensemble>>) -> Self {
        Self::of_source(Trees::path_dependent(ensemble.into()))
    }

    /// How the tree oracle computes: its kernel, its precision. By default the kernel of least predicted time, in `f64`. Outputs behind
    /// a link have one way to be computed, which takes no settings.
    pub fn settings(mut self, settings: Settings) -> Self {
        if let Source::Trees(trees) = &mut self.source {
            trees.settings = settings;
        }
        self
    }

    /// The interaction indices of all pairs of features by the [value](Self::value) that was asked for, a semivalue, or of all pairs of
    /// groups by a quotient value; exact, of all rows.
    ///
    /// ```
    /// use apportion::trees::Diagonal;
    /// use apportion::{Ensemble, Explainer, Rows};
    ///
    /// let model = Ensemble::from_bytes(include_bytes!("../../../trees/tests/fixtures/tiny.json"))?;
    /// let rows = Rows::new(&[0.0, 9.0], 2);
    /// let pairs = Explainer::path_dependent(&model).interactions(Diagonal::Value, rows)?;
    /// // The second feature gains 0.6 alone and 1 once the first is known.
    /// assert!((pairs.pair(0, 0, 1)[0] - 0.4).abs() < 1e-15);
    /// # Ok::<(), apportion::ExplainError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ExplainError::NotTrees`] for a model that is not a tree ensemble, and for a method other than
    /// [`Method::Auto`](crate::Method::Auto) and [`Method::Tree`](crate::Method::Tree); else those of
    /// [`Exact::interactions_of`](apportion_trees::Exact::interactions_of).
    pub fn interactions(
        &self,
        diagonal: Diagonal,
        explicands: Rows<'_>,
    ) -> Result<Attributions, ExplainError> {
        match &self.source {
            Source::Trees(trees) if matches!(self.asked.method, Method::Auto | Method::Tree) => {
                Ok(trees.exact()?.interactions_of(&self.asked.value, diagonal, explicands)?)
            }
            _ => Err(ExplainError::NotTrees),
        }
    }

    fn of_source(trees: Trees<'a>) -> Self {
        Self::of(Source::Trees(Box::new(trees)))
    }
}
