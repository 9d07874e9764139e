//! Claims with several readings, which are judged in each reading but counted once.

use super::claim::Reading;
use super::judged::Judged;
use super::{Claim, Verdict};

impl Claim {
    /// Combines claims that were judged in several readings into one claim each, with the verdicts of all
    /// readings. Every reading has the same claims in the same order.
    ///
    /// # Panics
    ///
    /// If the claims of the readings differ.
    pub(crate) fn over_readings(readings: Vec<(String, Vec<Self>)>) -> Vec<Self> {
        let count = readings.first().map_or(0, |(_, claims)| claims.len());
        let mut judged: Vec<Vec<(String, Self)>> = (0..count).map(|_| Vec::new()).collect();
        for (reading, claims) in readings {
            assert_eq!(claims.len(), count, "{reading}: other claims");
            for (of_claim, claim) in judged.iter_mut().zip(claims) {
                of_claim.push((reading.clone(), claim));
            }
        }
        judged.into_iter().filter_map(in_readings).collect()
    }
}

/// Combines the verdicts on one claim in its readings. Returns `None` if there are no readings.
fn in_readings(judged: Vec<(String, Claim)>) -> Option<Claim> {
    let first = judged.first()?.1.clone();
    assert!(judged.iter().all(|(_, claim)| claim.claim == first.claim), "not readings of {}", first.claim);
    let of_readings = Judged::Readings(judged.iter().map(|(_, claim)| claim.judged.clone()).collect());
    let verdict = of_readings.verdict();
    let rule = format!(
        "judged in each of {} readings; the claim holds if it holds in all of them; it holds partly if it \
         holds in at least one, or holds partly in more of them than it fails in; it is undecided if it is \
         undecided in all of them; in each reading, {}",
        judged.len(),
        first.rule
    );
    let evidence = if verdict == Verdict::NotTested {
        first.evidence.clone()
    } else {
        let short = |(reading, claim): &(String, Claim)| {
            let numbers = claim.evidence.split(';').next().unwrap_or_default();
            format!("{reading}: {} ({numbers})", claim.verdict.words())
        };
        judged.iter().map(short).collect::<Vec<_>>().join("; ")
    };
    let readings = judged.into_iter().map(|(reading, claim)| Reading {
        reading,
        verdict: claim.verdict,
        evidence: claim.evidence,
    });
    Some(Claim { verdict, rule, evidence, judged: of_readings, readings: readings.collect(), ..first })
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{DoesNotHold, Holds, HoldsPartly, NotTested};

    fn claims(verdicts: [Verdict; 2]) -> Vec<Claim> {
        let evidence = "of 2 cases 1 beyond chance for it; against: b";
        let claim = |(name, verdict)| Claim::of_verdict(name, verdict).and(evidence);
        ["first", "second"].into_iter().zip(verdicts).map(claim).collect()
    }

    #[test]
    fn two_claims_in_three_readings_are_two_claims_that_name_their_readings() {
        let readings = [[Holds, DoesNotHold], [DoesNotHold, DoesNotHold], [Holds, NotTested]];
        let titles = ["as printed", "on the plane", "corrected"];
        let readings = titles.into_iter().zip(readings).map(|(title, of)| (title.to_owned(), claims(of)));
        let judged = Claim::over_readings(readings.collect());
        let found: Vec<_> = judged.iter().map(|claim| (claim.claim.as_str(), claim.verdict)).collect();
        assert_eq!(found, [("first", HoldsPartly), ("second", DoesNotHold)]);
        assert!(
            judged[0].evidence.contains("as printed: holds (") && judged[0].evidence.contains("on the plane")
        );
        assert!(judged[0].readings[2].evidence.ends_with("against: b") && judged[0].readings.len() == 3);
        assert!(Claim::over_readings(Vec::new()).is_empty());
    }

    #[test]
    #[should_panic(expected = "other claims")]
    fn readings_of_other_claims_are_refused() {
        let few = claims([Holds, Holds]).split_off(1);
        Claim::over_readings(vec![("a".to_owned(), claims([Holds, Holds])), ("b".to_owned(), few)]);
    }
}
