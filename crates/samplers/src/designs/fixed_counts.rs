//! Sampling without replacement with exactly the wanted number of rows.

use apportion_games::{Purpose, stream};
use rand_chacha::ChaCha8Rng;

use crate::designs::sample::{Sample, Sampler, check_rows};
use crate::designs::without_replacement::{draw_classes, draw_distinct};
use crate::draw::random::below;
use crate::error::SamplerError;
use crate::size::allocation::Allocation;
use crate::size::pairing::Pairing;
use crate::size::size_class::{SizeClass, size_classes};
use crate::size::size_law::SizeLaw;

/// As [`Bernoulli`](crate::Bernoulli), but the number of coalitions of each size is its expectation, rounded so that exactly
/// `evaluations` rows are drawn.
///
/// Rounding is systematic sampling with a random start: of an expectation of 2.3 there are 3 with probability 0.3 and 2
/// otherwise, and the sum is always the same. So inclusion probabilities are those of the Bernoulli design, to 2^−53, but draws
/// are not independent. (Rounding without a random start would leave out the same sizes on every run.)
///
/// In pairs `2⌊evaluations/2⌋` rows are drawn and expected. If `evaluations` reaches the number of coalitions that the law can
/// draw, each comes exactly once. Rows come by size, smaller member of a pair first. Leverage SHAP mentions the design in section
/// 3.2 ("deterministically m"). Takes the time of [`Bernoulli`](crate::Bernoulli).
///
/// ```
/// use apportion_samplers::{FixedCounts, Pairing, Sampler, SizeLaw};
///
/// let sampler = FixedCounts { law: SizeLaw::leverage(100)?, pairing: Pairing::Paired };
/// let sample = sampler.sample(1000, 7)?;
/// assert_eq!(sample.coalitions().len(), 1000);
/// assert!((sample.strata()[40].expected - 1000.0 / 99.0).abs() < 1e-10);
/// # Ok::<(), apportion_samplers::SamplerError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FixedCounts {
    /// The law that inclusion probabilities follow up to 1; leverage in the paper.
    pub law: SizeLaw,
    /// Whether complements enter together.
    pub pairing: Pairing,
}

impl Sampler for FixedCounts {
    fn players(&self) -> usize {
        self.law.players()
    }

    /// Exactly `evaluations` rows, or all there are; in pairs, one less where `evaluations` is odd.
    fn sample(&self, evaluations: usize, seed: u64) -> Result<Sample, SamplerError> {
        let rows = match self.pairing {
            Pairing::Unpaired => evaluations,
            Pairing::Paired => evaluations - evaluations % 2,
        };
        let allocation = Allocation::new(&self.law, self.pairing, rows);
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
        Ok(draw_classes(&allocation, self.pairing, wanted, draw_distinct))
    }
}

/// Fractions are counted in units of 2^−53, so that their sums are exact.
const ONE: u64 = 1 << 53;

/// Rounds each number down or up, up with the probability of its fraction, so that the sum is that of the numbers, rounded to the
/// nearest integer.
pub(crate) fn round_systematically(expected: &[f64], rng: &mut ChaCha8Rng) -> Vec<usize> {
    let total = expected.iter().sum::<f64>().round() as usize;
    let mut counts: Vec<usize> = expected.iter().map(|mean| mean.floor() as usize).collect();
    let mut fractions: Vec<u64> = expected.iter().map(|mean| (mean.fract() * ONE as f64) as u64).collect();
    let ups = total.saturating_sub(counts.iter().sum());
    balance(&mut fractions, ups);

    // One point in each unit of the fractions laid end to end, at the same random place of each: a fraction is rounded up if a
    // point falls on it.
    let start = u128::from(below(rng, ONE));
    let mut end = 0;
    for (count, &fraction) in counts.iter_mut().zip(&fractions) {
        let points_before = (end + start) / u128::from(ONE);
        end += u128::from(fraction);
        *count += ((end + start) / u128::from(ONE) - points_before) as usize;
    }
    counts
}

/// Makes the fractions sum to exactly `ups` units, which they do already but for the rounding of `expected`: the difference is
/// put where there is room.
fn balance(fractions: &mut [u64], ups: usize) {
    let (wanted, sum) =
        (ups as u128 * u128::from(ONE), fractions.iter().map(|&fraction| u128::from(fraction)).sum::<u128>());
    let mut missing = wanted.saturating_sub(sum);
    let mut excess = sum.saturating_sub(wanted);
    // From the largest down: next to a fraction of 0.9 the change is least.
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
            // An integer that came out a hair low, and one a hair high.
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
            // Five standard errors of a proportion, at most 5 · 0.5 / √20 000 = 0.018.
            assert!((*sum as f64 / DRAWS as f64 - mean).abs() < 0.018, "{sums:?}");
        }
    }
}
