//! Why claims do not hold: what was found when it was looked into.
//!
//! The reasons are data, in `xtask/lab/reasons.json`: artefact, claim, reason. A claim is named by how it ends, so that one reason serves all
//! readings of it; where several ends fit, the longest is meant, so that one reading may have a reason to itself.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::{Claim, Verdict};

/// Per artefact: the ends of claims, and why these do not hold.
type Reasons = BTreeMap<String, BTreeMap<String, String>>;

static REASONS: LazyLock<Reasons> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../reasons.json")).expect("a test reads the reasons")
});

impl Claim {
    /// With what is known of why it does not hold, as a claim about `artefact`.
    pub(crate) fn looked_into(self, artefact: &str) -> Self {
        Self { reason: reason(artefact, &self).map(Cow::Borrowed), ..self }
    }
}

/// The reason that is known for the verdict on a claim about an artefact (`kernel-banzhaf/fig5`); none where the claim holds or was not
/// tested.
fn reason(artefact: &str, claim: &Claim) -> Option<&'static str> {
    if matches!(claim.verdict, Verdict::Holds | Verdict::NotTested) {
        return None;
    }
    known(artefact, &claim.claim)
}

/// The reason for a claim that ends like this, whatever its verdict.
fn known(artefact: &str, claim: &str) -> Option<&'static str> {
    let fits = REASONS.get(artefact)?.iter().filter(|(end, _)| claim.ends_with(end.as_str()));
    let known = fits.max_by_key(|(end, _)| end.len())?;
    Some(known.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Recorded {
        artefacts: BTreeMap<String, BTreeMap<String, Verdict>>,
    }

    fn recorded() -> Recorded {
        serde_json::from_str(include_str!("../../../verdicts.json")).unwrap()
    }

    #[test]
    fn every_claim_that_does_not_hold_has_a_reason() {
        for (artefact, claims) in recorded().artefacts {
            for (claim, verdict) in claims {
                let why = reason(&artefact, &Claim::of_verdict(&claim, verdict));
                assert!(verdict != Verdict::DoesNotHold || why.is_some(), "{artefact}: {claim}");
                assert!(!matches!(verdict, Verdict::Holds | Verdict::NotTested) || why.is_none());
            }
        }
    }

    #[test]
    fn every_reason_is_of_a_claim_that_is_made() {
        let recorded = recorded().artefacts;
        for (artefact, reasons) in REASONS.iter() {
            let claims = recorded.get(artefact).unwrap_or_else(|| panic!("no artefact {artefact}"));
            for (end, why) in reasons {
                // Verdicts on measured times are not recorded.
                assert!(
                    end.contains("time of the others")
                        || claims.keys().any(|claim| claim.ends_with(end.as_str())),
                    "{artefact}: {end}"
                );
                assert!(why.ends_with('.') && why.len() > 40, "{artefact}: {why}");
            }
        }
    }
}
