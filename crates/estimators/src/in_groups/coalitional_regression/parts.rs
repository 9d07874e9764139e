//! The parts of an estimate, and the division of the budget among them.

use apportion_games::{Purpose, stream};
use apportion_samplers::water_fill;
use rand::Rng;

/// A regression that is one part of an estimate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Part {
    /// The number of coefficients to estimate.
    pub(super) unknowns: usize,
    /// The number of evaluations that makes the estimate exact: an even number, or infinite.
    pub(super) capacity: f64,
}

impl Part {
    /// Returns the regression on the proper coalitions of `players`.
    pub(super) fn of_players(players: usize) -> Self {
        Self { unknowns: players, capacity: (players as f64).exp2() - 2.0 }
    }
}

/// Returns the minimum total for [`split`]: one evaluation per unknown, rounded up to pairs.
pub(super) fn min_evaluations_of(parts: &[Part]) -> usize {
    let least: f64 = parts.iter().map(|part| part.capacity.min(part.unknowns as f64)).sum();
    (least as usize).next_multiple_of(2)
}

/// Returns an even number of evaluations for each part. The numbers are in proportion to the parts' unknowns
/// and at most their capacities. They sum to `total` (minus one if it is odd), or to the total capacity.
///
/// Pairs that remain after rounding go to the parts with the largest rounded-off fractions.
pub(super) fn split(parts: &[Part], total: usize) -> Vec<usize> {
    let weights: Vec<f64> = parts.iter().map(|part| part.unknowns as f64).collect();
    let capacities: Vec<f64> = parts.iter().map(|part| part.capacity).collect();
    let shares = water_fill(&weights, &capacities, (total - total % 2) as f64);
    let mut pairs: Vec<usize> = shares.iter().map(|share| (share / 2.0) as usize).collect();
    let all = shares.iter().sum::<f64>().round().min(total as f64) as usize / 2;
    let mut left = all.saturating_sub(pairs.iter().sum());
    let rounded_off = |index: usize| shares[index] / 2.0 - (shares[index] / 2.0).floor();
    let mut order: Vec<usize> = (0..parts.len()).filter(|&index| shares[index] < capacities[index]).collect();
    order.sort_by(|&a, &b| rounded_off(b).total_cmp(&rounded_off(a)));
    for index in order {
        let one = left.min(1);
        pairs[index] += one;
        left -= one;
    }
    pairs.into_iter().map(|pairs| 2 * pairs).collect()
}

/// Divides evaluations like [`split`], but no part's number decreases as `total` grows. Each number is at
/// least the one in `at_least`; the sum of `at_least` is at most `total`.
///
/// The k-th pair of a part with u unknowns, k = 0, 1, …, enters at the level `(k + ½) / u`; ties go to the
/// first part. The numbers are therefore proportional, rounded with Webster's method. At the minimum total
/// ([`min_evaluations_of`]), a part has a pair for every two unknowns.
pub(super) fn split_growing(parts: &[Part], at_least: &[usize], total: usize) -> Vec<usize> {
    let capacity = |index: usize| parts[index].capacity / 2.0;
    let unknowns = |index: usize| parts[index].unknowns as f64;
    let total = total / 2;
    let counts_at = |level: f64| -> Vec<usize> {
        (0..parts.len())
            .map(|index| {
                let by_level = (level * unknowns(index)).floor().min(capacity(index)) as usize;
                by_level.max(at_least[index] / 2)
            })
            .collect()
    };
    let fits = |level: f64| counts_at(level).into_iter().fold(0, usize::saturating_add) <= total;
    // Find a level that fits, and then add pairs one by one.
    let (mut below, mut above) = (0.0, total as f64);
    while above - below > 1e-9 * above {
        let middle = 0.5 * (below + above);
        if fits(middle) { below = middle } else { above = middle }
    }
    let mut pairs = counts_at((below - 1.0).max(0.0));
    let mut left = total - pairs.iter().sum::<usize>();
    let level = |index: usize, pairs: usize| (pairs as f64 + 0.5) / unknowns(index);
    while left > 0 {
        let next = (0..parts.len())
            .filter(|&index| (pairs[index] as f64) < capacity(index))
            .min_by(|&a, &b| level(a, pairs[a]).total_cmp(&level(b, pairs[b])));
        let Some(next) = next else { break };
        pairs[next] += 1;
        left -= 1;
    }
    pairs.into_iter().map(|pairs| 2 * pairs).collect()
}

