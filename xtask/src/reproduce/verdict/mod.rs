//! Verdicts: whether a claim of a paper holds in our numbers, beyond what chance gives.
//!
//! | file | holds |
//! |---|---|
//! | [`test`](mod@test) | tests over runs: how probable what was seen would be by chance |
//! | [`claim`] | a claim over cases, each of them tested |
//! | [`reason`] | why claims do not hold |
//!
//! The rules are fixed before the numbers are seen, and are printed with the verdict. A claim that does not reproduce is a finding.

mod claim;
mod reason;
mod test;

use serde::{Deserialize, Serialize};

pub(crate) use claim::{Case, Claim, Needed, are_contradicted};
pub(crate) use test::{By, Resamples, Test};

/// The version of the rules: raised, with a line in the change log, when a rule changes.
pub(crate) const RULES: u32 = 3;

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

    /// How many there are of each: `claims: 2 holds, 1 undecided`.
    pub(crate) fn count(verdicts: impl Iterator<Item = Self>) -> String {
        let verdicts: Vec<Self> = verdicts.collect();
        let counts: Vec<String> = Self::ALL
            .into_iter()
            .map(|kind| (kind, verdicts.iter().filter(|verdict| **verdict == kind).count()))
            .filter(|(_, count)| *count > 0)
            .map(|(kind, count)| format!("{count} {}", kind.words()))
            .collect();
        if counts.is_empty() { "no claims".to_owned() } else { format!("claims: {}", counts.join(", ")) }
    }

    /// In Markdown.
    pub(crate) fn in_bold(self) -> String {
        format!("**{}**", self.words())
    }
}
