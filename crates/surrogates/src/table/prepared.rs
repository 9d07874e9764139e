//! A surrogate that is prepared for its background.

use apportion_games::{Background, Model, Rows};
use apportion_trees::{Exact, MarginalTreeExplainer};
use apportion_values::{Attributions, Value};

use super::hybrids::CheckedModel;
use crate::error::{Result, SurrogateError};
use crate::surrogate::Surrogate;

/// A surrogate with its explainer, and with data of the background rows that predictions need.
pub(crate) struct Prepared<'a> {
    pub(crate) surrogate: &'a Surrogate,
    background: &'a Background,
    trees: MarginalTreeExplainer<'a>,
    /// The bins of the background rows: B × features.
    pub(crate) bins: Vec<u8>,
    /// The summands of the linear part: B × features × outputs.
    pub(crate) summands: Vec<f64>,
    /// The predictions for the background rows: B × outputs.
    pub(crate) predictions: Vec<f64>,
}

impl<'a> Prepared<'a> {
    /// Prepares a surrogate that was learned with this background.
    pub(crate) fn new(surrogate: &'a Surrogate, background: &'a Background) -> Result<Self> {
        let rows = background.as_rows();
        let size = surrogate.features() * surrogate.outputs();
        let mut summands = vec![0.0; rows.len() * size];
        for (row, out) in rows.iter().zip(summands.chunks_exact_mut(size)) {
            surrogate.linear.summands(row, out);
        }
        let trees = surrogate.tree_explainer(background)?;
        let (bins, predictions) = (surrogate.forest.bins.bins(rows), surrogate.predict(rows)?);
        Ok(Self { surrogate, background, trees, bins, summands, predictions })
    }

    /// Prepares a surrogate for a model, and returns the outputs of the model for the background rows (B ×
    /// outputs) as well.
    pub(crate) fn for_model<M: Model + ?Sized>(
        surrogate: &'a Surrogate,
        model: &CheckedModel<'_, M>,
        background: &'a Background,
    ) -> Result<(Self, Vec<f64>)> {
        let shapes = [
            ("feature", background.columns(), surrogate.features()),
            ("output", model.outputs, surrogate.outputs()),
        ];
        for (what, actual, expected) in shapes {
            if actual != expected {
                return Err(SurrogateError::OtherShape { what, actual, expected });
            }
        }
        let prepared = Self::new(surrogate, background)?;
        Ok((prepared, model.predict(background.as_rows(), "background row")?))
    }

    /// Returns the exact values of the surrogate for rows.
    pub(crate) fn values(&self, value: &Value, rows: Rows<'_>) -> Result<Attributions> {
        let mut found = self.trees.values_of(value, rows)?;
        self.surrogate.add_linear(value, self.background, rows, &mut found);
        Ok(found)
    }
}
