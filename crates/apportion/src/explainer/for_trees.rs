//! Explainers for tree ensembles.

use apportion_games::{Background, Rows, Shared};
use apportion_trees::{CompiledBackground, Diagonal, Ensemble, Settings};
use apportion_values::Attributions;

use super::Explainer;
use crate::error::ExplainError;
use crate::method::Method;
use crate::source::Source;
use crate::tree_source::Trees;

impl<'a> Explainer<'a> {
    /// Creates an explainer for a tree ensemble with its marginal game. [`Method::Auto`](crate::Method::Auto)
    /// computes exact values without sampling.
    pub fn for_trees(ensemble: impl Into<Shared<'a, Ensemble>>, background: Background) -> Self {
        Self::of_source(Trees::marginal(ensemble.into(), background))
    }

    /// Creates an explainer for a tree ensemble with its marginal game and a background that was compiled for
    /// this ensemble. The rows of the background are not needed, so only the methods
    /// [`Method::Auto`](crate::Method::Auto) and [`Method::Tree`](crate::Method::Tree) are supported.
    pub fn for_compiled(ensemble: impl Into<Shared<'a, Ensemble>>, background: CompiledBackground) -> Self {
        Self::of_source(Trees::compiled(ensemble.into(), background))
    }

    /// Creates an explainer for the outputs of a tree ensemble after its [link function](Ensemble::link)
    /// (probabilities, rates, scores), with their marginal game. [`Method::Auto`](crate::Method::Auto)
    /// computes exact values; a request that would take too long is rejected with
    /// [`TreeError::TooManySteps`](apportion_trees::TreeError::TooManySteps). The methods for any model
    /// evaluate the same game. After a link function, there is no exact method for models with linear leaves,
    /// such as linear models, or with splits on several features at once; for these,
    /// [`Method::Auto`](crate::Method::Auto) chooses among the methods for any model.
    ///
    /// # Errors
    ///
    /// [`ExplainError::Trees`] if the link function of the model is not supported.
    pub fn for_outputs(
        ensemble: impl Into<Shared<'a, Ensemble>>,
        background: Background,
    ) -> Result<Self, ExplainError> {
        Ok(Self::of_source(Trees::linked(ensemble.into(), background)?))
    }

    /// Creates an explainer for a tree ensemble with its path-dependent game, which requires training cover
    /// in the model but no background. [`Method::Auto`](crate::Method::Auto) computes exact values without
    /// sampling.
    pub fn path_dependent(ensemble: impl Into<Shared<'a, Ensemble>>) -> Self {
        Self::of_source(Trees::path_dependent(ensemble.into()))
    }

    /// Sets the kernel and the precision of the tree method. By default, it uses the kernel with the shortest
    /// predicted time, in `f64`. The settings are ignored for outputs after a link function, for which there
    /// is a single algorithm.
    pub fn settings(mut self, settings: Settings) -> Self {
        if let Source::Trees(trees) = &mut self.source {
            trees.settings = settings;
        }
        self
    }

    /// Returns the exact interaction indices of all pairs of features for all rows. The [value](Self::value)
    /// must be a semivalue, or a quotient value for pairs of groups.
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
    /// [`ExplainError::NotTrees`] if the model is not a tree ensemble, or for a method other than
    /// [`Method::Auto`](crate::Method::Auto) and [`Method::Tree`](crate::Method::Tree); otherwise the errors
    /// of [`Exact::interactions_of`](apportion_trees::Exact::interactions_of).
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
        Self::from_source(Source::Trees(Box::new(trees)))
    }
}
