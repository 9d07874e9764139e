//! The weighted mean of samples, and its variance.

use crate::report::Influences;

/// Moments of vectors x_d of `width` numbers with weights w_d. They are computed block by block, and blocks
/// are merged in order (Chan, Golub and LeVeque, *Updating formulae and a pairwise algorithm for computing
/// sample variances*, 1979).
#[derive(Debug, Clone)]
pub(crate) struct Moments {
    /// The sums Σ w, Σ w² and Σ w³ of powers of the weights.
    weights: [f64; 3],
    /// The weighted mean Σ w x / Σ w.
    mean: Vec<f64>,
    /// The sums Σ w² (x − mean); zero up to rounding if all weights are equal.
    skew: Vec<f64>,
    /// The sums Σ w² (x − mean)².
    spread: Vec<f64>,
    /// The sums Σ w⁴ (x − mean)⁴, relative to the means of the merged blocks, plus a term between blocks.
    fourths: Vec<f64>,
}

impl Moments {
    /// Returns the moments of `samples`, row-major; all weights are 1 if `weights` is `None`.
    pub(crate) fn from_samples(samples: &[f64], width: usize, weights: Option<&[f64]>) -> Self {
        let rows = || samples.chunks_exact(width).enumerate();
        let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
        let mut sums = [0.0; 3];
        for (row, _) in rows() {
            let w = weight(row);
            sums.iter_mut().zip([w, w * w, w * w * w]).for_each(|(sum, power)| *sum += power);
        }
        // Deviations from the first sample sum to exactly zero if all samples are equal.
        let first = &samples[..width.min(samples.len())];
        let mut mean = vec![0.0; width];
        for (row, sample) in rows() {
            for ((mean, x), first) in mean.iter_mut().zip(sample).zip(first) {
                *mean += weight(row) * (x - first);
            }
        }
        for (mean, first) in mean.iter_mut().zip(first) {
            *mean = if sums[0] > 0.0 { first + *mean / sums[0] } else { 0.0 };
        }
        let (mut skew, mut spread, mut fourths) = (vec![0.0; width], vec![0.0; width], vec![0.0; width]);
        for (row, sample) in rows() {
            let square = weight(row).powi(2);
            for (at, (x, mean)) in sample.iter().zip(&mean).enumerate() {
                let deviation = x - mean;
                let own = square * deviation * deviation;
                skew[at] += square * deviation;
                spread[at] += own;
                fourths[at] += own * own;
            }
        }
        Self { weights: sums, mean, skew, spread, fourths }
    }

