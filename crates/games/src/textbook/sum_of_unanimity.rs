//! Sums of unanimity games. Every game is such a sum, and its values are known in closed form.
//!
//! # Notation
//!
//! `T` runs over the terms. A term is a coalition with a coefficient `a_T` (its Harsanyi dividend) and the
//! size `t = |T|`; `c` is a constant.

use rand::Rng;

use crate::cancellation::Cancellation;
use crate::coalition::{Coalition, CoalitionView};
use crate::coalitions::Coalitions;
use crate::error::GameError;
use crate::game::Game;
use crate::phrases::expected_index;
use crate::stream::{Purpose, stream};
use crate::textbook::ClosedForm;

/// Number of coalitions evaluated together, one per bit of a word.
const BLOCK: usize = 64;

/// The game `v(S) = c + Σ_T a_T · [T ⊆ S]`.
///
/// A term contributes its coefficient if all its players are present. Under the Shapley value, these players
/// share the coefficient equally. Under the Banzhaf value, each of them receives the coefficient times the
/// probability that all other players of the term are present:
///
/// ```text
/// Shapley  φ_i = Σ_{T∋i} a_T / t
/// Banzhaf  φ_i = Σ_{T∋i} a_T / 2^{t−1}
/// ```
///
/// Useful as the general test game: any number of players (n = 1000 and beyond), interactions of a chosen
/// order, null players (those in no term), v(∅) ≠ 0. Evaluation takes O(terms · ⌈n/64⌉) time per coalition.
/// With at least as many terms as players, it only takes O(terms · ⌈n/64⌉) time per 64 coalitions, O(n) per
/// coalition, and an addition for each term that is present.
///
/// ```
/// use apportion_games::{ClosedForm, SumOfUnanimity};
///
/// let game = SumOfUnanimity::new(3, 7.0, [(vec![0], 1.0), (vec![0, 2], 4.0)])?;
/// assert_eq!(game.shapley(), [3.0, 0.0, 2.0]);
/// # Ok::<(), apportion_games::GameError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SumOfUnanimity {
    constant: f64,
    terms: Coalitions,
    coefficients: Vec<f64>,
}

impl SumOfUnanimity {
    /// Creates the game from its `constant` and its terms, which are pairs (players, coefficient). A player
    /// listed twice in a term counts once.
    ///
    /// # Errors
    ///
    /// [`GameError::Parameter`] if there are no players, if a term is empty (add it to the constant instead)
    /// or has a player at or above `players`, or if a coefficient or the constant is not finite.
    pub fn new(
        players: usize,
        constant: f64,
        terms: impl IntoIterator<Item = (Vec<usize>, f64)>,
    ) -> Result<Self, GameError> {
        let refuse = |what: String| Err(GameError::Parameter { what });
        if players == 0 {
            return refuse("a sum of unanimity games requires at least one player".to_owned());
        }
        if !constant.is_finite() {
            return refuse(format!("invalid constant {constant}: must be finite"));
        }
        let (mut sets, mut coefficients) = (Coalitions::new(players), Vec::new());
        for (index, (members, coefficient)) in terms.into_iter().enumerate() {
            if members.is_empty() {
                return refuse(format!("term {index} has no players; add its coefficient to the constant"));
            }
            if let Some(player) = members.iter().find(|&&player| player >= players) {
                return refuse(format!(
                    "unknown player {player} in term {index}; {}",
                    expected_index(players, "player")
                ));
            }
            if !coefficient.is_finite() {
                return refuse(format!("invalid coefficient {coefficient} of term {index}: must be finite"));
            }
            sets.push_members(members);
            coefficients.push(coefficient);
        }
        Ok(Self { constant, terms: sets, coefficients })
    }

    /// Creates the unanimity game of `members`, whose value is 1 if all of them are present, otherwise 0.
    ///
    /// # Errors
    ///
    /// Same as [`new`](Self::new).
    pub fn unanimity(players: usize, members: impl IntoIterator<Item = usize>) -> Result<Self, GameError> {
        Self::new(players, 0.0, [(members.into_iter().collect(), 1.0)])
    }

    /// Creates a random game of `terms` terms, which is determined by the four arguments. The size of a term
    /// is uniform from 1 to the smaller of `largest` and n. Players are uniform, coefficients are uniform in
    /// \[−1, 1), and the constant is 0.
    ///
    /// # Panics
    ///
    /// If `players` or `largest` is zero.
    pub fn random(players: usize, terms: usize, largest: usize, seed: u64) -> Self {
        assert!(
            players > 0 && largest > 0,
            "expected at least 1 player and at least 1 member per term, got {players} and {largest}"
        );
        let mut rng = stream(seed, Purpose::Experiment, 0);
        // Scaling a word to a range is practically uniform for such small ranges. Unlike the methods of the
        // crate `rand`, this computation cannot change with a new version of that crate.
        let mut below = |bound: usize| ((u128::from(rng.next_u64()) * bound as u128) >> 64) as usize;
        let mut game = Self { constant: 0.0, terms: Coalitions::new(players), coefficients: Vec::new() };
        for _ in 0..terms {
            let size = 1 + below(largest.min(players));
            let mut term = Coalition::empty(players);
            while term.view().size() < size {
                term.insert(below(players));
            }
            game.terms.push(term.view());
            game.coefficients.push(below(1 << 53) as f64 / (1u64 << 52) as f64 - 1.0);
        }
        game
    }

    /// Replaces the constant c = v(∅).
    ///
    /// # Errors
    ///
    /// [`GameError::Parameter`] if it is not finite.
    pub fn with_constant(self, constant: f64) -> Result<Self, GameError> {
        if !constant.is_finite() {
            return Err(GameError::Parameter {
                what: format!("invalid constant {constant}: must be finite"),
            });
        }
        Ok(Self { constant, ..self })
    }

