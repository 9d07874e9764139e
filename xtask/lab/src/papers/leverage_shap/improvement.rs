//! Claims on the settings in which Leverage SHAP improves most over its rivals; section 1.2 of the paper
//! names two such settings.

use super::axes::Curves;
use super::contender::Contender::{self, LeverageShap};
use crate::comparison::Compete;
use crate::reproduce::report::significant;
use crate::reproduce::statistics::Summary;
use crate::reproduce::verdict::{By, Case, Claim, Test};

/// A measure of the improvement over a rival. The paper does not specify its measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Measure {
    /// Error of the rival divided by the error of Leverage SHAP.
    Ratio,
    /// Error of the rival minus the error of Leverage SHAP.
    Difference,
}

/// Returns the claims that the improvement over `rival` is especially substantial in one setting: larger than
/// in another setting of the same run.
///
/// `places` returns the two settings of a panel, if it has both: first the one named in the claim, then the
/// other.
pub(super) fn improvement(
    curves: &Curves,
    rival: Contender,
    (setting, case): (&str, &str),
    places: impl Fn(usize) -> Option<[(usize, usize); 2]>,
) -> [Claim; 2] {
    [(Measure::Ratio, "as a ratio"), (Measure::Difference, "as a difference")].map(|(measure, reading)| {
        let cases = curves.panels.iter().enumerate().filter_map(|(panel, title)| {
            let places = places(panel)?;
            let [named, other] = places.map(|place| improvements(curves, place, rival, measure));
            if named.is_empty() || other.is_empty() {
                return None;
            }
            let label = |at: usize| curves.levels[places[at].1].label.as_str();
            let median = |improvements: &[f64]| significant(Summary::from_sample(improvements).median);
            let name = format!(
                "{title} (median {} at {}, {} at {})",
                median(&named),
                label(0),
                median(&other),
                label(1)
            );
            let test = match measure {
                Measure::Ratio => Test::ratio_below(&other, &named, 1.0),
                Measure::Difference => {
                    let gains: Vec<f64> =
                        named.iter().zip(&other).map(|(named, other)| named - other).collect();
                    Test::above(&gains, 0.0)
                }
            };
            Some(Case::new(name, test))
        });
        By::SignedRanks
            .in_all(
                &format!(
                    "the improvement of Leverage SHAP over {} is especially substantial {setting}",
                    rival.title()
                ),
                "section 1.2",
                case,
                cases,
            )
            .read_as(reading)
    })
}

/// Returns the improvement over a rival, run by run.
fn improvements(curves: &Curves, place: (usize, usize), rival: Contender, measure: Measure) -> Vec<f64> {
    let (own, others) = curves.paired(place, (LeverageShap, rival));
    let of = |(own, other): (&f64, &f64)| match measure {
        Measure::Ratio => other / own,
        Measure::Difference => other - own,
    };
    own.iter().zip(&others).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::{Centre, Level, Point};
    use crate::reproduce::verdict::Verdict;

    /// Creates one panel with two levels. `shares` are the errors of Leverage SHAP relative to its rival,
    /// whose errors are scaled by `scales`.
    fn curves(shares: [f64; 2], scales: [f64; 2]) -> Curves {
        let errors =
            |scale: f64| (0..20).map(|run| scale * (1.0 + f64::from(run * 7 % 20))).collect::<Vec<_>>();
        let points = shares.into_iter().enumerate().flat_map(|(level, share)| {
            [(LeverageShap, share), (Contender::KernelShap, 1.0)].map(|(contender, share)| {
                Point::new(0, contender, level, false, errors(share * scales[level])).unwrap()
            })
        });
        let level = |label: &str, x| Level { label: label.to_owned(), x, tick: String::new() };
        Curves {
            panels: vec!["a dataset".to_owned()],
            levels: vec![level("5n", 5.0), level("10n", 10.0)],
            points: points.collect(),
            centre: Centre::Median,
        }
    }

    #[test]
    fn an_improvement_is_measured_by_ratio_and_by_difference() {
        use Verdict::{DoesNotHold, Holds, Undecided};
        let verdicts = |shares, scales| {
            let places = |_| Some([(0, 0), (0, 1)]);
            let claims = improvement(&curves(shares, scales), Contender::KernelShap, ("", ""), places);
            claims.map(|claim| claim.verdict)
        };
        assert_eq!(verdicts([0.2, 0.5], [1.0, 1.0]), [Holds, Holds]);
        assert_eq!(verdicts([0.5, 0.2], [1.0, 1.0]), [DoesNotHold, DoesNotHold]);
        assert_eq!(verdicts([0.5, 0.5], [1.0, 1.0]), [Undecided, Undecided]);
        // The ratio is smaller in the named setting, but the errors there are ten times as large, so the
        // difference is larger.
        assert_eq!(verdicts([0.5, 0.2], [10.0, 1.0]), [DoesNotHold, Holds]);
    }
}
