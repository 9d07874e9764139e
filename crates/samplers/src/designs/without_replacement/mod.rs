//! Draws distinct coalitions of one size class. All sets of the same number of coalitions are equally likely.
//!
//! There are two exact algorithms, chosen by their cost. A test fixes the point at which the choice changes.
//!
//! | | time | memory | used if |
//! |---|---|---|---|
//! | [`enumerate`] | O(population) steps | O(s) | at least a quarter of the class is requested |
//! | [`reject`] | O(wanted) random subsets | a hash table of the drawn units | otherwise |
//!
//! Neither algorithm needs C(n, s) as an integer beyond 2^53. Leverage SHAP draws distinct ranks and converts
//! them to subsets ([`unrank`](crate::unrank)); this method is implemented in the tests for comparison. It is
//! also exact if ranks fit in 128 bits, but unranking takes n divisions of 128-bit numbers, while drawing a
//! subset takes a few random words.
//!
//! Growing samples contain the first units of an [`order`] that does not depend on the number of units.

mod enumerate;
mod order;
mod reject;

use apportion_games::Coalitions;
use rand_chacha::ChaCha8Rng;

use crate::designs::sample::{Order, Sample, SizeStratum};
use crate::size::allocation::Allocation;
use crate::size::choose::ln_choose;
use crate::size::pairing::Pairing;
use crate::size::size_class::SizeClass;

pub(crate) use self::order::{Units, draw_in_order};
pub(crate) use self::reject::distinct_units;

/// The algorithm that draws distinct units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Algorithm {
    Enumerate,
    Reject,
}

/// A class is enumerated if it has at most this number of units per requested unit. Up to this ratio,
/// visiting every unit costs less than drawing the requested units; above it, rejection takes at most 1.15
/// draws per unit.
const ENUMERATED_PER_WANTED: f64 = 4.0;

pub(crate) fn cheaper(population: f64, wanted: usize) -> Algorithm {
    if population <= ENUMERATED_PER_WANTED * wanted as f64 { Algorithm::Enumerate } else { Algorithm::Reject }
}

/// Appends the rows of `wanted` distinct units of `class`. All sets of `wanted` units are equally likely.
///
/// # Panics
///
/// If the class has fewer units.
fn draw_distinct(class: &SizeClass, wanted: usize, rng: &mut ChaCha8Rng, coalitions: &mut Coalitions) {
    assert!(
        wanted as f64 <= class.population,
        "cannot draw {wanted} of {} coalitions without replacement",
        class.population
    );
    if wanted == 0 {
        return;
    }
    match cheaper(class.population, wanted) {
        Algorithm::Enumerate => enumerate::draw(class, wanted, rng, coalitions),
        Algorithm::Reject => reject::draw(class, wanted, rng, coalitions),
    }
}

