//! The game of a classifier score.

use apportion_games::{Coalitions, Game, GameError};

use super::{Outputs, Score};
use crate::error::MediaError;

/// A game whose coalition values are scores: each is a single number, computed from a classifier's outputs
/// for the coalition.
///
/// An evaluation takes the time of the underlying game, plus time proportional to the number of classes. If
/// that game averages probabilities over reference rows, this game still has a single scenario, because the
/// score of an average is not an average.
///
/// ```
/// use apportion_games::{Coalitions, Game, TabulatedGame};
/// use apportion_media::{MediaError, Outputs, Score, ScoredGame};
///
/// // Two players, two logits.
/// let logits = TabulatedGame::new(vec![0.0, 0.0, 1.0, -1.0, 0.0, 3.0, 2.0, 2.0], 2)?;
/// let scored = ScoredGame::new(logits, Outputs::Logits, Score::LogOdds { class: 0 })?;
/// let mut values = [0.0; 4];
/// scored.values(&Coalitions::from_masks(2, 0..4), &mut values)?;
/// assert_eq!(values, [0.0, 2.0, -3.0, 0.0]);
/// # Ok::<(), MediaError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ScoredGame<G> {
    game: G,
    outputs: Outputs,
    score: Score,
}

impl<G: Game> ScoredGame<G> {
    /// Creates the game of `score`, given a `game` whose outputs are of the kind `outputs`.
    ///
    /// # Errors
    ///
    /// [`MediaError::NoSuchClass`] and [`MediaError::ClassDistribution`] if the score does not fit the number
    /// of classes; [`MediaError::AveragedLogits`] if the game averages logits over several rows or draws
    /// (build it from [`Probabilities`](crate::Probabilities) of the model).
    pub fn new(game: G, outputs: Outputs, score: Score) -> Result<Self, MediaError> {
        score.check(outputs.classes(game.outputs()))?;
        match (outputs, game.scenarios()) {
            (Outputs::Logits, scenarios) if scenarios > 1 => Err(MediaError::AveragedLogits { scenarios }),
            _ => Ok(Self { game, outputs, score }),
        }
    }

    /// Returns the underlying game of the classifier's outputs.
    pub fn inner(&self) -> &G {
        &self.game
    }

    /// Returns the score that defines the coalition values.
    pub fn score(&self) -> &Score {
        &self.score
    }
}

impl<G: Game> Game for ScoredGame<G> {
    fn players(&self) -> usize {
        self.game.players()
    }

    fn rows_per_coalition(&self) -> usize {
        self.game.rows_per_coalition()
    }

    fn parallel(&self) -> bool {
        self.game.parallel()
    }

    /// Fails with [`GameError::Model`] if the outputs are not of the declared kind, and with
    /// [`GameError::NotFinite`] for the logarithm of 0.
    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        assert_eq!(out.len(), batch.len(), "`out` must hold one value per coalition");
        let k = self.game.outputs();
        let mut outputs = vec![0.0; batch.len() * k];
        self.game.values(batch, &mut outputs)?;
        for ((coalition, outputs), value) in batch.iter().zip(outputs.chunks_exact(k)).zip(out) {
            self.outputs.check(outputs).map_err(|problem| GameError::Model {
                coalition: coalition.to_coalition(),
                source: Box::new(problem),
            })?;
            *value = self.score.unchecked(self.outputs, outputs);
            if !value.is_finite() {
                let coalition = coalition.to_coalition();
                return Err(GameError::NotFinite { coalition, output: 0, value: *value });
            }
        }
        Ok(())
    }
}