    /// Returns the terms T, one coalition each.
    pub fn terms(&self) -> &Coalitions {
        &self.terms
    }

    /// Returns the coefficients a_T, in the order of the terms.
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    /// Returns v(S).
    fn value(&self, coalition: CoalitionView<'_>) -> f64 {
        let met = self.terms.iter().zip(&self.coefficients).filter(|(term, _)| term.is_subset_of(coalition));
        self.constant + met.map(|(_, coefficient)| coefficient).sum::<f64>()
    }

    /// Writes the values of `values.len()` coalitions (at most [`BLOCK`]) of `batch`, starting at index
    /// `first`. `with` is scratch space with one word per player. This method overwrites it: it sets bit k of
    /// `with[i]` if the k-th coalition contains player i. Terms are added in their order, as in
    /// [`value`](Self::value).
    fn block_values(&self, batch: &Coalitions, first: usize, with: &mut [u64], values: &mut [f64]) {
        with.fill(0);
        for place in 0..values.len() {
            batch.row(first + place).members().for_each(|player| with[player] |= 1 << place);
        }
        let all = u64::MAX >> (BLOCK - values.len());
        values.fill(-0.0);
        for (term, coefficient) in self.terms.iter().zip(&self.coefficients) {
            let mut met = term.members().fold(all, |met, player| met & with[player]);
            while met != 0 {
                values[met.trailing_zeros() as usize] += coefficient;
                met &= met - 1;
            }
        }
        values.iter_mut().for_each(|value| *value += self.constant);
    }

    /// Returns, for each player, the sum of `share(t)` times the coefficient over the terms that contain the
    /// player.
    fn sum_shares(&self, share: impl Fn(u32) -> f64) -> Vec<f64> {
        let mut values = vec![0.0; self.players()];
        for ((term, &size), coefficient) in self.terms.iter().zip(self.terms.sizes()).zip(&self.coefficients)
        {
            for member in term.members() {
                values[member] += coefficient * share(size);
            }
        }
        values
    }
}

impl Game for SumOfUnanimity {
    fn players(&self) -> usize {
        self.terms.players()
    }

    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        // Indexing the coalitions by player pays off if players are in at least one term on average.
        if self.terms.len() < self.players() {
            for (value, row) in out.iter_mut().zip(batch.iter()) {
                Cancellation::check();
                *value = self.value(row);
            }
            return Ok(());
        }
        let mut with = vec![0; self.players()];
        for (block, values) in out.chunks_mut(BLOCK).enumerate() {
            Cancellation::check();
            self.block_values(batch, block * BLOCK, &mut with, values);
        }
        Ok(())
    }
}

impl ClosedForm for SumOfUnanimity {
    fn shapley(&self) -> Vec<f64> {
        self.sum_shares(|size| 1.0 / f64::from(size))
    }

    fn banzhaf(&self) -> Vec<f64> {
        self.sum_shares(|size| (1.0 - f64::from(size)).exp2())
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;

    // Stored results record the seed of their game, so the game must not change.
    #[test]
    fn the_first_random_game_of_a_seed_is_fixed() {
        let game = SumOfUnanimity::random(100, 2, 4, 42);
        let terms: Vec<Vec<usize>> = game.terms().iter().map(|term| term.members().collect()).collect();
        assert_eq!(terms, [[0, 46, 78], [3, 46, 51]]);
        assert_eq!(game.coefficients(), [-0.22934453344733807, -0.043078951278101796]);
    }

    #[test]
    fn a_thousand_players_have_values_that_sum_to_the_worth_of_all() {
        let game = SumOfUnanimity::random(1000, 3000, 5, 1).with_constant(2.5).unwrap();
        let mut batch = Coalitions::new(1000);
        batch.push_empty();
        batch.push_full();
        let mut ends = [0.0; 2];
        game.values(&batch, &mut ends).unwrap();
        assert_eq!(ends[0], 2.5);
        let total: f64 = game.shapley().iter().sum();
        assert!((total - (ends[1] - ends[0])).abs() < 1e-10, "{total} {ends:?}");
    }

    #[test]
    fn blocks_of_coalitions_have_the_bits_of_one_after_the_other() {
        for players in [1, 2, 7, 64, 65, 130] {
            for terms in [players, 6 * players] {
                let game = SumOfUnanimity::random(players, terms, 4, 5).with_constant(0.1).unwrap();
                for count in [0, 1, 63, 64, 65, 200] {
                    let mut rng = stream(9, Purpose::Experiment, count as u64);
                    let mut batch = Coalitions::new(players);
                    for _ in 0..count {
                        batch.push_members((0..players).filter(|_| rng.random_bool(0.8)));
                    }
                    let mut found = vec![f64::NAN; count];
                    game.values(&batch, &mut found).unwrap();
                    let found: Vec<u64> = found.into_iter().map(f64::to_bits).collect();
                    let expected: Vec<u64> = batch.iter().map(|row| game.value(row).to_bits()).collect();
                    assert_eq!(found, expected, "{players} players, {terms} terms");
                }
            }
        }
    }

    #[test]
    fn terms_that_cannot_be_are_refused() {
        for terms in [vec![(vec![], 1.0)], vec![(vec![3], 1.0)], vec![(vec![0], f64::NAN)]] {
            assert!(SumOfUnanimity::new(3, 0.0, terms.clone()).is_err(), "{terms:?}");
        }
        assert!(SumOfUnanimity::new(0, 0.0, []).is_err());
        assert!(SumOfUnanimity::new(1, f64::INFINITY, []).is_err());
    }
}
