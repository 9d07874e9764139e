//! In which scenario a draw asks the game.

use apportion_games::Game;
use apportion_samplers::Discrete;
use rand_chacha::ChaCha8Rng;

use crate::error::EstimatorError;

/// How draws are given their scenarios.
pub(crate) enum Scenarios {
    /// Each draws its own, by the weights: the empirical marginal mode.
    Drawn(Discrete),
    /// Draw d has scenario d: the true marginal mode.
    Walked,
}

impl Scenarios {
    /// Drawn by the weights of the scenarios of `game`.
    pub(crate) fn drawn(game: &dyn Game) -> Result<Self, EstimatorError> {
        let law = match game.scenario_weights() {
            Some(weights) => Discrete::new(weights)?,
            None => Discrete::uniform(game.scenarios())?,
        };
        Ok(Self::Drawn(law))
    }

    /// The scenario of draw number `draw`.
    pub(crate) fn of(&self, draw: usize, rng: &mut ChaCha8Rng) -> usize {
        match self {
            Self::Drawn(law) => law.draw(rng),
            Self::Walked => draw,
        }
    }
}
