//! What is known of the law of an explanation's errors beside their sizes.

use serde::{Deserialize, Serialize};

/// The law of the errors `φ̃ − φ` beside their standard errors: how well these are known, in how many directions the errors go, and
/// what they are means of.
///
/// With Σ the covariance matrix of the errors of one output, estimated as Σ̂ of which the squared standard errors are the diagonal:
///
/// ```text
/// tr Σ̂ / tr Σ ≈ χ²_f / f,        ‖φ̃ − φ‖² / tr Σ ≈ χ²_ν / ν,   ν = (tr Σ)² / tr Σ²
/// ```
///
/// (Satterthwaite, *An Approximate Distribution of Estimates of Variance Components*, Biometrics 1946), f being the
/// [degrees of freedom](Self::degrees_of_freedom) and ν the [directions](Self::directions).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ErrorLaw {
    /// Degrees of freedom f of the standard errors: one value is off by Student's t with f degrees of freedom, in standard errors. The
    /// number of independent draws less what was fitted, or less than that where few draws make up most of the variance. Positive.
    pub degrees_of_freedom: f64,
    /// Draws less the coefficients that no prior holds, where it is not the [degrees of freedom](Self::degrees_of_freedom): of how many draws one that was
    /// not met would be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draws_left: Option<f64>,
    /// ν for each output: 1 where all errors are one number times a fixed vector, n where they are independent and alike. Empty where it
    /// is not known; bounds then go by the standard errors alone, and are wider.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub directions: Vec<f64>,
    /// For methods whose values are means of independent draws that are bounded where the game is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounded_draws: Option<BoundedDraws>,
    /// How far one more draw could move each value, n × k, by the sizes of the draws that made it; 0 where the value is exact. The standard
    /// errors have it in them. Empty for methods whose values are not means of draws of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub one_draw: Vec<f64>,
    /// Whether coalitions come with their complements (orders with their reverses), so that what is even in the game cancels.
    #[serde(default)]
    pub is_paired: bool,
    /// The share of players alone, and of all but one, that the design leaves to chance: 1 where they are drawn as others are, 0 where all of
    /// them are in the sample for certain. None counts as 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub border_left: Option<f64>,
}

/// Values that are means of independent, identically distributed draws, whose squared standard errors are sample variances over their
/// numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BoundedDraws {
    /// Draws of the value that has the fewest; at least 2.
    pub draws: usize,
    /// Length of the interval in which a draw lies, in units of the range of the game (its largest value less its least): 2 for a
    /// marginal contribution or a mean of such.
    pub span: f64,
}

impl ErrorLaw {
    /// That of values whose errors are independent, given their standard errors, n × k.
    pub(crate) fn of_independent_values(std_errors: &[f64], outputs: usize, degrees_of_freedom: f64) -> Self {
        let variances =
            |output: usize| std_errors.iter().skip(output).step_by(outputs).map(|error| error * error);
        let directions = (0..outputs).map(|output| independent_directions(variances(output))).collect();
        Self { degrees_of_freedom, directions, ..Self::default() }
    }
}

/// `ν = (Σ V)² / Σ V²` of independent errors with these variances.
pub(crate) fn independent_directions(variances: impl Iterator<Item = f64>) -> f64 {
    let (sum, squares) = variances.fold((0.0, 0.0), |(sum, squares), v| (sum + v, squares + v * v));
    if squares > 0.0 { sum * sum / squares } else { 1.0 }
}
