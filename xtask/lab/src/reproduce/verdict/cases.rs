//! The cases that a claim speaks of, each of them tested, and what they come to together.

use serde::{Deserialize, Serialize};

use super::test::Test;
use super::{FALSE_ALARM, FEWEST_RUNS, Verdict};

/// How many cases a claim speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Needed {
    /// "all", "every", "reliably".
    All,
    /// "almost all", "generally": four of five.
    Most,
    /// "compares favourably": better in one, worse in none.
    NotBehind,
}

impl Needed {
    fn is_met(self, said: Said, of: usize) -> bool {
        match self {
            Self::All => said.favour == of,
            Self::Most => 5 * said.favour >= 4 * of,
            Self::NotBehind => said.favour > 0 && said.against == 0,
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::All => "all beyond chance for it",
            Self::Most => "four of five beyond chance for it",
            Self::NotBehind => "some beyond chance for it, none against",
        }
    }
}

/// One of the cases that a claim speaks of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Case {
    pub(crate) name: String,
    /// Whether the claim is true of it.
    pub(crate) test: Test,
}

impl Case {
    pub(crate) fn new(name: impl Into<String>, test: Test) -> Self {
        Self { name: name.into(), test }
    }

    /// The same, named for what it is of.
    pub(crate) fn of(self, whom: &str) -> Self {
        Self { name: format!("{whom}, {}", self.name), ..self }
    }
}

/// What is said of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Finding {
    For,
    Against,
    Undecided,
    TooFewRuns,
    NoNumber,
}

/// How many cases speak for a claim beyond chance, and how many against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Said {
    favour: usize,
    against: usize,
}

/// The verdict over cases, and what is said of each. A case is beyond chance where its test is, by Holm's correction for the number of cases.
pub(super) fn judge(needed: Needed, cases: &[Case]) -> (Verdict, String) {
    let findings = findings(cases);
    let number = |finding: Finding| findings.iter().filter(|found| **found == finding).count();
    let said = Said { favour: number(Finding::For), against: number(Finding::Against) };
    let tested = said.favour + said.against + number(Finding::Undecided);
    let verdict = match said {
        _ if tested == 0 => Verdict::NotTested,
        said if needed.is_met(said, cases.len()) => Verdict::Holds,
        Said { favour: 0, against: 0 } => Verdict::Undecided,
        Said { favour, against } if favour > against => Verdict::HoldsPartly,
        _ => Verdict::DoesNotHold,
    };
    (verdict, evidence(cases, &findings))
}

/// Whether one of the cases is beyond chance against a claim.
pub(crate) fn are_contradicted(cases: &[Case]) -> bool {
    findings(cases).contains(&Finding::Against)
}

/// The fewest runs with which one of so many cases can be beyond chance: the signs of n runs are all alike with a chance of 2^−n.
fn runs_needed(cases: usize) -> usize {
    let by_signs = (cases.max(1) as f64 / FALSE_ALARM).log2().ceil() as usize;
    by_signs.max(FEWEST_RUNS)
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
    // What speaks against a case is not outweighed.
    for at in beyond_chance(&usable, |at| cases[at].test.against) {
        findings[at] = Some(Finding::Against);
    }
    findings.into_iter().map(|finding| finding.unwrap_or(Finding::Undecided)).collect()
}

/// Those whose chances are so low that, were it all chance, one of [`FALSE_ALARM`] claims would have any of them: Holm's rule.
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

/// So many names are shown.
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
