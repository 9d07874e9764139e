//! Comparison of two estimators on the same runs: the median ratio of their squared errors, with a
//! distribution-free interval.
//!
//! The interval is the one that inverts the sign test: it extends from the j-th smallest to the j-th largest
//! of n ratios, with the largest j for which a fair coin shows fewer than j heads in n tosses with
//! probability at most 2.5%. If the ratios are independent, it covers their median with at least 95%
//! confidence, whatever their distribution. At least six ratios are needed.

use statrs::distribution::{Binomial, DiscreteCDF};

use super::record::RunLine;
use super::summary::differ_by_rounding;

/// Maximum probability that the median lies below the interval, and maximum probability that it lies above.
const TAIL: f64 = 0.025;

/// Results of paired runs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Paired {
    pub(crate) pairs: usize,
    /// Median ratio of B's error to A's error, which is below 1 if B is better.
    pub(crate) ratio: f64,
    /// 95% interval of the median ratio; `None` if there are too few pairs.
    pub(crate) interval: Option<(f64, f64)>,
    /// Number of pairs in which A has the smaller error.
    pub(crate) a_is_better: usize,
    pub(crate) b_is_better: usize,
    /// Two-sided p-value of the sign test, without ties.
    pub(crate) chance: f64,
}

impl Paired {
    /// Compares pairs of runs. Returns `None` if there are no pairs.
    pub(crate) fn compare(pairs: &[(&RunLine, &RunLine)]) -> Option<Self> {
        let mut ratios: Vec<f64> = pairs.iter().map(|(a, b)| ratio(a, b)).collect();
        ratios.sort_by(f64::total_cmp);
        let count = ratios.len();
        let middle = count.checked_sub(1)? / 2;
        // Use the geometric mean, so that exchanging A and B inverts the ratio.
        let ratio =
            if count % 2 == 1 { ratios[middle] } else { (ratios[middle] * ratios[middle + 1]).sqrt() };
        let b_is_better = ratios.iter().filter(|&&ratio| ratio < 1.0).count();
        let a_is_better = ratios.iter().filter(|&&ratio| ratio > 1.0).count();
        let interval = rank(count).map(|rank| (ratios[rank - 1], ratios[count - rank]));
        Some(Self {
            pairs: count,
            ratio,
            interval,
            a_is_better,
            b_is_better,
            chance: chance(a_is_better, b_is_better),
        })
    }
}

/// Returns the ratio of B's error to A's error. Errors that differ only by rounding count as equal.
fn ratio(a: &RunLine, b: &RunLine) -> f64 {
    if differ_by_rounding(a, b) { 1.0 } else { b.squared_error / a.squared_error }
}

/// Returns the probability of at most `heads` heads in `throws` tosses.
fn at_most(heads: usize, throws: usize) -> f64 {
    Binomial::new(0.5, throws as u64).map_or(1.0, |distribution| distribution.cdf(heads as u64))
}

/// Returns the rank j (from 1) of the interval's lower end among `count` ratios; the upper end has the same
/// rank from above.
fn rank(count: usize) -> Option<usize> {
    (1..=count / 2).rev().find(|&rank| at_most(rank - 1, count) <= TAIL)
}

fn chance(one: usize, other: usize) -> f64 {
    (2.0 * at_most(one.min(other), one + other)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(squared_error: f64) -> RunLine {
        RunLine {
            dataset: String::new(),
            estimator: String::new(),
            budget: String::new(),
            run: 0,
            seed: 0,
            explicand_row: 0,
            evaluations: 0,
            squared_error,
            relative_squared_error: Some(squared_error),
            seconds: 0.0,
        }
    }

    fn paired(errors: &[(f64, f64)]) -> Option<Paired> {
        let lines: Vec<(RunLine, RunLine)> = errors.iter().map(|&(a, b)| (line(a), line(b))).collect();
        Paired::compare(&lines.iter().map(|(a, b)| (a, b)).collect::<Vec<_>>())
    }

    #[test]
    fn the_interval_is_that_of_the_tables_of_the_sign_test() {
        // The expected ranks are from tables of the sign test, for 95%.
        for (count, expected) in [
            (5, None),
            (6, Some(1)),
            (8, Some(1)),
            (9, Some(2)),
            (12, Some(3)),
            (20, Some(6)),
            (50, Some(18)),
        ] {
            assert_eq!(rank(count), expected, "{count}");
        }
    }

    #[test]
    fn the_median_is_between_the_errors_and_changes_places_with_them() {
        let errors = [(1.0, 2.0), (1.0, 8.0), (4.0, 2.0), (1.0, 3.0), (1.0, 5.0), (2.0, 8.0)];
        let one = paired(&errors).unwrap();
        assert!((one.ratio - 12f64.sqrt()).abs() < 1e-15 && one.interval == Some((0.5, 8.0)));
        assert_eq!((one.a_is_better, one.b_is_better), (5, 1));
        assert!((one.chance - 2.0 * 7.0 / 64.0).abs() < 1e-12);
        let other = paired(&errors.map(|(a, b)| (b, a))).unwrap();
        assert!((one.ratio * other.ratio - 1.0).abs() < 1e-15 && other.interval == Some((0.125, 2.0)));
    }

    #[test]
    fn rounding_is_equal_and_what_is_exact_is_better_than_what_is_not() {
        let ties = paired(&[(1e-30, 1e-25), (0.0, 0.0)]).unwrap();
        assert_eq!((ties.ratio, ties.a_is_better, ties.b_is_better, ties.chance), (1.0, 0, 0, 1.0));
        assert_eq!(paired(&[(0.0, 1e-3)]).unwrap().ratio, f64::INFINITY);
        // Errors that differ by rounding between two ways to compute the same estimate count as equal,
        // however large they are.
        let alike = paired(&[(0.25, 0.25 * (1.0 + 1e-12)), (1e-6, 1e-6 * (1.0 - 1e-9))]).unwrap();
        assert_eq!((alike.ratio, alike.a_is_better, alike.b_is_better), (1.0, 0, 0));
        assert_eq!(paired(&[(0.25, 0.25 * (1.0 + 1e-9))]).unwrap().a_is_better, 1);
        assert_eq!(paired(&[]), None);
    }
}
