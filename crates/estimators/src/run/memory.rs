//! The stored evaluations of a run: coalitions with their values, averaged over all scenarios or in a single
//! scenario.

use std::hash::BuildHasher;

use apportion_games::{Coalitions, words_for};
use hashbrown::{DefaultHashBuilder, HashTable};

/// The scenario code of rows that contain averages over all scenarios.
const AVERAGE: u32 = u32::MAX;

/// The maximum number of eight-byte numbers in a memory, so that it takes at most 1 GiB.
const MAX_NUMBERS: usize = 1 << 27;

/// Values of coalitions in the order of their evaluation, with a hash index.
///
/// For n players and k outputs, takes `8 (⌈n/64⌉ + k)` bytes per coalition, 4 more if there are scenarios,
/// and about 8 for the index.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    stored: Stored,
    words_per_row: usize,
    outputs: usize,
    /// A hash index of the rows. It contains row numbers.
    places: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// The number of rows that contain averages over all scenarios.
    averages: usize,
}

/// The rows of a [`Memory`] as flat arrays.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Stored {
    /// The bits of each coalition, in 64-bit words.
    pub(crate) coalitions: Vec<u64>,
    /// The scenario of each row; empty if all rows are averages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) scenarios: Vec<u32>,
    /// The values: one number per output for each row.
    pub(crate) values: Vec<f64>,
}

impl Memory {
    /// Creates an empty memory.
    pub(crate) fn new(players: usize, outputs: usize) -> Self {
        Self { words_per_row: words_for(players), outputs, ..Self::default() }
    }

    /// Restores a stored memory. Returns `None` if the arrays do not fit `players` and `outputs`, if there
    /// are more rows than a run can store, or if a row is repeated.
    pub(crate) fn restore(players: usize, outputs: usize, stored: &Stored) -> Option<Self> {
        let mut memory = Self::new(players, outputs);
        let rows = stored.values.len() / outputs.max(1);
        let lengths_fit = stored.values.len() == rows * outputs
            && stored.coalitions.len() == rows * memory.words_per_row
            && (stored.scenarios.is_empty() || stored.scenarios.len() == rows);
        if !lengths_fit || rows > max_remembered(players, outputs) {
            return None;
        }
        let unused = memory.words_per_row * 64 - players;
        for row in 0..rows {
            let words = &stored.coalitions[row * memory.words_per_row..(row + 1) * memory.words_per_row];
            let beyond = words.last().is_some_and(|last| unused > 0 && last >> (64 - unused) != 0);
            let scenario = stored.scenarios.get(row).copied().filter(|&scenario| scenario != AVERAGE);
            let scenario = scenario.map(|scenario| scenario as usize);
            if beyond || memory.get(words, scenario).is_some() {
                return None;
            }
            memory.insert(words, scenario, &stored.values[row * outputs..(row + 1) * outputs]);
        }
        Some(memory)
    }

    /// Returns all stored rows.
    pub(crate) fn stored(&self) -> &Stored {
        &self.stored
    }

    /// Returns the number of stored rows.
    pub(crate) fn rows(&self) -> usize {
        self.places.len()
    }

    /// Returns the number of stored coalitions without a scenario.
    pub(crate) fn averages(&self) -> usize {
        self.averages
    }

    /// Returns the number of stored coalitions in single scenarios.
    pub(crate) fn in_scenarios(&self) -> usize {
        self.places.len() - self.averages
    }

    /// Returns the largest value minus the smallest: the maximum over the outputs. Uses averages over all
    /// scenarios only.
    pub(crate) fn range(&self) -> f64 {
        let is_average =
            |row: usize| self.stored.scenarios.get(row).is_none_or(|&scenario| scenario == AVERAGE);
        let mut ends = vec![(f64::INFINITY, f64::NEG_INFINITY); self.outputs];
        for (row, values) in self.stored.values.chunks_exact(self.outputs.max(1)).enumerate() {
            if is_average(row) {
                for ((least, most), value) in ends.iter_mut().zip(values) {
                    (*least, *most) = (least.min(*value), most.max(*value));
                }
            }
        }
        ends.iter().map(|(least, most)| most - least).fold(0.0, f64::max)
    }

    /// Returns the values of a coalition, if they are stored.
    pub(crate) fn get(&self, words: &[u64], scenario: Option<usize>) -> Option<&[f64]> {
        let scenario = code(scenario);
        let hash = self.hasher.hash_one((words, scenario));
        let place = self.places.find(hash, |&place| self.is_at(place as usize, words, scenario))?;
        let at = *place as usize * self.outputs;
        Some(&self.stored.values[at..at + self.outputs])
    }

    /// Stores the values of a coalition, unless they are already stored.
    pub(crate) fn insert(&mut self, words: &[u64], scenario: Option<usize>, values: &[f64]) {
        if self.get(words, scenario).is_some() {
            return;
        }
        let scenario = code(scenario);
        let place = self.places.len();
        if scenario != AVERAGE && self.stored.scenarios.is_empty() {
            self.stored.scenarios.resize(place, AVERAGE);
        }
        self.stored.coalitions.extend_from_slice(words);
        self.stored.values.extend_from_slice(values);
        if scenario == AVERAGE {
            self.averages += 1;
        }
        if scenario != AVERAGE || !self.stored.scenarios.is_empty() {
            self.stored.scenarios.push(scenario);
        }
        let (stored, width, hasher) = (&self.stored, self.words_per_row, &self.hasher);
        let hash_of = |&place: &u32| {
            let place = place as usize;
            let scenario = stored.scenarios.get(place).copied().unwrap_or(AVERAGE);
            hasher.hash_one((&stored.coalitions[place * width..(place + 1) * width], scenario))
        };
        self.places.insert_unique(self.hasher.hash_one((words, scenario)), place as u32, hash_of);
    }

