//! Random orders of the players.

use apportion_games::{Purpose, stream};

use crate::draw::random::shuffle;

/// Returns a uniformly random permutation of the players `0..players`. It is determined by `seed` and `unit`.
///
/// Each unit has a separate stream, so permutations can be generated in any order and on any thread. Takes
/// `O(n)` time.
///
/// ```
/// use apportion_samplers::permutation;
///
/// let mut order = permutation(5, 7, 0);
/// assert_ne!(order, permutation(5, 7, 1));
/// order.sort_unstable();
/// assert_eq!(order, [0, 1, 2, 3, 4]);
/// ```
///
/// # Panics
///
/// If `players` does not fit in 32 bits or `unit` does not fit in 48 bits.
pub fn permutation(players: usize, seed: u64, unit: u64) -> Vec<usize> {
    assert!(u32::try_from(players).is_ok(), "{players} players do not fit in 32 bits");
    let mut rng = stream(seed, Purpose::Permutations, unit);
    let mut order: Vec<usize> = (0..players).collect();
    shuffle(&mut order, &mut rng);
    order
}

/// A sequence of random permutations of the players, independent or antithetic.
///
/// If antithetic, each permutation is followed by its reverse, in which every player joins the players that
/// came after it. The errors of the two tend to cancel (Mitchell, Cooper, Frank and Holmes, *Sampling
/// Permutations for Shapley Value Estimation*, JMLR 2022).
///
/// ```
/// use apportion_samplers::Permutations;
///
/// let permutations = Permutations { players: 4, antithetic: true };
/// let forward = permutations.get(7, 0);
/// let mut backward = permutations.get(7, 1);
/// backward.reverse();
/// assert_eq!(forward, backward);
/// assert_eq!(permutations.iter(7).next(), Some(forward));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permutations {
    /// Number of players `n`.
    pub players: usize,
    /// Whether each permutation is followed by its reverse.
    pub antithetic: bool,
}

impl Permutations {
    /// Returns the permutation at `index` in the sequence for `seed`. In antithetic sequences, reversed
    /// permutations have indices as well. Takes `O(n)` time for any index.
    ///
    /// # Panics
    ///
    /// Same as [`permutation`].
    pub fn get(&self, seed: u64, index: u64) -> Vec<usize> {
        if !self.antithetic {
            return permutation(self.players, seed, index);
        }
        let mut order = permutation(self.players, seed, index / 2);
        if index % 2 == 1 {
            order.reverse();
        }
        order
    }

    /// Returns an iterator over the infinite sequence of permutations for `seed`.
    pub fn iter(&self, seed: u64) -> impl Iterator<Item = Vec<usize>> + use<> {
        let permutations = *self;
        (0..).map(move |index| permutations.get(seed, index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_alike;

    #[test]
    fn permutations_are_uniform() {
        // There are 24 orders of 4 players, each expected 500 times. The chi-square statistic with 23 degrees
        // of freedom exceeds 60 with probability 3.6e-5.
        let orders = (Permutations { players: 4, antithetic: false }).iter(11).take(12_000);
        assert_alike(orders, 24, 60.0, "orders");
    }

    #[test]
    fn antithetic_permutations_come_with_their_reverse() {
        let antithetic = Permutations { players: 9, antithetic: true };
        let plain = Permutations { players: 9, antithetic: false };
        for unit in 0..20 {
            let forward = antithetic.get(3, 2 * unit);
            assert_eq!(forward, plain.get(3, unit));
            assert!(antithetic.get(3, 2 * unit + 1).iter().eq(forward.iter().rev()));
        }
    }

    #[test]
    fn no_player_and_one_player_have_one_order() {
        assert_eq!(permutation(0, 1, 0), Vec::<usize>::new());
        assert_eq!(permutation(1, 1, 0), [0]);
    }

    // Stored results record their seed: if these orders change, so do all stored results.
    #[test]
    fn first_permutations_are_fixed() {
        assert_eq!(permutation(6, 42, 0), [5, 0, 2, 1, 3, 4]);
        assert_eq!(permutation(6, 42, 1), [2, 3, 0, 4, 5, 1]);
    }
}
