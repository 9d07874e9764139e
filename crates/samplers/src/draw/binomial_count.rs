//! Binomial counts: the number of coalitions of a class that are included if each is included independently.
//!
//! # Source
//!
//! The waiting-time method (Devroye, *Non-Uniform Random Variate Generation*, 1986, X.4.2): the gaps between
//! successes are geometric, so each success takes one logarithm. This is efficient for samples, which list
//! every success anyway. The method is exact for arbitrarily small probabilities. Methods that start from `(1
//! − p)^N` are not, because `1 − p` is rounded: at p = 5e-15 this can shift the mean by 1%.

use rand_chacha::ChaCha8Rng;

use crate::draw::random::exponential;

/// The maximum number of trials for which binomial counts are drawn. Integers up to this limit are exact as
/// `f64`.
const MAX_TRIALS: f64 = (1u64 << 53) as f64;

/// Draws the number of successes from Binomial(`trials`, `mean / trials`); `trials` may be infinite.
///
/// For more than 2^53 trials, the number is drawn from Poisson(`mean`) instead. The total variation distance
/// between the two distributions is at most p = `mean`/`trials` (Le Cam; Barbour and Hall, 1984), which is
/// below 1e-9 for every mean up to 9 million. Takes `O(min(mean, trials − mean))` time.
pub(crate) fn binomial_count(rng: &mut ChaCha8Rng, trials: f64, mean: f64) -> usize {
    if mean >= trials {
        return trials as usize;
    }
    if trials > MAX_TRIALS {
        return poisson(rng, mean);
    }
    if mean > 0.5 * trials {
        return (trials - waiting_times(rng, trials, trials - mean) as f64) as usize;
    }
    waiting_times(rng, trials, mean)
}

/// Draws the number of successes in `trials` trials, each with success probability `mean / trials` ≤ ½.
fn waiting_times(rng: &mut ChaCha8Rng, trials: f64, mean: f64) -> usize {
    if mean <= 0.0 {
        return 0;
    }
    let rate = -(-mean / trials).ln_1p();
    let (mut trial, mut successes) = (0.0, 0);
    loop {
        // Add the number of failures before the next success: P(≥ k) = (1 − p)^k = P(exponential ≥ k · rate).
        trial += (exponential(rng) / rate).floor() + 1.0;
        if trial > trials {
            return successes;
        }
        successes += 1;
    }
}

/// Draws the number of arrivals within time `mean` in a Poisson process of rate 1.
fn poisson(rng: &mut ChaCha8Rng, mean: f64) -> usize {
    let (mut time, mut arrivals) = (exponential(rng), 0);
    while time <= mean {
        arrivals += 1;
        time += exponential(rng);
    }
    arrivals
}

/// Draws from Binomial(`trials`, `mean / trials`) such that, for a given stream, the count does not decrease
/// as `mean` increases. The count is the number of uniform numbers, among `trials`, that are at most `mean /
/// trials`. `trials` may be infinite.
///
/// The uniform numbers are generated in ascending order, up to the bound (Devroye, *Non-Uniform Random
/// Variate Generation*, 1986, V.3): `−ln(1 − U_(k)) = Σ_{j<k} E_j / (N − j)` with independent exponentials
/// E_j. For more than 2^53 trials, the number is drawn from Poisson(`mean`), as in [`binomial_count`]. Takes
/// O(`mean`) time.
pub(crate) fn growing_count(rng: &mut ChaCha8Rng, trials: f64, mean: f64) -> usize {
    if mean >= trials {
        return trials as usize;
    }
    // The bound is scaled by the number of trials, so that it is of the same magnitude as the mean.
    let end = if trials > MAX_TRIALS { mean } else { -(-mean / trials).ln_1p() * trials };
    let share = |entered: usize| if trials > MAX_TRIALS { 1.0 } else { trials / (trials - entered as f64) };
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

    /// Asserts that the frequencies of counts match a distribution, each to within five standard errors plus
    /// one count.
    fn follows(what: &str, draw: impl FnMut(u64) -> usize, distribution: impl Fn(u64) -> f64) {
        let mut counts = vec![0usize; 300];
        (0..DRAWS).map(draw).for_each(|count| counts[count] += 1);
        for (value, &count) in counts.iter().enumerate() {
            let expected = distribution(value as u64) * DRAWS as f64;
            let bound = 5.0 * expected.sqrt() + 1.0;
            assert!((count as f64 - expected).abs() < bound, "{what}: {value}: {count}, {expected}");
        }
    }

    /// Tests both functions. `binomial_count` draws all counts from one stream, `growing_count` draws each
    /// count from a separate stream.
    fn both_follow(trials: f64, mean: f64, distribution: impl Fn(u64) -> f64) {
        let mut rng = stream(3, Purpose::Coalitions, trials as u64 % 1000);
        follows(&format!("{trials}, {mean}"), |_| binomial_count(&mut rng, trials, mean), &distribution);
        let growing = |seed| growing_count(&mut stream(seed, Purpose::Growth, 3), trials, mean);
        follows(&format!("{trials}, {mean}, growing"), growing, distribution);
    }

    #[test]
    fn counts_follow_the_binomial_law() {
        for (trials, mean) in
            [(1, 0.3), (1, 0.9), (10, 0.01), (10, 5.0), (45, 40.0), (120, 20.0), (1000, 30.0)]
        {
            let distribution = Binomial::new(mean / trials as f64, trials).unwrap();
            both_follow(
                trials as f64,
                mean,
                |value| if value <= trials { distribution.pmf(value) } else { 0.0 },
            );
        }
    }

    #[test]
    fn rare_successes_follow_the_poisson_law() {
        for trials in [1e14, 9e15, 1e25, f64::INFINITY] {
            let distribution = Poisson::new(5.0).unwrap();
            both_follow(trials, 5.0, |value| distribution.pmf(value));
        }
    }

    #[test]
    fn certain_outcomes_are_certain() {
        let mut rng = stream(4, Purpose::Coalitions, 0);
        for (trials, mean, wanted) in
            [(10.0, 10.0, 10), (10.0, 0.0, 0), (f64::INFINITY, 0.0, 0), (0.0, 0.0, 0)]
        {
            assert_eq!(binomial_count(&mut rng, trials, mean), wanted);
        }
    }

    #[test]
    fn growing_counts_grow_with_the_mean_up_to_all() {
        for trials in [1.0, 7.0, 300.0, 1e20, f64::INFINITY] {
            let counts: Vec<usize> = (0..=100)
                .map(|step| trials.min(200.0) * f64::from(step) / 100.0)
                .map(|mean| growing_count(&mut stream(1, Purpose::Growth, 0), trials, mean))
                .collect();
            assert!(counts.is_sorted() && counts[0] == 0, "{trials}: {counts:?}");
            assert!(trials > 200.0 || counts[100] as f64 == trials);
        }
    }
}
