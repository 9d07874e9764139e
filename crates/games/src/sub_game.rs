//! Sub-games: a game restricted to some of its players. The other players are always absent or always
//! present.
//!
//! # Notation
//!
//! `K` is the list of kept players, `R = N∖K` the set of removed ones. Player `j` of the sub-game is player
//! `K[j]` of the original game.
//!
//! ```text
//! v_K(S) = v(S)        if the removed players are absent (the restriction of v to K)
//! v_K(S) = v(S ∪ R)    if the removed players are present
//! ```

use crate::coalition::{Coalition, CoalitionView};
use crate::coalitions::Coalitions;
use crate::error::GameError;
use crate::game::Game;
use crate::phrases::expected_index;

/// A game restricted to some of its players.
///
/// A sub-game without players is allowed: its only coalition is the empty one. Methods that compute
/// attributions reject it, and [`expand`](Self::expand) of an empty slice returns zeros. Errors refer to
/// coalitions of the original game.
///
/// ```
/// use apportion_games::{Additive, Coalitions, Game, SubGame};
///
/// let game = SubGame::new(Additive::new([1.0, 10.0, 100.0])?, &[2, 0])?;
/// let mut values = [0.0; 4];
/// game.values(&Coalitions::from_masks(2, 0..4), &mut values)?;
/// assert_eq!(values, [0.0, 100.0, 1.0, 101.0]);
/// // The values of players 2 and 0, expanded to all three players.
/// assert_eq!(game.expand(&[100.0, 1.0]), [1.0, 0.0, 100.0]);
/// # Ok::<(), apportion_games::GameError>(())
/// ```
#[derive(Debug, Clone)]
pub struct SubGame<G> {
    game: G,
    keep: Vec<usize>,
    /// The removed players that are members of every coalition: all of them or none.
    others: Coalition,
}

impl<G: Game> SubGame<G> {
    /// Restricts `game` to the players `keep`, in that order; the others are absent.
    ///
    /// # Errors
    ///
    /// [`GameError::Parameter`] if a player of `keep` does not exist or is listed twice.
    pub fn new(game: G, keep: &[usize]) -> Result<Self, GameError> {
        let players = game.players();
        let mut seen = Coalition::empty(players);
        for &player in keep {
            if player >= players {
                return Err(GameError::Parameter {
                    what: format!(
                        "unknown player {player} for a sub-game; {}",
                        expected_index(players, "player")
                    ),
                });
            }
            if seen.view().contains(player) {
                return Err(GameError::Parameter {
                    what: format!("player {player} is listed twice; list each player once"),
                });
            }
            seen.insert(player);
        }
        Ok(Self::of_checked(game, keep.to_vec()))
    }

    /// Restricts `game` to the players that are not in `absent`, in ascending order.
    ///
    /// # Panics
    ///
    /// If `absent` and the game have different numbers of players.
    pub fn without(game: G, absent: CoalitionView<'_>) -> Self {
        assert_eq!(absent.players(), game.players(), "the coalition belongs to another game");
        let keep = absent.complement().view().members().collect();
        Self::of_checked(game, keep)
    }

    /// Creates the sub-game without checks: the players in `keep` must be distinct and exist.
    fn of_checked(game: G, keep: Vec<usize>) -> Self {
        let others = Coalition::empty(game.players());
        Self { game, keep, others }
    }

    /// Makes the removed players present in every coalition.
    pub fn with_others_present(mut self) -> Self {
        let kept = Coalition::from_members(self.game.players(), self.keep.iter().copied());
        self.others = kept.view().complement();
        self
    }

    /// Returns the kept players: player `j` of this game is player `keep()[j]` of the original game.
    pub fn keep(&self) -> &[usize] {
        &self.keep
    }

    /// Returns the original game.
    pub fn inner(&self) -> &G {
        &self.game
    }

    /// Expands the kept players' values (players × k, row-major) to values for all n players (n × k), with
    /// zeros for the removed ones.
    ///
    /// # Panics
    ///
    /// If the length of `values` is not players × outputs of this game.
    pub fn expand(&self, values: &[f64]) -> Vec<f64> {
        let outputs = self.game.outputs();
        assert_eq!(
            values.len(),
            self.keep.len() * outputs,
            "expected one number per remaining player and output"
        );
        let mut all = vec![0.0; self.game.players() * outputs];
        for (row, &player) in values.chunks_exact(outputs).zip(&self.keep) {
            all[player * outputs..(player + 1) * outputs].copy_from_slice(row);
        }
        all
    }

