//! A classifier's probabilities as a model.

use apportion_games::{BoxError, Changes, GameError, Model, NearReference, Rows};

use super::outputs::{Outputs, probabilities_of_logits};

/// The class probabilities of a model whose outputs are logits, as a model.
///
/// A game averages the outputs of its model over reference rows. For the empirical average in section 2.1 of
/// Chen, Song, Wainwright and Jordan (2019), these outputs must be probabilities, because the logarithm of an
/// average is not the average of logarithms. For a model with a single logit, the outputs are the
/// probabilities of classes 0 and 1. For a model with k logits, there are k outputs.
///
/// ```
/// use apportion_games::{Background, Coalitions, Game};
/// use apportion_media::{Masked, MediaError, Outputs, Probabilities, Score, ScoredGame};
///
/// let logit = |row: &[f64]| row[0] + 2.0 * row[1];
/// let references = Background::rows([0.0, 0.0, -1.0, 3.0], 2)?;
/// let masked = Masked::new(vec![1.0, 1.0], references, vec![vec![0], vec![1]])?;
/// let probabilities = Probabilities::new(&logit);
/// let game = masked.game(&probabilities)?;
/// let scored = ScoredGame::new(&game, Outputs::Probabilities, Score::LogProbability { class: 1 })?;
///
/// let mut value = [0.0];
/// scored.values(&Coalitions::from_masks(2, [0b00]), &mut value)?;
/// let sigmoid = |z: f64| 1.0 / (1.0 + (-z).exp());
/// assert!((value[0] - ((sigmoid(0.0) + sigmoid(5.0)) / 2.0).ln()).abs() < 1e-15);
/// # Ok::<(), MediaError>(())
/// ```
pub struct Probabilities<'a, M: ?Sized> {
    model: &'a M,
    logits: usize,
}

impl<'a, M: Model + ?Sized> Probabilities<'a, M> {
    /// Creates the model that predicts the class probabilities of `model`, whose outputs are logits.
    pub fn new(model: &'a M) -> Self {
        Self { model, logits: model.outputs() }
    }
}

/// Omits the model, which may not implement `Debug`.
impl<M: ?Sized> std::fmt::Debug for Probabilities<'_, M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Probabilities").field("logits", &self.logits).finish_non_exhaustive()
    }
}

impl<M: Model + ?Sized> Model for Probabilities<'_, M> {
    fn outputs(&self) -> usize {
        Outputs::Logits.classes(self.logits)
    }

    fn features(&self) -> Option<usize> {
        self.model.features()
    }

    fn parallel(&self) -> bool {
        self.model.parallel()
    }

    fn rows_per_call(&self) -> usize {
        self.model.rows_per_call()
    }

    fn near(&self, reference: &[f64]) -> Option<Box<dyn NearReference>> {
        let near = self.model.near(reference)?;
        Some(Box::new(NearProbabilities { near, logits: self.logits }))
    }

    fn predict(&self, rows: Rows<'_>, out: &mut [f64]) -> Result<(), BoxError> {
        through_logits(self.logits, out, |logits| self.model.predict(rows, logits))
    }
}

/// The probabilities of rows near a reference row.
struct NearProbabilities {
    near: Box<dyn NearReference>,
    logits: usize,
}

impl NearReference for NearProbabilities {
    fn max_changes(&self) -> usize {
        self.near.max_changes()
    }

    fn predict(&self, rows: &Changes, out: &mut [f64]) -> Result<(), BoxError> {
        through_logits(self.logits, out, |logits| self.near.predict(rows, logits))
    }
}

/// Calls `predict`, which writes `logits` logits per row, and writes the corresponding probabilities.
///
/// A logit that is not finite is copied to the output, so that the game reports it. Its probability would be
/// NaN, or a plausible number.
fn through_logits(
    logits: usize,
    out: &mut [f64],
    predict: impl FnOnce(&mut [f64]) -> Result<(), BoxError>,
) -> Result<(), BoxError> {
    if logits == 0 {
        return Err(Box::new(GameError::Parameter {
            what: "a model must have at least one output".to_owned(),
        }));
    }
    let classes = Outputs::Logits.classes(logits);
    let mut predictions = vec![f64::NAN; out.len() / classes * logits];
    predict(&mut predictions)?;
    for (logits, out) in predictions.chunks_exact(logits).zip(out.chunks_exact_mut(classes)) {
        match logits.iter().find(|z| !z.is_finite()) {
            Some(z) => out.fill(*z),
            None => probabilities_of_logits(logits, out),
        }
    }
    Ok(())
}
