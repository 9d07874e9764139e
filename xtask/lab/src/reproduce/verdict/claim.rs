//! Claims with their verdicts.

use std::borrow::Cow;

use serde::Serialize;

use super::cases::{Case, Needed, judge};
use super::judged::Judged;
use super::test::By;
use super::{FALSE_ALARM, Verdict};

/// Verdict on a claim in one of its readings.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Reading {
    pub(crate) reading: String,
    pub(crate) verdict: Verdict,
    pub(crate) evidence: String,
}

/// A claim of a paper about an artefact, with our verdict.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Claim {
    /// Short form of the claim.
    pub(crate) claim: String,
    /// Source of the claim: a section or caption, or a target of this project.
    pub(crate) source: String,
    /// How the claim was judged, and the null hypothesis.
    pub(crate) rule: String,
    pub(crate) verdict: Verdict,
    /// The numbers on which the verdict is based.
    pub(crate) evidence: String,
    /// Data from which the verdict can be recomputed.
    #[serde(skip)]
    pub(crate) judged: Judged,
    /// The numbers printed in the paper, or `None` if the paper makes the claim in words only.
    pub(crate) printed: Option<String>,
    /// The reason why the claim does not hold, if it was investigated.
    pub(crate) reason: Option<Cow<'static, str>>,
    /// Verdict in each reading of the claim; empty if the claim has only one reading.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) readings: Vec<Reading>,
    /// Whether the claim is about measured times, which are not reproducible.
    #[serde(skip)]
    pub(crate) is_of_times: bool,
}

impl Claim {
    /// Creates a claim about several named cases, each with its test. The tests are corrected for the number
    /// of cases with Holm's method.
    pub(crate) fn over_cases(
        claim: &str,
        source: &str,
        case: &str,
        by: By,
        needed: Needed,
        cases: impl IntoIterator<Item = Case>,
    ) -> Self {
        let cases: Vec<Case> = cases.into_iter().collect();
        let (_, evidence) = judge(needed, &cases);
        Self::new(claim, source, rule(case, by, needed), Judged::Cases { needed, cases }, evidence)
    }

    /// Creates a claim that involves no sampling; not tested if `is_so` is `None`.
    pub(crate) fn fact(claim: &str, source: &str, rule: &str, is_so: Option<bool>, evidence: String) -> Self {
        let rule = format!("holds if {rule}; {}", By::Nothing.words());
        let verdict = match is_so {
            Some(true) => Verdict::Holds,
            Some(false) => Verdict::DoesNotHold,
            None => Verdict::NotTested,
        };
        Self::new(claim, source, rule, Judged::Fact(verdict), evidence)
    }

    /// Creates a claim that could not be tested because something is missing.
    pub(crate) fn not_tested(claim: &str, source: &str, why: &str) -> Self {
        Self::new(claim, source, "none".to_owned(), Judged::Fact(Verdict::NotTested), why.to_owned())
    }

    /// Recreates a stored claim, and recomputes its verdict.
    pub(crate) fn from_evidence(
        claim: String,
        source: String,
        printed: Option<String>,
        evidence: String,
        judged: Judged,
    ) -> Self {
        Self { claim, source, printed, ..Self::new("", "", String::new(), judged, evidence) }
    }

    /// Creates a claim whose check could not fail.
    pub(crate) fn vacuous(claim: &str, source: &str, why: &str, evidence: String) -> Self {
        Self::new(claim, source, format!("no verdict: {why}"), Judged::Fact(Verdict::Vacuous), evidence)
    }

    fn new(claim: &str, source: &str, rule: String, judged: Judged, evidence: String) -> Self {
        Self {
            claim: claim.to_owned(),
            source: source.to_owned(),
            rule,
            verdict: judged.verdict(),
            evidence,
            judged,
            printed: None,
            reason: None,
            readings: Vec::new(),
            is_of_times: false,
        }
    }

    /// Prefixes the claim with the name of the reading, or of the data, on which it is judged.
    pub(crate) fn read_as(mut self, reading: &str) -> Self {
        self.claim = format!("{reading}: {}", self.claim);
        self
    }

    /// Marks the claim as one about measured times.
    pub(crate) fn of_times(mut self) -> Self {
        self.is_of_times = true;
        self
    }

    /// Turns the claim into a claim of this project, because it is judged on datasets that replace the
    /// datasets of the paper.
    pub(crate) fn on_stand_ins(mut self) -> Self {
        self.claim = format!("on the datasets that stand in: {}", self.claim);
        self.source = format!("this project, beside {}", self.source);
        self
    }

    /// Adds the numbers printed in the paper.
    pub(crate) fn prints(mut self, numbers: impl Into<String>) -> Self {
        self.printed = Some(numbers.into());
        self
    }