    /// Converts coalitions of the sub-game to coalitions of the original game.
    fn lift(&self, batch: &Coalitions) -> Coalitions {
        let mut lifted = Coalitions::with_capacity(self.game.players(), batch.len());
        let mut words = self.others.view().words().to_vec();
        for row in batch.iter() {
            words.copy_from_slice(self.others.view().words());
            for member in row.members() {
                let player = self.keep[member];
                words[player / 64] |= 1 << (player % 64);
            }
            lifted.push_words(&words);
        }
        lifted
    }
}

impl<G: Game> Game for SubGame<G> {
    fn players(&self) -> usize {
        self.keep.len()
    }

    cost_of_inner_game!();

    fn values_in_scenarios(
        &self,
        batch: &Coalitions,
        scenarios: &[usize],
        out: &mut [f64],
    ) -> Result<(), GameError> {
        self.game.values_in_scenarios(&self.lift(batch), scenarios, out)
    }

    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        assert_eq!(batch.players(), self.players(), "the coalitions belong to another game");
        self.game.values(&self.lift(batch), out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Additive, SumOfUnanimity, TabulatedGame};

    fn table_of(game: &impl Game) -> Vec<f64> {
        TabulatedGame::from_game(game).unwrap().values_in_order().to_vec()
    }

    #[test]
    fn the_rest_is_absent_or_present_as_asked() {
        let game = TabulatedGame::from_fn(3, |mask| mask as f64).unwrap();
        let absent = SubGame::new(&game, &[0, 2]).unwrap();
        assert_eq!(table_of(&absent), [0.0, 1.0, 4.0, 5.0]);
        assert_eq!(table_of(&absent.with_others_present()), [2.0, 3.0, 6.0, 7.0]);
    }

    #[test]
    fn players_beyond_the_first_words_are_found() {
        let game = SumOfUnanimity::unanimity(200, [3, 70, 199]).unwrap();
        let sub = SubGame::new(&game, &[199, 5, 70, 3]).unwrap();
        let veto = |mask: usize| f64::from(u8::from(mask & 0b1101 == 0b1101));
        assert_eq!(table_of(&sub), (0..16).map(veto).collect::<Vec<_>>());
    }

    #[test]
    fn taking_players_out_keeps_the_others() {
        for players in [1, 3, 64, 130] {
            let game = Additive::new(vec![1.0; players]).unwrap();
            let absent = Coalition::from_members(players, (0..players).step_by(2));
            let kept: Vec<usize> = (1..players).step_by(2).collect();
            assert_eq!(SubGame::without(&game, absent.view()).keep(), kept, "{players} players");
        }
    }

    #[test]
    fn a_sub_game_of_no_players_has_one_coalition() {
        let game = TabulatedGame::from_fn(2, |mask| mask as f64 + 1.0).unwrap();
        let nobody = SubGame::new(&game, &[]).unwrap();
        assert_eq!(table_of(&nobody), [1.0]);
        assert_eq!(nobody.expand(&[]), [0.0, 0.0]);
        assert_eq!(table_of(&nobody.with_others_present()), [4.0]);
    }

    #[test]
    fn expanding_keeps_the_outputs_of_a_player_together() {
        let game = TabulatedGame::new((0..16).map(f64::from).collect(), 2).unwrap();
        let sub = SubGame::new(game, &[2, 0]).unwrap();
        assert_eq!(sub.expand(&[1.0, 2.0, 3.0, 4.0]), [3.0, 4.0, 0.0, 0.0, 1.0, 2.0]);
    }

    #[test]
    fn players_that_do_not_exist_or_come_twice_are_refused() {
        let game = TabulatedGame::from_fn(2, |mask| mask as f64).unwrap();
        for keep in [&[2][..], &[0, 1, 0]] {
            let message = SubGame::new(&game, keep).unwrap_err().to_string();
            assert!(message.contains("player"), "{message}");
        }
    }
}
