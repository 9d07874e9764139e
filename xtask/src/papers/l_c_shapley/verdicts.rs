//! Verdicts on methods that are compared on the same samples: by the mean of their differences and its standard error.

use super::masking::{Curve, Measured};
use super::method::Method;
use crate::reproduce::report::significant;
use crate::reproduce::statistics::Measurement;
use crate::reproduce::verdict::{By, Case, Claim, Needed, Test};

/// A case of one method ahead of another, `of` which it says, by how much on each sample.
pub(super) fn advantage(of: &str, advantages: &[f64]) -> Case {
    let mean = Measurement::mean(advantages);
    let name = format!("{of} by {} ± {}", significant(mean.value), significant(mean.error));
    Case::new(name, Test::mean_below(advantages, 0.0).opposite())
}

/// A method against rivals by the areas of their curves; lower log-odds are better.
pub(super) fn by_areas(measured: &Measured<'_>, method: Method, rivals: &[Method]) -> Vec<Case> {
    let Some(own) = measured.curve(method) else { return Vec::new() };
    let areas = own.areas();
    let against = |rival: &Curve| {
        let advantages: Vec<f64> = areas.iter().zip(rival.areas()).map(|(own, other)| other - own).collect();
        let of = format!("{}: {} than {}", measured.subject.name, method.title(), rival.method.title());
        advantage(&of, &advantages)
    };
    rivals.iter().filter_map(|&rival| measured.curve(rival)).map(against).collect()
}

const AREAS: &str = "a data set, a method and another; it agrees if the change of log-odds, averaged over all shares masked, is lower on the same \
                     sample";

/// A claim that a method is ahead of others.
pub(super) fn ahead(claim: &str, source: &str, cases: Vec<Case>) -> Claim {
    ahead_by(claim, source, AREAS, cases)
}

/// The same by another measure.
pub(super) fn ahead_by(claim: &str, source: &str, measure: &str, cases: Vec<Case>) -> Claim {
    Claim::over_cases(claim, source, measure, By::StandardError, Needed::All, cases)
}

/// A claim that a method is not behind others.
pub(super) fn not_behind(claim: &str, source: &str, cases: Vec<Case>) -> Claim {
    Claim::over_cases(claim, source, AREAS, By::StandardError, Needed::NotBehind, cases)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::verdict::Verdict;

    #[test]
    fn a_method_is_ahead_where_its_advantage_is_many_standard_errors() {
        let verdict = |advantages: &[f64]| ahead("", "", vec![advantage("a than b", advantages)]).verdict;
        let good: Vec<f64> = (0..12).map(|sample| 1.0 + 0.1 * f64::from(sample % 3)).collect();
        let bad: Vec<f64> = good.iter().map(|value| -value).collect();
        let mixed: Vec<f64> = (0..12).map(|sample| f64::from(sample % 3) - 1.0).collect();
        assert_eq!(verdict(&good), Verdict::Holds);
        assert_eq!(verdict(&bad), Verdict::DoesNotHold);
        assert_eq!(verdict(&mixed), Verdict::Undecided);
        assert_eq!(verdict(&good[..4]), Verdict::NotTested, "four are too few");
    }
}
