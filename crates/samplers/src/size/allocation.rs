//! The expected number of coalitions of each size, for designs without replacement.
//!
//! # Notation
//!
//! `m` is the requested number of rows; `g(s)` is the size distribution, or the mean of `g(s)` and `g(n − s)`
//! for pairs. The expected number of rows of size `s` is
//!
//! ```text
//! e(s) = min(C(n, s), c · g(s)),   Σ_s e(s) = m
//! ```
//!
//! If `g` is uniform on 1..=n−1, this is equation 12 of Leverage SHAP, whose `2c` is `c / (n − 1)` in this
//! notation. Line 2 of Algorithm 1 in that paper sums over half of the sizes only, and would use about twice
//! the budget.

use crate::size::choose::populations;
use crate::size::pairing::Pairing;
use crate::size::size_distribution::SizeDistribution;
use crate::size::water_filling::water_fill;

/// The expected number of rows of each size, and the number of coalitions from which they are drawn.
pub(crate) struct Allocation {
    /// The expected number `e(s)` for each size in `0..=n`. It is bitwise equal to the population if the size
    /// is exhausted.
    pub(crate) expected: Vec<f64>,
    /// The number `C(n, s)` of coalitions of each size; infinite if at least 2^128.
    pub(crate) populations: Vec<f64>,
}

impl Allocation {
    /// Computes the allocation. If at most `rows` coalitions are possible, all of them are included. Takes
    /// `O(n + k log k)` time, where `k` sizes have at most `rows` coalitions.
    pub(crate) fn new(distribution: &SizeDistribution, pairing: Pairing, rows: usize) -> Self {
        let populations = populations(distribution.players());
        let expected = water_fill(&shares(distribution, pairing), &populations, rows as f64);
        Self { expected, populations }
    }
}

/// Returns `g(s)` for the sizes `0..=n`. For pairs, this is the mean of `g(s)` and `g(n − s)`.
pub(crate) fn shares(distribution: &SizeDistribution, pairing: Pairing) -> Vec<f64> {
    let players = distribution.players();
    let share = |size: usize| match pairing {
        Pairing::Unpaired => distribution.probability(size),
        Pairing::Paired => 0.5 * (distribution.probability(size) + distribution.probability(players - size)),
    };
    (0..=players).map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choose;

    fn distributions(players: usize) -> Vec<SizeDistribution> {
        let lopsided: Vec<f64> = (0..=players).map(|size| ((size * 7) % 5) as f64).collect();
        let mut distributions: Vec<SizeDistribution> = [
            SizeDistribution::leverage(players),
            SizeDistribution::kernel(players),
            SizeDistribution::binomial(players),
        ]
        .map(Result::unwrap)
        .into();
        distributions.extend(SizeDistribution::custom(&lopsided));
        distributions
    }

    fn reachable(distribution: &SizeDistribution, pairing: Pairing) -> f64 {
        let players = distribution.players();
        populations(players)
            .iter()
            .enumerate()
            .filter(|(size, _)| {
                distribution.probability(*size) > 0.0
                    || pairing == Pairing::Paired && distribution.probability(players - size) > 0.0
            })
            .map(|(_, population)| population)
            .sum()
    }

    #[test]
    fn expected_rows_sum_to_the_rows_wanted() {
        for players in (2..=200).chain([1000]) {
            for distribution in distributions(players) {
                for rows in [1, 2, players, 5 * players, 10 * players + 1, 1000, 100_000] {
                    for pairing in [Pairing::Unpaired, Pairing::Paired] {
                        let allocation = Allocation::new(&distribution, pairing, rows);
                        let total: f64 = allocation.expected.iter().sum();
                        let wanted = (rows as f64).min(reachable(&distribution, pairing));
                        assert!((total / wanted - 1.0).abs() < 1e-12, "n = {players}, m = {rows}: {total}");
                    }
                }
            }
        }
    }

    #[test]
    fn expected_rows_are_the_smaller_of_the_population_and_a_multiple_of_the_law() {
        for players in [2, 3, 10, 11, 60, 101] {
            for distribution in distributions(players) {
                for rows in [2, players, 10 * players, 160 * players] {
                    let Allocation { expected, populations } =
                        Allocation::new(&distribution, Pairing::Unpaired, rows);
                    let ratio = |size: usize| expected[size] / distribution.probability(size);
                    let possible: Vec<usize> =
                        (0..=players).filter(|&size| distribution.probability(size) > 0.0).collect();
                    let (exhausted, others): (Vec<usize>, Vec<usize>) =
                        possible.into_iter().partition(|&size| expected[size] == populations[size]);
                    let Some(&first) = others.first() else { continue };
                    let c = ratio(first);
                    for size in others {
                        assert!(
                            (ratio(size) / c - 1.0).abs() < 1e-12,
                            "n = {players}, m = {rows}, s = {size}"
                        );
                    }
                    for size in exhausted {
                        let reach = c * distribution.probability(size);
                        assert!(
                            reach >= populations[size] * (1.0 - 1e-12),
                            "n = {players}, m = {rows}, s = {size}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn everything_is_taken_when_the_rows_suffice() {
        for players in 2..=40 {
            for (distribution, all) in [
                (SizeDistribution::leverage(players).unwrap(), (1 << players) - 2),
                (SizeDistribution::binomial(players).unwrap(), 1 << players),
            ] {
                for (rows, pairing) in [
                    (all, Pairing::Unpaired),
                    (all, Pairing::Paired),
                    (all + 1, Pairing::Paired),
                    (usize::MAX, Pairing::Paired),
                ] {
                    let allocation = Allocation::new(&distribution, pairing, rows);
                    for size in (0..=players).filter(|&size| distribution.probability(size) > 0.0) {
                        assert_eq!(allocation.expected[size], choose(players, size).unwrap() as f64);
                    }
                }
            }
        }
    }

    // Leverage SHAP has a misprint: for n = 101 and c = 3, equation 12 yields 600 rows, but line 2 of
    // Algorithm 1 would yield 300.
    #[test]
    fn the_oversampling_is_that_of_equation_12() {
        for (players, rows, c) in [(101, 600, 3.0), (10, 54, 3.0)] {
            let allocation =
                Allocation::new(&SizeDistribution::leverage(players).unwrap(), Pairing::Paired, rows);
            for size in 1..players {
                assert!((allocation.expected[size] - 2.0 * c).abs() < 1e-12, "n = {players}, s = {size}");
            }
        }
    }
}
