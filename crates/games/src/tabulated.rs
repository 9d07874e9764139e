//! Tabulated games: a table of the values of all coalitions.
//!
//! # Notation
//!
//! The value of coalition `S` is stored at its *mask*: the number whose bit `i` is set if player `i` is a
//! member. The table has 2^n × k numbers, row-major: the k outputs of mask 0, then those of mask 1, and so
//! on.

use crate::cancellation::Cancellation;
use crate::coalitions::Coalitions;
use crate::error::GameError;
use crate::game::Game;
use crate::memory;
use crate::parallel;

/// Maximum number of players of a table: 8 GiB for one output.
const MAX_PLAYERS: usize = 30;

/// Number of masks evaluated in one batch when a game is tabulated.
const BLOCK: usize = 1 << 12;

/// A game that is a table of 2^n × k values.
///
/// ```
/// use apportion_games::TabulatedGame;
///
/// // Two players, with the value 3 alone and 10 together.
/// let game = TabulatedGame::new(vec![0.0, 3.0, 3.0, 10.0], 1)?;
/// assert_eq!(game.value(0b11), [10.0]);
/// # Ok::<(), apportion_games::GameError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct TabulatedGame {
    players: usize,
    outputs: usize,
    values: Vec<f64>,
}

impl TabulatedGame {
    /// Creates the game from its table: 2^n × `outputs` values in mask order. The number of players n is
    /// inferred from the length.
    ///
    /// # Errors
    ///
    /// [`GameError::TableLength`] unless the length is 2^n × `outputs` with n at most 30,
    /// [`GameError::NotFinite`] with the first coalition that has a NaN or an infinite value.
    pub fn new(values: Vec<f64>, outputs: usize) -> Result<Self, GameError> {
        let wrong = || GameError::TableLength { actual: values.len(), outputs, max: MAX_PLAYERS };
        if outputs == 0 || !values.len().is_multiple_of(outputs) {
            return Err(wrong());
        }
        let coalitions = values.len() / outputs;
        if !coalitions.is_power_of_two() || coalitions > 1 << MAX_PLAYERS {
            return Err(wrong());
        }
        let players = coalitions.trailing_zeros() as usize;
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            let coalition = Coalitions::from_masks(players, [(at / outputs) as u64]).row(0).to_coalition();
            return Err(GameError::NotFinite { coalition, output: at % outputs, value: values[at] });
        }
        Ok(Self { players, outputs, values })
    }

    /// Creates the table of a function of coalition masks, with one output.
    ///
    /// # Errors
    ///
    /// [`GameError::Players`] for more than 30 players, [`GameError::NotFinite`] for values that are not
    /// finite.
    pub fn from_fn(players: usize, value: impl FnMut(u64) -> f64) -> Result<Self, GameError> {
        check_players(players)?;
        Self::new((0..1 << players).map(value).collect(), 1)
    }

    /// Tabulates a game: evaluates all 2^n coalitions, in blocks.
    ///
    /// # Errors
    ///
    /// [`GameError::Players`] for more than 30 players, [`GameError::Memory`] if the table does not fit in
    /// memory, [`GameError::NotFinite`] for values that are not finite, and any error of the game; if several
    /// blocks fail, the error of the first.
    pub fn from_game(game: &(impl Game + ?Sized)) -> Result<Self, GameError> {
        let (players, outputs) = (game.players(), game.outputs());
        check_players(players)?;
        let what = || format!("the table of all coalitions of {players} players with {outputs} outputs");
        memory::check(memory::product([1 << players, outputs, 8]), what, "use fewer players or outputs")?;
        let mut values = vec![0.0; outputs << players];
        let ask = |(index, out): (usize, &mut [f64])| {
            Cancellation::check();
            let first = (index * BLOCK) as u64;
            let masks = first..first + (out.len() / outputs) as u64;
            game.values(&Coalitions::from_masks(players, masks), out)
        };
        let mut blocks = values.chunks_mut(BLOCK * outputs).enumerate();
        if game.parallel() {
            parallel::try_map(blocks, ask)?;
        } else {
            blocks.try_for_each(ask)?;
        }
        Self::new(values, outputs)
    }

    /// Returns the k outputs for the coalition given by `mask`.
    ///
    /// # Panics
    ///
    /// If `mask` has a bit at or above the number of players.
    pub fn value(&self, mask: u64) -> &[f64] {
        let at = mask as usize * self.outputs;
        &self.values[at..at + self.outputs]
    }

    /// Returns all 2^n × k values in mask order.
    pub fn values_in_order(&self) -> &[f64] {
        &self.values
    }
}

