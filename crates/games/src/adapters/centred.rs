//! An adapter that subtracts the value of the empty coalition.

use crate::coalitions::Coalitions;
use crate::error::GameError;
use crate::game::{Game, check_finite};

/// The game `v(S) − v(∅)`, in which the empty coalition has the value zero, as textbooks define a game.
///
/// ```
/// use apportion_games::{Centred, Coalitions, Game, TabulatedGame};
///
/// let game = Centred::new(TabulatedGame::new(vec![5.0, 7.0], 1)?)?;
/// let mut values = [0.0; 2];
/// game.values(&Coalitions::from_masks(1, [0, 1]), &mut values)?;
/// assert_eq!((values, game.base()), ([0.0, 2.0], &[5.0][..]));
/// # Ok::<(), apportion_games::GameError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Centred<G> {
    game: G,
    base: Vec<f64>,
}

impl<G: Game> Centred<G> {
    /// Creates the centred game; evaluates v(∅) once.
    ///
    /// # Errors
    ///
    /// Any error of the game.
    pub fn new(game: G) -> Result<Self, GameError> {
        let mut empty = Coalitions::new(game.players());
        empty.push_empty();
        let mut base = vec![0.0; game.outputs()];
        game.values(&empty, &mut base)?;
        Ok(Self { game, base })
    }

    /// Returns v(∅): one number per output.
    pub fn base(&self) -> &[f64] {
        &self.base
    }

    fn centre(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        for out in out.chunks_exact_mut(self.base.len()) {
            out.iter_mut().zip(&self.base).for_each(|(value, base)| *value -= base);
        }
        // The difference of two finite numbers may overflow.
        check_finite(batch, self.base.len(), out)
    }

    /// Returns the original game.
    pub fn inner(&self) -> &G {
        &self.game
    }
}

impl<G: Game> Game for Centred<G> {
    shape_of_inner_game!();

    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        self.game.values(batch, out)?;
        self.centre(batch, out)
    }

    fn values_in_scenarios(
        &self,
        batch: &Coalitions,
        scenarios: &[usize],
        out: &mut [f64],
    ) -> Result<(), GameError> {
        self.game.values_in_scenarios(batch, scenarios, out)?;
        self.centre(batch, out)
    }
}
