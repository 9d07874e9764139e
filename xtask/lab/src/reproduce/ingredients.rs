//! Ingredients of a result: everything that the result depends on. They are part of its checkpoint key.
//!
//! A name cannot identify data, a model or a method, since it stays the same when the content changes. Games
//! are therefore identified by some of their values, including noise, and methods by their estimates for
//! small games.

use anyhow::Result;
use apportion::estimators::{EstimatorError, GradientError};
use apportion::games::{Coalitions, Purpose, SumOfUnanimity, stream};
use apportion::{Estimator, Game};
use rand::RngExt;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::store::hex;

/// A result that is computed once and stored.
pub(crate) struct Cell<K, W> {
    /// The key that identifies the result among results of the same kind.
    pub(crate) key: K,
    /// Everything else that the result depends on.
    pub(crate) made_of: Ingredients,
    /// Input of the computation that is not part of the key.
    pub(crate) with: W,
}

/// Everything that a result depends on.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Ingredients {
    kind: &'static str,
    protocol: u32,
    games: Digest,
    method: Digest,
    truth: Option<Digest>,
    pub(crate) seed: u64,
}

impl Ingredients {
    /// Creates ingredients: the kind of result, a digest of the games on the rows that are explained, and a
    /// digest of the method, which reflects its estimates. `protocol` is increased when the meaning of a
    /// result changes, so that old results are not reused.
    pub(crate) fn new(kind: &'static str, protocol: u32, seed: u64, games: &Digest, method: &Digest) -> Self {
        Self { kind, protocol, games: games.clone(), method: method.clone(), truth: None, seed }
    }

    /// Adds the ground truth that the result is compared with.
    pub(crate) fn against(self, truth: &Digest) -> Self {
        Self { truth: Some(truth.clone()), ..self }
    }
}

/// A hash of numbers, which covers all of their bits, or of other data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Digest(String);

/// Games whose estimates are part of the digest of an estimator: the number of players, and the budget unless
/// the estimator needs more. The budget covers all coalitions of the first game.
const PROBES: [(usize, usize); 3] = [(5, 40), (9, 60), (70, 700)];

/// Number of players whose singleton coalition and its complement are part of the digest of a game.
const SINGLE: usize = 3;

/// Number of random coalitions, from small to large, that are part of the digest of a game.
const RANDOM: usize = 8;

impl Digest {
    /// Returns the digest of a sequence of numbers.
    pub(crate) fn from_numbers(numbers: impl IntoIterator<Item = f64>) -> Self {
        Self::of_bytes(numbers.into_iter().flat_map(|number| number.to_bits().to_le_bytes()))
    }

    /// Returns the digest of several digests, in order.
    pub(crate) fn joined<'a>(digests: impl IntoIterator<Item = &'a Self>) -> Self {
        Self::of_bytes(digests.into_iter().flat_map(|digest| digest.0.bytes()))
    }

    /// Returns the digest of data serialized as JSON.
    pub(crate) fn of_data(data: &impl Serialize) -> Result<Self> {
        Ok(Self::of_bytes(serde_json::to_vec(data)?))
    }

    /// Returns the digest of a game: its numbers of players, outputs and scenarios, and the values of up to
    /// 16 coalitions.
    pub(crate) fn of_game(game: &dyn Game) -> Result<Self> {
        let coalitions = probes(game.players())?;
        let mut values = vec![0.0; coalitions.len() * game.outputs()];
        game.values(&coalitions, &mut values)?;
        let shape = [game.players(), game.outputs(), game.scenarios()];
        Ok(Self::from_numbers(shape.map(|length| length as f64).into_iter().chain(values)))
    }

    /// Returns the digest of an estimator: its name, its options and its estimates on small games.
    pub(crate) fn of_estimator(estimator: &dyn Estimator) -> Result<Self> {
        let mut answers = Vec::new();
        for (players, budget) in PROBES {
            let game = SumOfUnanimity::random(players, 100, 4, 1);
            let budget = budget.max(estimator.minimum_budget(players));
            answers.push(match estimator.estimate(&game, budget, 1) {
                Ok(explanation) => Some(explanation),
                // Whether the estimator diverges depends on the step size, which is an option and thus part
                // of the digest.
                Err(EstimatorError::Gradient(GradientError::Diverged { .. })) => None,
                Err(error) => return Err(error.into()),
            });
        }
        Self::of_data(&(estimator.name(), estimator.settings(), answers))
    }

    fn of_bytes(bytes: impl IntoIterator<Item = u8>) -> Self {
        let bytes: Vec<u8> = bytes.into_iter().collect();
        Self(hex(&Sha256::digest(bytes))[..16].to_owned())
    }
}

/// Returns the coalitions whose values are part of the digest of a game: the empty and the full coalition,
/// some singletons and their complements, and random coalitions from small to large; for up to four players,
/// all coalitions.
fn probes(players: usize) -> Result<Coalitions> {
    if players <= 4 {
        return Ok(Coalitions::from_masks(players, 0..1 << players));
    }
    let mut coalitions = Coalitions::new(players);
    coalitions.push_empty();
    coalitions.push_full();
    for at in 0..SINGLE {
        let player = at * (players - 1) / (SINGLE - 1);
        coalitions.push_members([player]);
        coalitions.push_members((0..players).filter(|&other| other != player));
    }
    let mut rng = stream(0, Purpose::Experiment, players as u64);
    for at in 0..RANDOM {
        let share = (at as f64 + 0.5) / RANDOM as f64;
        coalitions.push_members((0..players).filter(|_| rng.random_bool(share)));
    }
    Ok(coalitions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion::estimators::{LeverageShap, StandardErrors};
    use apportion::games::TabulatedGame;

    #[test]
    fn games_are_probed_on_sixteen_coalitions_with_both_ends() {
        for players in [5, 12, 64, 65, 300] {
            let coalitions = probes(players).unwrap();
            let sizes: Vec<usize> = coalitions.iter().map(|coalition| coalition.size()).collect();
            assert_eq!((sizes.len(), sizes[0], sizes[1]), (16, 0, players));
            assert_eq!(sizes[2..8], [1, players - 1, 1, players - 1, 1, players - 1]);
            assert_eq!(coalitions, probes(players).unwrap());
        }
        assert_eq!(probes(3).unwrap().len(), 8);
    }

    #[test]
    fn a_value_that_changes_in_the_last_bit_changes_the_digest() {
        let table: Vec<f64> = (0..64).map(|mask| f64::from(mask).sqrt()).collect();
        let digest =
            |table: &[f64]| Digest::of_game(&TabulatedGame::new(table.to_vec(), 1).unwrap()).unwrap();
        assert_eq!(digest(&table), digest(&table));
        for probed in [0, 63, 1, 62, 32, 31] {
            let mut changed = table.clone();
            changed[probed] = changed[probed].next_up();
            assert_ne!(digest(&changed), digest(&table), "{probed}");
        }
    }

    #[test]
    fn estimators_differ_by_their_options_and_by_what_they_say_beside_values() {
        let leverage = LeverageShap::default();
        let silent = leverage.with_standard_errors(StandardErrors::Omitted);
        let digest = |estimator: &dyn Estimator| Digest::of_estimator(estimator).unwrap();
        assert_eq!(digest(&leverage), digest(&leverage));
        assert_ne!(digest(&leverage), digest(&silent));
    }
}
