//! A claim over cases, each of them tested.

use std::borrow::Cow;

use serde::Serialize;

use super::test::{By, Test};
use super::{FALSE_ALARM, FEWEST_RUNS, Verdict};

/// How many cases a claim speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

    fn words(self) -> &'static str {
        match self {
            Self::All => "all beyond chance for it",
            Self::Most => "four of five beyond chance for it",
            Self::NotBehind => "some beyond chance for it, none against",
        }
    }
}

/// One of the cases that a claim speaks of.
#[derive(Debug, Clone, PartialEq)]
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

/// What a claim comes to in one of its readings.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Reading {
    pub(crate) reading: String,
    pub(crate) verdict: Verdict,
    pub(crate) evidence: String,
}

/// A claim of a paper about an artefact, with our verdict.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Claim {
    /// The claim in short.
    pub(crate) claim: String,
    /// Where it is made: a section, a caption; or a target of this project.
    pub(crate) source: String,
    /// How it was judged, and what chance would give.
    pub(crate) rule: String,
    pub(crate) verdict: Verdict,
    /// The number that says so.
    pub(crate) evidence: String,
    /// What the paper prints in numbers; none where it says it in words.
    pub(crate) printed: Option<String>,
    /// Why it does not hold, where that was looked into.
    pub(crate) reason: Option<Cow<'static, str>>,
    /// What it comes to in each of its readings; empty where there is but one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) readings: Vec<Reading>,
    /// Whether it is about measured times, which no run repeats.
    #[serde(skip)]
    pub(crate) is_of_times: bool,
}

impl Claim {
    /// A claim over cases, each with its name and its test. A case is beyond chance where its test is, by Holm's correction for the number
    /// of cases.
    pub(crate) fn over_cases(
        claim: &str,
        source: &str,
        case: &str,
        by: By,
        needed: Needed,
        cases: impl IntoIterator<Item = Case>,
    ) -> Self {
        let cases: Vec<Case> = cases.into_iter().collect();
        let findings = findings(&cases);
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
        Self::new(claim, source, rule(case, by, needed), verdict, evidence(&cases, &findings))
    }

    /// A claim about what no draw decides; not tested where there is nothing to see.
    pub(crate) fn fact(claim: &str, source: &str, rule: &str, is_so: Option<bool>, evidence: String) -> Self {
        let rule = format!("holds if {rule}; {}", By::Nothing.words());
        let verdict = match is_so {
            Some(true) => Verdict::Holds,
            Some(false) => Verdict::DoesNotHold,
            None => Verdict::NotTested,
        };
        Self::new(claim, source, rule, verdict, evidence)
    }

    /// A claim that needs something which is not there.
    pub(crate) fn not_tested(claim: &str, source: &str, why: &str) -> Self {
        Self::new(claim, source, "none".to_owned(), Verdict::NotTested, why.to_owned())
    }

    /// A claim whose check nothing could fail.
    pub(crate) fn vacuous(claim: &str, source: &str, why: &str, evidence: String) -> Self {
        Self::new(claim, source, format!("no verdict: {why}"), Verdict::Vacuous, evidence)
    }

    fn new(claim: &str, source: &str, rule: String, verdict: Verdict, evidence: String) -> Self {
        Self {
            claim: claim.to_owned(),
            source: source.to_owned(),
            rule,
            verdict,
            evidence,
            printed: None,
            reason: None,
            readings: Vec::new(),
            is_of_times: false,
        }
    }

    /// The claim in one reading of what it says, or about other numbers.
    pub(crate) fn read_as(mut self, reading: &str) -> Self {
        self.claim = format!("{reading}: {}", self.claim);
        self
    }

    /// The claim as one about measured times.
    pub(crate) fn of_times(mut self) -> Self {
        self.is_of_times = true;
        self
    }

    /// The claim as one of this project, judged on what stands in for the paper's datasets.
    pub(crate) fn on_stand_ins(mut self) -> Self {
        self.claim = format!("on the datasets that stand in: {}", self.claim);
        self.source = format!("this project, beside {}", self.source);
        self
    }

    /// With what the paper prints in numbers.
    pub(crate) fn prints(mut self, numbers: impl Into<String>) -> Self {
        self.printed = Some(numbers.into());
        self
    }

    /// Whether no paper makes it: a target of this project, or what holds in place of what a paper prints.
    pub(crate) fn is_of_project(&self) -> bool {
        is_of_project(&self.source)
    }

    /// What the paper prints: in numbers, in words, or nothing for a claim of this project.
    pub(crate) fn in_paper(&self) -> &str {
        match &self.printed {
            Some(numbers) => numbers,
            None if self.is_of_project() => "–",
            None => "in words",
        }
    }

