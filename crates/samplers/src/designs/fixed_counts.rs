//! Sampling without replacement with exactly the requested number of rows.

use apportion_games::{Coalitions, Purpose, stream};
use rand_chacha::ChaCha8Rng;

use crate::designs::levels::{Entries, START_UNIT, next_entries};
use crate::designs::sample::{Order, Sample, Sampler, check_rows};
use crate::designs::without_replacement::draw_classes;
use crate::draw::random::{below, unit};
use crate::error::SamplerError;
use crate::size::allocation::{Allocation, shares};
use crate::size::pairing::Pairing;
use crate::size::size_class::{SizeClass, size_classes};
use crate::size::size_distribution::SizeDistribution;

/// A design like [`Bernoulli`](crate::Bernoulli), but with fixed counts: the number of coalitions of each
/// size is its expectation, rounded so that exactly `evaluations` rows are drawn.
///
/// Rounding is systematic sampling with a random start: an expectation of 2.3 is rounded to 3 with
/// probability 0.3 and to 2 otherwise, and the sum is always the same. As a result, inclusion probabilities
/// equal those in the Bernoulli design to within 2^−53, but inclusions are not independent. (Rounding without
/// a random start would omit the same sizes in every run.)
///
/// For pairs, exactly `2⌊evaluations/2⌋` rows are drawn. If `evaluations` reaches the number of coalitions
/// that can be drawn, each of them is included exactly once. Rows are sorted by size, with the smaller member
/// of a pair first. Leverage SHAP mentions this design in section 3.2 ("deterministically m"). Sampling takes
/// the same time as with [`Bernoulli`](crate::Bernoulli).
///
/// # Growing samples
///
/// In [`Order::Nested`], the coalitions (or pairs) of each size are put in a random order. The k-th of them,
/// k = 0, 1, …, has the level
///
/// ```text
/// c = (k + u_s) / g(s),   u_s uniform on (0, 1]
/// ```
///
/// where g is the size distribution. For pairs, g(s) is replaced by the mean of g(s) and g(n − s), and by
/// half of this mean for the middle size. The sample contains the coalitions with the lowest levels, up to
/// some level c. The number of coalitions of size s therefore differs from `c g(s)` by less than one. Exactly
/// `evaluations` rows are drawn (`2⌊evaluations/2⌋` for pairs), or all that exist.
///
/// Given the number of coalitions of a size, all sets with this number of coalitions are equally likely.
/// Therefore, [`expected`](crate::SizeStratum::expected) is the number drawn, which yields unbiased estimates
/// of sums over a size. The exceptions are sizes with an expected number below one, which may not be drawn at
/// all: for these, it is the expected number. For the leverage distribution and at least n − 1 evaluations,
/// the only exception is the middle size of pairs.
///
/// Rows are sorted by size, and by their order within a size. Takes `O(m (n / 10 + ln n))` time, and
/// enumerates a size if more than half of it is drawn.
///
/// ```
/// use apportion_samplers::{FixedCounts, Order, Pairing, Sampler, SizeDistribution};
///
/// let sampler = FixedCounts { distribution: SizeDistribution::leverage(100)?, pairing: Pairing::Paired, order: Order::Fixed };
/// let sample = sampler.sample(1000, 7)?;
/// assert_eq!(sample.coalitions().len(), 1000);
/// assert!((sample.strata()[40].expected - 1000.0 / 99.0).abs() < 1e-10);
///
/// let growing = FixedCounts { order: Order::Nested, ..sampler };
/// let (small, large) = (growing.sample(300, 7)?, growing.sample(1000, 7)?);
/// assert_eq!((small.coalitions().len(), large.coalitions().len()), (300, 1000));
/// let is_among = |row| large.coalitions().iter().any(|other| other == row);
/// assert!(small.coalitions().iter().all(is_among));
/// # Ok::<(), apportion_samplers::SamplerError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FixedCounts {
    /// The size distribution. The expected number of rows of each size is proportional to it, limited by the
    /// number of coalitions of that size. Leverage SHAP uses the leverage distribution.
    pub distribution: SizeDistribution,
    /// Whether a coalition and its complement are included together.
    pub pairing: Pairing,
    /// Whether samples grow.
    pub order: Order,
}

impl Sampler for FixedCounts {
    fn players(&self) -> usize {
        self.distribution.players()
    }

