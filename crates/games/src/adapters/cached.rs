//! An adapter that caches the value of every evaluated coalition.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::coalitions::Coalitions;
use crate::error::GameError;
use crate::game::Game;

/// Adapter that evaluates each coalition of a game only once.
///
/// The coalitions of a batch that are not cached yet are evaluated together in one batch, each once. Several
/// threads may evaluate the game at the same time. If two of them request the same uncached coalition at the
/// same moment, both may evaluate it; the results are the same.
///
/// For n players and k outputs, the cache takes about `8 · (⌈n/64⌉ + k) + 50` bytes per distinct coalition.
///
/// ```
/// use apportion_games::{Cached, Coalitions, Counted, Game, Glove};
///
/// let game = Cached::new(Counted::new(Glove::new(1, 2)?));
/// game.values(&Coalitions::from_masks(3, [1, 3, 1]), &mut [0.0; 3])?;
/// game.values(&Coalitions::from_masks(3, [3, 5]), &mut [0.0; 2])?;
/// assert_eq!(game.distinct(), 3);
/// assert_eq!(game.inner().evaluations(), 3);
/// # Ok::<(), apportion_games::GameError>(())
/// ```
#[derive(Debug)]
pub struct Cached<G> {
    game: G,
    memory: Mutex<Memory>,
}

/// The cached values, k numbers per coalition, and the position of each coalition among them (its values
/// start at `position · k`).
#[derive(Debug, Default)]
struct Memory {
    places: HashMap<Box<[u64]>, usize>,
    values: Vec<f64>,
}

impl<G: Game> Cached<G> {
    /// Creates an empty cache for `game`.
    pub fn new(game: G) -> Self {
        Self { game, memory: Mutex::default() }
    }

    /// Returns the number of distinct coalitions in the cache.
    pub fn distinct(&self) -> usize {
        self.memory().places.len()
    }

    /// Returns the cached coalitions in the order in which they were evaluated, and their values, row-major.
    pub fn evaluations(&self) -> (Coalitions, Vec<f64>) {
        let memory = self.memory();
        let mut rows: Vec<(&usize, &Box<[u64]>)> =
            memory.places.iter().map(|(words, place)| (place, words)).collect();
        rows.sort_unstable_by_key(|(place, _)| **place);
        let mut coalitions = Coalitions::with_capacity(self.game.players(), rows.len());
        rows.iter().for_each(|(_, words)| coalitions.push_words(words));
        (coalitions, memory.values.clone())
    }

    /// Returns the game that evaluates uncached coalitions.
    pub fn inner(&self) -> &G {
        &self.game
    }

    /// Locks the cache. Poisoning is ignored: the cache is consistent whenever the lock is free, even after a
    /// panic.
    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the coalitions of `batch` that are not cached, each once, in order of first appearance.
    fn missing(&self, batch: &Coalitions) -> Coalitions {
        let memory = self.memory();
        let mut missing = Coalitions::new(batch.players());
        let mut seen = HashSet::new();
        for row in batch.iter() {
            if !memory.places.contains_key(row.words()) && seen.insert(row.words()) {
                missing.push(row);
            }
        }
        missing
    }
}

impl<G: Game> Game for Cached<G> {
    shape_of_inner_game!();

    /// Forwards to the game without caching, because a pair of a coalition and a scenario rarely repeats when
    /// both are drawn at random.
    fn values_in_scenarios(
        &self,
        batch: &Coalitions,
        scenarios: &[usize],
        out: &mut [f64],
    ) -> Result<(), GameError> {
        self.game.values_in_scenarios(batch, scenarios, out)
    }

    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        let outputs = self.outputs();
        let missing = self.missing(batch);
        let mut values = vec![0.0; missing.len() * outputs];
        if !missing.is_empty() {
            // The cache is not locked during the evaluation: the game may be slow, and may need the threads
            // that would wait for the lock.
            self.game.values(&missing, &mut values)?;
        }

        let mut memory = self.memory();
        for (row, values) in missing.iter().zip(values.chunks_exact(outputs)) {
            let place = memory.places.len();
            // Another thread may have inserted the value meanwhile.
            if !memory.places.contains_key(row.words()) {
                memory.values.extend_from_slice(values);
                memory.places.insert(row.words().into(), place);
            }
        }
        for (row, out) in batch.iter().zip(out.chunks_exact_mut(outputs)) {
            let at = memory.places[row.words()] * outputs;
            out.copy_from_slice(&memory.values[at..at + outputs]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Counted, SumOfUnanimity, TabulatedGame};

    #[test]
    fn values_are_those_of_the_game_however_they_were_come_by() {
        let game = SumOfUnanimity::random(70, 30, 3, 5);
        let cached = Cached::new(Counted::new(&game));
        let mut batch = Coalitions::new(70);
        for start in 0..40 {
            batch.push_members((start % 13..70).step_by(1 + start % 3));
        }
        let (mut expected, mut got) = (vec![0.0; 40], vec![0.0; 40]);
        game.values(&batch, &mut expected).unwrap();
        cached.values(&batch.slice(0..7), &mut got[..7]).unwrap();
        cached.values(&batch, &mut got).unwrap();
        assert_eq!(got, expected);
        assert_eq!(cached.inner().evaluations(), cached.distinct() as u64);
        assert_eq!(cached.inner().calls(), 2);
    }

    #[test]
    fn evaluations_are_in_the_order_in_which_they_were_made() {
        let cached = Cached::new(TabulatedGame::from_fn(3, |mask| (mask * mask) as f64).unwrap());
        for masks in [vec![5, 1], vec![1, 7, 0], vec![7, 2]] {
            let mut values = vec![0.0; masks.len()];
            cached.values(&Coalitions::from_masks(3, masks), &mut values).unwrap();
        }
        let (coalitions, values) = cached.evaluations();
        assert_eq!(coalitions, Coalitions::from_masks(3, [5, 1, 7, 0, 2]));
        assert_eq!(values, [25.0, 1.0, 49.0, 0.0, 4.0]);
    }

    #[test]
    fn a_batch_that_is_known_does_not_reach_the_game() {
        let cached = Cached::new(Counted::new(TabulatedGame::from_fn(3, |mask| mask as f64).unwrap()));
        for _ in 0..2 {
            cached.values(&Coalitions::from_masks(3, 0..8), &mut [0.0; 8]).unwrap();
        }
        assert_eq!((cached.inner().calls(), cached.distinct()), (1, 8));
    }

    #[test]
    fn threads_that_ask_for_the_same_agree() {
        let cached = Cached::new(TabulatedGame::from_fn(8, |mask| mask as f64).unwrap());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for mask in 0..256 {
                        let mut value = [0.0];
                        cached.values(&Coalitions::from_masks(8, [mask]), &mut value).unwrap();
                        assert_eq!(value, [mask as f64]);
                    }
                });
            }
        });
        assert_eq!(cached.distinct(), 256);
    }

    #[test]
    fn a_failure_is_not_remembered() {
        struct Fails;
        impl Game for Fails {
            fn players(&self) -> usize {
                1
            }
            fn values(&self, _: &Coalitions, _: &mut [f64]) -> Result<(), GameError> {
                Err(GameError::EmptyBackground)
            }
        }
        let cached = Cached::new(Fails);
        assert!(cached.values(&Coalitions::from_masks(1, [0]), &mut [0.0]).is_err());
        assert_eq!(cached.distinct(), 0);
    }
}
