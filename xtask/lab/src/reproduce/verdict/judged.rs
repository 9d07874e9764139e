//! The data of verdicts, from which they can be recomputed.

use serde::{Deserialize, Serialize};

use super::Verdict;
use super::cases::{Case, Needed, judge};

/// The data of one verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Judged {
    /// Tested cases.
    Cases { needed: Needed, cases: Vec<Case> },
    /// A fact that involves no sampling.
    Fact(Verdict),
    /// Several readings of a claim, with the data of the verdict in each.
    Readings(Vec<Self>),
}

impl Judged {
    pub(crate) fn verdict(&self) -> Verdict {
        match self {
            Self::Cases { needed, cases } => judge(*needed, cases).0,
            Self::Fact(verdict) => *verdict,
            Self::Readings(readings) => over(readings.iter().map(Self::verdict)),
        }
    }

    /// Recomputes the description of the cases, with which the stored evidence must start. Returns `None` for
    /// facts and for claims with several readings.
    pub(crate) fn evidence(&self) -> Option<String> {
        match self {
            Self::Cases { needed, cases } => Some(judge(*needed, cases).1),
            _ => None,
        }
    }
}

/// Combines the verdicts in several readings. Readings that are not tested or vacuous do not count.
fn over(verdicts: impl Iterator<Item = Verdict>) -> Verdict {
    let tested: Vec<Verdict> =
        verdicts.filter(|verdict| !matches!(verdict, Verdict::NotTested | Verdict::Vacuous)).collect();
    let number = |wanted: Verdict| tested.iter().filter(|verdict| **verdict == wanted).count();
    let (holds, partly, fails) =
        (number(Verdict::Holds), number(Verdict::HoldsPartly), number(Verdict::DoesNotHold));
    match tested.len() {
        0 => Verdict::NotTested,
        all if holds == all => Verdict::Holds,
        _ if holds > 0 || partly > fails => Verdict::HoldsPartly,
        _ if partly + fails == 0 => Verdict::Undecided,
        _ => Verdict::DoesNotHold,
    }
}

#[cfg(test)]
mod tests {
    use super::Verdict::{DoesNotHold, Holds, HoldsPartly, NotTested, Undecided};
    use super::*;

    #[test]
    fn a_claim_holds_in_all_its_readings_or_not_wholly() {
        for (readings, want) in [
            (&[][..], NotTested),
            (&[NotTested, NotTested], NotTested),
            (&[Holds, Holds], Holds),
            (&[Holds, NotTested], Holds),
            (&[Holds, Undecided], HoldsPartly),
            (&[Holds, DoesNotHold], HoldsPartly),
            (&[HoldsPartly, HoldsPartly, DoesNotHold], HoldsPartly),
            (&[HoldsPartly, DoesNotHold], DoesNotHold),
            (&[HoldsPartly, DoesNotHold, DoesNotHold], DoesNotHold),
            (&[Undecided, Undecided], Undecided),
            (&[Undecided, DoesNotHold], DoesNotHold),
        ] {
            assert_eq!(over(readings.iter().copied()), want, "{readings:?}");
        }
    }
}
