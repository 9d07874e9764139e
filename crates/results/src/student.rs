//! Factors from standard errors to half-widths of intervals.

use std::sync::LazyLock;

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The number of degrees of freedom from which Student's distribution equals the normal distribution in all
/// relevant digits.
const MANY: f64 = 1e6;

/// The confidence level of the intervals in figures and reports.
pub const CONFIDENCE: f64 = 0.95;

static FACTOR_OF_MANY: LazyLock<f64> = LazyLock::new(|| quantile(MANY, CONFIDENCE));

/// Returns the factor from a standard error with these degrees of freedom to the half-width of an interval
/// with confidence level `confidence`: the quantile of Student's distribution at (1 + `confidence`) / 2. NaN
/// counts as infinitely many degrees of freedom, and any number below 1 counts as 1.
///
/// ```
/// let [few, many] = [4.0, f64::INFINITY].map(|degrees| apportion_results::interval_factor(degrees, 0.95));
/// assert!((few - 2.7764).abs() < 1e-4 && (many - 1.96).abs() < 1e-3);
/// ```
pub fn interval_factor(degrees_of_freedom: f64, confidence: f64) -> f64 {
    match degrees_of_freedom < MANY {
        true => quantile(degrees_of_freedom.max(1.0), confidence),
        false if confidence == CONFIDENCE => *FACTOR_OF_MANY,
        false => quantile(MANY, confidence),
    }
}

fn quantile(degrees_of_freedom: f64, confidence: f64) -> f64 {
    StudentsT::new(0.0, 1.0, degrees_of_freedom)
        .map_or(f64::NAN, |distribution| distribution.inverse_cdf(0.5 + 0.5 * confidence))
}

/// Factors of 95% intervals for consecutive rows. The last factor is cached, because most rows have the same
/// degrees of freedom as the previous row, and computing a factor takes as long as thousands of
/// multiplications.
#[derive(Debug, Clone, Copy, Default)]
pub struct IntervalFactors {
    last: Option<(f64, f64)>,
}

impl IntervalFactors {
    /// Returns the factor for a row with these degrees of freedom.
    pub fn next(&mut self, degrees_of_freedom: f64) -> f64 {
        match self.last {
            Some((degrees, factor)) if degrees == degrees_of_freedom => factor,
            _ => {
                let factor = interval_factor(degrees_of_freedom, CONFIDENCE);
                self.last = Some((degrees_of_freedom, factor));
                factor
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_those_of_students_distribution() {
        // Source: tables of Student's distribution, quantile 0.975.
        for (degrees, expected) in [
            (1.0, 12.706),
            (4.0, 2.776),
            (30.0, 2.042),
            (f64::INFINITY, 1.960),
            (f64::NAN, 1.960),
            (0.0, 12.706),
        ] {
            assert!(
                (interval_factor(degrees, CONFIDENCE) - expected).abs() < 6e-4,
                "{degrees}: {}",
                interval_factor(degrees, CONFIDENCE)
            );
            let mut factors = IntervalFactors::default();
            assert_eq!(
                [factors.next(degrees), factors.next(degrees)],
                [interval_factor(degrees, CONFIDENCE); 2]
            );
        }
    }
}
