//! Ensembles whose outputs are losses.

use super::{Ensemble, Link};
use crate::error::ModelError;

impl Ensemble {
    /// Replaces the link, so that the output is the loss of the prediction for a row with the true target y:
    ///
    /// | link of the model | y | output |
    /// |---|---|---|
    /// | [`Link::Logistic`], one output | 0 or 1 | `−ln p` of the probability p of y |
    /// | [`Link::Softmax`] | a class, from 0 | the losses for all classes: output k is `−ln p_k`, the loss of rows of class k. The outputs do not depend on y |
    /// | [`Link::Identity`], one output | a number | `(f(x) − y)²` |
    ///
    /// The loss is explained by the marginal game `v(S) = Σ_b w_b loss(y, f(x_S, b_{N∖S}))`, like any other
    /// output after a [link](Self::link). The attribution of a feature is its contribution to the loss of the
    /// row. The contribution is negative if the feature improves the prediction. For the log loss, the
    /// attributions are the exact values of shap's `model_output="log_loss"`. The same model can explain all
    /// rows with this target.
    ///
    /// ```
    /// use apportion_games::{Model, Rows};
    /// use apportion_models::Ensemble;
    ///
    /// let model = Ensemble::from_path("tests/fixtures/iris_xgb_softprob.json.gz")?;
    /// let row = [5.9, 3.0, 5.1, 1.8];
    /// let (mut probabilities, mut losses) = ([0.0; 3], [0.0; 3]);
    /// model.linked()?.predict(Rows::new(&row, 4), &mut probabilities).unwrap();
    /// model.clone().with_loss(2.0)?.linked()?.predict(Rows::new(&row, 4), &mut losses).unwrap();
    /// assert!((losses[2] + probabilities[2].ln()).abs() < 1e-12);
    /// # Ok::<(), apportion_models::ModelError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ModelError::UnknownLink`] if the link is not known, [`ModelError::NoLoss`] for a model or target
    /// that is not listed above.
    pub fn with_loss(mut self, target: f64) -> Result<Self, ModelError> {
        let Some(link) = self.link else {
            return Err(ModelError::UnknownLink { objective: self.origin().objective.clone() });
        };
        let outputs = self.output_count();
        let loss = match link {
            Link::Logistic { steepness } if outputs == 1 => match target {
                1.0 => Ok(Link::LogLoss { steepness }),
                0.0 => Ok(Link::LogLoss { steepness: -steepness }),
                _ => Err("0 or 1"),
            },
            Link::Softmax if (0..outputs).any(|class| class as f64 == target) => Ok(Link::LogLosses),
            Link::Softmax => Err("the index of a class, from 0"),
            Link::Identity if outputs == 1 && target.is_finite() => Ok(Link::SquaredError { target }),
            Link::Identity if outputs == 1 => Err("a finite number"),
            _ => Err("a classifier with a logistic or softmax link, or a regression model with one output"),
        };
        let loss = loss.map_err(|expected| ModelError::NoLoss { target, link: link.name(), expected })?;
        self.link = Some(loss);
        Ok(self)
    }
}
