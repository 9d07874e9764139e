//! What independent features show: the law of a measure under independence.

use rayon::prelude::*;
use statrs::distribution::{ChiSquared, ContinuousCDF, Normal, StudentsT};

use super::binning::default_bins;
use super::nearest_neighbours::NearestNeighbours;
use super::{Dependence, informational_coefficient};

/// Independent pairs that are drawn where the law has no closed form.
const DRAWS: u64 = 400;

impl Dependence {
    /// The dependence that two independent features of `rows` rows exceed with probability `tail`, about.
    ///
    /// Spearman's ρ by Student's t with N − 2 degrees of freedom; mutual information in b bins by χ² with (b − 1)² degrees of freedom and
    /// Williams' correction; that by nearest neighbours by a normal law with the moments of 400 drawn estimates.
    pub(crate) fn critical_value(&self, rows: usize, tail: f64) -> f64 {
        let n = rows as f64;
        match *self {
            Self::AbsoluteSpearman => {
                let degrees = n - 2.0;
                let t = quantile(&StudentsT::new(0.0, 1.0, degrees), 1.0 - 0.5 * tail);
                t / (degrees + t * t).sqrt()
            }
            Self::MutualInformation { bins } => {
                let bins = bins.unwrap_or_else(|| default_bins(rows)) as f64;
                let degrees = (bins - 1.0).powi(2);
                let correction = 1.0 + (bins + 1.0).powi(2) / (6.0 * n);
                let statistic = correction * quantile(&ChiSquared::new(degrees), 1.0 - tail);
                informational_coefficient((statistic - degrees) / (2.0 * n))
            }
            Self::NearestNeighbours { neighbours, seed } => {
                let measure = NearestNeighbours::new(neighbours, seed, rows);
                let draws: Vec<f64> =
                    (0..DRAWS).into_par_iter().map(|unit| measure.under_independence(unit)).collect();
                let mean = draws.iter().sum::<f64>() / DRAWS as f64;
                let squares: f64 = draws.iter().map(|draw| (draw - mean).powi(2)).sum();
                let deviation = (squares / (DRAWS - 1) as f64).sqrt();
                informational_coefficient(mean + Normal::standard().inverse_cdf(1.0 - tail) * deviation)
            }
        }
    }
}

/// The quantile of a law whose parameters are valid.
fn quantile<E: std::fmt::Debug>(law: &Result<impl ContinuousCDF<f64, f64>, E>, probability: f64) -> f64 {
    match law {
        Ok(law) => law.inverse_cdf(probability),
        Err(error) => unreachable!("degrees of freedom are positive: {error:?}"),
    }
}
