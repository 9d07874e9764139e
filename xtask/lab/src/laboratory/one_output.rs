//! A game restricted to one of its outputs.

use apportion::Game;
use apportion::games::{Coalitions, GameError};

/// The game of one output of another game, such as the margin of one class.
pub(crate) struct OneOutput<G> {
    game: G,
    output: usize,
}

impl<G: Game> OneOutput<G> {
    /// Selects output `output` of `game`.
    pub(crate) fn new(game: G, output: usize) -> Self {
        Self { game, output }
    }

    /// Evaluates all outputs of `coalitions`, and keeps the selected one.
    fn pick(
        &self,
        coalitions: usize,
        out: &mut [f64],
        ask: impl FnOnce(&mut [f64]) -> Result<(), GameError>,
    ) -> Result<(), GameError> {
        let outputs = self.game.outputs();
        let mut all = vec![0.0; coalitions * outputs];
        ask(&mut all)?;
        for (value, outputs) in out.iter_mut().zip(all.chunks_exact(outputs)) {
            *value = outputs[self.output];
        }
        Ok(())
    }
}

impl<G: Game> Game for OneOutput<G> {
    fn players(&self) -> usize {
        self.game.players()
    }

    fn rows_per_coalition(&self) -> usize {
        self.game.rows_per_coalition()
    }

    fn parallel(&self) -> bool {
        self.game.parallel()
    }

    fn scenarios(&self) -> usize {
        self.game.scenarios()
    }

    fn scenario_weights(&self) -> Option<&[f64]> {
        self.game.scenario_weights()
    }

    fn values_in_scenarios(
        &self,
        batch: &Coalitions,
        scenarios: &[usize],
        out: &mut [f64],
    ) -> Result<(), GameError> {
        self.pick(batch.len(), out, |all| self.game.values_in_scenarios(batch, scenarios, all))
    }

    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        self.pick(batch.len(), out, |all| self.game.values(batch, all))
    }
}
