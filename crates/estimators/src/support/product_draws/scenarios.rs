//! The scenario of each draw.

use apportion_games::Game;
use apportion_samplers::{Discrete, Stratified};
use rand_chacha::ChaCha8Rng;

use super::strata::Strata;
use crate::error::Result;

/// The assignment of scenarios to draws.
pub(crate) enum Scenarios {
    /// Drawn independently by weight: the empirical marginal mode.
    Drawn(Discrete),
    /// Drawn by weight within the stratum of the draw.
    Stratified(Stratified, Strata),
    /// Draw d uses scenario d: the true marginal mode.
    Walked,
}

impl Scenarios {
    /// Creates scenarios drawn independently by the weights of `game`.
    pub(crate) fn independent(game: &dyn Game) -> Result<Self> {
        Ok(Self::Drawn(scenario_distribution(game)?))
    }

    /// Creates scenarios drawn by the weights of `game`, each draw within its stratum.
    pub(crate) fn stratified(game: &dyn Game, strata: Strata) -> Result<Self> {
        let distribution = match game.scenario_weights() {
            Some(weights) => Stratified::new(weights)?,
            None => Stratified::uniform(game.scenarios())?,
        };
        Ok(Self::Stratified(distribution, strata))
    }

    /// Returns the scenario of draw number `draw`.
    pub(crate) fn scenario(&self, draw: usize, rng: &mut ChaCha8Rng) -> usize {
        match self {
            Self::Drawn(distribution) => distribution.draw(rng),
            Self::Stratified(distribution, strata) => {
                distribution.draw(strata.stratum(draw), strata.count, rng)
            }
            Self::Walked => draw,
        }
    }
}

/// Returns the distribution of the scenarios of `game`, given by their weights.
pub(crate) fn scenario_distribution(game: &dyn Game) -> Result<Discrete> {
    Ok(match game.scenario_weights() {
        Some(weights) => Discrete::new(weights)?,
        None => Discrete::uniform(game.scenarios())?,
    })
}
