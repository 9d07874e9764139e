//! What is known of the error of an explanation, and why its run stopped.

use serde::{Deserialize, Serialize};

/// On what the bound of an error rests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Guarantee {
    /// Every coalition was evaluated: there is no error but rounding.
    Exact,
    /// An inequality that holds for every number of draws, few or many, given the range of the game (Maurer and Pontil, *Empirical
    /// Bernstein Bounds and Sample Variance Penalization*, COLT 2009, theorem 4). It is for a number fixed beforehand; that a run
    /// chooses when to look from what it has seen is left out of account, and so is that a relative tolerance is estimated.
    EmpiricalBernstein,
    /// Standard errors estimated from the same evaluations: right in the limit of many, and as far as measured.
    Asymptotic,
    /// Nothing varied in the sample: what it saw is an additive game, and so is the border, all players alone and all but each. Whether there is
    /// more no sample can tell. The bound is what a rare event of the size of the values would make of it that so many evaluations miss.
    NothingVaried,
    /// None: the method gave no standard errors.
    Unknown,
}

/// Why a run stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StopRule {
    /// The error is within the tolerance.
    Tolerance,
    /// The budget was used up before.
    Budget,
    /// All looks were used up before.
    Looks,
    /// A relative tolerance has nothing to be relative to: the values are zero as far as the errors tell, or all alike where it is a share of
    /// their range.
    NoScale,
    /// The coalitions tell enough, but not the draws that the game takes for each of them. More draws would, and the budget or the law
    /// does not allow them.
    Draws,
}

/// As in results.
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

/// As in results.
impl std::fmt::Display for StopRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Tolerance => "tolerance",
            Self::Budget => "budget",
            Self::Looks => "looks",
            Self::NoScale => "no-scale",
            Self::Draws => "draws",
        })
    }
}

/// What was found when a run looked at its error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Look {
    /// The budget up to which it had run.
    pub budget: usize,
    /// The probability of being wrong that was spent on it.
    pub spent: f64,
    /// The bound of the error over the tolerance, the largest over the outputs; none where there were no standard errors.
    pub error: Option<f64>,
}

/// The error of an explanation against what was asked for, and why the run stopped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Certificate {
    /// Why the run stopped.
    pub stopped_by: StopRule,
    /// What the bounds rest on.
    pub guarantee: Guarantee,
    /// With this probability, over all looks together, bounds and intervals hold.
    pub confidence: f64,
    /// Bound of the error for each output, in the measure that was asked for; none where there are no standard errors.
    pub error_bounds: Option<Vec<f64>>,
    /// The error that was tolerated for each output, in units of the output. Where it is a share of the norm or
    /// the range, that is taken as small as its errors allow, and the tolerance is zero where the norm or the range may be.
    pub tolerances: Vec<f64>,
    /// Half the width of the interval around each value (n × k, as the values), each by itself; none where there are no standard errors.
    pub half_widths: Option<Vec<f64>>,
    /// What the looks found.
    pub looks: Vec<Look>,
    /// All of this in a sentence: whether the accuracy is certified, on what that rests, or what stood in the way.
    #[serde(default)]
    pub says: String,
}