    /// Returns whether the claim is the project's own: a target, or a result that holds instead of one
    /// printed in a paper.
    pub(crate) fn is_of_project(&self) -> bool {
        is_of_project(&self.source)
    }

    /// Returns what the paper states: its numbers, "in words", or "–" for a claim of this project.
    pub(crate) fn in_paper(&self) -> &str {
        match &self.printed {
            Some(numbers) => numbers,
            None if self.is_of_project() => "–",
            None => "in words",
        }
    }

    /// Returns the reason for the verdict: empty if the verdict needs none, [`MISSING_REASON`] if it needs
    /// one but has none.
    pub(crate) fn why(&self) -> &str {
        match &self.reason {
            Some(reason) => reason,
            None if self.verdict.needs_reason() => MISSING_REASON,
            None => "",
        }
    }

    /// Adds the reason for the verdict, unless the claim holds or was not tested.
    pub(crate) fn because(mut self, why: impl Into<Cow<'static, str>>) -> Self {
        if !matches!(self.verdict, Verdict::Holds | Verdict::NotTested) {
            self.reason = Some(why.into());
        }
        self
    }

    /// Appends text to the evidence.
    pub(crate) fn and(mut self, more: &str) -> Self {
        self.evidence = format!("{}; {more}", self.evidence);
        self
    }
}

/// The text shown if a claim does not hold, or holds partly, and `xtask/lab/reasons.json` has no reason for
/// it.
pub(crate) const MISSING_REASON: &str = "**reason missing**";

/// Returns whether a source denotes this project rather than a paper.
fn is_of_project(source: &str) -> bool {
    source.starts_with("this project") || source.contains("of this project")
}

/// Constructors of claims over several cases: `self` is the kind of test, and the name of the constructor
/// states in how many cases the claim must be true.
impl By {
    /// Creates a claim about all cases.
    pub(crate) fn in_all(
        self,
        claim: &str,
        source: &str,
        case: &str,
        cases: impl IntoIterator<Item = Case>,
    ) -> Claim {
        Claim::over_cases(claim, source, case, self, Needed::All, cases)
    }

    /// Creates a claim about four out of five cases.
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
    /// Creates a claim with a verdict and nothing else.
    pub(super) fn of_verdict(claim: &str, verdict: Verdict) -> Self {
        Self { verdict, judged: Judged::Fact(verdict), ..Self::not_tested(claim, "", "") }
    }
}

fn rule(case: &str, by: By, needed: Needed) -> String {
    let mut rule = format!(
        "a case is {case}; the claim holds if {}; it holds partly if more cases are for it than against it; \
         it is undecided if no case is beyond chance; ",
        needed.words()
    );
    rule.push_str(by.words());
    if by != By::Nothing {
        rule.push_str(&format!(
            "; by chance alone, {} % of such claims have a case for them, and as many have one against them \
             (Holm's method over the cases)",
            100.0 * FALSE_ALARM
        ));
    }
    rule
}

#[cfg(test)]
mod tests {
    use super::super::test::Test;
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
        for (needed, chances, expected) in [
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
            assert_eq!(verdict(needed, chances), expected, "{needed:?} {chances:?}");
        }
    }

    /// The case is taken from a comparison of Kernel Banzhaf with and without pairs, in which a fault had
    /// disabled the pairs: by chance, the median ratio was below 1 in 11 of 17 cases.
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
        // One p-value is below 0.05, as expected by chance in one of twenty cases.
        let mut chances = vec![(0.5, 0.5); 19];
        chances.push((0.04, 0.96));
        assert_eq!(verdict(Needed::All, &chances), Verdict::Undecided);
        chances[19] = (0.002, 1.0);
        assert_eq!(verdict(Needed::All, &chances), Verdict::HoldsPartly);
        // By Holm's method, once the first of two cases is significant, the second is tested alone.
        assert_eq!(verdict(Needed::All, &[(0.01, 1.0), (0.04, 1.0)]), Verdict::Holds);
        assert_eq!(verdict(Needed::All, &[(0.03, 1.0), (0.04, 1.0)]), Verdict::Undecided);
    }

    #[test]
    fn too_few_runs_and_no_numbers_are_not_tested_and_say_so() {
        let few = judge(Needed::All, &[FOR, FOR], 9);
        assert_eq!(few.verdict, Verdict::NotTested);
        assert_eq!(few.evidence, "too few runs: 9; 10 are needed");
        // For 100 cases, the corrected level is 0.0005, which requires at least 11 runs with the same sign.
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
            "of 4 cases 2 beyond chance for it, 1 against, 1 undecided; for it: 0; 3; against: 1; undecided: \
             2"
        );
    }

    #[test]
    fn two_alike_differ_beyond_chance_in_few_claims() {
        // The test judges 200 claims over 17 cases with 25 runs, without any true effect: about 5% have a
        // significant case.
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
