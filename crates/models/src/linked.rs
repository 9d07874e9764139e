//! An ensemble that predicts outputs (after the link function) instead of margins.

use apportion_games::{BoxError, Model, Rows, Shared};

use crate::ensemble::{Ensemble, Link};
use crate::error::ModelError;

/// An ensemble as a [`Model`] of its outputs: probabilities, rates or scores instead of margins.
///
/// Use it with a sampling estimator if exact values after the link function (`LinkedTreeExplainer` of the
/// crate `apportion-trees`) would take too long. Those exact values are the values of the marginal game of
/// this model.
#[derive(Debug, Clone)]
pub struct LinkedEnsemble<'a> {
    ensemble: Shared<'a, Ensemble>,
    link: Link,
}

impl Ensemble {
    /// Returns the model that predicts g(f(x)), where g is the [link](Self::link).
    ///
    /// ```
    /// use apportion_games::{Model, Rows};
    /// use apportion_models::Ensemble;
    ///
    /// let model = Ensemble::from_path("tests/fixtures/iris_xgb_softprob.json.gz")?;
    /// let mut probabilities = [0.0; 3];
    /// model.linked()?.predict(Rows::new(&[5.9, 3.0, 5.1, 1.8], 4), &mut probabilities).unwrap();
    /// assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    /// # Ok::<(), apportion_models::ModelError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ModelError::UnknownLink`] if the link is not known.
    pub fn linked(&self) -> Result<LinkedEnsemble<'_>, ModelError> {
        LinkedEnsemble::new(self)
    }
}

impl<'a> LinkedEnsemble<'a> {
    /// Creates the model of the outputs of `ensemble`, which is borrowed or shared.
    ///
    /// # Errors
    ///
    /// [`ModelError::UnknownLink`] if the link is not known.
    pub fn new(ensemble: impl Into<Shared<'a, Ensemble>>) -> Result<Self, ModelError> {
        let ensemble = ensemble.into();
        match ensemble.link() {
            Some(link) => Ok(Self { ensemble, link }),
            None => Err(ModelError::UnknownLink { objective: ensemble.origin().objective.clone() }),
        }
    }

    /// Returns the link, which is the function from margins to outputs.
    pub fn link(&self) -> Link {
        self.link
    }

    /// Returns the outputs for rows: rows × outputs, row-major.
    ///
    /// # Errors
    ///
    /// The errors of [`Ensemble::margins`].
    pub fn outputs_of(&self, rows: Rows<'_>) -> Result<Vec<f64>, ModelError> {
        let mut outputs = self.ensemble.margins(rows)?;
        self.apply(&mut outputs);
        Ok(outputs)
    }

    fn apply(&self, margins: &mut [f64]) {
        margins.chunks_exact_mut(self.ensemble.output_count()).for_each(|margins| self.link.apply(margins));
    }
}

/// Predicts outputs, in parallel over blocks of rows. Rows are checked as in [`Ensemble::margins`].
impl Model for LinkedEnsemble<'_> {
    fn outputs(&self) -> usize {
        self.ensemble.output_count()
    }

    fn features(&self) -> Option<usize> {
        Some(self.ensemble.feature_count())
    }

    fn is_affine(&self) -> bool {
        self.link == Link::Identity && self.ensemble.is_affine()
    }

    fn predict(&self, rows: Rows<'_>, out: &mut [f64]) -> Result<(), BoxError> {
        self.ensemble.predict(rows, out)?;
        self.apply(out);
        Ok(())
    }
}
