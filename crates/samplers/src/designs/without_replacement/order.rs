//! A random order of the units of a class. Growing samples contain the first units.
//!
//! The order is distributed like a uniformly shuffled list of all units, but only the requested part of it is
//! generated. The first half is drawn one by one, drawing again if a unit was drawn before. The other half is
//! obtained by shuffling the remaining units. As a result, neither the order nor the cost per unit depends on
//! the size of the class or on the number of units requested.

use std::collections::HashSet;

use apportion_games::Coalitions;
use rand_chacha::ChaCha8Rng;

use super::{enumerate, reject};
use crate::draw::random::below;
use crate::size::pairing::Pairing;
use crate::size::size_class::SizeClass;

/// The units of a class. Each unit consists of one or two rows.
pub(crate) trait Units {
    fn players(&self) -> usize;
    fn pairing(&self) -> Pairing;
    /// Returns the number of units in the class; may be infinite.
    fn population(&self) -> f64;
    /// Appends the rows of `wanted` distinct random units one by one, drawing again if a unit was drawn
    /// before.
    fn append_random(&self, wanted: usize, rng: &mut ChaCha8Rng, coalitions: &mut Coalitions);
    /// Appends the rows of all units, always in the same order, without random numbers.
    fn append_all(&self, rng: &mut ChaCha8Rng, coalitions: &mut Coalitions);
}

impl Units for SizeClass {
    fn players(&self) -> usize {
        self.players
    }
    fn pairing(&self) -> Pairing {
        self.pairing
    }
    fn population(&self) -> f64 {
        self.population
    }
    fn append_random(&self, wanted: usize, rng: &mut ChaCha8Rng, coalitions: &mut Coalitions) {
        reject::draw(self, wanted, rng, coalitions);
    }
    fn append_all(&self, rng: &mut ChaCha8Rng, coalitions: &mut Coalitions) {
        enumerate::draw(self, self.population as usize, rng, coalitions);
    }
}

/// Appends the rows of the first `wanted` units in the order determined by `rng`.
///
/// Takes at most 1.4 expected subset draws per unit for up to half of the class. Beyond this, the class is
/// enumerated once.
///
/// # Panics
///
/// If the class has fewer units.
pub(crate) fn draw_in_order<U: Units>(
    class: &U,
    wanted: usize,
    rng: &mut ChaCha8Rng,
    coalitions: &mut Coalitions,
) {
    let population = class.population();
    assert!(
        wanted as f64 <= population,
        "cannot draw {wanted} of {population} coalitions without replacement"
    );
    let half = (0.5 * population).floor();
    if wanted as f64 <= half {
        return class.append_random(wanted, rng, coalitions);
    }
    let (population, half) = (population as usize, half as usize);
    let stride = class.pairing().rows_per_unit();
    let first = coalitions.len();
    class.append_random(half, rng, coalitions);
    let mut all = Coalitions::with_capacity(class.players(), population * stride);
    class.append_all(rng, &mut all);
    let met: HashSet<&[u64]> =
        (first..coalitions.len()).step_by(stride).map(|row| coalitions.row(row).words()).collect();
    let mut left: Vec<usize> =
        (0..all.len()).step_by(stride).filter(|&row| !met.contains(all.row(row).words())).collect();
    for place in 0..wanted - half {
        let other = place + below(rng, (left.len() - place) as u64) as usize;
        left.swap(place, other);
        class.pairing().push(all.row(left[place]).words(), coalitions);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::designs::without_replacement::tests::class;
    use crate::testing::assert_alike;
    use apportion_games::{Purpose, stream};

    fn first(class: &SizeClass, expected: usize, seed: u64) -> Vec<u64> {
        let mut rows = Coalitions::new(class.players);
        draw_in_order(class, expected, &mut stream(seed, Purpose::Growth, 0), &mut rows);
        rows.words().to_vec()
    }

    #[test]
    fn the_first_units_are_the_same_however_many_are_wanted() {
        for (players, size) in [(1, 0), (2, 1), (5, 2), (6, 3), (8, 4), (9, 2), (70, 1), (66, 33), (130, 2)] {
            for pairing in [Pairing::Unpaired, Pairing::Paired] {
                let class = class(players, size, pairing);
                let most = class.population.min(300.0) as usize;
                let whole = first(&class, most, 3);
                for expected in 0..most {
                    assert!(whole.starts_with(&first(&class, expected, 3)), "{expected} of {class:?}");
                }
            }
        }
    }

    #[test]
    fn every_order_is_equally_likely() {
        // There are 24 orders of the four single players. The chi-square statistic with 23 degrees of freedom
        // exceeds 70 with probability 1e-6.
        let class = class(4, 1, Pairing::Unpaired);
        let orders = (0..24 * 300).map(|seed| first(&class, 4, seed));
        assert_alike(orders, 24, 70.0, "orders");
    }
}