    /// Returns the distinct coalitions of `batch` that are not stored, in the order of their first
    /// appearance, with their scenarios.
    pub(crate) fn missing(
        &self,
        batch: &Coalitions,
        scenarios: Option<&[usize]>,
    ) -> (Coalitions, Vec<usize>) {
        let mut missing = Coalitions::new(batch.players());
        let mut their_scenarios = Vec::new();
        let mut met: HashTable<(u32, u32)> = HashTable::new();
        for (row, coalition) in batch.iter().enumerate() {
            let scenario = scenarios.map(|scenarios| scenarios[row]);
            let words = coalition.words();
            if self.get(words, scenario).is_some() {
                continue;
            }
            let code = code(scenario);
            let hash = self.hasher.hash_one((words, code));
            let is_same =
                |&(place, other): &(u32, u32)| other == code && missing.row(place as usize).words() == words;
            if met.find(hash, is_same).is_none() {
                let rehash = |&(place, code): &(u32, u32)| {
                    self.hasher.hash_one((missing.row(place as usize).words(), code))
                };
                met.insert_unique(hash, (missing.len() as u32, code), rehash);
                missing.push(coalition);
                their_scenarios.extend(scenario);
            }
        }
        (missing, their_scenarios)
    }

    fn is_at(&self, place: usize, words: &[u64], scenario: u32) -> bool {
        let range = place * self.words_per_row..(place + 1) * self.words_per_row;
        self.stored.coalitions[range] == *words
            && self.stored.scenarios.get(place).copied().unwrap_or(AVERAGE) == scenario
    }
}

/// Encodes a scenario in 32 bits. There are fewer than 2^32 − 1 scenarios, because each is a row of data.
fn code(scenario: Option<usize>) -> u32 {
    scenario.map_or(AVERAGE, |scenario| u32::try_from(scenario).unwrap_or(AVERAGE - 1))
}

/// Returns the number of coalitions that a run can store in 1 GiB.
pub(crate) fn max_remembered(players: usize, outputs: usize) -> usize {
    MAX_NUMBERS / (words_for(players) + outputs + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_stored_is_found_again_and_only_that() {
        for players in [1, 2, 63, 64, 65, 130] {
            let mut memory = Memory::new(players, 2);
            let mut batch = Coalitions::new(players);
            for start in 0..players.min(40) {
                batch.push_members((start..players).step_by(1 + start % 3));
            }
            for (row, coalition) in batch.iter().enumerate() {
                assert!(memory.get(coalition.words(), None).is_none());
                memory.insert(coalition.words(), None, &[row as f64, 0.5]);
                memory.insert(coalition.words(), Some(row % 3), &[-(row as f64), 1.5]);
            }
            let rows = batch.len();
            assert_eq!((memory.averages(), memory.in_scenarios()), (rows, rows));
            let restored = Memory::restore(players, 2, memory.stored()).unwrap();
            for (row, coalition) in batch.iter().enumerate() {
                for memory in [&memory, &restored] {
                    assert_eq!(memory.get(coalition.words(), None).unwrap(), [row as f64, 0.5]);
                    assert_eq!(memory.get(coalition.words(), Some(row % 3)).unwrap(), [-(row as f64), 1.5]);
                    assert!(memory.get(coalition.words(), Some(row % 3 + 1)).is_none());
                }
            }
        }
    }

    #[test]
    fn of_a_batch_each_unknown_coalition_is_missing_once() {
        let mut memory = Memory::new(3, 1);
        memory.insert(&[3], None, &[1.0]);
        let batch = Coalitions::from_masks(3, [3, 5, 5, 1, 3, 1]);
        let (missing, scenarios) = memory.missing(&batch, None);
        assert_eq!(missing.words(), [5, 1]);
        assert!(scenarios.is_empty());
        let (missing, scenarios) = memory.missing(&batch, Some(&[0, 0, 1, 0, 0, 0]));
        assert_eq!((missing.words(), &scenarios[..]), (&[3, 5, 5, 1][..], &[0, 0, 1, 0][..]));
    }

    #[test]
    fn stores_that_contradict_themselves_are_refused() {
        let mut memory = Memory::new(3, 1);
        memory.insert(&[3], None, &[1.0]);
        memory.insert(&[5], Some(2), &[2.0]);
        let good = memory.stored().clone();
        assert!(Memory::restore(3, 1, &good).is_some());
        let twice = Stored { coalitions: vec![3, 3], scenarios: vec![], values: vec![1.0, 1.0] };
        let beyond = Stored { coalitions: vec![8], scenarios: vec![], values: vec![1.0] };
        let short = Stored { values: vec![1.0], ..good.clone() };
        for bad in [twice, beyond, short] {
            assert!(Memory::restore(3, 1, &bad).is_none(), "{bad:?}");
        }
    }
}
