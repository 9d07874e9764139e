//! An ensemble whose predictions are its outputs.

use apportion_games::{BoxError, Model, Rows, Shared};

use crate::ensemble::{Ensemble, Link};
use crate::error::ModelError;

/// An ensemble as the [`Model`] of its outputs: probabilities, rates, scores in the place of margins.
///
/// An estimator may explain it where exact values behind the link (`LinkedOracle` of the crate `apportion-trees`) would take too long: they
/// are those of the marginal game of this model.
#[derive(Debug, Clone)]
pub struct LinkedEnsemble<'a> {
    ensemble: Shared<'a, Ensemble>,
    link: Link,
}

impl Ensemble {
    /// The model whose predictions are g(f(x)), with g the [link](Self::link).
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
    /// [`ModelError::UnknownLink`] where the link is not known.
    pub fn linked(&self) -> Result<LinkedEnsemble<'_>, ModelError> {
        LinkedEnsemble::new(self)
    }
}

impl<'a> LinkedEnsemble<'a> {
    /// The model of the outputs of `ensemble`, which it borrows or shares.
    ///
    /// # Errors
    ///
    /// [`ModelError::UnknownLink`] where the link is not known.
    pub fn new(ensemble: impl Into<Shared<'a, Ensemble>>) -> Result<Self, ModelError> {
        let ensemble = ensemble.into();
        match ensemble.link() {
            Some(link) => Ok(Self { ensemble, link }),
            None => Err(ModelError::UnknownLink { objective: ensemble.origin().objective.clone() }),
        }
    }

    /// How margins become outputs.
    pub fn link(&self) -> Link {
        self.link
    }

    /// The outputs of rows: rows × outputs, row-major.
    ///
    /// # Errors
    ///
    /// As [`Ensemble::margins`].
    pub fn outputs_of(&self, rows: Rows<'_>) -> Result<Vec<f64>, ModelError> {
        let mut outputs = self.ensemble.margins(rows)?;
        self.apply(&mut outputs);
        Ok(outputs)
    }

    fn apply(&self, margins: &mut [f64]) {
        margins.chunks_exact_mut(self.ensemble.output_count()).for_each(|margins| self.link.apply(margins));
    }
}

/// Outputs, in parallel over blocks of rows. Rows are checked as in [`Ensemble::margins`].
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