/// Returns the seed for the random streams of one part.
pub(super) fn seed_of_part(seed: u64, part: u64) -> u64 {
    stream(seed, Purpose::Parts, part).next_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growing_shares_are_in_proportion_and_never_shrink() {
        let cases: [(Vec<Part>, Vec<usize>); 4] = [
            (vec![part(4, 14.0), part(7, f64::INFINITY), part(9, 960.0), part(5, f64::INFINITY)], vec![0; 4]),
            (vec![part(2, 2.0)], vec![0]),
            (vec![part(20, f64::INFINITY), part(2, 2.0), part(2, 6.0), part(2, 4.0)], vec![0; 4]),
            (vec![part(20, f64::INFINITY), part(2, 40.0), part(3, 6.0)], vec![10, 14, 4]),
        ];
        for (parts, at_least) in cases {
            let of_all = at_least.iter().sum::<usize>();
            // Compute the reference result pair by pair.
            let mut expected = at_least.clone();
            for total in of_all..of_all + 600 {
                if total > of_all && total % 2 == 0 {
                    let next = (0..parts.len())
                        .filter(|&index| (expected[index] as f64) < parts[index].capacity)
                        .map(|index| ((expected[index] + 1) as f64 / parts[index].unknowns as f64, index))
                        .min_by(|a, b| a.0.total_cmp(&b.0));
                    if let Some((_, index)) = next {
                        expected[index] += 2;
                    }
                }
                assert_eq!(split_growing(&parts, &at_least, total), expected, "{total} for {parts:?}");
            }
            let shares = split_growing(&parts, &vec![0; parts.len()], min_evaluations_of(&parts));
            for (&share, part) in shares.iter().zip(&parts) {
                assert!(share as f64 >= part.capacity.min((part.unknowns - part.unknowns % 2) as f64));
            }
        }
        assert_eq!(split_growing(&[part(4, 14.0), part(3, 30.0)], &[0, 0], usize::MAX), [14, 30]);
    }

    fn part(unknowns: usize, capacity: f64) -> Part {
        Part { unknowns, capacity }
    }

    #[test]
    fn everything_is_spent_in_proportion_to_the_unknowns() {
        let parts = [part(4, 14.0), part(7, f64::INFINITY), part(9, 960.0), part(5, f64::INFINITY)];
        for total in [25, 26, 100, 101, 1000, 12_345] {
            let shares = split(&parts, total);
            assert_eq!(shares.iter().sum::<usize>(), total - total % 2, "{shares:?}");
            assert!(shares.iter().all(|share| share % 2 == 0));
            let per_unknown = |index: usize| shares[index] as f64 / parts[index].unknowns as f64;
            assert!((per_unknown(1) - per_unknown(3)).abs() <= 2.0 / 7.0 + 2.0 / 5.0, "{shares:?}");
            for (share, part) in shares.iter().zip(&parts) {
                assert!(*share as f64 <= part.capacity);
            }
        }
    }

    #[test]
    fn a_total_that_covers_all_is_not_spent_beyond() {
        let parts = [part(4, 14.0), part(2, 6.0), part(3, 30.0)];
        for total in [50, 51, 1000, usize::MAX] {
            assert_eq!(split(&parts, total), [14, 6, 30]);
        }
    }

    #[test]
    fn the_least_total_leaves_no_part_without_a_pair() {
        for parts in [
            vec![part(2, 2.0)],
            vec![part(2, 2.0), part(3, 4.0), part(5, f64::INFINITY)],
            vec![part(3, f64::INFINITY); 7],
            vec![part(20, f64::INFINITY), part(2, 2.0), part(2, 2.0), part(2, 4.0)],
        ] {
            let shares = split(&parts, min_evaluations_of(&parts));
            assert_eq!(shares.iter().sum::<usize>(), min_evaluations_of(&parts));
            for (&share, part) in shares.iter().zip(&parts) {
                assert!(
                    share as f64 > part.capacity.min(part.unknowns as f64) - 2.0 && share >= 2,
                    "{shares:?}"
                );
            }
        }
    }
}
