//! Games of signs.

use apportion_games::{Coalitions, Game, GameError};

/// An output, as a function of the sign of each player.
pub(crate) type Output = fn(&dyn Fn(usize) -> f64) -> f64;

/// A game whose outputs are functions of the players' signs.
pub(crate) struct SignGame {
    pub(crate) players: usize,
    pub(crate) outputs: Vec<Output>,
}

impl Game for SignGame {
    fn players(&self) -> usize {
        self.players
    }
    fn outputs(&self) -> usize {
        self.outputs.len()
    }
    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        for (row, out) in batch.iter().zip(out.chunks_exact_mut(self.outputs.len())) {
            let sign = |player: usize| if row.contains(player) { 1.0 } else { -1.0 };
            out.iter_mut().zip(&self.outputs).for_each(|(out, output)| *out = output(&sign));
        }
        Ok(())
    }
}
