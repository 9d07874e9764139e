//! Distributions of the measures for independent features.
//!
//! The distribution of Spearman's ρ is known. For any other measure, if there are no ties, the distribution
//! depends only on the number of rows, and on the number of bins or neighbours. It is therefore estimated
//! from draws. If enough draws exceed a quantile, the quantile is read off the draws. Otherwise, the quantile
//! of a Pearson type III distribution (a shifted gamma distribution) with the first three moments of the
//! draws is used.
//!
//! Alternatives were tested. For binned mutual information, textbooks recommend a χ² distribution. It is
//! equally accurate if cells contain ten rows or more. But with two rows per cell, its quantile is exceeded
//! 2.5 times too often, and with one row per cell, 60 times too often. For nearest-neighbour estimates, the
//! quantile of a normal distribution at level 1/300 is 10 to 25% too low.

use apportion_games::parallel;
use statrs::distribution::{ContinuousCDF, Gamma, Normal, StudentsT};

use super::Dependence;
use super::binning::Binning;
use super::maximal_information::MaximalInformation;
use super::measure::informational_coefficient;
use super::nearest_neighbours::NearestNeighbours;

/// Number of independent pairs drawn for binned mutual information.
const BINNED_DRAWS: u64 = 4000;
/// The minimum number of draws that must exceed a quantile for it to be read off the draws.
const SHOWN: f64 = 20.0;

/// Maximum number of rows per draw for nearest-neighbour estimates. With more rows, the estimates remain near
/// 0, and shrink in proportion to 1/√N for N rows.
const MAX_ROWS: usize = 2500;

/// Number of independent pairs drawn for the maximal information coefficient.
const GRID_DRAWS: u64 = 500;
/// Maximum number of rows in each of these pairs. With more rows, the coefficient is smaller, so the critical
/// value is too large rather than too small.
const MAX_ROWS_IN_GRIDS: usize = 1000;

/// Returns the number of independent pairs drawn for nearest-neighbour estimates: 1000, or more if there are
/// few rows, because draws are then fast.
fn neighbour_draws(rows: usize) -> u64 {
    (10_000_000 / (rows * rows.isqrt()) as u64).clamp(1000, 20_000)
}

impl Dependence {
    /// Returns the approximate dependence that two independent features with `rows` rows exceed with
    /// probability `tail`.
    pub(crate) fn critical_value(&self, rows: usize, tail: f64) -> f64 {
        match *self {
            Self::AbsoluteSpearman => {
                let degrees = rows as f64 - 2.0;
                let t = quantile(&StudentsT::new(0.0, 1.0, degrees), 1.0 - 0.5 * tail);
                t / (degrees + t * t).sqrt()
            }
            Self::MutualInformation { bins } => {
                let measure = Binning { bins };
                let draw = |unit| measure.under_independence(rows, unit);
                informational_coefficient(exceeded_with(tail, BINNED_DRAWS, draw))
            }
            Self::NearestNeighbours { neighbours, seed } => {
                let measure = |rows| NearestNeighbours::new(neighbours, seed, rows);
                informational_coefficient(exceeded_by_neighbours(measure, rows, MAX_ROWS, tail))
            }
            Self::MaximalInformation => {
                let draw = |unit| MaximalInformation.under_independence(rows.min(MAX_ROWS_IN_GRIDS), unit);
                exceeded_with(tail, GRID_DRAWS, draw).min(1.0)
            }
        }
    }
}

/// Returns the mutual information that the nearest-neighbour estimate for two independent features with
/// `rows` rows exceeds with probability `tail`, from draws with at most `most` rows.
fn exceeded_by_neighbours(
    measure: impl Fn(usize) -> NearestNeighbours,
    rows: usize,
    most: usize,
    tail: f64,
) -> f64 {
    let drawn = rows.min(most);
    let measure = measure(drawn);
    let draw = |unit| measure.under_independence(unit);
    exceeded_with(tail, neighbour_draws(drawn), draw) * (drawn as f64 / rows as f64).sqrt()
}

