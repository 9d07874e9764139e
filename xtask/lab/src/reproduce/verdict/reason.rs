//! Reasons why claims do not hold, found by investigation.
//!
//! The reasons are in `xtask/lab/reasons.json`, by artefact and claim. An entry matches a claim whose text
//! ends with the key of the entry, so that one reason applies to all readings of a claim. If several entries
//! match, the entry with the longest key is used, so that a reading may have a separate reason.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::{Claim, Verdict};

/// Reasons, by artefact and by the end of the claim's text.
type Reasons = BTreeMap<String, BTreeMap<String, String>>;

static REASONS: LazyLock<Reasons> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../reasons.json")).expect("a test reads the reasons")
});

impl Claim {
    /// Adds the known reason for the verdict on this claim about `artefact`.
    pub(crate) fn looked_into(self, artefact: &str) -> Self {
        Self { reason: reason(artefact, &self).map(Cow::Borrowed), ..self }
    }
}

/// Returns the known reason for the verdict on a claim about an artefact (`kernel-banzhaf/fig5`), or `None`
/// if the claim holds, was not tested, or has no recorded reason.
fn reason(artefact: &str, claim: &Claim) -> Option<&'static str> {
    if matches!(claim.verdict, Verdict::Holds | Verdict::NotTested) {
        return None;
    }
    recorded_reason(artefact, &claim.claim)
}

/// Returns the reason of the longest matching entry, whatever the verdict.
fn recorded_reason(artefact: &str, claim: &str) -> Option<&'static str> {
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
                // Claims about measured times have no recorded verdict.
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