    /// Draws exactly `evaluations` rows, or all that exist; for pairs, one less if `evaluations` is odd.
    fn sample(&self, evaluations: usize, seed: u64) -> Result<Sample, SamplerError> {
        if self.order == Order::Nested {
            return self.nested(evaluations, seed).map(|(sample, _)| sample);
        }
        let rows = self.usable(evaluations);
        let allocation = Allocation::new(&self.distribution, self.pairing, rows);
        check_rows(self.players(), allocation.expected.iter().sum::<f64>() as usize)?;
        let classes: Vec<SizeClass> = size_classes(&allocation, self.pairing)
            .into_iter()
            .filter(|class| class.expected > 0.0)
            .collect();
        let expected: Vec<f64> = classes.iter().map(|class| class.expected).collect();
        let counts = round_systematically(&expected, &mut stream(seed, Purpose::Counts, 0));
        let wanted = classes
            .into_iter()
            .zip(counts)
            .map(|(class, count)| (class, count, class.stream(seed)))
            .collect();
        Ok(draw_classes(&allocation, self.pairing, wanted, Order::Fixed))
    }
}

impl FixedCounts {
    /// Returns `evaluations`, rounded down to whole pairs.
    fn usable(&self, evaluations: usize) -> usize {
        evaluations - evaluations % self.pairing.rows_per_unit()
    }

    /// Draws the same sample as [`sample`](Sampler::sample) in [`Order::Nested`], with the rows in the order
    /// in which they are added, so that the rows of a smaller sample come first.
    ///
    /// # Errors
    ///
    /// [`SamplerError::TooManyRows`] above [`max_rows`](crate::max_rows).
    pub fn sample_in_order(&self, evaluations: usize, seed: u64) -> Result<Sample, SamplerError> {
        let (mut sample, order) = self.nested(evaluations, seed)?;
        let stride = self.pairing.rows_per_unit();
        // The position of the next unit of each class.
        let mut next = vec![0; order.iter().max().map_or(0, |last| last + 1)];
        order.iter().for_each(|&class| next[class] += stride);
        let mut end = 0;
        for start in &mut next {
            end += *start;
            *start = end - *start;
        }
        let mut coalitions = Coalitions::with_capacity(self.players(), end);
        for class in order {
            (0..stride).for_each(|row| coalitions.push(sample.coalitions.row(next[class] + row)));
            next[class] += stride;
        }
        sample.coalitions = coalitions;
        Ok(sample)
    }

    /// Returns the sample sorted by class, and the class of each unit in the order in which the units are
    /// added.
    fn nested(&self, evaluations: usize, seed: u64) -> Result<(Sample, Vec<usize>), SamplerError> {
        let rows = self.usable(evaluations);
        let mut allocation = Allocation::new(&self.distribution, self.pairing, rows);
        let rows = check_rows(self.players(), allocation.expected.iter().sum::<f64>().round() as usize)?;
        let shares = shares(&self.distribution, self.pairing);
        let classes: Vec<SizeClass> = size_classes(&allocation, self.pairing)
            .into_iter()
            .filter(|class| shares[class.size] > 0.0)
            .collect();
        let mut starts = stream(seed, Purpose::Growth, START_UNIT);
        let entries: Vec<Entries> = classes
            .iter()
            .map(|class| Entries {
                start: 1.0 - unit(&mut starts),
                rate: shares[class.size] * if class.is_middle() { 0.5 } else { 1.0 },
                population: class.population,
            })
            .collect();
        let units = rows / self.pairing.rows_per_unit();
        let mut counts = vec![0; entries.len()];
        let order = next_entries(&entries, &mut counts, units);
        for (class, &count) in classes.iter().zip(&counts).filter(|(class, _)| class.expected >= 1.0) {
            let rows_of_size = if class.is_middle() { 2.0 } else { 1.0 };
            allocation.expected[class.size] = rows_of_size * count as f64;
            if self.pairing == Pairing::Paired {
                allocation.expected[self.players() - class.size] = allocation.expected[class.size];
            }
        }
        let wanted = classes
            .into_iter()
            .zip(counts)
            .map(|(class, count)| (class, count, class.stream_of_order(seed)))
            .collect();
        Ok((draw_classes(&allocation, self.pairing, wanted, Order::Nested), order))
    }
}

/// The number 1 in units of 2^−53. Fractions are integer multiples of this unit, so their sums are exact.
const ONE: u64 = 1 << 53;

