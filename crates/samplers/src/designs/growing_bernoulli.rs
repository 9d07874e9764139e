//! Bernoulli sampling without replacement, each sample being part of every larger one.
//!
//! # Source
//!
//! Every unit has a uniform number of its own and is in the sample once the inclusion probability reaches it. In ascending order the uniform
//! numbers of N units are made one after the other, without those beyond (Devroye, *Non-Uniform Random Variate Generation*, 1986, V.3):
//! `−ln(1 − U_(k)) = Σ_{j<k} E_j / (N − j)` with independent exponentials E_j.

use rand_chacha::ChaCha8Rng;

use crate::designs::sample::{Sample, Sampler, check_rows};
use crate::designs::without_replacement::{draw_classes, draw_in_order};
use crate::draw::random::exponential;
use crate::error::SamplerError;
use crate::size::allocation::Allocation;
use crate::size::pairing::Pairing;
use crate::size::size_class::size_classes;
use crate::size::size_law::SizeLaw;

/// As [`Bernoulli`](crate::Bernoulli), every coalition or pair entering independently of all others, but samples grow: the coalitions for a
/// number of evaluations are among those for every larger number, of the same seed.
///
/// A unit is in all samples whose inclusion probability for its size is at least a uniform number of its own. Takes the time of
/// [`Bernoulli`](crate::Bernoulli), and visits a size once where more than half of it is drawn.
///
/// ```
/// use apportion_samplers::{GrowingBernoulli, Pairing, Sampler, SizeLaw};
///
/// let sampler = GrowingBernoulli { law: SizeLaw::leverage(30)?, pairing: Pairing::Paired };
/// let (small, large) = (sampler.sample(100, 7)?, sampler.sample(170, 7)?);
/// let is_among = |row| large.coalitions().iter().any(|other| other == row);
/// assert!(small.coalitions().iter().all(is_among));
/// # Ok::<(), apportion_samplers::SamplerError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct GrowingBernoulli {
    /// The law that inclusion probabilities follow up to 1; leverage in the paper.
    pub law: SizeLaw,
    /// Whether complements enter together.
    pub pairing: Pairing,
}

impl Sampler for GrowingBernoulli {
    fn players(&self) -> usize {
        self.law.players()
    }

    /// `evaluations` is the expected number of rows.
    fn sample(&self, evaluations: usize, seed: u64) -> Result<Sample, SamplerError> {
        let allocation = Allocation::new(&self.law, self.pairing, evaluations);
        check_rows(self.players(), allocation.expected.iter().sum::<f64>() as usize)?;
        let wanted = size_classes(&allocation, self.pairing)
            .into_iter()
            .filter(|class| class.expected > 0.0)
            .map(|class| {
                let count = entered(&mut class.stream_of_entries(seed), class.population, class.expected);
                (class, count, class.stream_of_order(seed))
            })
            .collect();
        Ok(draw_classes(&allocation, self.pairing, wanted, draw_in_order))
    }
}

/// Trials beyond which one more or less does not show in an `f64`.
const MOST_TRIALS: f64 = (1u64 << 53) as f64;

/// How many of `trials` uniform numbers are at most `mean / trials`: a draw of Binomial(`trials`, `mean / trials`) that grows with `mean`;
/// `trials` may be infinite.
///
/// Beyond 2^53 trials Poisson(`mean`), as [`binomial_count`](crate::draw::binomial_count::binomial_count). Takes O(`mean`) time.
fn entered(rng: &mut ChaCha8Rng, trials: f64, mean: f64) -> usize {
    if mean >= trials {
        return trials as usize;
    }
    // In units of one trial's share, so that it is of the order of the mean.
    let end = if trials > MOST_TRIALS { mean } else { -(-mean / trials).ln_1p() * trials };
    let share = |entered: usize| if trials > MOST_TRIALS { 1.0 } else { trials / (trials - entered as f64) };
    let (mut time, mut entered) = (exponential(rng), 0);
    while time <= end {
        entered += 1;
        if entered as f64 >= trials {
            break;
        }
        time += exponential(rng) * share(entered);
    }
    entered
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion_games::{Purpose, stream};
    use statrs::distribution::{Binomial, Discrete, Poisson};

    const DRAWS: u64 = 20_000;

    /// Compares frequencies with a law, value by value: each within five standard errors (and one count).
    fn follows(trials: f64, mean: f64, law: impl Fn(u64) -> f64) {
        let mut counts = vec![0usize; 300];
        for seed in 0..DRAWS {
            counts[entered(&mut stream(seed, Purpose::Growth, 3), trials, mean)] += 1;
        }
        for (value, &count) in counts.iter().enumerate() {
            let expected = law(value as u64) * DRAWS as f64;
            let bound = 5.0 * expected.sqrt() + 1.0;
            assert!(
                (count as f64 - expected).abs() < bound,
                "{trials}, {mean}: {value}: {count}, {expected}"
            );
        }
    }

    #[test]
    fn counts_follow_the_binomial_law() {
        for (trials, mean) in [(1, 0.3), (1, 0.9), (10, 0.01), (10, 5.0), (45, 40.0), (120, 20.0)] {
            let law = Binomial::new(mean / trials as f64, trials).unwrap();
            follows(trials as f64, mean, |value| if value <= trials { law.pmf(value) } else { 0.0 });
        }
    }

    #[test]
    fn rare_entries_follow_the_poisson_law() {
        for trials in [1e14, 1e25, f64::INFINITY] {
            let law = Poisson::new(5.0).unwrap();
            follows(trials, 5.0, |value| law.pmf(value));
        }
    }

    #[test]
    fn counts_grow_with_the_mean_up_to_all() {
        for trials in [1.0, 7.0, 300.0, 1e20, f64::INFINITY] {
            let counts: Vec<usize> = (0..=100)
                .map(|step| trials.min(200.0) * f64::from(step) / 100.0)
                .map(|mean| entered(&mut stream(1, Purpose::Growth, 0), trials, mean))
                .collect();
            assert!(counts.is_sorted() && counts[0] == 0, "{trials}: {counts:?}");
            assert!(trials > 200.0 || counts[100] as f64 == trials);
        }
    }
}
