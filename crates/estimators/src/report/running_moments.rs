//! Running mean and variance of a stream of vectors.
//!
//! # Source
//!
//! Welford, *Note on a method for calculating corrected sums of squares and products*, 1962; merging: Chan,
//! Golub and LeVeque, *Updating formulae and a pairwise algorithm for computing sample variances*, 1979. Grah
//! and Thouvenot, *A projected stochastic gradient algorithm for estimating Shapley value applied in
//! attribute importance*, 2020, Algorithm 1, contains the same recursion for the variance: `σ̂² ← (t−2)/(t−1)
//! σ̂² + (φ − φ̄)²/t`, where the deviation is squared.

use super::unseen::Influences;

/// The running mean and sum of squared deviations of vectors of `width` numbers.
///
/// ```text
/// d = x_t − mean,   mean ← mean + d/t,   squares ← squares + d² (t−1)/t
/// ```
///
/// All state is stored relative to the first vector, so a constant that is large compared with the deviations
/// costs no precision. The results match the mean and variance of a two-pass computation within a relative
/// 1e-12, for up to 10^5 vectors and constants up to 10^9 deviations.
#[derive(Debug, Clone)]
pub(crate) struct RunningMoments {
    count: usize,
    /// The first vector.
    origin: Vec<f64>,
    /// The mean minus the first vector.
    shift: Vec<f64>,
    squares: Vec<f64>,
    /// The sums of the fourth powers of the innovations.
    fourths: Vec<f64>,
}

impl RunningMoments {
    /// Creates the moments of an empty stream of vectors of `width` numbers.
    pub(crate) fn new(width: usize) -> Self {
        let zeros = vec![0.0; width];
        Self { count: 0, origin: zeros.clone(), shift: zeros.clone(), squares: zeros.clone(), fourths: zeros }
    }

    /// Adds one vector.
    pub(crate) fn add(&mut self, sample: &[f64]) {
        debug_assert_eq!(sample.len(), self.origin.len());
        self.count += 1;
        if self.count == 1 {
            self.origin.copy_from_slice(sample);
            return;
        }
        let part = 1.0 / self.count as f64;
        let ends = self.origin.iter().zip(sample).map(|(origin, x)| x - origin);
        let sums = self.squares.iter_mut().zip(&mut self.fourths);
        for ((x, shift), (squares, fourths)) in ends.zip(&mut self.shift).zip(sums) {
            let deviation = x - *shift;
            *shift += deviation * part;
            let square = deviation * (x - *shift);
            *squares += square;
            *fourths += square * square;
        }
    }

