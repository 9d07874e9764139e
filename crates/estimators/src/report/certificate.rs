//! Certificates: the error bound of an explanation, and the reason why its run stopped.

use serde::{Deserialize, Serialize};

/// The justification of an error bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Guarantee {
    /// The values are exact up to rounding: every relevant coalition was evaluated, or an exact method was
    /// used.
    Exact,
    /// An inequality that holds for every number of draws, given the range of the game (Maurer and Pontil,
    /// *Empirical Bernstein Bounds and Sample Variance Penalization*, COLT 2009, theorem 4). It assumes that
    /// the number of draws is fixed in advance. It therefore ignores that a run schedules its interim checks
    /// based on the data, and that a relative tolerance is estimated.
    EmpiricalBernstein,
    /// Standard errors estimated from the same evaluations. They are valid asymptotically; for finite
    /// samples, their coverage was only measured in simulations.
    Asymptotic,
    /// Nothing varied in the sample: the game appeared additive, including on all single players and all
    /// coalitions that lack one player. No sample can exclude that interactions were missed. The bound
    /// assumes an event that is as large as the values, but so rare that this number of evaluations would
    /// miss it.
    NothingVaried,
    /// No guarantee: the method provided no standard errors.
    Unknown,
}

/// The reason why a run stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StopRule {
    /// The error is within the tolerance.
    Tolerance,
    /// The budget was exhausted first.
    Budget,
    /// The maximum number of interim checks was reached first.
    #[serde(rename = "looks")]
    MaxChecks,
    /// A relative tolerance is undefined, because the values are zero within their errors or, for a tolerance
    /// relative to their range, because all are equal.
    NoScale,
    /// Enough coalitions were evaluated, but with too few draws of rows for each of them. More draws would
    /// help, but the budget or the distribution does not allow them.
    Draws,
}

/// Writes the name that result files use for the guarantee.
impl std::fmt::Display for Guarantee {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Exact => "exact",
            Self::EmpiricalBernstein => "empirical-bernstein",
            Self::Asymptotic => "asymptotic",
            Self::NothingVaried => "nothing-varied",
            Self::Unknown => "unknown",
        })
    }
}

/// Writes the name that result files use for the stop rule.
impl std::fmt::Display for StopRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Tolerance => "tolerance",
            Self::Budget => "budget",
            Self::MaxChecks => "looks",
            Self::NoScale => "no-scale",
            Self::Draws => "draws",
        })
    }
}

/// The outcome of an interim check of the error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct InterimCheck {
    /// The budget that the run had used at this check.
    pub budget: usize,
    /// The error probability that was spent on this check.
    pub spent: f64,
    /// The error bound divided by the tolerance: the maximum over the outputs. `None` without standard
    /// errors, or if the ratio is not finite.
    pub error: Option<f64>,
}

impl InterimCheck {
    /// Creates the outcome of a check, for methods that are not estimators of games.
    pub fn new(budget: usize, spent: f64, error: Option<f64>) -> Self {
        Self { budget, spent, error }
    }
}

/// The error of an explanation compared with the tolerance, and the reason why the run stopped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Certificate {
    /// The reason why the run stopped.
    pub stopped_by: StopRule,
    /// The justification of the bounds.
    pub guarantee: Guarantee,
    /// The confidence level of the error bounds and of each interval. It holds jointly over all interim
    /// checks.
    pub confidence: f64,
    /// The error bound for each output, in the requested measure; `None` without standard errors.
    pub error_bounds: Option<Vec<f64>>,
    /// The tolerance for each output, in units of the output. A tolerance relative to the norm or the range
    /// uses the smallest norm or range that is compatible with the errors, and is zero if that is zero.
    pub tolerances: Vec<f64>,
    /// The half-width of the pointwise interval of each value (n × k, like the values); `None` without
    /// standard errors.
    pub half_widths: Option<Vec<f64>>,
    /// All interim checks of the run.
    #[serde(rename = "looks")]
    pub interim_checks: Vec<InterimCheck>,
    /// A summary in one sentence: whether the tolerance is certified and with which guarantee, or why it is
    /// not certified.
    #[serde(default)]
    pub says: String,
}
