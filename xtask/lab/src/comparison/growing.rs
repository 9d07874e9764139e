//! Games of one family in which one quantity grows: the number of players, or the additive part.
//!
//! Datasets with different n also differ in everything else. The games of this family are sums of 6n
//! unanimity games of up to four players, with coefficients uniform in [−1, 1). A player is in 15 of them on
//! average, whatever n is, and the shares of a game's variance due to single players, pairs, triples and
//! quadruples do not depend on n. An additive part, with ±c for the players in turn, changes what a
//! regression on players must fit, but not the residual. Therefore γ, the ratio of the squared norm of the
//! residual to that of the fitted part, decreases with c.

use std::sync::OnceLock;

use anyhow::{Context, Result};
use apportion::Game;
use apportion::games::{CoalitionView, SumOfUnanimity, parallel};
use serde::Serialize;

use super::contender::Compete;
use crate::reproduce::ingredients::{Cell, Digest, Ingredients};
use crate::reproduce::session::Session;
use crate::reproduce::store::derive_seed;

/// Increased when the games change, so that old checkpoints are not reused.
const PROTOCOL: u32 = 1;

/// Sample sizes as multiples of n.
pub(crate) const MULTIPLES: [usize; 3] = [5, 10, 20];

/// The quantity that grows between steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grows {
    /// The number of players n, starting from 32. With fewer players, draws without replacement soon cover
    /// all coalitions of some sizes, which makes estimates more accurate.
    Players,
    /// The constant c of the additive part, with 32 players.
    AdditivePart,
}

impl Grows {
    /// Returns the values of the growing quantity.
    pub(crate) const fn steps(self) -> [usize; 3] {
        match self {
            Self::Players => [32, 96, 256],
            Self::AdditivePart => [1, 10, 100],
        }
    }

    /// Returns the number of players n and the constant c of a step.
    fn shape(self, step: usize) -> (usize, usize) {
        match self {
            Self::Players => (step, 0),
            Self::AdditivePart => (Self::Players.steps()[0], step),
        }
    }
}

/// Maximum number of players in a term, i.e. in one of the unanimity games.
const MAX_TERM_PLAYERS: usize = 4;

/// A game of the family, `v(S) = Σ_{T ⊆ S} a_T`.
pub(crate) struct Growing {
    pub(crate) game: SumOfUnanimity,
    played: Digest,
    /// Minimum of the regression's objective, computed only once because the computation visits all pairs of
    /// terms.
    least: OnceLock<f64>,
}

impl Growing {
    /// Creates the game of a run with `players` players and an additive part of ±`additive`.
    fn new((players, additive): (usize, usize), run: usize, seed: u64) -> Result<Self> {
        let seed = derive_seed(&("growing", players, run, seed))?;
        let random = SumOfUnanimity::random(players, 6 * players, MAX_TERM_PLAYERS, seed);
        let terms = random
            .terms()
            .iter()
            .map(|term| term.members().collect())
            .zip(random.coefficients().iter().copied());
        let sign = |player: usize| if player.is_multiple_of(2) { 1.0 } else { -1.0 };
        let alone = (0..players).map(|player| (vec![player], sign(player) * additive as f64));
        Self::from_game(SumOfUnanimity::new(players, 0.0, terms.chain(alone))?)
    }

    pub(crate) fn from_game(game: SumOfUnanimity) -> Result<Self> {
        Ok(Self { played: Digest::of_game(&game)?, game, least: OnceLock::new() })
    }

    /// Returns the minimum of the regression's objective, which the first call computes with `find`.
    pub(crate) fn least(&self, find: impl FnOnce(&Self) -> f64) -> f64 {
        *self.least.get_or_init(|| find(self))
    }

    /// Returns `Σ_S w(|S|) v(S)`, summed over terms: `Σ_T a_T Σ_s C(n−|T|, s−|T|) w(s)`.
    pub(crate) fn sum(&self, weight: impl Fn(usize) -> f64) -> f64 {
        let above = self.above(MAX_TERM_PLAYERS, weight);
        self.terms().map(|(term, coefficient)| coefficient * above[term.size()]).sum()
    }

    /// Returns `Σ_S w(|S|) v(S)²`, summed over pairs of terms:
    /// `Σ_T Σ_U a_T a_U Σ_s C(n−|T∪U|, s−|T∪U|) w(s)`.
    pub(crate) fn sum_of_squares(&self, weight: impl Fn(usize) -> f64) -> f64 {
        let above = self.above(2 * MAX_TERM_PLAYERS, weight);
        let with = |(one, coefficient): (CoalitionView<'_>, f64)| {
            let pairs = self.terms().map(|(other, b)| b * above[size_of_union(one, other)]);
            coefficient * pairs.sum::<f64>()
        };
        self.terms().map(with).sum()
    }