/// Rounds each number up or down; the probability of rounding up is its fractional part. The rounded numbers
/// sum to the sum of all numbers, rounded to the nearest integer.
pub(crate) fn round_systematically(expected: &[f64], rng: &mut ChaCha8Rng) -> Vec<usize> {
    let total = expected.iter().sum::<f64>().round() as usize;
    let mut counts: Vec<usize> = expected.iter().map(|mean| mean.floor() as usize).collect();
    let mut fractions: Vec<u64> = expected.iter().map(|mean| (mean.fract() * ONE as f64) as u64).collect();
    let ups = total.saturating_sub(counts.iter().sum());
    balance(&mut fractions, ups);

    // Lay the fractions end to end, and place a point in each unit interval, at the same random offset. A
    // fraction is rounded up if it contains a point.
    let start = u128::from(below(rng, ONE));
    let mut end = 0;
    for (count, &fraction) in counts.iter_mut().zip(&fractions) {
        let points_before = (end + start) / u128::from(ONE);
        end += u128::from(fraction);
        *count += ((end + start) / u128::from(ONE) - points_before) as usize;
    }
    counts
}

/// Makes the fractions sum to exactly `ups` times [`ONE`]. The sum is already correct except for rounding
/// errors in `expected`; the difference is added to fractions that can absorb it.
fn balance(fractions: &mut [u64], ups: usize) {
    let (wanted, sum) =
        (ups as u128 * u128::from(ONE), fractions.iter().map(|&fraction| u128::from(fraction)).sum::<u128>());
    let mut missing = wanted.saturating_sub(sum);
    let mut excess = sum.saturating_sub(wanted);
    // Start with the largest fractions, where the relative change is smallest.
    let mut order: Vec<usize> = (0..fractions.len()).collect();
    order.sort_by_key(|&index| std::cmp::Reverse(fractions[index]));
    for index in order {
        let up = missing.min(u128::from(ONE - fractions[index])) as u64;
        let down = excess.min(u128::from(fractions[index])) as u64;
        fractions[index] = fractions[index] + up - down;
        missing -= u128::from(up);
        excess -= u128::from(down);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounded_counts_are_next_to_their_expectation_and_have_its_sum() {
        let cases: [&[f64]; 6] = [
            &[0.5, 0.5, 0.25, 0.75],
            &[2.3, 2.3, 2.4],
            &[10.0 / 3.0; 9],
            // The first value is an integer that was rounded slightly down; the second one was rounded
            // slightly up.
            &[2.9999999999999996, 3.0],
            &[3.0000000000000004, 3.0],
            &[1e-300, 5.0, 1.0 - 1e-16],
        ];
        for expected in cases {
            let total = expected.iter().sum::<f64>().round() as usize;
            for seed in 0..200 {
                let counts = round_systematically(expected, &mut stream(seed, Purpose::Counts, 0));
                assert_eq!(counts.iter().sum::<usize>(), total, "{expected:?}");
                for (&count, mean) in counts.iter().zip(expected) {
                    assert!((count as f64 - mean).abs() < 1.0 + 1e-12, "{expected:?}: {counts:?}");
                }
            }
        }
    }

    #[test]
    fn rounding_up_has_the_probability_of_the_fraction() {
        const DRAWS: u64 = 20_000;
        let expected = [0.1, 1.7, 0.35, 4.0, 0.85];
        let mut sums = [0usize; 5];
        for seed in 0..DRAWS {
            let counts = round_systematically(&expected, &mut stream(seed, Purpose::Counts, 0));
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        for (sum, mean) in sums.iter().zip(expected) {
            // The bound is five standard errors of a proportion, at most 5 · 0.5 / √20,000 = 0.018.
            assert!((*sum as f64 / DRAWS as f64 - mean).abs() < 0.018, "{sums:?}");
        }
    }

    #[test]
    fn a_smaller_sample_comes_first_and_all_are_those_of_the_sample_by_size() {
        for players in [2, 5, 6, 9, 70] {
            for pairing in [Pairing::Unpaired, Pairing::Paired] {
                let sampler = FixedCounts {
                    distribution: SizeDistribution::leverage(players).unwrap(),
                    pairing,
                    order: Order::Nested,
                };
                let most = if players < 10 { (1 << players) - 2 } else { 300 };
                let whole = sampler.sample_in_order(most, 3).unwrap();
                for rows in (0..=most).step_by(2) {
                    let sample = sampler.sample_in_order(rows, 3).unwrap();
                    assert!(whole.coalitions().words().starts_with(sample.coalitions().words()));
                    let by_size = sampler.sample(rows, 3).unwrap();
                    assert_eq!(sample.strata(), by_size.strata());
                    let sorted = |sample: &Sample| {
                        let mut rows: Vec<&[u64]> =
                            sample.coalitions().iter().map(|row| row.words()).collect();
                        rows.sort_unstable();
                        rows.concat()
                    };
                    assert_eq!(sorted(&sample), sorted(&by_size));
                }
            }
        }
    }
}
