//! Bernoulli sampling without replacement: the design of Leverage SHAP.

use crate::designs::sample::{Order, Sample, Sampler, check_rows};
use crate::designs::without_replacement::draw_classes;
use crate::draw::binomial_count::{binomial_count, growing_count};
use crate::error::SamplerError;
use crate::size::allocation::Allocation;
use crate::size::pairing::Pairing;
use crate::size::size_class::size_classes;
use crate::size::size_distribution::SizeDistribution;

/// Bernoulli sampling: every coalition, or every pair of a coalition and its complement, is included
/// independently of all others.
///
/// A coalition `z` of size `s` is in the sample with probability `min(1, c · P(s) / C(n, s))`; for pairs, P
/// is the mean of P(s) and P(n − s). For the [leverage distribution](SizeDistribution::leverage), this is the
/// probability `min(1, 2c ℓ_z)` in Leverage SHAP, section 3.2. The number of rows is random; `c` is chosen so
/// that the expected number is `evaluations` (equation 12). The variance of the number of rows is at most the
/// expected number; for pairs, at most twice the expected number.
///
/// If `evaluations` reaches the number of coalitions that can be drawn (`2^n − 2` without the empty and the
/// grand coalition), each of them is included exactly once. Rows are sorted by size, with the smaller member
/// of a pair first.
///
/// These are Algorithms 1–3 of Leverage SHAP with misprints corrected: the budget follows equation 12, and
/// the number of pairs of the middle size for even `n` is Binomial(C(n−1, n/2−1), p). Takes at most
/// `O(n + m n / 10)` time, about 0.3 µs per pair at n = 1000 (`cargo bench -p apportion-benches --bench
/// samplers`).
///
/// ```
/// use apportion_samplers::{Bernoulli, Order, Pairing, Sampler, SizeDistribution};
///
/// let sampler = Bernoulli { distribution: SizeDistribution::leverage(6)?, pairing: Pairing::Paired, order: Order::Fixed };
/// let sample = sampler.sample(30, 7)?;
/// // 30 rows over 5 sizes: 6 of each are expected, which is all of size 1, and 6 of the 15 of size 2.
/// assert!(sample.strata()[1].is_exhausted());
/// assert!((sample.strata()[2].inclusion_probability() - 6.0 / 15.0).abs() < 1e-12);
///
/// let growing = Bernoulli { order: Order::Nested, ..sampler };
/// let (small, large) = (growing.sample(20, 7)?, growing.sample(40, 7)?);
/// let is_among = |row| large.coalitions().iter().any(|other| other == row);
/// assert!(small.coalitions().iter().all(is_among));
/// # Ok::<(), apportion_samplers::SamplerError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Bernoulli {
    /// The size distribution. The expected number of rows of each size is proportional to it, limited by the
    /// number of coalitions of that size. Leverage SHAP uses the leverage distribution.
    pub distribution: SizeDistribution,
    /// Whether a coalition and its complement are included together.
    pub pairing: Pairing,
    /// Whether samples grow. For growing samples, every unit (coalition or pair) has a uniform random number,
    /// and is included in all samples in which the inclusion probability for its size is at least this
    /// number. A size is enumerated if more than half of its units are drawn.
    pub order: Order,
}

impl Sampler for Bernoulli {
    fn players(&self) -> usize {
        self.distribution.players()
    }

    /// Draws a sample; `evaluations` is the expected number of rows.
    fn sample(&self, evaluations: usize, seed: u64) -> Result<Sample, SamplerError> {
        let allocation = Allocation::new(&self.distribution, self.pairing, evaluations);
        check_rows(self.players(), allocation.expected.iter().sum::<f64>() as usize)?;
        let wanted = size_classes(&allocation, self.pairing)
            .into_iter()
            .filter(|class| class.expected > 0.0)
            .map(|class| match self.order {
                Order::Fixed => {
                    let mut rng = class.stream(seed);
                    let count = binomial_count(&mut rng, class.population, class.expected);
                    (class, count, rng)
                }
                Order::Nested => {
                    let mut rng = class.stream_of_entries(seed);
                    let count = growing_count(&mut rng, class.population, class.expected);
                    (class, count, class.stream_of_order(seed))
                }
            })
            .collect();
        Ok(draw_classes(&allocation, self.pairing, wanted, self.order))
    }
}
