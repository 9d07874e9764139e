//! Quantiles of Student's t and of Fisher's F, for intervals and bounds based on estimated standard errors.

use statrs::distribution::{ContinuousCDF, FisherSnedecor, StudentsT};

/// The number of degrees of freedom above which Student's t is treated as the normal distribution.
pub(crate) const MAX_DEGREES: f64 = 1e6;

/// Returns the two-sided quantile of Student's t for the error probability `wrong`; infinite for invalid
/// degrees of freedom.
pub(crate) fn student(degrees: f64, wrong: f64) -> f64 {
    StudentsT::new(0.0, 1.0, degrees.min(MAX_DEGREES))
        .map_or(f64::INFINITY, |distribution| distribution.inverse_cdf(1.0 - 0.5 * wrong))
}

/// Returns the `1 − wrong` quantile of `(χ²_ν / ν) / (χ²_f / f)`; infinite without degrees of freedom.
pub(crate) fn fisher(directions: f64, degrees: f64, wrong: f64) -> f64 {
    FisherSnedecor::new(directions, degrees.min(MAX_DEGREES))
        .map_or(f64::INFINITY, |distribution| distribution.inverse_cdf(1.0 - wrong))
}
