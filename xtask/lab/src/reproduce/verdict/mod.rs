//! Verdicts: whether a claim of a paper holds in our numbers, beyond what chance gives.
//!
//! | file | holds |
//! |---|---|
//! | [`test`](mod@test), [`grounds`] | tests over runs: how probable what was seen would be by chance, and what they rest on |
//! | [`cases`], [`claim`] | a claim over cases, each of them tested |
//! | [`readings`] | a claim that can be read in several ways |
//! | [`judged`] | what a verdict rests on, from which it can be found again |
//! | [`reason`] | why claims do not hold |
//!
//! The rules are fixed before the numbers are seen, and are printed with the verdict. A claim that does not reproduce is a finding.

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

/// The version of the rules: raised, with a line in the change log, when a rule changes.
pub(crate) const RULES: u32 = 4;

/// The chance that a claim of which nothing is true has a case beyond chance for it, and as much against one of which all is true.
pub(crate) const FALSE_ALARM: f64 = 0.05;

/// Fewer runs decide nothing.
pub(crate) const FEWEST_RUNS: usize = 10;

/// What became of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    Holds,
    HoldsPartly,
    DoesNotHold,
    /// Nothing speaks for it or against it beyond chance.
    Undecided,
    /// The datasets or runs that it needs are not there.
    NotTested,
    /// The check would be passed whatever the paper says: no verdict.
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

    /// Whether a reader must be told why.
    pub(crate) fn needs_reason(self) -> bool {
        matches!(self, Self::HoldsPartly | Self::DoesNotHold)
    }

    /// How many there are of each, those of the papers and those of this project apart: `claims: 2 holds, 1 undecided; own: 1 holds`.
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

    /// `2 holds, 1 undecided`; nothing without verdicts.
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

    /// In Markdown.
    pub(crate) fn in_bold(self) -> String {
        format!("**{}**", self.words())
    }
}
