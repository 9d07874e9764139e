//! The dual game, in which a coalition is removed from the set of all players instead of added to the empty
//! set.
//!
//! ```text
//! v*(S) = v(N) − v(N \ S)
//! ```
//!
//! In v(N \ S), the players outside S are present. The Shapley values of v* and v are equal. Applying
//! L-Shapley to v* therefore means applying it to v with the players outside neighbourhoods present.
//! Likewise, the regression of section 4.3.2, which has no neighbourhoods, treats the players outside a
//! coalition as present when applied to v*.

use apportion::Game;
use apportion::games::{Coalitions, GameError};

/// The dual of a game, minus v(N), which cancels in all differences of values.
pub(super) struct Dual<'g>(pub(super) &'g dyn Game);

impl Game for Dual<'_> {
    fn players(&self) -> usize {
        self.0.players()
    }

    fn outputs(&self) -> usize {
        self.0.outputs()
    }

    fn rows_per_coalition(&self) -> usize {
        self.0.rows_per_coalition()
    }

    fn parallel(&self) -> bool {
        self.0.parallel()
    }

    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        let mut others = Coalitions::with_capacity(self.players(), batch.len());
        batch.iter().for_each(|coalition| others.push(coalition.complement().view()));
        self.0.values(&others, out)?;
        out.iter_mut().for_each(|value| *value = -*value);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion::Semivalue;
    use apportion::games::{Graph, TabulatedGame};
    use apportion::values::{GraphValue, Outside, enumerate};

    fn game() -> TabulatedGame {
        TabulatedGame::from_fn(6, |mask| (mask as f64 * 1.7).sin() + (mask as f64).sqrt()).unwrap()
    }

    #[test]
    fn coalitions_are_worth_what_all_lose_without_them() {
        let game = game();
        let dual = TabulatedGame::from_game(&Dual(&game)).unwrap();
        for mask in 0..64 {
            let lost = game.value(63)[0] - game.value(63 - mask)[0];
            assert!((dual.value(mask)[0] - dual.value(0)[0] - lost).abs() < 1e-14);
        }
    }

    #[test]
    fn the_dual_has_the_shapley_values_and_the_local_ones_with_others_present() {
        let game = game();
        let close = |one: &[f64], other: &[f64]| {
            one.iter().zip(other).for_each(|(one, other)| assert!((one - other).abs() < 1e-13));
        };
        let shapley = |game: &dyn Game| enumerate(game, Semivalue::Shapley).unwrap().values;
        close(&shapley(&Dual(&game)), &shapley(&game));
        for graph in [Graph::line(6), Graph::grid(2, 3, Default::default())] {
            for order in 0..3 {
                let absent = GraphValue::l_shapley(order);
                let present = absent.clone().with_outside(Outside::Present);
                let of_dual = absent.enumerate(&Dual(&game), &graph).unwrap().values;
                close(&of_dual, &present.enumerate(&game, &graph).unwrap().values);
            }
        }
    }
}