    /// Merges the moments of the samples of `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        let total = self.weights[0] + other.weights[0];
        if total == 0.0 {
            return;
        }
        for at in 0..self.mean.len() {
            let mean = self.mean[at] + (other.mean[at] - self.mean[at]) * (other.weights[0] / total);
            let (own, others) = (self.about(at, mean), other.about(at, mean));
            let between = (own.1 + others.1 - self.spread[at] - other.spread[at]).max(0.0);
            self.fourths[at] += other.fourths[at] + between * between;
            (self.mean[at], self.skew[at], self.spread[at]) = (mean, own.0 + others.0, own.1 + others.1);
        }
        self.weights.iter_mut().zip(other.weights).for_each(|(sum, other)| *sum += other);
    }

    /// Returns Σ w² (x − centre) and Σ w² (x − centre)² for the numbers at index `at` of the vectors.
    fn about(&self, at: usize, centre: f64) -> (f64, f64) {
        let shift = self.mean[at] - centre;
        let skew = self.skew[at] + shift * self.weights[1];
        (skew, self.spread[at] + shift * (self.skew[at] + skew))
    }

    /// Returns the weighted means.
    pub(crate) fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Returns the influences of the samples on the mean.
    pub(crate) fn influences(&self) -> Influences {
        Influences::of_means(&self.spread, &self.fourths, self.weights[0])
    }

    /// Returns the weight of one sample in the mean, `W_2` in [`variances`](Self::variances).
    pub(crate) fn share(&self) -> f64 {
        self.effective_number().recip()
    }

    /// Returns the number of samples. If the weights differ, it is the number of equally weighted samples
    /// with the same variance, 1 / W_2 (see [`variances`](Self::variances)).
    pub(crate) fn effective_number(&self) -> f64 {
        let [sum, squares, _] = self.weights;
        sum * sum / squares
    }

    /// Returns estimates of the variances of the means, for independent samples.
    ///
    /// With weights that sum to 1 and W_p = Σ w^p, `W_2 Σ w² (x − mean)² / (W_2 − 2 W_3 + W_2²)` is unbiased
    /// for any weights. For equal weights, it is the sample variance divided by the number of samples. For a
    /// single sample, it is 0, which is not an estimate.
    pub(crate) fn variances(&self) -> impl Iterator<Item = f64> {
        let [sum, squares, cubes] = self.weights;
        let (squares, cubes) = (squares / (sum * sum), cubes / (sum * sum * sum));
        let factor = squares / (squares - 2.0 * cubes + squares * squares) / (sum * sum);
        self.spread.iter().map(move |spread| (spread * factor).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion_games::{Purpose, stream};
    use rand::RngExt;

    fn numbers(count: usize, seed: u64) -> Vec<f64> {
        let mut rng = stream(seed, Purpose::Experiment, 0);
        (0..count).map(|_| 1e3 + rng.random_range(-1.0..1.0)).collect()
    }

    fn in_blocks(samples: &[f64], width: usize, weights: Option<&[f64]>, block: usize) -> Moments {
        let mut blocks = (0..samples.len() / width).step_by(block).map(|start| {
            let end = (start + block).min(samples.len() / width);
            Moments::from_samples(
                &samples[start * width..end * width],
                width,
                weights.map(|weights| &weights[start..end]),
            )
        });
        let mut moments = blocks.next().unwrap();
        blocks.for_each(|block| moments.merge(&block));
        moments
    }

    #[test]
    fn equal_weights_give_the_sample_variance_over_the_number() {
        for count in [5, 6, 64, 1000] {
            let samples = numbers(2 * count, 1);
            for block in [1, 7, 2000] {
                let moments = in_blocks(&samples, 2, None, block);
                let variances: Vec<f64> = moments.variances().collect();
                assert!((moments.effective_number() - count as f64).abs() < 1e-9);
                for (column, got) in variances.iter().enumerate() {
                    let own = || samples.iter().skip(column).step_by(2);
                    let mean = own().sum::<f64>() / count as f64;
                    let variance = own().map(|x| (x - mean).powi(2)).sum::<f64>() / (count as f64 - 1.0);
                    assert!((moments.mean()[column] - mean).abs() < 1e-10);
                    assert!((got / (variance / count as f64) - 1.0).abs() < 1e-9, "{count}, {block}");
                }
                // The scale of the weights must not matter.
                let weighted = in_blocks(&samples, 2, Some(&vec![0.25; count]), block);
                assert!(weighted.variances().zip(&variances).all(|(a, b)| (a / b - 1.0).abs() < 1e-9));
            }
        }
    }

    #[test]
    fn blocks_merge_to_the_weighted_moments_of_all() {
        let (samples, mut weights) = (numbers(300, 2), numbers(300, 3));
        weights.iter_mut().for_each(|weight| *weight = (*weight - 999.0).powi(3));
        weights[..20].fill(0.0);
        let whole = in_blocks(&samples, 1, Some(&weights), 300);
        let sum: f64 = weights.iter().sum();
        let mean = weights.iter().zip(&samples).map(|(w, x)| w / sum * x).sum::<f64>();
        assert!((whole.mean()[0] - mean).abs() < 1e-11);
        for block in [1, 10, 64] {
            let merged = in_blocks(&samples, 1, Some(&weights), block);
            assert!((merged.mean()[0] - mean).abs() < 1e-11);
            let ratio =
                merged.variances().zip(whole.variances()).map(|(got, expected)| got / expected).next();
            assert!((ratio.unwrap() - 1.0).abs() < 1e-9, "{ratio:?}");
        }
    }

    #[test]
    fn the_variance_of_a_weighted_mean_is_estimated_without_bias() {
        // For uniform samples of variance 1/3 with six very different weights, Var = Σ w² / 3.
        let weights = [0.5, 0.2, 0.1, 0.1, 0.05, 0.05].map(|weight| weight * 8.0);
        let squares = weights.iter().map(|w| (w / 8.0f64).powi(2)).sum::<f64>();
        let estimate =
            |run: u64| Moments::from_samples(&numbers(6, 100 + run), 1, Some(&weights)).variances().next();
        let estimates: Vec<f64> = (0..20_000).filter_map(estimate).collect();
        let mean = estimates.iter().sum::<f64>() / 20_000.0;
        let deviation = (estimates.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 20_000.0).sqrt();
        assert!(
            (mean - squares / 3.0).abs() < 4.0 * deviation / 20_000f64.sqrt(),
            "{mean} {}",
            squares / 3.0
        );
    }
}
