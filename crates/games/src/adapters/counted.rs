//! An adapter that counts the evaluations of a game.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::coalitions::Coalitions;
use crate::error::GameError;
use crate::game::Game;

/// Adapter that counts the batches and coalitions that are evaluated.
///
/// ```
/// use apportion_games::{Coalitions, Counted, Game, Glove};
///
/// let game = Counted::new(Glove::new(1, 2)?);
/// game.values(&Coalitions::from_masks(3, 0..8), &mut [0.0; 8])?;
/// assert_eq!((game.calls(), game.evaluations()), (1, 8));
/// # Ok::<(), apportion_games::GameError>(())
/// ```
#[derive(Debug)]
pub struct Counted<G> {
    game: G,
    calls: AtomicU64,
    evaluations: AtomicU64,
}

impl<G: Game> Counted<G> {
    /// Wraps `game` with counters at zero.
    pub fn new(game: G) -> Self {
        Self { game, calls: AtomicU64::new(0), evaluations: AtomicU64::new(0) }
    }

    /// Returns the number of batches evaluated, including those that failed.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Returns the number of coalitions evaluated. Repeated coalitions count each time; an evaluation in a
    /// single scenario counts as one.
    pub fn evaluations(&self) -> u64 {
        self.evaluations.load(Ordering::Relaxed)
    }

    /// Returns the wrapped game.
    pub fn inner(&self) -> &G {
        &self.game
    }
}

impl<G: Game> Game for Counted<G> {
    shape_of_inner_game!();

    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.evaluations.fetch_add(batch.len() as u64, Ordering::Relaxed);
        self.game.values(batch, out)
    }

    fn values_in_scenarios(
        &self,
        batch: &Coalitions,
        scenarios: &[usize],
        out: &mut [f64],
    ) -> Result<(), GameError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.evaluations.fetch_add(batch.len() as u64, Ordering::Relaxed);
        self.game.values_in_scenarios(batch, scenarios, out)
    }
}
