//! The parts of an estimate, and what each may spend.

use apportion_samplers::water_fill;

/// A regression of its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Part {
    /// Coefficients that it has to find.
    pub(super) unknowns: usize,
    /// Evaluations with which it is exact; an even number, or infinite.
    pub(super) capacity: f64,
}

impl Part {
    /// The regression on the proper coalitions of `players`.
    pub(super) fn of_players(players: usize) -> Self {
        Self { unknowns: players, capacity: (players as f64).exp2() - 2.0 }
    }
}

/// The fewest evaluations that [`split`] takes: one for each unknown, rounded up to pairs.
pub(super) fn least(parts: &[Part]) -> usize {
    let least: f64 = parts.iter().map(|part| part.capacity.min(part.unknowns as f64)).sum();
    (least as usize).next_multiple_of(2)
}

/// Even numbers of evaluations for each part, in proportion to its unknowns and at most its capacity, that sum to `total` (one less where
/// it is odd) or to all capacities.
///
/// Pairs that rounding leaves over go where most was rounded off.
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

#[cfg(test)]
mod tests {
    use super::*;

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
            let shares = split(&parts, least(&parts));
            assert_eq!(shares.iter().sum::<usize>(), least(&parts));
            for (&share, part) in shares.iter().zip(&parts) {
                assert!(
                    share as f64 > part.capacity.min(part.unknowns as f64) - 2.0 && share >= 2,
                    "{shares:?}"
                );
            }
        }
    }
}
