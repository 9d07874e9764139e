//! The cases of a claim. Each case is tested, and the results are combined into a verdict.

use serde::{Deserialize, Serialize};

use super::test::Test;
use super::{FALSE_ALARM, MIN_RUNS, Verdict};

/// The number of cases in which a claim must be true.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Needed {
    /// All cases, for claims with "all", "every" or "reliably".
    All,
    /// Four out of five cases, for claims with "almost all" or "generally".
    Most,
    /// At least one case, with no case significantly against the claim, for claims such as "compares
    /// favourably".
    NotBehind,
}

impl Needed {
    fn is_met(self, said: Tally, of: usize) -> bool {
        match self {
            Self::All => said.favour == of,
            Self::Most => 5 * said.favour >= 4 * of,
            Self::NotBehind => said.favour > 0 && said.against == 0,
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::All => "all cases are beyond chance for it",
            Self::Most => "four of five cases are beyond chance for it",
            Self::NotBehind => "some cases are beyond chance for it and none is against it",
        }
    }
}

/// One case of a claim.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Case {
    pub(crate) name: String,
    /// Test of the claim in this case.
    pub(crate) test: Test,
}

impl Case {
    pub(crate) fn new(name: impl Into<String>, test: Test) -> Self {
        Self { name: name.into(), test }
    }

    /// Prefixes the name of the case with `whom`.
    pub(crate) fn prefixed(self, whom: &str) -> Self {
        Self { name: format!("{whom}, {}", self.name), ..self }
    }
}

/// Result of testing a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Finding {
    For,
    Against,
    Undecided,
    TooFewRuns,
    NoNumber,
}

/// Number of cases significantly in favour of a claim, and number of cases significantly against it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tally {
    favour: usize,
    against: usize,
}

/// Returns the verdict over all cases, and a description of the results. Tests are corrected for the number
/// of cases with Holm's method.
pub(super) fn judge(needed: Needed, cases: &[Case]) -> (Verdict, String) {
    let findings = findings(cases);
    let number = |finding: Finding| findings.iter().filter(|found| **found == finding).count();
    let said = Tally { favour: number(Finding::For), against: number(Finding::Against) };
    let tested = said.favour + said.against + number(Finding::Undecided);
    let verdict = match said {
        _ if tested == 0 => Verdict::NotTested,
        said if needed.is_met(said, cases.len()) => Verdict::Holds,
        Tally { favour: 0, against: 0 } => Verdict::Undecided,
        Tally { favour, against } if favour > against => Verdict::HoldsPartly,
        _ => Verdict::DoesNotHold,
    };
    (verdict, evidence(cases, &findings))
}

/// Returns whether any of the cases is significantly against the claim.
pub(crate) fn are_contradicted(cases: &[Case]) -> bool {
    findings(cases).contains(&Finding::Against)
}

/// Returns the minimum number of runs with which one of `cases` cases can be significant. By chance, the
/// differences of all n runs have a given sign with probability 2^−n.
fn runs_needed(cases: usize) -> usize {
    let by_signs = (cases.max(1) as f64 / FALSE_ALARM).log2().ceil() as usize;
    by_signs.max(MIN_RUNS)
}

fn findings(cases: &[Case]) -> Vec<Finding> {
    let needed = runs_needed(cases.len());
    let unusable = |test: &Test| match test.runs {
        Some(runs) if runs < needed => Some(Finding::TooFewRuns),
        _ if test.favour.is_nan() || test.against.is_nan() => Some(Finding::NoNumber),
        _ => None,
    };
    let mut findings: Vec<Option<Finding>> = cases.iter().map(|case| unusable(&case.test)).collect();
    let usable: Vec<usize> = (0..cases.len()).filter(|&at| findings[at].is_none()).collect();
    for at in beyond_chance(&usable, |at| cases[at].test.favour) {
        findings[at] = Some(Finding::For);
    }
    // Significant evidence against a case takes precedence over evidence in favour.
    for at in beyond_chance(&usable, |at| cases[at].test.against) {
        findings[at] = Some(Finding::Against);
    }
    findings.into_iter().map(|finding| finding.unwrap_or(Finding::Undecided)).collect()
}

/// Returns the cases that are significant by Holm's method. The probability that any case of a claim is
/// significant by chance is at most [`FALSE_ALARM`].
fn beyond_chance(which: &[usize], chance: impl Fn(usize) -> f64) -> Vec<usize> {
    let mut sorted = which.to_vec();
    sorted.sort_by(|&a, &b| chance(a).total_cmp(&chance(b)));
    let count = sorted.len();
    let rejected = sorted
        .iter()
        .enumerate()
        .take_while(|&(at, &case)| chance(case) <= FALSE_ALARM / (count - at) as f64);
    rejected.map(|(_, &case)| case).collect()
}

/// Maximum number of case names shown.
const SHOWN: usize = 8;

fn evidence(cases: &[Case], findings: &[Finding]) -> String {
    let names = |finding: Finding| -> Vec<&str> {
        let found = cases.iter().zip(findings).filter(|(_, found)| **found == finding);
        found.map(|(case, _)| case.name.as_str()).collect()
    };
    let list = |what: &str, finding: Finding| {
        let names = names(finding);
        if names.is_empty() {
            return String::new();
        }
        let more =
            if names.len() > SHOWN { format!("; and {} more", names.len() - SHOWN) } else { String::new() };
        format!("; {what}: {}{more}", names.iter().take(SHOWN).copied().collect::<Vec<_>>().join("; "))
    };
    if cases.is_empty() {
        return "no such case is there".to_owned();
    }
    let (too_few, no_number) = (names(Finding::TooFewRuns).len(), names(Finding::NoNumber).len());
    if too_few == cases.len() {
        let runs = cases.iter().filter_map(|case| case.test.runs).max().unwrap_or_default();
        return format!("too few runs: {runs}; {} are needed", runs_needed(cases.len()));
    }
    let mut text = format!(
        "of {} cases {} beyond chance for it, {} against, {} undecided",
        cases.len(),
        names(Finding::For).len(),
        names(Finding::Against).len(),
        names(Finding::Undecided).len()
    );
    if too_few > 0 {
        text.push_str(&format!(", {too_few} of too few runs ({} are needed)", runs_needed(cases.len())));
    }
    if no_number > 0 {
        text.push_str(&format!(", {no_number} without a number"));
    }
    if cases.len() <= SHOWN {
        text.push_str(&list("for it", Finding::For));
    }
    text.push_str(&list("against", Finding::Against));
    text.push_str(&list("undecided", Finding::Undecided));
    text
}