/// Draws a given number of distinct units from each class, using the random stream of the class. In
/// [`Order::Nested`], the drawn units are the first ones in a fixed random order.
///
/// If the number of units is random, it may have been drawn from the same stream before.
pub(crate) fn draw_classes(
    allocation: &Allocation,
    pairing: Pairing,
    wanted: Vec<(SizeClass, usize, ChaCha8Rng)>,
    order: Order,
) -> Sample {
    let players = allocation.expected.len() - 1;
    let rows = wanted.iter().map(|(class, count, _)| class.rows_per_unit() * count).sum();
    let mut coalitions = Coalitions::with_capacity(players, rows);
    let mut drawn = vec![0; players + 1];
    for (class, count, mut rng) in wanted {
        match order {
            Order::Fixed => draw_distinct(&class, count, &mut rng, &mut coalitions),
            Order::Nested => draw_in_order(&class, count, &mut rng, &mut coalitions),
        }
        drawn[class.size] += count;
        if pairing == Pairing::Paired {
            drawn[players - class.size] += count;
        }
    }
    let strata = (0..=players)
        .map(|size| SizeStratum {
            ln_population: ln_choose(players, size),
            expected: allocation.expected[size],
            drawn: drawn[size],
            exhausted: allocation.expected[size] == allocation.populations[size],
        })
        .collect();
    Sample { coalitions, pairing, strata, multiplicities: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::draw::random::below;
    use crate::size::choose::choose;
    use crate::size::pairing::Pairing;
    use crate::testing::assert_alike;
    use crate::unrank;
    use apportion_games::{Purpose, stream};

    pub(super) fn class(players: usize, size: usize, pairing: Pairing) -> SizeClass {
        let class = SizeClass { players, size, pairing, population: 0.0, expected: 0.0 };
        let (others, members) = class.subsets();
        let population = choose(others, members).map_or(f64::INFINITY, |count| count as f64);
        SizeClass { population, ..class }
    }

    /// Draws by the paper's method: distinct ranks by Floyd's algorithm (Bentley and Floyd, 1987), each
    /// converted to a subset.
    fn by_ranks(class: &SizeClass, wanted: usize, rng: &mut ChaCha8Rng, coalitions: &mut Coalitions) {
        let (players, size) = class.subsets();
        let mut ranks = std::collections::BTreeSet::new();
        for last in class.population as u64 - wanted as u64..class.population as u64 {
            let rank = below(rng, last + 1);
            if !ranks.insert(rank) {
                ranks.insert(last);
            }
        }
        for rank in ranks {
            let mut words = unrank(players, size, rank.into()).unwrap().view().words().to_vec();
            if class.is_middle() {
                words[(class.players - 1) / 64] |= 1 << ((class.players - 1) % 64);
            }
            class.pairing.push(&words, coalitions);
        }
    }

    type Draw = fn(&SizeClass, usize, &mut ChaCha8Rng, &mut Coalitions);

    const ALGORITHMS: [(&str, Draw); 4] = [
        ("enumerate", enumerate::draw),
        ("reject", reject::draw),
        ("order", draw_in_order),
        ("ranks", by_ranks),
    ];

    #[test]
    fn the_choice_flips_at_a_quarter_of_the_class() {
        assert_eq!(cheaper(400.0, 100), Algorithm::Enumerate);
        assert_eq!(cheaper(401.0, 100), Algorithm::Reject);
        assert_eq!(cheaper(f64::INFINITY, usize::MAX), Algorithm::Reject);
    }

    #[test]
    fn every_set_of_units_is_equally_likely_by_every_algorithm() {
        // There are 45 sets of two of the C(5,2) = 10 coalitions, and as many sets of two of the C(5,2) = 10
        // pairs of the middle size of six players. The chi-square statistic with 44 degrees of freedom
        // exceeds 100 with probability 3e-6.
        const DRAWS: usize = 45 * 400;
        for class in [
            class(5, 2, Pairing::Unpaired),
            class(5, 3, Pairing::Unpaired),
            class(5, 2, Pairing::Paired),
            class(6, 3, Pairing::Paired),
        ] {
            for (name, draw) in ALGORITHMS {
                let mut rng = stream(7, Purpose::Coalitions, 0);
                let draw = |_| {
                    let mut rows = Coalitions::new(class.players);
                    draw(&class, 2, &mut rng, &mut rows);
                    assert_eq!(rows.len(), 2 * class.rows_per_unit());
                    let mut named = rows.sizes().iter().step_by(class.rows_per_unit());
                    assert!(named.all(|&size| size as usize == class.size));
                    let mut set: Vec<u64> = rows.words().to_vec();
                    set.sort_unstable();
                    set
                };
                assert_alike((0..DRAWS).map(draw), 45, 100.0, &format!("{name}, {class:?}"));
            }
        }
    }

    #[test]
    fn units_are_distinct_by_every_algorithm() {
        for (players, size) in [
            (1, 0),
            (1, 1),
            (2, 1),
            (7, 3),
            (8, 4),
            (12, 6),
            (64, 2),
            (65, 2),
            (66, 64),
            (130, 1),
            (130, 129),
        ] {
            for pairing in [Pairing::Unpaired, Pairing::Paired] {
                if pairing == Pairing::Paired && 2 * size > players {
                    continue;
                }
                let class = class(players, size, pairing);
                for wanted in [1, class.population as usize / 2, class.population as usize] {
                    for (name, draw) in ALGORITHMS {
                        let mut rows = Coalitions::new(players);
                        draw(&class, wanted, &mut stream(8, Purpose::Coalitions, 1), &mut rows);
                        let mut distinct: Vec<&[u64]> = rows.iter().map(|row| row.words()).collect();
                        distinct.sort_unstable();
                        distinct.dedup();
                        assert_eq!(distinct.len(), wanted * class.rows_per_unit(), "{name}, {class:?}");
                    }
                }
            }
        }
    }
}
