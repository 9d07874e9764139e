//! Verdicts: whether a claim of a paper holds in our numbers, beyond chance.
//!
//! | file | contents |
//! |---|---|
//! | [`test`](mod@test), [`grounds`] | tests over runs, with their p-values, and the underlying data |
//! | [`cases`], [`claim`] | a claim over cases, each of them tested |
//! | [`readings`] | a claim with several readings |
//! | [`judged`] | data from which a verdict can be recomputed |
//! | [`reason`] | reasons why claims do not hold |
//!
//! The rules are fixed before the numbers are known, and are printed with the verdict. A claim that does not
//! reproduce is a finding.

mod cases;
mod claim;
mod grounds;
mod judged;
mod readings;
mod reason;
mod test;

use serde::{Deserialize, Serialize};

pub(crate) use cases::{Case, Needed, are_contradicted};
pub(crate) use claim::{Claim, MISSING_REASON, Reading};
pub(crate) use judged::Judged;
pub(crate) use test::{By, Resamples, Test};

/// Version of the rules, increased with a line in the change log when a rule changes.
pub(crate) const RULES: u32 = 4;

/// Significance level per claim. If a claim is false in all cases, this level limits the probability that any
/// case is significantly in favour of the claim. If a claim is true in all cases, it limits the probability
/// that any case is significantly against it.
pub(crate) const FALSE_ALARM: f64 = 0.05;

/// Minimum number of runs for a verdict.
pub(crate) const MIN_RUNS: usize = 10;

/// Verdict on a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    Holds,
    HoldsPartly,
    DoesNotHold,
    /// No evidence for or against the claim beyond chance.
    Undecided,
    /// The required datasets or runs are not available.
    NotTested,
    /// The check cannot fail, whether or not the claim is true, so there is no verdict.
    Vacuous,
}

impl Verdict {
    pub(crate) const ALL: [Self; 6] =
        [Self::Holds, Self::HoldsPartly, Self::DoesNotHold, Self::Undecided, Self::NotTested, Self::Vacuous];

    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::HoldsPartly => "holds partly",
            Self::DoesNotHold => "does not hold",
            Self::Undecided => "undecided",
            Self::NotTested => "not tested",
            Self::Vacuous => "no verdict: vacuous",
        }
    }

    /// Returns whether the verdict requires a reason.
    pub(crate) fn needs_reason(self) -> bool {
        matches!(self, Self::HoldsPartly | Self::DoesNotHold)
    }

    /// Counts verdicts, separately for the papers and this project:
    /// `claims: 2 holds, 1 undecided; own: 1 holds`.
    pub(crate) fn count<'a>(claims: impl IntoIterator<Item = &'a Claim>) -> String {
        let (own, papers): (Vec<&Claim>, Vec<&Claim>) =
            claims.into_iter().partition(|claim| claim.is_of_project());
        let of = |is_own: bool| {
            let some = if is_own { &own } else { &papers };
            Self::count_of(some.iter().map(|claim| claim.verdict))
        };
        match (of(false), of(true)) {
            (None, None) => "no claims".to_owned(),
            (Some(papers), None) => format!("claims: {papers}"),
            (None, Some(own)) => format!("own: {own}"),
            (Some(papers), Some(own)) => format!("claims: {papers}; own: {own}"),
        }
    }

    /// Formats the number of verdicts of each kind, e.g. `2 holds, 1 undecided`. Returns `None` if there are
    /// no verdicts.
    pub(crate) fn count_of(verdicts: impl Iterator<Item = Self>) -> Option<String> {
        let verdicts: Vec<Self> = verdicts.collect();
        let counts: Vec<String> = Self::ALL
            .into_iter()
            .map(|kind| (kind, verdicts.iter().filter(|verdict| **verdict == kind).count()))
            .filter(|(_, count)| *count > 0)
            .map(|(kind, count)| format!("{count} {}", kind.words()))
            .collect();
        (!counts.is_empty()).then(|| counts.join(", "))
    }

    /// Formats the verdict in bold Markdown.
    pub(crate) fn in_bold(self) -> String {
        format!("**{}**", self.words())
    }
}
