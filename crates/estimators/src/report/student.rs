//! Student's t, by which intervals of estimated standard errors go.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Degrees of freedom beyond which Student's t is the normal law.
pub(crate) const MOST_DEGREES: f64 = 1e6;

/// The two-sided quantile of Student's t; infinite where there are no degrees of freedom.
pub(crate) fn student(degrees: f64, wrong: f64) -> f64 {
    StudentsT::new(0.0, 1.0, degrees.min(MOST_DEGREES))
        .map_or(f64::INFINITY, |law| law.inverse_cdf(1.0 - 0.5 * wrong))
}
