//! Verdicts: whether a claim of a paper holds in our numbers.
//!
//! The rules are fixed before the numbers are seen, and are printed with the verdict. A claim that does not reproduce is a finding.

use serde::Serialize;

/// What became of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    Holds,
    HoldsPartly,
    DoesNotHold,
    /// The datasets or runs that it needs are not there.
    NotTested,
}

impl Verdict {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::HoldsPartly => "holds partly",
            Self::DoesNotHold => "does not hold",
            Self::NotTested => "not tested",
        }
    }

    /// A claim about `of` cases of which `held` agree: enough of them, more than half, or less.
    fn of_cases(held: usize, of: usize, needed: Needed) -> Self {
        let enough = match needed {
            Needed::All => held == of,
            Needed::Most => 5 * held >= 4 * of,
        };
        match (held, of) {
            (_, 0) => Self::NotTested,
            _ if enough => Self::Holds,
            (held, of) if 2 * held > of => Self::HoldsPartly,
            _ => Self::DoesNotHold,
        }
    }

    /// A claim that is true or not.
    pub(crate) fn of_truth(holds: bool) -> Self {
        if holds { Self::Holds } else { Self::DoesNotHold }
    }
}

/// How many cases a claim speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needed {
    /// "all", "every", "reliably".
    All,
    /// "almost all", "generally": four of five.
    Most,
}

/// A claim of a paper about an artefact, with our verdict.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Claim {
    /// The claim in short.
    pub(crate) claim: String,
    /// Where it is made: a section, a caption; or a target of this project.
    pub(crate) source: String,
    /// How it was judged.
    pub(crate) rule: String,
    pub(crate) verdict: Verdict,
    /// The number that says so.
    pub(crate) evidence: String,
}

impl Claim {
    /// A claim over cases, each with its name and whether it agrees: holds if as many agree as the claim says, partly if more than half.
    pub(crate) fn over_cases(
        claim: &str,
        source: &str,
        case: &str,
        needed: Needed,
        cases: impl IntoIterator<Item = (String, bool)>,
    ) -> Self {
        let cases: Vec<(String, bool)> = cases.into_iter().collect();
        let against: Vec<&str> = cases.iter().filter(|case| !case.1).map(|case| case.0.as_str()).collect();
        let mut evidence = format!("{} of {} cases agree", cases.len() - against.len(), cases.len());
        if !against.is_empty() {
            let shown = against.iter().take(8).copied().collect::<Vec<_>>().join("; ");
            let more =
                if against.len() > 8 { format!("; and {} more", against.len() - 8) } else { String::new() };
            evidence.push_str(&format!("; against: {shown}{more}"));
        }
        Self {
            claim: claim.to_owned(),
            source: source.to_owned(),
            rule: format!(
                "a case is {case}; holds: {} agree; partly: more than half",
                match needed {
                    Needed::All => "all",
                    Needed::Most => "four of five",
                }
            ),
            verdict: Verdict::of_cases(cases.len() - against.len(), cases.len(), needed),
            evidence,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_without_cases_is_not_tested() {
        let claim = Claim::over_cases("c", "s", "nothing", Needed::All, []);
        assert_eq!(claim.verdict, Verdict::NotTested);
    }

    #[test]
    fn the_cases_against_a_claim_are_named() {
        let cases = [("a".to_owned(), true), ("b".to_owned(), false), ("c".to_owned(), true)];
        let claim = Claim::over_cases("c", "s", "a letter", Needed::All, cases);
        assert_eq!(claim.verdict, Verdict::HoldsPartly);
        assert_eq!(claim.evidence, "2 of 3 cases agree; against: b");
    }
}