    /// Merges the moments of `other`, as if all its vectors were added.
    pub(crate) fn merge(&mut self, other: &Self) {
        debug_assert_eq!(other.origin.len(), self.origin.len());
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            self.clone_from(other);
            return;
        }
        let (own, others) = (self.count as f64, other.count as f64);
        let total = own + others;
        for at in 0..self.origin.len() {
            let gap = (other.origin[at] - self.origin[at]) + (other.shift[at] - self.shift[at]);
            self.shift[at] += gap * (others / total);
            let between = gap * gap * (own / total * others);
            self.squares[at] += other.squares[at] + between;
            // The difference between the two sample means contributes one innovation.
            self.fourths[at] += other.fourths[at] + between * between;
        }
        self.count += other.count;
    }

    /// Returns the number of vectors t.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Returns the means.
    pub(crate) fn mean(&self) -> impl Iterator<Item = f64> {
        self.origin.iter().zip(&self.shift).map(|(origin, shift)| origin + shift)
    }

    /// Returns the sums of squared deviations from the mean.
    pub(crate) fn squares(&self) -> &[f64] {
        &self.squares
    }

    /// Returns the influences of the vectors on their mean.
    pub(crate) fn influences(&self) -> Influences {
        Influences::of_means(&self.squares, &self.fourths, self.count as f64)
    }

    /// Returns the unbiased variances, `squares / (t − 1)`; NaN for one vector.
    pub(crate) fn variances(&self) -> impl Iterator<Item = f64> {
        let degrees = self.count as f64 - 1.0;
        self.squares.iter().map(move |squares| squares / degrees)
    }

    /// Returns the standard errors of the means, `sqrt(variance / t)`; NaN for one vector.
    pub(crate) fn standard_errors(&self) -> impl Iterator<Item = f64> {
        let count = self.count as f64;
        self.variances().map(move |variance| (variance / count).sqrt())
    }

    /// Writes to `out` the innovation of `sample` as the next vector: `sqrt(t/(t+1)) (x − mean)`, where t is
    /// the number of vectors so far.
    ///
    /// Innovations of independent, identically distributed vectors are uncorrelated, with mean 0 and the
    /// covariance matrix of the vectors, and their squares add up to `squares`. The innovation of the first
    /// vector is zero.
    pub(crate) fn innovation(&self, sample: &[f64], out: &mut [f64]) {
        let count = self.count as f64;
        let scale = (count / (count + 1.0)).sqrt();
        for (((out, x), origin), shift) in out.iter_mut().zip(sample).zip(&self.origin).zip(&self.shift) {
            *out = scale * (x - origin - shift);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion_games::{Purpose, stream};
    use rand::RngExt;

    fn numbers(count: usize, offset: f64, seed: u64) -> Vec<f64> {
        let mut rng = stream(seed, Purpose::Experiment, 0);
        (0..count).map(|_| offset + rng.random_range(-1.0..1.0f64).powi(3)).collect()
    }

    /// Returns the sum, computed with Neumaier's compensation, so that rounding in the reference result is
    /// negligible.
    fn sum(numbers: impl Iterator<Item = f64>) -> f64 {
        let (mut sum, mut lost) = (0.0f64, 0.0);
        for x in numbers {
            let next = sum + x;
            lost += if sum.abs() >= x.abs() { (sum - next) + x } else { (x - next) + sum };
            sum = next;
        }
        sum + lost
    }

    /// Computes the mean and the unbiased variance in two passes, after subtracting the middle number. The
    /// differences are exact.
    fn two_pass(numbers: &[f64]) -> (f64, f64) {
        let (count, middle) = (numbers.len() as f64, numbers[numbers.len() / 2]);
        let mean = sum(numbers.iter().map(|x| x - middle)) / count;
        let squares = sum(numbers.iter().map(|x| (x - middle - mean).powi(2)));
        (middle + mean, squares / (count - 1.0))
    }

    #[test]
    fn mean_and_variance_are_those_of_two_passes() {
        for count in [2, 3, 5, 64, 1000, 100_000] {
            for offset in [0.0, 1.0, -1e5, 1e9] {
                let samples = numbers(count, offset, count as u64);
                let (mean, variance) = two_pass(&samples);
                let mut running = RunningMoments::new(1);
                samples.iter().for_each(|&x| running.add(&[x]));
                let close = |got: f64, want: f64, what: &str| {
                    assert!(
                        (got / want - 1.0).abs() < 1e-12,
                        "{what}, {count} about {offset}: {got} for {want}"
                    );
                };
                // Means can be near zero, so their error is relative to the magnitude of the numbers.
                let got = running.mean().next().unwrap();
                assert!(
                    (got - mean).abs() < 1e-12 * offset.abs().max(1.0) * 0.5,
                    "{count} about {offset}: {got} for {mean}"
                );
                close(running.variances().next().unwrap(), variance, "variance");
                let error = running.standard_errors().next().unwrap();
                close(error, (variance / count as f64).sqrt(), "standard error");
            }
        }
    }

    #[test]
    fn it_is_the_recursion_of_the_paper() {
        let samples = numbers(500, 3.0, 9);
        let (mut mean, mut variance) = (samples[0], 0.0);
        let mut running = RunningMoments::new(1);
        running.add(&samples[..1]);
        for (t, &x) in (2..).zip(&samples[1..]) {
            let count = f64::from(t);
            variance = (count - 2.0) / (count - 1.0) * variance + (x - mean).powi(2) / count;
            mean += (x - mean) / count;
            running.add(&[x]);
            assert!((running.mean().next().unwrap() / mean - 1.0).abs() < 1e-13);
            assert!((running.variances().next().unwrap() / variance - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn blocks_merge_to_the_moments_of_all() {
        for offset in [0.0, 1e9] {
            let samples = numbers(2000, offset, 4);
            let (mean, variance) = two_pass(&samples);
            for block in [1, 2, 7, 300, 2000] {
                let mut merged = RunningMoments::new(1);
                for block in samples.chunks(block) {
                    let mut own = RunningMoments::new(1);
                    block.iter().for_each(|&x| own.add(&[x]));
                    merged.merge(&own);
                    merged.merge(&RunningMoments::new(1));
                }
                assert_eq!(merged.count(), samples.len());
                assert!((merged.mean().next().unwrap() - mean).abs() < 1e-12 * offset.max(1.0));
                assert!((merged.variances().next().unwrap() / variance - 1.0).abs() < 1e-12, "{block}");
            }
        }
    }

    #[test]
    fn the_squares_of_innovations_add_up() {
        let samples = numbers(300, 50.0, 2);
        let (mut running, mut innovation, mut total) = (RunningMoments::new(1), [0.0], 0.0);
        for &x in &samples {
            running.innovation(&[x], &mut innovation);
            total += innovation[0] * innovation[0];
            running.add(&[x]);
        }
        assert!((total / running.squares()[0] - 1.0).abs() < 1e-12);
    }
}