    /// The reason for the verdict: empty if the verdict needs none, [`MISSING_REASON`] if it needs one that nobody has written.
    pub(crate) fn why(&self) -> &str {
        match &self.reason {
            Some(reason) => reason,
            None if self.verdict.needs_reason() => MISSING_REASON,
            None => "",
        }
    }

    /// With why it does not hold, which is said only where it does not.
    pub(crate) fn because(mut self, why: impl Into<Cow<'static, str>>) -> Self {
        if !matches!(self.verdict, Verdict::Holds | Verdict::NotTested) {
            self.reason = Some(why.into());
        }
        self
    }

    /// With more to its evidence.
    pub(crate) fn and(mut self, more: &str) -> Self {
        self.evidence = format!("{}; {more}", self.evidence);
        self
    }
}

/// Shown where a claim does not hold, or holds partly, and `xtask/reasons.json` has no reason for it.
pub(crate) const MISSING_REASON: &str = "**reason missing**";

/// Whether a source of claims is this project and not a paper.
pub(crate) fn is_of_project(source: &str) -> bool {
    source.starts_with("this project") || source.contains("of this project")
}

/// Claims over cases that are tested in this way, by how many of the cases they speak of.
impl By {
    /// Of all cases.
    pub(crate) fn in_all(
        self,
        claim: &str,
        source: &str,
        case: &str,
        cases: impl IntoIterator<Item = Case>,
    ) -> Claim {
        Claim::over_cases(claim, source, case, self, Needed::All, cases)
    }

    /// Of four of five.
    pub(crate) fn in_most(
        self,
        claim: &str,
        source: &str,
        case: &str,
        cases: impl IntoIterator<Item = Case>,
    ) -> Claim {
        Claim::over_cases(claim, source, case, self, Needed::Most, cases)
    }
}