    fn terms(&self) -> impl Iterator<Item = (CoalitionView<'_>, f64)> {
        self.game.terms().iter().zip(self.game.coefficients().iter().copied())
    }

    /// Returns `Σ_{S ⊇ T} w(|S|)` for |T| = 0 … `largest`.
    fn above(&self, largest: usize, weight: impl Fn(usize) -> f64) -> Vec<f64> {
        let n = self.game.players();
        let of = |size: usize| {
            let mut choose = 1.0;
            let mut sum = 0.0;
            for more in 0..=n - size {
                sum += choose * weight(size + more);
                choose *= (n - size - more) as f64 / (more + 1) as f64;
            }
            sum
        };
        (0..=largest.min(n)).map(of).collect()
    }
}

/// Returns |T ∪ U|.
fn size_of_union(one: CoalitionView<'_>, other: CoalitionView<'_>) -> usize {
    let words = one.words().iter().zip(other.words());
    words.map(|(one, other)| (one | other).count_ones() as usize).sum()
}

/// Checkpoint key of an estimate on one game.
#[derive(Serialize)]
struct GrowingKey {
    players: usize,
    additive: usize,
    estimator: &'static str,
    budget: usize,
    run: usize,
}

/// The games of the family at one value of the growing quantity, by run.
pub(crate) struct Step {
    pub(crate) step: usize,
    shape: (usize, usize),
    pub(crate) games: Vec<Growing>,
}

/// Creates the games of the family, by step.
pub(crate) fn games(session: &Session, grows: Grows) -> Result<Vec<Step>> {
    let at = |step| {
        let shape = grows.shape(step);
        let games = parallel::try_map(0..session.runs, |run| Growing::new(shape, run, session.seed))?;
        Ok(Step { step, shape, games })
    };
    grows.steps().into_iter().map(at).collect()
}

impl Step {
    /// Returns the estimates of `contender` by run, each for all [`MULTIPLES`].
    pub(crate) fn estimates<C: Compete>(
        &self,
        session: &Session,
        contender: C,
    ) -> Result<Vec<Vec<Vec<f64>>>> {
        let digest = contender.digest()?;
        let (players, additive) = self.shape;
        let mut cells = Vec::new();
        for (run, growing) in self.games.iter().enumerate() {
            cells.extend(MULTIPLES.map(|multiple| Cell {
                key: GrowingKey {
                    players,
                    additive,
                    estimator: contender.title(),
                    budget: multiple * players,
                    run,
                },
                made_of: Ingredients::new("growing", PROTOCOL, session.seed, &growing.played, &digest),
                with: growing,
            }));
        }
        let estimates: Vec<Vec<f64>> = session.results(&cells, |cell| {
            let GrowingKey { estimator, budget, run, .. } = cell.key;
            let seed = ("growing estimate", estimator, players, budget, run, session.seed);
            let estimate = contender.estimator().estimate(&cell.with.game, budget, derive_seed(&seed)?);
            Ok(estimate.with_context(|| format!("{estimator} on a game of {players} players"))?.values)
        })?;
        Ok(estimates.chunks(MULTIPLES.len()).map(<[_]>::to_vec).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion::games::TabulatedGame;

    #[test]
    fn sums_over_all_coalitions_are_those_written_out() {
        for players in [1, 2, 7, 12] {
            let growing =
                Growing::from_game(SumOfUnanimity::random(players, 6 * players, MAX_TERM_PLAYERS, 3))
                    .unwrap();
            let table = TabulatedGame::from_game(&growing.game).unwrap();
            let weight = |size: usize| 1.0 / (1.0 + size as f64);
            let values = || table.values_in_order().iter().enumerate();
            let of = |mask: usize| weight(mask.count_ones() as usize);
            let want: f64 = values().map(|(mask, v)| of(mask) * v).sum();
            assert!((growing.sum(weight) - want).abs() < 1e-10 * (1.0 + want.abs()), "{players} players");
            let want: f64 = values().map(|(mask, v)| of(mask) * v * v).sum();
            assert!(
                (growing.sum_of_squares(weight) - want).abs() < 1e-10 * (1.0 + want),
                "{players} players"
            );
        }
    }
}
