//! Verdicts on methods compared on the same samples, from the mean of their differences and its standard
//! error.

use super::masking::{Curve, Measured};
use super::method::Method;
use super::subject::AvailableSubjects;
use crate::reproduce::report::significant;
use crate::reproduce::statistics::Measurement;
use crate::reproduce::verdict::{By, Case, Claim, Needed, Test, Verdict};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Creates the case that one method is better than another, from the advantage of that method on each sample;
/// `of` describes the comparison.
pub(super) fn advantage(of: &str, advantages: &[f64]) -> Case {
    let mean = Measurement::mean(advantages);
    let mut name = format!("{of} by {}", significant(mean.value));
    if let Some((low, high)) = interval(mean, advantages.len()) {
        name.push_str(&format!(" (95 %: {} to {})", significant(low), significant(high)));
    }
    Case::new(name, Test::mean_below(advantages, 0.0).opposite())
}

/// Returns the 95% confidence interval (Student's t) of a mean over `count` numbers, or `None` for a single
/// number.
fn interval(mean: Measurement, count: usize) -> Option<(f64, f64)> {
    let distribution = StudentsT::new(0.0, 1.0, count.checked_sub(1)? as f64).ok()?;
    let half = distribution.inverse_cdf(0.975) * mean.error;
    half.is_finite().then_some((mean.value - half, mean.value + half))
}

/// Adds to a claim which networks were used for it, or why they are missing. `names` contains the names of
/// subjects and networks.
pub(super) fn with_networks(found: &AvailableSubjects, names: &[&str], claim: Claim) -> Claim {
    let named = found.subjects.iter().filter(|subject| names.contains(&subject.name));
    let networks: Vec<String> = named
        .map(|subject| match &subject.trained {
            Some((entry, _)) => format!(
                "{}: a {} of our own training, {} {} on {} test samples",
                subject.name,
                subject.model_title,
                entry.measure,
                significant(entry.score),
                entry.tested_on
            ),
            None => format!("{}: {}", subject.name, subject.model_title),
        })
        .collect();
    let missing = found.skipped(names);
    let is_judged = claim.verdict != Verdict::NotTested;
    let more = if is_judged || missing.is_empty() { networks.join("; ") } else { missing.join("; ") };
    if more.is_empty() { claim } else { claim.and(&more) }
}

/// Returns the cases that a method is better than each rival, judged by the area under the curve of log-odds;
/// lower log-odds are better.
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

const AREAS: &str = "a dataset, a method and another method; it agrees if the change of log-odds, averaged \
                     over all shares masked, is lower on the same sample";

/// Returns the claim that a method is better than others, by the area under the curve.
pub(super) fn ahead(claim: &str, source: &str, cases: Vec<Case>) -> Claim {
    ahead_by(claim, source, AREAS, cases)
}

/// Same as [`ahead`], for a measure other than the area under the curve.
pub(super) fn ahead_by(claim: &str, source: &str, measure: &str, cases: Vec<Case>) -> Claim {
    By::StandardError.in_all(claim, source, measure, cases)
}

/// Returns the claim that a method is not worse than others, by the area under the curve.
pub(super) fn not_behind(claim: &str, source: &str, cases: Vec<Case>) -> Claim {
    Claim::over_cases(claim, source, AREAS, By::StandardError, Needed::NotBehind, cases)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_students() {
        // t(0.975) with two degrees of freedom is 4.303, and the standard error is 1/√3.
        let case = advantage("a than b", &[1.0, 2.0, 3.0]);
        assert_eq!(case.name, "a than b by 2.00 (95 %: -0.484 to 4.48)");
        assert_eq!(advantage("a than b", &[1.0]).name, "a than b by 1.00");
    }

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
