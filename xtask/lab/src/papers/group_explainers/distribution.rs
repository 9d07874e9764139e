//! Distributions of the predictors X, from which backgrounds are drawn.

use std::f64::consts::PI;

use anyhow::{Context, Result};
use apportion::games::{Purpose, stream};
use rand::Rng;
use rand_distr::{Beta, Distribution, Gamma, StandardNormal, Uniform};

/// A distribution of p ≥ 4 predictors. The first four are the same in all experiments: X1 ~ N(5, 1), X2 ~
/// Gamma(3, scale |X1|), X3 ~ Beta(2, 5), X4 ~ U(−1, 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PredictorDistribution {
    /// Further predictors are independent, N(0, 3): experiments 1a and 1b.
    Independent,
    /// X5 = exp(X4) + ε1 and X6 = X4² sin(πX4) + ε2, with standard deviations 0.1 and 0.05: experiments 2a
    /// and 3a.
    FunctionsOfX4,
    /// Further predictors are normal with variance 3 and covariances 0.1: experiments 2b and 3b.
    Equicorrelated,
}

const VARIANCE: f64 = 3.0;
const COVARIANCE: f64 = 0.1;

impl PredictorDistribution {
    /// Returns `rows` independent draws of `predictors` predictors, row-major.
    ///
    /// Every predictor has a separate random stream, so that draws with different numbers of predictors agree
    /// in the common columns.
    pub(super) fn draw(self, predictors: usize, rows: usize, seed: u64) -> Result<Vec<f64>> {
        let mut values = vec![0.0; rows * predictors];
        let mut column = |of: usize, draw: &mut dyn FnMut(&[f64], &mut dyn Rng) -> f64| {
            let mut rng = stream(seed, Purpose::Experiment, of as u64);
            values.chunks_exact_mut(predictors).for_each(|row| row[of] = draw(row, &mut rng));
        };
        let gamma = Gamma::new(3.0, 1.0).context("invalid distribution of X2")?;
        let beta = Beta::new(2.0, 5.0).context("invalid distribution of X3")?;
        let uniform = Uniform::new(-1.0, 1.0).context("invalid distribution of X4")?;
        column(0, &mut |_, rng| 5.0 + normal(rng));
        column(1, &mut |row, rng| row[0].abs() * gamma.sample(rng));
        column(2, &mut |_, rng| beta.sample(rng));
        column(3, &mut |_, rng| uniform.sample(rng));
        match self {
            Self::Independent => {
                for of in 4..predictors {
                    column(of, &mut |_, rng| VARIANCE.sqrt() * normal(rng));
                }
            }
            Self::FunctionsOfX4 => {
                column(4, &mut |row, rng| row[3].exp() + 0.1 * normal(rng));
                column(5, &mut |row, rng| row[3].powi(2) * (PI * row[3]).sin() + 0.05 * normal(rng));
            }
            Self::Equicorrelated => {
                // Each predictor is the sum of a common factor and an independent part.
                let mut rng = stream(seed, Purpose::Experiment, COMMON);
                let common: Vec<f64> = (0..rows).map(|_| COVARIANCE.sqrt() * normal(&mut rng)).collect();
                for of in 4..predictors {
                    let mut common = common.iter();
                    column(of, &mut |_, rng| {
                        let own = (VARIANCE - COVARIANCE).sqrt() * normal(rng);
                        common.next().copied().unwrap_or_default() + own
                    });
                }
            }
        }
        Ok(values)
    }
}

/// Random stream of the common factor of equicorrelated predictors; no predictor has this index.
const COMMON: u64 = 1 << 20;

fn normal(rng: &mut (impl Rng + ?Sized)) -> f64 {
    StandardNormal.sample(rng)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: usize = 200_000;

    fn columns(distribution: PredictorDistribution, predictors: usize) -> Vec<Vec<f64>> {
        let values = distribution.draw(predictors, ROWS, 3).unwrap();
        (0..predictors).map(|of| values.iter().skip(of).step_by(predictors).copied().collect()).collect()
    }

    fn covariance(a: &[f64], b: &[f64]) -> f64 {
        let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
        let (mean_a, mean_b) = (mean(a), mean(b));
        a.iter().zip(b).map(|(a, b)| (a - mean_a) * (b - mean_b)).sum::<f64>() / a.len() as f64
    }

    #[test]
    fn means_are_the_constants_of_the_models() {
        let columns = columns(PredictorDistribution::FunctionsOfX4, 6);
        let e = std::f64::consts::E;
        // E X2 = 3 E|X1| and E X6 = E X4² sin(πX4) = 0. Deviations of up to five standard errors are allowed.
        let expected = [5.0, 15.0, 2.0 / 7.0, 0.0, (e - 1.0 / e) / 2.0, 0.0];
        for (column, expected) in columns.iter().zip(expected) {
            let mean = column.iter().sum::<f64>() / ROWS as f64;
            let error = (covariance(column, column) / ROWS as f64).sqrt();
            assert!((mean - expected).abs() < 5.0 * error, "{mean} {expected} {error}");
        }
    }

    #[test]
    fn further_predictors_have_the_covariances_of_the_paper() {
        for (distribution, expected) in
            [(PredictorDistribution::Independent, 0.0), (PredictorDistribution::Equicorrelated, 0.1)]
        {
            let columns = columns(distribution, 7);
            for a in 4..7 {
                for b in 0..a {
                    let covariance = covariance(&columns[a], &columns[b]);
                    let expected = if b < 4 { 0.0 } else { expected };
                    // The bounds are five standard errors. The bound for X2 is larger, since its standard
                    // deviation is about 9.
                    let bound = if b == 1 { 0.18 } else { 0.035 };
                    assert!((covariance - expected).abs() < bound, "{a} {b}: {covariance}");
                }
                assert!((covariance(&columns[a], &columns[a]) - 3.0).abs() < 0.05);
            }
        }
    }

    #[test]
    fn more_predictors_leave_those_before_them_as_they_are() {
        for distribution in [PredictorDistribution::Independent, PredictorDistribution::Equicorrelated] {
            let (few, many) = (distribution.draw(6, 10, 1).unwrap(), distribution.draw(9, 10, 1).unwrap());
            for (few, many) in few.chunks_exact(6).zip(many.chunks_exact(9)) {
                assert_eq!(few, &many[..6]);
            }
        }
    }
}
