//! A size class: coalitions, or pairs of them, that are all alike to a design without replacement.
//!
//! Unpaired, a class is the coalitions of one size. Paired, it is the pairs {S, N∖S} with |S| = s ≤ n/2, named by their smaller
//! member. For even `n` both members of a pair of the middle size have n/2 players, so the pairs are told apart by the member
//! that has the last player: there are C(n − 1, n/2 − 1) of them (Leverage SHAP, Algorithm 2, which fixes z_n = 1 but draws
//! indices from twice as many).

use apportion_games::{Purpose, stream};
use rand_chacha::ChaCha8Rng;

use crate::size::allocation::Allocation;
use crate::size::pairing::Pairing;

/// A size class of a game of `players`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SizeClass {
    pub(crate) players: usize,
    /// Size of the coalition that names the unit: `s`, at most n/2 in pairs.
    pub(crate) size: usize,
    pub(crate) pairing: Pairing,
    /// Units (coalitions or pairs) in the class; infinite from 2^128 on.
    pub(crate) population: f64,
    /// Units wanted in expectation; exactly `population` where the class is exhausted.
    pub(crate) expected: f64,
}

impl SizeClass {
    /// Whether a unit is a pair of two coalitions of the same size.
    pub(crate) fn is_middle(&self) -> bool {
        self.pairing == Pairing::Paired && 2 * self.size == self.players
    }

    /// Rows that a unit takes.
    pub(crate) fn rows_per_unit(&self) -> usize {
        self.pairing.rows_per_unit()
    }

    /// Players and size of the subsets that name the units: all players, or all but the fixed last one.
    pub(crate) fn subsets(&self) -> (usize, usize) {
        let fixed = usize::from(self.is_middle());
        (self.players - fixed, self.size - fixed)
    }

    /// The stream of all random choices of this class.
    pub(crate) fn stream(&self, seed: u64) -> ChaCha8Rng {
        stream(seed, Purpose::Coalitions, self.size as u64)
    }

    /// The stream of the order in which the units of this class enter samples that grow.
    pub(crate) fn stream_of_order(&self, seed: u64) -> ChaCha8Rng {
        stream(seed, Purpose::Growth, self.size as u64)
    }

    /// The stream of when they enter, where they do so independently of other classes.
    pub(crate) fn stream_of_entries(&self, seed: u64) -> ChaCha8Rng {
        stream(seed, Purpose::Growth, (self.players + 1 + self.size) as u64)
    }
}

/// The classes of an allocation, by size. Sizes that no law draws are among them, with nothing expected.
pub(crate) fn size_classes(allocation: &Allocation, pairing: Pairing) -> Vec<SizeClass> {
    let players = allocation.expected.len() - 1;
    let largest = match pairing {
        Pairing::Unpaired => players,
        Pairing::Paired => players / 2,
    };
    (0..=largest)
        .map(|size| {
            let class = SizeClass {
                players,
                size,
                pairing,
                population: allocation.populations[size],
                expected: allocation.expected[size],
            };
            // A pair of the middle size is two rows of it: half as many pairs as coalitions.
            if class.is_middle() {
                SizeClass { population: 0.5 * class.population, expected: 0.5 * class.expected, ..class }
            } else {
                class
            }
        })
        .collect()
}
