//! What independent features show: the law of a measure under independence.
//!
//! Spearman's ρ has a law of its own. That of the two estimates of mutual information depends on the number of rows and on the bins or
//! neighbours alone, as long as there are no ties; estimates are drawn from it. Where many lie beyond a quantile it is read off them;
//! otherwise a law of Pearson's type III (a shifted Gamma law) with the first three moments of the draws gives it.
//!
//! The textbook's χ² law of information in bins was tried: it is as good where cells hold ten rows or more, but with two rows to a cell its
//! quantile is exceeded 2.5 times too often, and with one, 60 times. A normal law for the estimates by neighbours was tried, too: at level
//! 1/300 its quantile is a tenth to a quarter too low.

use apportion_games::parallel;
use statrs::distribution::{ContinuousCDF, Gamma, Normal, StudentsT};

use super::Dependence;
use super::binning::Binning;
use super::maximal_information::MaximalInformation;
use super::measure::informational_coefficient;
use super::nearest_neighbours::NearestNeighbours;

/// Independent pairs that are drawn in bins.
const BINNED_DRAWS: u64 = 4000;
/// Draws beyond a quantile from which on it is read off them.
const SHOWN: f64 = 20.0;

/// Rows of the pairs that are drawn by neighbours, at most. With more, the estimates are about 0 still, and closer to it as the root
/// of the number of rows.
const MOST_ROWS: usize = 2500;

/// Independent pairs whose best grids are looked for.
const GRID_DRAWS: u64 = 500;
/// Rows of these pairs, at most. More rows have a smaller coefficient.
const MOST_ROWS_IN_GRIDS: usize = 1000;

/// Independent pairs that are drawn by neighbours: 1000, and more where rows are few and draws are quick.
fn neighbour_draws(rows: usize) -> u64 {
    (10_000_000 / (rows * rows.isqrt()) as u64).clamp(1000, 20_000)
}

impl Dependence {
    /// The dependence that two independent features of `rows` rows exceed with probability `tail`, about.
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
                informational_coefficient(exceeded_by_neighbours(measure, rows, MOST_ROWS, tail))
            }
            Self::MaximalInformation => {
                let draw = |unit| MaximalInformation.under_independence(rows.min(MOST_ROWS_IN_GRIDS), unit);
                exceeded_with(tail, GRID_DRAWS, draw).min(1.0)
            }
        }
    }
}

/// The information that the estimate by neighbours of `rows` independent rows exceeds with probability `tail`, from draws of `most` rows.
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

/// What the law of `draw` exceeds with probability `tail`.
fn exceeded_with(tail: f64, draws: u64, draw: impl Fn(u64) -> f64 + Send + Sync) -> f64 {
    let mut drawn: Vec<f64> = parallel::map(0..draws, draw);
    let beyond = tail * draws as f64;
    if beyond < SHOWN {
        return Moments::of(&drawn).exceeded_with(tail);
    }
    drawn.sort_by(f64::total_cmp);
    drawn[drawn.len() - beyond as usize]
}

/// The first three moments of a law.
#[derive(Debug, Clone, Copy)]
struct Moments {
    mean: f64,
    deviation: f64,
    skewness: f64,
}

impl Moments {
    fn of(drawn: &[f64]) -> Self {
        let mean_of = |power: i32, about: f64| {
            drawn.iter().map(|value| (value - about).powi(power)).sum::<f64>() / drawn.len() as f64
        };
        let mean = mean_of(1, 0.0);
        let deviation = mean_of(2, mean).sqrt();
        Self { mean, deviation, skewness: mean_of(3, mean) / deviation.powi(3) }
    }

    /// What the law of Pearson's type III with these moments exceeds with probability `tail`.
    fn exceeded_with(self, tail: f64) -> f64 {
        if self.deviation == 0.0 {
            return self.mean;
        }
        // So little skewness moves the quantile of 1e-5 by 0.03 deviations, and Gamma laws of large shape are slow.
        if self.skewness.abs() < 0.01 {
            return self.mean + self.deviation * Normal::standard().inverse_cdf(1.0 - tail);
        }
        let shape = 4.0 / (self.skewness * self.skewness);
        let scale = 0.5 * self.deviation * self.skewness;
        // A negative scale turns the law round.
        let below = if scale > 0.0 { 1.0 - tail } else { tail };
        self.mean + scale * (quantile(&Gamma::new(shape, 1.0), below) - shape)
    }
}

/// The quantile of a law whose parameters are valid.
fn quantile<E: std::fmt::Debug>(law: &Result<impl ContinuousCDF<f64, f64>, E>, probability: f64) -> f64 {
    match law {
        Ok(law) => law.inverse_cdf(probability),
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
        for (skewness, wanted) in quantiles {
            let found = Moments { mean: 2.0, deviation: 3.0, skewness }.exceeded_with(1e-3);
            assert!((found - wanted).abs() < 1e-6, "skewness {skewness}: {found}");
        }
    }

    #[test]
    fn a_law_of_one_value_is_exceeded_by_no_more() {
        assert_eq!(Moments::of(&[0.25; 10]).exceeded_with(1e-3), 0.25);
    }

    #[test]
    fn quantiles_with_many_draws_beyond_are_read_off_them() {
        // 0 to 999, none of which a law of Pearson's type III would give.
        assert_eq!(exceeded_with(0.05, 1000, |unit| unit as f64), 950.0);
    }

    #[test]
    fn estimates_by_neighbours_fall_with_the_root_of_the_number_of_rows() {
        let information = |rows: usize, most: usize| {
            exceeded_by_neighbours(|rows| NearestNeighbours::new(Some(5), 3, rows), rows, most, 1e-2)
        };
        let (drawn, extrapolated) = (information(400, 400), information(400, 100));
        // 100 and more draws beyond each quantile: their standard error is some 4 %.
        assert!((extrapolated / drawn - 1.0).abs() < 0.15, "{extrapolated} for {drawn}");
        assert_eq!(information(400, 100), 0.5 * information(100, 100));
    }

    #[test]
    fn fewer_rows_have_more_draws() {
        assert_eq!([10, 100, 1000, 100_000].map(neighbour_draws), [20_000, 10_000, 1000, 1000]);
    }
}