fn check_players(players: usize) -> Result<(), GameError> {
    if players > MAX_PLAYERS {
        return Err(GameError::Players {
            what: "a table of all coalitions",
            actual: players,
            min: 0,
            max: MAX_PLAYERS,
        });
    }
    Ok(())
}

impl Game for TabulatedGame {
    fn players(&self) -> usize {
        self.players
    }

    fn outputs(&self) -> usize {
        self.outputs
    }

    fn table(&self) -> Option<&[f64]> {
        Some(&self.values)
    }

    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        assert_eq!(batch.players(), self.players, "the coalitions belong to another game");
        assert_eq!(
            out.len(),
            batch.len() * self.outputs,
            "`out` must hold one value per coalition and output"
        );
        if self.players == 0 {
            out.chunks_exact_mut(self.outputs).for_each(|out| out.copy_from_slice(&self.values));
        } else if self.outputs == 1 {
            for (out, &mask) in out.iter_mut().zip(batch.words()) {
                *out = self.values[mask as usize];
            }
        } else {
            for (out, &mask) in out.chunks_exact_mut(self.outputs).zip(batch.words()) {
                out.copy_from_slice(self.value(mask));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SumOfUnanimity;

    #[test]
    fn a_table_answers_as_the_game_it_was_made_of() {
        let game = SumOfUnanimity::random(13, 40, 6, 3);
        let table = TabulatedGame::from_game(&game).unwrap();
        let batch = Coalitions::from_masks(13, (0..1 << 13).rev().step_by(7));
        let (mut expected, mut got) = (vec![0.0; batch.len()], vec![0.0; batch.len()]);
        game.values(&batch, &mut expected).unwrap();
        table.values(&batch, &mut got).unwrap();
        assert_eq!(got, expected);
    }

    #[test]
    fn outputs_of_a_coalition_lie_together() {
        let game = TabulatedGame::new((0..24).map(f64::from).collect(), 3).unwrap();
        assert_eq!(game.players(), 3);
        let mut out = [0.0; 6];
        game.values(&Coalitions::from_masks(3, [5, 0]), &mut out).unwrap();
        assert_eq!(out, [15.0, 16.0, 17.0, 0.0, 1.0, 2.0]);
    }

    #[test]
    fn lengths_that_are_no_table_are_refused() {
        for (length, outputs) in [(0, 1), (3, 1), (6, 4), (8, 0), (12, 2)] {
            let refused = TabulatedGame::new(vec![0.0; length], outputs);
            assert!(
                matches!(refused, Err(GameError::TableLength { .. })),
                "{length} values, {outputs} outputs"
            );
        }
    }

    #[test]
    fn a_value_that_is_not_finite_is_refused_with_its_coalition() {
        let refused = TabulatedGame::from_fn(3, |mask| if mask == 6 { f64::NAN } else { 0.0 }).unwrap_err();
        assert!(refused.to_string().contains("{1, 2} of 3"), "{refused}");
    }

    #[test]
    fn more_players_than_a_table_holds_are_refused_before_any_work() {
        let game = SumOfUnanimity::random(31, 1, 1, 3);
        assert!(matches!(TabulatedGame::from_game(&game), Err(GameError::Players { actual: 31, .. })));
    }
}
