//! The scenario of each draw.

use apportion_games::Game;
use apportion_samplers::{Discrete, Stratified};
use rand_chacha::ChaCha8Rng;

use super::strata::Strata;
use crate::error::Result;

/// How scenarios are assigned to draws.
pub(crate) enum Scenarios {
    /// Independently drawn by weight: the empirical marginal mode.
    Drawn(Discrete),
    /// Drawn by weight within the stratum of the draw.
    Stratified(Stratified, Strata),
    /// Draw d uses scenario d: the true marginal mode.
    Walked,
}

impl Scenarios {
    /// Creates scenarios drawn independently by the weights of `game`.
    pub(crate) fn drawn(game: &dyn Game) -> Result<Self> {
        Ok(Self::Drawn(law_of_scenarios(game)?))
    }

    /// Creates scenarios drawn by the weights of `game`, each draw within its stratum.
    pub(crate) fn stratified(game: &dyn Game, strata: Strata) -> Result<Self> {
        let law = match game.scenario_weights() {
            Some(weights) => Stratified::new(weights)?,
            None => Stratified::uniform(game.scenarios())?,
        };
        Ok(Self::Stratified(law, strata))
    }

    /// Returns the scenario of draw number `draw`.
    pub(crate) fn of(&self, draw: usize, rng: &mut ChaCha8Rng) -> usize {
        match self {
            Self::Drawn(law) => law.draw(rng),
            Self::Stratified(law, strata) => law.draw(strata.of(draw), strata.count, rng),
            Self::Walked => draw,
        }
    }
}

/// Returns the distribution of a scenario of `game`, by its weights.
pub(crate) fn law_of_scenarios(game: &dyn Game) -> Result<Discrete> {
    Ok(match game.scenario_weights() {
        Some(weights) => Discrete::new(weights)?,
        None => Discrete::uniform(game.scenarios())?,
    })
}
