//! Stratified draws from a distribution on finitely many outcomes.

use rand_chacha::ChaCha8Rng;

use crate::draw::discrete::largest_weight;
use crate::draw::random::unit;
use crate::error::SamplerError;

/// A distribution on the outcomes `0..len`, sampled in strata. The weights are laid end to end in the order
/// of the outcomes, and the resulting interval is divided into equal strata. A draw is the outcome at a
/// uniformly random point of one stratum.
///
/// If the same number of draws is made in each stratum, frequencies match the distribution on average,
/// without variance between strata (Cochran, *Sampling Techniques*, 1977, chapter 5). If all outcomes have
/// equal weights and there is one stratum per outcome, a draw returns the outcome of its stratum and takes no
/// random number. The same holds if there is a single outcome. All other draws take one 64-bit word and O(log
/// len) time.
///
/// ```
/// use apportion_games::{Purpose, stream};
/// use apportion_samplers::Stratified;
///
/// let distribution = Stratified::new(&[3.0, 1.0])?;
/// let mut rng = stream(7, Purpose::Experiment, 0);
/// // Three of four strata lie in the first outcome.
/// let draws: Vec<usize> = (0..4).map(|stratum| distribution.draw(stratum, 4, &mut rng)).collect();
/// assert_eq!(draws, [0, 0, 0, 1]);
/// # Ok::<(), apportion_samplers::SamplerError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Stratified {
    outcomes: usize,
    /// For each outcome, the sum of the weights up to and including its own; `None` if all weights are equal.
    sums: Option<Vec<f64>>,
}

impl Stratified {
    /// Creates the distribution proportional to `weights`.
    ///
    /// # Errors
    ///
    /// [`SamplerError::OutcomeWeight`] for a weight that is negative or not finite,
    /// [`SamplerError::NoOutcome`] if there are no weights, or all are zero.
    pub fn new(weights: &[f64]) -> Result<Self, SamplerError> {
        let largest = largest_weight(weights)?;
        if weights.iter().all(|&weight| weight == largest) {
            return Self::uniform(weights.len());
        }
        let mut sum = 0.0;
        let add = |weight: &f64| {
            sum += weight / largest;
            sum
        };
        Ok(Self { outcomes: weights.len(), sums: Some(weights.iter().map(add).collect()) })
    }

    /// Creates the uniform distribution on `outcomes` outcomes.
    ///
    /// # Errors
    ///
    /// [`SamplerError::NoOutcome`] for zero outcomes.
    pub fn uniform(outcomes: usize) -> Result<Self, SamplerError> {
        if outcomes == 0 {
            return Err(SamplerError::NoOutcome { outcomes });
        }
        Ok(Self { outcomes, sums: None })
    }

    /// Draws an outcome from stratum `stratum`; the strata have the numbers 0 to `strata` − 1.
    ///
    /// # Panics
    ///
    /// May panic if the stratum does not exist.
    pub fn draw(&self, stratum: usize, strata: usize, rng: &mut ChaCha8Rng) -> usize {
        let last = self.outcomes - 1;
        if last == 0 {
            return 0;
        }
        if self.sums.is_none() && strata == self.outcomes {
            return stratum;
        }
        let place = (stratum as f64 + unit(rng)) / strata as f64;
        match &self.sums {
            None => ((place * self.outcomes as f64) as usize).min(last),
            // An outcome of weight zero has the same cumulative weight as the previous outcome, so it is
            // skipped.
            Some(sums) => sums.partition_point(|&sum| sum <= place * sums[last]).min(last),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_count;
    use apportion_games::{Purpose, stream};

    #[test]
    fn as_many_draws_from_each_stratum_have_the_law() {
        let weights = [0.0, 2.0, 0.5, 0.0, 1.0, 4.0, 0.5];
        for strata in [1, 2, 7, 10, 64] {
            for weights in [&weights[..], &[1.0; 5]] {
                let distribution = Stratified::new(weights).unwrap();
                let mut rng = stream(3, Purpose::Experiment, strata as u64);
                let mut counts = vec![0.0; weights.len()];
                let draws = 40_000 / strata * strata;
                for draw in 0..draws {
                    counts[distribution.draw(draw % strata, strata, &mut rng)] += 1.0;
                }
                let total: f64 = weights.iter().sum();
                for (count, weight) in counts.iter().zip(weights) {
                    // Stratification can only reduce the binomial variance.
                    let what = format!("{strata} strata: {counts:?}");
                    assert_count(*count, draws as f64, weight / total, (5.0, 0.0), &what);
                    assert!(*weight > 0.0 || *count == 0.0, "an impossible outcome");
                }
            }
        }
    }

    #[test]
    fn outcomes_of_equal_weight_are_as_frequent_as_one_another_in_as_many_strata() {
        let distribution = Stratified::new(&[0.3; 9]).unwrap();
        assert_eq!(distribution, Stratified::uniform(9).unwrap());
        let mut rng = stream(4, Purpose::Experiment, 0);
        assert!((0..9).all(|stratum| distribution.draw(stratum, 9, &mut rng) == stratum));
        // Each of the three strata contains three outcomes, for every draw.
        assert!((0..999).all(|draw| distribution.draw(draw % 3, 3, &mut rng) / 3 == draw % 3));
    }

    #[test]
    fn what_is_no_law_is_refused() {
        let refused = Stratified::new(&[1.0, f64::NAN]).unwrap_err();
        assert!(matches!(refused, SamplerError::OutcomeWeight { outcome: 1, .. }));
        assert_eq!(Stratified::new(&[0.0; 3]).unwrap_err(), SamplerError::NoOutcome { outcomes: 3 });
        assert_eq!(Stratified::uniform(0).unwrap_err(), SamplerError::NoOutcome { outcomes: 0 });
    }

    // Stored results record their seed: if these outcomes change, so do all stored results.
    #[test]
    fn first_draws_are_fixed() {
        let distribution = Stratified::new(&[1.0, 2.0, 3.0, 4.0]).unwrap();
        let mut rng = stream(42, Purpose::NestedPermutations, 0);
        let draws: Vec<usize> = (0..12).map(|draw| distribution.draw(draw % 3, 3, &mut rng)).collect();
        assert_eq!(draws, [1, 3, 3, 0, 2, 3, 2, 2, 3, 1, 3, 3]);
    }
}