/// Returns the value that `draw` exceeds with probability `tail`.
fn exceeded_with(tail: f64, draws: u64, draw: impl Fn(u64) -> f64 + Send + Sync) -> f64 {
    let mut drawn: Vec<f64> = parallel::map(0..draws, draw);
    let beyond = tail * draws as f64;
    if beyond < SHOWN {
        return Moments::from_draws(&drawn).exceeded_with(tail);
    }
    drawn.sort_by(f64::total_cmp);
    drawn[drawn.len() - beyond as usize]
}

/// The first three moments of a distribution.
#[derive(Debug, Clone, Copy)]
struct Moments {
    mean: f64,
    deviation: f64,
    skewness: f64,
}

impl Moments {
    fn from_draws(drawn: &[f64]) -> Self {
        let mean_of = |power: i32, about: f64| {
            drawn.iter().map(|value| (value - about).powi(power)).sum::<f64>() / drawn.len() as f64
        };
        let mean = mean_of(1, 0.0);
        let deviation = mean_of(2, mean).sqrt();
        Self { mean, deviation, skewness: mean_of(3, mean) / deviation.powi(3) }
    }

    /// Returns the value that the Pearson type III distribution with these moments exceeds with probability
    /// `tail`.
    fn exceeded_with(self, tail: f64) -> f64 {
        if self.deviation == 0.0 {
            return self.mean;
        }
        // Such a small skewness changes the quantile at 1e-5 by 0.03 standard deviations. Gamma distributions
        // with a large shape parameter are slow to compute.
        if self.skewness.abs() < 0.01 {
            return self.mean + self.deviation * Normal::standard().inverse_cdf(1.0 - tail);
        }
        let shape = 4.0 / (self.skewness * self.skewness);
        let scale = 0.5 * self.deviation * self.skewness;
        // A negative scale mirrors the distribution.
        let below = if scale > 0.0 { 1.0 - tail } else { tail };
        self.mean + scale * (quantile(&Gamma::new(shape, 1.0), below) - shape)
    }
}

/// Returns the quantile of a distribution whose parameters are valid.
fn quantile<E: std::fmt::Debug>(
    distribution: &Result<impl ContinuousCDF<f64, f64>, E>,
    probability: f64,
) -> f64 {
    match distribution {
        Ok(distribution) => distribution.inverse_cdf(probability),
        Err(error) => unreachable!("shapes and degrees of freedom are positive: {error:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Quantiles computed with SciPy 1.17: pearson3.ppf(0.999, skew, 2, 3).
    #[test]
    fn quantiles_of_pearsons_type_iii_are_those_of_scipy() {
        let quantiles = [
            (4.2, 27.369_372_234),
            (1.0, 15.593_361_169),
            (0.1, 11.699_669_026),
            (0.0, 11.270_696_919),
            (-0.5, 9.196_004_531),
        ];
        for (skewness, expected) in quantiles {
            let found = Moments { mean: 2.0, deviation: 3.0, skewness }.exceeded_with(1e-3);
            assert!((found - expected).abs() < 1e-6, "skewness {skewness}: {found}");
        }
    }

    #[test]
    fn a_law_of_one_value_is_exceeded_by_no_more() {
        assert_eq!(Moments::from_draws(&[0.25; 10]).exceeded_with(1e-3), 0.25);
    }

    #[test]
    fn quantiles_with_many_draws_beyond_are_read_off_them() {
        // The draws are 0 to 999, for which a Pearson type III distribution would have different quantiles.
        assert_eq!(exceeded_with(0.05, 1000, |unit| unit as f64), 950.0);
    }

    #[test]
    fn estimates_by_neighbours_fall_with_the_root_of_the_number_of_rows() {
        let information = |rows: usize, most: usize| {
            exceeded_by_neighbours(|rows| NearestNeighbours::new(Some(5), 3, rows), rows, most, 1e-2)
        };
        let (drawn, extrapolated) = (information(400, 400), information(400, 100));
        // The first quantile is computed from the moments of 1250 draws. The second is read off 10,000 draws,
        // 100 of which exceed it. The bound allows for their sampling errors.
        assert!((extrapolated / drawn - 1.0).abs() < 0.15, "{extrapolated} for {drawn}");
        assert_eq!(information(400, 100), 0.5 * information(100, 100));
    }

    #[test]
    fn fewer_rows_have_more_draws() {
        assert_eq!([10, 100, 1000, 100_000].map(neighbour_draws), [20_000, 10_000, 1000, 1000]);
    }
}
