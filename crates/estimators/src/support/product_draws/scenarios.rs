//! In which scenario a draw asks the game.

use apportion_games::Game;
use apportion_samplers::{Discrete, Stratified};
use rand_chacha::ChaCha8Rng;

use super::strata::Strata;
use crate::error::Result;

/// How draws are given their scenarios.
pub(crate) enum Scenarios {
    /// Each draws its own, by the weights: the empirical marginal mode.
    Drawn(Discrete),
    /// Each draws its own in its stratum.
    Stratified(Stratified, Strata),
    /// Draw d has scenario d: the true marginal mode.
    Walked,
}

impl Scenarios {
    /// Drawn by the weights of the scenarios of `game`, each draw for itself.
    pub(crate) fn drawn(game: &dyn Game) -> Result<Self> {
        Ok(Self::Drawn(law_of_scenarios(game)?))
    }

    /// Drawn by the weights of the scenarios of `game`, each draw in its stratum.
    pub(crate) fn stratified(game: &dyn Game, strata: Strata) -> Result<Self> {
        let law = match game.scenario_weights() {
            Some(weights) => Stratified::new(weights)?,
            None => Stratified::uniform(game.scenarios())?,
        };
        Ok(Self::Stratified(law, strata))
    }

    /// The scenario of draw number `draw`.
    pub(crate) fn of(&self, draw: usize, rng: &mut ChaCha8Rng) -> usize {
        match self {
            Self::Drawn(law) => law.draw(rng),
            Self::Stratified(law, strata) => law.draw(strata.of(draw), strata.count, rng),
            Self::Walked => draw,
        }
    }
}

/// The law of one scenario of `game`, by its weights.
pub(crate) fn law_of_scenarios(game: &dyn Game) -> Result<Discrete> {
    Ok(match game.scenario_weights() {
        Some(weights) => Discrete::new(weights)?,
        None => Discrete::uniform(game.scenarios())?,
    })
}
