//! Verdicts on methods that are compared on the same samples: by the mean of their differences and its standard error.

use super::masking::{Curve, Measured};
use super::method::Method;
use crate::reproduce::report::significant;
use crate::reproduce::statistics::Measurement;
use crate::reproduce::verdict::{Claim, Verdict};

/// Fewer samples decide nothing.
const FEWEST: usize = 5;

/// What is said of two methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    Better,
    /// Within two standard errors, or of too few samples.
    Undecided,
    Worse,
}

/// One method against another.
#[derive(Debug, Clone)]
pub(super) struct Comparison {
    /// What is compared.
    pub(super) of: String,
    /// By how much it is better, its mean over the samples.
    pub(super) advantage: Measurement,
    pub(super) said: Said,
}

impl Comparison {
    /// By the advantages on all samples.
    pub(super) fn new(of: String, advantages: &[f64]) -> Self {
        let advantage = Measurement::mean(advantages);
        let said = if advantages.len() < FEWEST || advantage.value.abs() <= 2.0 * advantage.error {
            Said::Undecided
        } else if advantage.value > 0.0 {
            Said::Better
        } else {
            Said::Worse
        };
        Self { of, advantage, said }
    }

    fn words(&self) -> String {
        let said = match self.said {
            Said::Better => "better",
            Said::Undecided => "undecided",
            Said::Worse => "worse",
        };
        let error = if self.advantage.error.is_finite() {
            format!(" ± {}", significant(self.advantage.error))
        } else {
            String::new()
        };
        format!("{} by {}{error} ({said})", self.of, significant(self.advantage.value))
    }
}

/// A method against rivals by the areas of their curves; lower log-odds are better.
pub(super) fn by_areas(measured: &Measured<'_>, method: Method, rivals: &[Method]) -> Vec<Comparison> {
    let Some(own) = measured.curve(method) else { return Vec::new() };
    let areas = own.areas();
    let against = |rival: &Curve| {
        let advantages: Vec<f64> = areas.iter().zip(rival.areas()).map(|(own, other)| other - own).collect();
        let of = format!("{}: {} than {}", measured.subject.name, method.title(), rival.method.title());
        Comparison::new(of, &advantages)
    };
    rivals.iter().filter_map(|&rival| measured.curve(rival)).map(against).collect()
}

const AREAS: &str = "by the change of log-odds, averaged over all shares masked, sample by sample; better and worse are means of the differences \
                     of more than two standard errors";

fn evidence(comparisons: &[Comparison]) -> String {
    comparisons.iter().map(Comparison::words).collect::<Vec<_>>().join("; ")
}

fn number(comparisons: &[Comparison], said: Said) -> usize {
    comparisons.iter().filter(|comparison| comparison.said == said).count()
}

/// A claim that a method is ahead of others.
pub(super) fn ahead(claim: &str, source: &str, comparisons: &[Comparison]) -> Claim {
    ahead_by(claim, source, AREAS, comparisons)
}

/// The same by another measure.
pub(super) fn ahead_by(claim: &str, source: &str, measure: &str, comparisons: &[Comparison]) -> Claim {
    let (better, worse) = (number(comparisons, Said::Better), number(comparisons, Said::Worse));
    let verdict = match (better, worse, comparisons.len()) {
        (0, 0, _) => Verdict::NotTested,
        (better, _, all) if better == all => Verdict::Holds,
        (_, 0, _) => Verdict::HoldsPartly,
        (better, _, all) if 2 * better > all => Verdict::HoldsPartly,
        _ => Verdict::DoesNotHold,
    };
    Claim {
        claim: claim.to_owned(),
        source: source.to_owned(),
        rule: format!(
            "{measure}; holds: better than all; partly: worse than none, or better than more than half; not tested: all undecided"
        ),
        verdict,
        evidence: if comparisons.is_empty() { "not there".to_owned() } else { evidence(comparisons) },
    }
}

/// A claim that a method is not behind others.
pub(super) fn not_behind(claim: &str, source: &str, comparisons: &[Comparison]) -> Claim {
    let (better, worse) = (number(comparisons, Said::Better), number(comparisons, Said::Worse));
    let verdict = match (better, worse, comparisons.len()) {
        (0, 0, _) => Verdict::NotTested,
        (_, 0, _) => Verdict::Holds,
        (_, worse, all) if 2 * worse < all => Verdict::HoldsPartly,
        _ => Verdict::DoesNotHold,
    };
    let against: Vec<Comparison> =
        comparisons.iter().filter(|comparison| comparison.said == Said::Worse).cloned().collect();
    let undecided = comparisons.len() - better - worse;
    let mut text = format!("{better} better, {undecided} undecided, {worse} worse");
    if !against.is_empty() {
        text.push_str(&format!(": {}", evidence(&against)));
    }
    Claim {
        claim: claim.to_owned(),
        source: source.to_owned(),
        rule: format!(
            "{AREAS}; holds: worse than none; partly: worse than less than half; not tested: all undecided"
        ),
        verdict,
        evidence: text,
    }
}

/// A claim about something that is not there.
pub(super) fn not_tested(claim: &str, source: &str, why: &str) -> Claim {
    Claim {
        claim: claim.to_owned(),
        source: source.to_owned(),
        rule: "none".to_owned(),
        verdict: Verdict::NotTested,
        evidence: why.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(advantages: &[f64]) -> Comparison {
        Comparison::new("a than b".to_owned(), advantages)
    }

    #[test]
    fn what_is_within_two_standard_errors_is_undecided() {
        assert_eq!(comparison(&[1.0, 1.1, 0.9, 1.0, 1.2]).said, Said::Better);
        assert_eq!(comparison(&[-1.0, -1.1, -0.9, -1.0, -1.2]).said, Said::Worse);
        assert_eq!(comparison(&[1.0, -1.0, 2.0, -1.5, 0.5]).said, Said::Undecided);
        assert_eq!(comparison(&[1.0; 4]).said, Said::Undecided, "four are too few");
        assert_eq!(comparison(&[0.0; 9]).said, Said::Undecided, "nothing differs");
    }

    #[test]
    fn verdicts_follow_their_rules() {
        let [better, undecided, worse] =
            [[1.0, 1.1, 1.0, 0.9, 1.0], [0.0; 5], [-1.0, -1.1, -1.0, -0.9, -1.0]]
                .map(|sample| comparison(&sample));
        let both = |which: &[&Comparison]| {
            let comparisons: Vec<Comparison> = which.iter().map(|&one| one.clone()).collect();
            (ahead("", "", &comparisons).verdict, not_behind("", "", &comparisons).verdict)
        };
        use Verdict::{DoesNotHold, Holds, HoldsPartly, NotTested};
        assert_eq!(both(&[]), (NotTested, NotTested));
        assert_eq!(both(&[&undecided]), (NotTested, NotTested));
        assert_eq!(both(&[&better, &better]), (Holds, Holds));
        assert_eq!(both(&[&better, &undecided]), (HoldsPartly, Holds));
        assert_eq!(both(&[&better, &better, &worse]), (HoldsPartly, HoldsPartly));
        assert_eq!(both(&[&better, &worse]), (DoesNotHold, DoesNotHold));
        assert_eq!(both(&[&undecided, &undecided, &worse]), (DoesNotHold, HoldsPartly));
    }
}
