//! The distribution of an explanation's errors.

use serde::{Deserialize, Serialize};

/// Properties of the distribution of the errors `φ̃ − φ`, in addition to their standard errors: the precision
/// of the standard errors, the effective dimension of the errors, and the number of draws in each mean.
///
/// Let Σ be the covariance matrix of the errors for one output, and Σ̂ its estimate, whose diagonal contains
/// the squared standard errors:
///
/// ```text
/// tr Σ̂ / tr Σ ≈ χ²_f / f,        ‖φ̃ − φ‖² / tr Σ ≈ χ²_ν / ν,   ν = (tr Σ)² / tr Σ²
/// ```
///
/// (Satterthwaite, *An Approximate Distribution of Estimates of Variance Components*, Biometrics 1946), where
/// f is the number of [degrees of freedom](Self::degrees_of_freedom) and ν the number of
/// [directions](Self::directions).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ErrorDistribution {
    /// The degrees of freedom f of the standard errors: the error of one value, divided by its standard
    /// error, follows Student's t with f degrees of freedom. f is the number of independent draws minus the
    /// number of fitted coefficients, or less if few draws contribute most of the variance. It is always
    /// positive.
    pub degrees_of_freedom: f64,
    /// The number of draws minus the number of coefficients without a prior, if it differs from the [degrees
    /// of freedom](Self::degrees_of_freedom). The allowance for unseen events assumes one event in this
    /// number of draws.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draws_left: Option<f64>,
    /// The number of directions ν for each output: 1 if all errors are multiples of a fixed vector, n if they
    /// are independent with equal variances. Empty if unknown; bounds then use the standard errors alone and
    /// are wider.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub directions: Vec<f64>,
    /// Properties of the draws, for methods whose values are means of independent draws; `None` for other
    /// methods. The draws are bounded if the game is bounded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounded_draws: Option<BoundedDraws>,
    /// The amount by which one more draw could change each value, n × k, estimated from the sizes of the
    /// draws so far; 0 for exact values. The standard errors include it. Empty for methods whose values are
    /// not means of separate draws.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub one_draw: Vec<f64>,
    /// The standard error of each output (k numbers) due to events that the sample missed, but that v(∅) or
    /// v(N) show. The standard errors of all values of the output include it. Empty for methods that do not
    /// compare v(∅) and v(N) with the sample.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown_by_ends: Vec<f64>,
    /// Whether coalitions are drawn with their complements (or orders with their reverses), so that
    /// even-order terms of the game cancel.
    #[serde(default)]
    pub is_paired: bool,
    /// One minus the inclusion probability of coalitions of size 1 and n − 1: 0 if all of them are always in
    /// the sample. `None`, as for draws with replacement, counts as 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub border_left: Option<f64>,
}

/// Properties of the draws of values that are means of independent, identically distributed draws. The
/// squared standard errors are the sample variances divided by the number of draws.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BoundedDraws {
    /// The smallest number of draws for any value; at least 2.
    pub draws: usize,
    /// The length of the interval that contains each draw, relative to the range of the game (its largest
    /// value minus its smallest). It is 2 for a marginal contribution, or for a mean of marginal
    /// contributions.
    pub span: f64,
}

impl ErrorDistribution {
    /// Returns the distribution for values with independent errors, given their standard errors, n × k.
    pub(crate) fn of_independent_values(std_errors: &[f64], outputs: usize, degrees_of_freedom: f64) -> Self {
        let variances =
            |output: usize| std_errors.iter().skip(output).step_by(outputs).map(|error| error * error);
        let directions = (0..outputs).map(|output| independent_directions(variances(output))).collect();
        Self { degrees_of_freedom, directions, ..Self::default() }
    }
}

/// Returns `ν = (Σ V)² / Σ V²` for independent errors with these variances; 1 if all are zero.
pub(crate) fn independent_directions(variances: impl Iterator<Item = f64>) -> f64 {
    let (sum, squares) = variances.fold((0.0, 0.0), |(sum, squares), v| (sum + v, squares + v * v));
    if squares > 0.0 { sum * sum / squares } else { 1.0 }
}
