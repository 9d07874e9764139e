//! Where Leverage SHAP improves most over its rivals: section 1.2 of the paper names two settings.

use super::contender::Contender::{self, LeverageShap};
use super::sweep::Curves;
use crate::comparison::Compete;
use crate::reproduce::statistics::Summary;
use crate::reproduce::verdict::{By, Case, Claim, Test};

/// The claim that the improvement over `rival` is especially substantial in a setting: in the same run, the error of Leverage SHAP over that of
/// the rival is lower there than in the setting that it is compared with.
///
/// `places` has the two settings of a panel, if it has both: the one that the claim names, then the other.
pub(super) fn improvement(
    curves: &Curves,
    rival: Contender,
    (setting, case): (&str, &str),
    places: impl Fn(usize) -> Option<[(usize, usize); 2]>,
) -> Claim {
    let cases = curves.panels.iter().enumerate().filter_map(|(panel, title)| {
        let places = places(panel)?;
        let [named, other] = places.map(|place| ratios(curves, place, rival));
        let median = |ratios: &[f64]| Summary::of(ratios).median;
        if named.is_empty() || other.is_empty() {
            return None;
        }
        let label = |at: usize| curves.levels[places[at].1].label.as_str();
        let name = format!(
            "{title} (median ratio {:.2} at {}, {:.2} at {})",
            median(&named),
            label(0),
            median(&other),
            label(1)
        );
        Some(Case::new(name, Test::ratio_below(&named, &other, 1.0)))
    });
    By::SignedRanks.in_all(
        &format!(
            "the improvement of Leverage SHAP over {} is especially substantial {setting}",
            rival.title()
        ),
        "section 1.2",
        case,
        cases,
    )
}

/// The error of Leverage SHAP over that of a rival, run by run.
fn ratios(curves: &Curves, place: (usize, usize), rival: Contender) -> Vec<f64> {
    let (own, others) = curves.paired(place, (LeverageShap, rival));
    own.iter().zip(&others).map(|(own, other)| own / other).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::{Centre, Level, Point};
    use crate::reproduce::verdict::Verdict;

    /// One panel of two levels, in which Leverage SHAP has these shares of the error of its rival.
    fn curves(shares: [f64; 2]) -> Curves {
        let errors =
            |scale: f64| (0..20).map(|run| scale * (1.0 + f64::from(run * 7 % 20))).collect::<Vec<_>>();
        let points = shares.into_iter().enumerate().flat_map(|(level, share)| {
            [(LeverageShap, share), (Contender::KernelShap, 1.0)]
                .map(|(contender, scale)| Point::new(0, contender, level, false, errors(scale)).unwrap())
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
    fn an_improvement_is_more_substantial_where_the_ratio_of_errors_is_lower() {
        let verdict = |shares| {
            let places = |_| Some([(0, 0), (0, 1)]);
            improvement(&curves(shares), Contender::KernelShap, ("", ""), places).verdict
        };
        assert_eq!(verdict([0.2, 0.5]), Verdict::Holds);
        assert_eq!(verdict([0.5, 0.2]), Verdict::DoesNotHold);
        assert_eq!(verdict([0.5, 0.5]), Verdict::Undecided);
    }
}
