//! Size classes: sets of coalitions, or of pairs, that a design without replacement treats equally.
//!
//! For unpaired designs, a class contains the coalitions of one size. For paired designs, it contains the
//! pairs {S, N∖S} with |S| = s ≤ n/2, each represented by its smaller member. If `n` is even, both members of
//! a pair of the middle size have n/2 players, so the pair is represented by the member that contains the
//! last player. There are C(n − 1, n/2 − 1) of these pairs (Leverage SHAP, Algorithm 2, which fixes z_n = 1
//! but draws indices from twice as many).

use apportion_games::{Purpose, stream};
use rand_chacha::ChaCha8Rng;

use crate::size::allocation::Allocation;
use crate::size::pairing::Pairing;

/// A size class in a game of `players` players.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SizeClass {
    pub(crate) players: usize,
    /// The size of the coalition that represents a unit: `s`, at most n/2 for pairs.
    pub(crate) size: usize,
    pub(crate) pairing: Pairing,
    /// The number of units (coalitions or pairs) in the class; infinite if at least 2^128.
    pub(crate) population: f64,
    /// The expected number of units in a sample; exactly `population` if the class is exhausted.
    pub(crate) expected: f64,
}

impl SizeClass {
    /// Returns whether each unit is a pair of two coalitions of the same size.
    pub(crate) fn is_middle(&self) -> bool {
        self.pairing == Pairing::Paired && 2 * self.size == self.players
    }

    /// Returns the number of rows per unit.
    pub(crate) fn rows_per_unit(&self) -> usize {
        self.pairing.rows_per_unit()
    }

    /// Returns two numbers: the number of players among which a unit is drawn, and the size of the subset
    /// that represents it. The players are all players, or all except the fixed last one.
    pub(crate) fn subsets(&self) -> (usize, usize) {
        let fixed = usize::from(self.is_middle());
        (self.players - fixed, self.size - fixed)
    }

    /// Returns the random stream for all random choices in this class.
    pub(crate) fn stream(&self, seed: u64) -> ChaCha8Rng {
        stream(seed, Purpose::Coalitions, self.size as u64)
    }

    /// Returns the random stream for the order in which the units of this class enter growing samples.
    pub(crate) fn stream_of_order(&self, seed: u64) -> ChaCha8Rng {
        stream(seed, Purpose::Growth, self.size as u64)
    }

    /// Returns the random stream for the levels at which the units of this class enter growing samples, if
    /// these levels are independent of the other classes.
    pub(crate) fn stream_of_entries(&self, seed: u64) -> ChaCha8Rng {
        stream(seed, Purpose::Growth, (self.players + 1 + self.size) as u64)
    }
}

/// Returns the classes of an allocation in order of size, including classes with zero expected units.
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
            // A pair of the middle size has two rows of this size, so there are half as many pairs as
            // coalitions.
            if class.is_middle() {
                SizeClass { population: 0.5 * class.population, expected: 0.5 * class.expected, ..class }
            } else {
                class
            }
        })
        .collect()
}
