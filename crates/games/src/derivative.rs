//! The derivative of a game with respect to a player: its marginal contributions to coalitions of the other
//! players.

use crate::coalition::Coalition;
use crate::coalitions::Coalitions;
use crate::error::GameError;
use crate::game::Game;
use crate::phrases::expected_index;
use crate::sub_game::SubGame;

/// The marginal contributions of a player j, as a game of the other players.
///
/// ```text
/// ∂_j v(S) = v(S ∪ {j}) − v(S),    S ⊆ N∖{j}
/// ```
///
/// A semivalue of this game yields the interaction indices of j with each other player: `I_ij = Σ_S p(|S|)
/// (∂_i ∂_j v)(S)` over S ⊆ N∖{i, j}, where p are the weights of the semivalue in a game of n − 1 players.
/// Therefore every method that computes values also computes the interaction indices of all pairs that
/// contain player j, with standard errors, tolerances and certificates. Evaluating a coalition takes two
/// evaluations of v. Error messages refer to coalitions of the original game v.
///
/// ```
/// use apportion_games::{DerivativeGame, Game, SumOfUnanimity, TabulatedGame};
///
/// let game = DerivativeGame::new(SumOfUnanimity::unanimity(3, [0, 2])?, 2)?;
/// assert_eq!(game.others(), [0, 1]);
/// assert_eq!(TabulatedGame::from_game(&game)?.values_in_order(), [0.0, 1.0, 0.0, 1.0]);
/// # Ok::<(), apportion_games::GameError>(())
/// ```
#[derive(Debug, Clone)]
pub struct DerivativeGame<G> {
    absent: SubGame<G>,
    present: SubGame<G>,
}

impl<G: Game + Clone> DerivativeGame<G> {
    /// Creates the derivative of `game` with respect to `player`.
    ///
    /// # Errors
    ///
    /// [`GameError::Parameter`] if the player does not exist.
    pub fn new(game: G, player: usize) -> Result<Self, GameError> {
        let players = game.players();
        if player >= players {
            let what =
                format!("unknown player {player} for a derivative; {}", expected_index(players, "player"));
            return Err(GameError::Parameter { what });
        }
        let absent = SubGame::without(game, Coalition::from_members(players, [player]).view());
        Ok(Self { present: absent.clone().with_others_present(), absent })
    }
}

impl<G: Game> DerivativeGame<G> {
    /// Returns the players: player `k` of this game is player `others()[k]` of v.
    pub fn others(&self) -> &[usize] {
        self.absent.keep()
    }

    fn difference(
        &self,
        out: &mut [f64],
        values: impl Fn(&SubGame<G>, &mut [f64]) -> Result<(), GameError>,
    ) -> Result<(), GameError> {
        values(&self.present, out)?;
        let mut without = vec![0.0; out.len()];
        values(&self.absent, &mut without)?;
        out.iter_mut().zip(without).for_each(|(with, without)| *with -= without);
        Ok(())
    }
}

impl<G: Game> Game for DerivativeGame<G> {
    fn players(&self) -> usize {
        self.absent.players()
    }

    fn outputs(&self) -> usize {
        self.absent.outputs()
    }

    fn rows_per_coalition(&self) -> usize {
        2 * self.absent.rows_per_coalition()
    }

    fn parallel(&self) -> bool {
        self.absent.parallel()
    }

    fn scenarios(&self) -> usize {
        self.absent.scenarios()
    }

    fn scenario_weights(&self) -> Option<&[f64]> {
        self.absent.scenario_weights()
    }

    fn values_in_scenarios(
        &self,
        batch: &Coalitions,
        scenarios: &[usize],
        out: &mut [f64],
    ) -> Result<(), GameError> {
        self.difference(out, |game, out| game.values_in_scenarios(batch, scenarios, out))
    }

    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        self.difference(out, |game, out| game.values(batch, out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Background, MarginalGame, TabulatedGame};

    #[test]
    fn it_is_the_difference_of_the_game_with_the_player_and_without() {
        let game = TabulatedGame::from_fn(4, |mask| (mask * mask % 11) as f64).unwrap();
        for player in 0..4 {
            let derivative = DerivativeGame::new(&game, player).unwrap();
            let table = TabulatedGame::from_game(&derivative).unwrap();
            for (mask, value) in table.values_in_order().iter().enumerate() {
                let low = mask & ((1 << player) - 1);
                let without = low | (mask - low) << 1;
                let of = |mask: usize| game.values_in_order()[mask];
                assert_eq!(*value, of(without | 1 << player) - of(without), "{player} {mask}");
            }
        }
        assert!(DerivativeGame::new(&game, 4).unwrap_err().to_string().contains("0 to 3"));
    }

    #[test]
    fn scenarios_are_those_of_the_game() {
        let model = |row: &[f64]| row[0] * row[1] + row[2];
        let background = Background::rows([0.0, 1.0, 2.0, 3.0, 4.0, 5.0], 3).unwrap();
        let game = MarginalGame::new(&model, &[1.0, 2.0, 3.0], &background).unwrap();
        let derivative = DerivativeGame::new(&game, 0).unwrap();
        assert_eq!((derivative.scenarios(), derivative.rows_per_coalition()), (2, 4));
        let batch = Coalitions::from_masks(2, [0, 1, 0, 1]);
        let mut values = [0.0; 4];
        derivative.values_in_scenarios(&batch, &[0, 0, 1, 1], &mut values).unwrap();
        // The expected values are (1 − 0) · 1, (1 − 0) · 2, (1 − 3) · 4 and (1 − 3) · 2.
        assert_eq!(values, [1.0, 2.0, -8.0, -4.0]);
    }
}
