//! The base value and the prediction of a row.

use apportion_games::Coalitions;

use super::Explainer;
use crate::error::ExplainError;

/// The base value and the prediction for a row.
#[derive(Debug, Clone, PartialEq)]
pub struct Ends {
    /// v(∅) for each output; `None` in conditional games, in which it depends on draws.
    pub base: Option<Vec<f64>>,
    /// v(N) for each output: the prediction for the row.
    pub prediction: Vec<f64>,
}

impl Explainer<'_> {
    /// Returns the base value and the prediction for a row. This requires one prediction for the row and one
    /// for each background row.
    ///
    /// Use it to check that stored explanations still match the model before reusing them.
    ///
    /// ```
    /// use apportion::{Background, Explainer};
    ///
    /// let model = |row: &[f64]| row[0] + 2.0 * row[1];
    /// let background = Background::rows(&[0.0, 0.0, 2.0, 0.0], 2)?;
    /// let ends = Explainer::new(&model, background).ends(&[1.0, 1.0])?;
    /// assert_eq!((ends.base, ends.prediction), (Some(vec![1.0]), vec![3.0]));
    /// # Ok::<(), apportion::ExplainError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`explain`](Self::explain) if the row is invalid or the model fails.
    pub fn ends(&self, explicand: &[f64]) -> Result<Ends, ExplainError> {
        #[cfg(feature = "conditional")]
        if let crate::source::Source::Conditional(model, _) = &self.source {
            let mut prediction = vec![0.0; model.outputs()];
            let row = apportion_games::Rows::try_new(explicand, explicand.len().max(1))?;
            let failed = |source| apportion_games::GameError::Model {
                coalition: apportion_games::Coalition::full(row.columns()),
                source,
            };
            model.predict(row, &mut prediction).map_err(failed)?;
            return Ok(Ends { base: None, prediction });
        }
        let (game, _) = self.source.game(explicand)?;
        let mut batch = Coalitions::with_capacity(game.players(), 2);
        batch.push_empty();
        batch.push_full();
        let mut base = vec![0.0; 2 * game.outputs()];
        game.values(&batch, &mut base)?;
        let prediction = base.split_off(game.outputs());
        Ok(Ends { base: Some(base), prediction })
    }
}