#[cfg(test)]
impl Claim {
    /// A claim with a verdict, and nothing else.
    pub(super) fn of_verdict(claim: &str, verdict: Verdict) -> Self {
        Self { verdict, ..Self::not_tested(claim, "", "") }
    }
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

fn rule(case: &str, by: By, needed: Needed) -> String {
    let mut rule = format!(
        "a case is {case}; holds: {}; partly: more of them for it than against; undecided: none either way; ",
        needed.words()
    );
    rule.push_str(by.words());
    if by != By::Nothing {
        rule.push_str(&format!(
            "; by chance alone {} % of such claims have a case for it, as many one against (Holm, over the cases)",
            100.0 * FALSE_ALARM
        ));
    }
    rule
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

#[cfg(test)]
mod tests {
    use super::*;

    const FOR: (f64, f64) = (1e-6, 1.0);
    const AGAINST: (f64, f64) = (1.0, 1e-6);
    const UNDECIDED: (f64, f64) = (0.4, 0.6);

    fn judge(needed: Needed, chances: &[(f64, f64)], runs: usize) -> Claim {
        let cases = chances.iter().enumerate().map(|(at, &(favour, against))| {
            Case::new(at.to_string(), Test::of_chances(favour, against, runs))
        });
        Claim::over_cases("c", "s", "a number", By::SignedRanks, needed, cases)
    }

    fn verdict(needed: Needed, chances: &[(f64, f64)]) -> Verdict {
        judge(needed, chances, 50).verdict
    }

    #[test]
    fn claims_of_the_project_are_known_by_their_source() {
        for (source, is_ours) in [
            ("section 4.2", false),
            ("this project, in place of section 4.2", true),
            ("target of this project; experiment 2a", true),
            ("caption of figure 3", false),
        ] {
            assert_eq!(Claim::not_tested("c", source, "").is_of_project(), is_ours, "{source}");
        }
        assert!(
            Claim::fact("c", "section 1", "r", Some(false), String::new()).on_stand_ins().is_of_project()
        );
    }

    #[test]
    fn a_claim_that_does_not_hold_has_a_reason_or_shows_that_there_is_none() {
        let claim = |is_so| Claim::fact("c", "s", "r", Some(is_so), String::new());
        assert_eq!(claim(false).why(), MISSING_REASON);
        assert_eq!(claim(false).because("of this").why(), "of this");
        assert_eq!(claim(true).why(), "");
        assert_eq!(Claim { verdict: Verdict::HoldsPartly, ..claim(true) }.why(), MISSING_REASON);
    }

    #[test]
    fn verdicts_follow_their_rules() {
        use Needed::{All, Most, NotBehind};
        use Verdict::{DoesNotHold, Holds, HoldsPartly, NotTested, Undecided};
        let five = |others: (f64, f64)| [FOR, FOR, FOR, FOR, others];
        for (needed, chances, wanted) in [
            (All, &[][..], NotTested),
            (All, &[FOR, FOR], Holds),
            (All, &five(UNDECIDED), HoldsPartly),
            (All, &five(AGAINST), HoldsPartly),
            (All, &[FOR, UNDECIDED, UNDECIDED], HoldsPartly),
            (All, &[FOR, AGAINST], DoesNotHold),
            (All, &[AGAINST, UNDECIDED], DoesNotHold),
            (All, &[UNDECIDED; 17], Undecided),
            (Most, &five(AGAINST), Holds),
            (Most, &[FOR, FOR, FOR, UNDECIDED], HoldsPartly),
            (NotBehind, &[FOR, UNDECIDED], Holds),
            (NotBehind, &[FOR, FOR, AGAINST], HoldsPartly),
            (NotBehind, &[UNDECIDED, UNDECIDED], Undecided),
        ] {
            assert_eq!(verdict(needed, chances), wanted, "{needed:?} {chances:?}");
        }
    }

    /// Kernel Banzhaf with and without pairs, pairing switched off: a median ratio is below 1 in 11 of 17 cases.
    #[test]
    fn more_than_half_of_the_cases_is_what_chance_gives() {
        let below = |at: usize| at < 11;
        let chances: Vec<_> = (0..17).map(|at| if below(at) { (0.2, 0.8) } else { (0.8, 0.2) }).collect();
        let claim = judge(Needed::All, &chances, 25);
        assert_eq!(claim.verdict, Verdict::Undecided);
        assert!(claim.evidence.starts_with("of 17 cases 0 beyond chance for it, 0 against, 17 undecided"));
    }

    #[test]
    fn cases_are_beyond_chance_only_where_so_many_would_not_be() {
        // Below 0.05, as chance gives one of twenty.
        let mut chances = vec![(0.5, 0.5); 19];
        chances.push((0.04, 0.96));
        assert_eq!(verdict(Needed::All, &chances), Verdict::Undecided);
        chances[19] = (0.002, 1.0);
        assert_eq!(verdict(Needed::All, &chances), Verdict::HoldsPartly);
        // Holm: after the first of two is beyond chance, the second is judged alone.
        assert_eq!(verdict(Needed::All, &[(0.01, 1.0), (0.04, 1.0)]), Verdict::Holds);
        assert_eq!(verdict(Needed::All, &[(0.03, 1.0), (0.04, 1.0)]), Verdict::Undecided);
    }

    #[test]
    fn too_few_runs_and_no_numbers_are_not_tested_and_say_so() {
        let few = judge(Needed::All, &[FOR, FOR], 9);
        assert_eq!(few.verdict, Verdict::NotTested);
        assert_eq!(few.evidence, "too few runs: 9; 10 are needed");
        // One of 100 cases is beyond chance below 0.0005: 11 signs alike.
        assert_eq!(judge(Needed::All, &[FOR; 100], 10).evidence, "too few runs: 10; 11 are needed");
        let nan = judge(Needed::All, &[(f64::NAN, f64::NAN)], 50);
        assert_eq!(nan.verdict, Verdict::NotTested);
        assert!(nan.evidence.contains("1 without a number"), "{}", nan.evidence);
        let some = judge(Needed::All, &[FOR, (f64::NAN, 0.0)], 50);
        assert_eq!(some.verdict, Verdict::HoldsPartly, "what was not seen is not for it");
    }

    #[test]
    fn a_rule_says_what_chance_gives_and_the_evidence_names_cases() {
        let claim = judge(Needed::All, &[FOR, AGAINST, UNDECIDED, FOR], 50);
        assert!(
            claim.rule.contains("chance: ") && claim.rule.contains("5 % of such claims"),
            "{}",
            claim.rule
        );
        assert_eq!(
            claim.evidence,
            "of 4 cases 2 beyond chance for it, 1 against, 1 undecided; for it: 0; 3; against: 1; undecided: 2"
        );
    }

    #[test]
    fn two_alike_differ_beyond_chance_in_few_claims() {
        // 200 claims of 17 cases of 25 runs, of which nothing is true: about 5 % have a case for them.
        let mut state = 1_u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64 + 1e-9
        };
        let mut partly = 0;
        for _ in 0..200 {
            let cases: Vec<Case> = (0..17)
                .map(|_| {
                    let sample: Vec<f64> = (0..25).map(|_| (uniform() / uniform()).ln()).collect();
                    Case::new("", Test::below(&sample, 0.0))
                })
                .collect();
            let claim = By::SignedRanks.in_all("", "", "", cases);
            partly += usize::from(matches!(claim.verdict, Verdict::Holds | Verdict::HoldsPartly));
        }
        assert!((1..=20).contains(&partly), "{partly} of 200");
    }
}
