//! Claims about curves: one contender against another, run by run, at every point (panel and level).

use super::contender::Compete;
use super::curves::Curves;
use crate::reproduce::statistics::{Summary, slope};
use crate::reproduce::verdict::{By, Case, Claim, Needed, Resamples, Test};

impl<C: Compete> Curves<C> {
    /// Restricts the curves to the panels and contenders of a claim: claims of a paper are judged only on the
    /// panels and contenders of that paper.
    pub(crate) fn only(&self, panel: impl Fn(usize) -> bool, contenders: &[C]) -> Self {
        let points =
            self.points.iter().filter(|point| panel(point.panel) && contenders.contains(&point.contender));
        Self {
            panels: self.panels.clone(),
            levels: self.levels.clone(),
            points: points.cloned().collect(),
            centre: self.centre,
        }
    }

    /// Returns all points, including those at which the sample size m covers all coalitions.
    pub(crate) fn places(&self) -> Vec<(usize, usize)> {
        let mut places: Vec<_> = self.points.iter().map(|point| (point.panel, point.level)).collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    /// Returns the errors of a contender at a point, run by run; empty if there are none.
    pub(crate) fn errors(&self, (panel, level): (usize, usize), contender: C) -> &[f64] {
        self.point(panel, contender, level).map_or(&[], |point| &point.errors)
    }

    /// Returns the errors of two contenders at a point, for the runs in which both have an error.
    pub(crate) fn paired(&self, place: (usize, usize), (one, other): (C, C)) -> (Vec<f64>, Vec<f64>) {
        paired(self.errors(place, one), self.errors(place, other))
    }

    /// Tests that the error of the first contender of `pair` is less than `factor` times the error of the
    /// second.
    pub(crate) fn is_below(&self, place: (usize, usize), pair: (C, C), factor: f64) -> Test {
        let (one, other) = self.paired(place, pair);
        Test::ratio_below(&one, &other, factor)
    }

    /// Returns a case for each point that has results of both contenders; the name of the case contains the
    /// ratio of their central errors (median or mean).
    pub(crate) fn cases(
        &self,
        places: impl IntoIterator<Item = (usize, usize)>,
        pair: (C, C),
        test: impl Fn((usize, usize)) -> Test,
    ) -> Vec<Case> {
        let cases = places.into_iter().filter_map(|place| {
            let ratio = self.ratio(place, pair)?;
            Some(Case::new(format!("{} (ratio {ratio:.2})", self.place(place.0, place.1)), test(place)))
        });
        cases.collect()
    }

    /// Returns a case for each of `places`: the error of the first contender of `pair` is below `factor`
    /// times the error of the second.
    pub(crate) fn below_cases(
        &self,
        places: impl IntoIterator<Item = (usize, usize)>,
        pair: (C, C),
        factor: f64,
    ) -> Vec<Case> {
        self.cases(places, pair, |place| self.is_below(place, pair, factor))
    }

    /// Returns a case for each of `places`: neither error exceeds `factor` times the other.
    pub(crate) fn alike_cases(
        &self,
        places: impl IntoIterator<Item = (usize, usize)>,
        pair: (C, C),
        factor: f64,
    ) -> Vec<Case> {
        self.cases(places, pair, |place| {
            let below = |factor| self.is_below(place, pair, factor);
            Test::all([below(factor), below(1.0 / factor).opposite()])
        })
    }

    /// Returns the claim that the first contender of `pair` has a smaller error than the second at every
    /// point, except points where the budget covers all coalitions.
    pub(crate) fn below(&self, claim: &str, source: &str, pair: (C, C)) -> Claim {
        self.below_in(Needed::All, claim, source, pair)
    }

    /// Same as [`Self::below`], but requires the share `needed` of the cases.
    pub(crate) fn below_in(&self, needed: Needed, claim: &str, source: &str, pair: (C, C)) -> Claim {
        let case = format!(
            "a dataset and level with m < 2^n; it agrees if {} is below {} in the same run",
            pair.0.title(),
            pair.1.title()
        );
        let cases = self.below_cases(self.open_places(), pair, 1.0);
        Claim::over_cases(claim, source, &case, By::SignedRanks, needed, cases)
    }

    /// Tests that one of `best` has a smaller error than all other contenders at a point.
    pub(crate) fn is_best(&self, place: (usize, usize), best: &[C]) -> Test {
        let here = |contender: &C| self.point(place.0, *contender, place.1).is_some();
        let rivals: Vec<C> =
            self.contenders().into_iter().filter(|rival| here(rival) && !best.contains(rival)).collect();
        Test::any(
            best.iter()
                .filter(|one| here(one))
                .map(|&one| Test::all(rivals.iter().map(|&rival| self.is_below(place, (one, rival), 1.0)))),
        )
    }

    /// Returns the claim that one of `best` has the smallest error at every point, except points where the
    /// budget covers all coalitions.
    pub(crate) fn best(&self, claim: &str, source: &str, best: &[C]) -> Claim {
        self.best_in(Needed::All, claim, source, best)
    }

    /// Same as [`Self::best`], but requires the share `needed` of the cases.
    pub(crate) fn best_in(&self, needed: Needed, claim: &str, source: &str, best: &[C]) -> Claim {
        let centre = self.centre;
        let cases = self.open_places().filter_map(|(panel, level)| {
            let here = self.points.iter().filter(|point| point.panel == panel && point.level == level);
            let winner = here
                .min_by(|a, b| centre.centre(&a.summary).total_cmp(&centre.centre(&b.summary)))?
                .contender;
            let name = format!("{} (least {}: {})", self.place(panel, level), centre.name(), winner.title());
            Some(Case::new(name, self.is_best((panel, level), best)))
        });
        let names: Vec<&str> = best.iter().map(|contender| contender.title()).collect();
        let case = format!(
            "a dataset and level with m < 2^n; it agrees if {} is below each of the others in the same run",
            names.join(" or ")
        );
        Claim::over_cases(claim, source, &case, By::SignedRanks, needed, cases)
    }

    /// Returns a case for each of `places`: a statistic of the errors of `one` is below `factor` times a
    /// statistic of the errors of `other`, tested by resampling the runs.
    pub(crate) fn summary_cases(
        &self,
        places: impl IntoIterator<Item = (usize, usize)>,
        (one, other): (C, C),
        quantity: [fn(&Summary) -> f64; 2],
        factor: f64,
    ) -> Vec<Case> {
        let cases = places.into_iter().filter_map(|place| {
            let (ones, others) = self.paired(place, (one, other));
            if ones.is_empty() {
                return None;
            }
            let ratio = Resamples::draw(ones.len(), |runs| {
                let of = |which: usize, sample| quantity[which](&Summary::from_sample(&picked(sample, runs)));
                of(0, &ones) / of(1, &others)
            });
            let name = format!("{} (ratio {:.2})", self.place(place.0, place.1), ratio.value);
            Some(Case::new(name, ratio.below(factor)))
        });
        cases.collect()
    }

    /// Returns, for each run, the slope of a contender's log error against log x in a panel.
    pub(crate) fn slopes(&self, panel: usize, contender: C) -> Vec<f64> {
        let points: Vec<(f64, &[f64])> = (0..self.levels.len())
            .filter_map(|level| {
                Some((self.levels[level].x, self.point(panel, contender, level)?.errors.as_slice()))
            })
            .collect();
        let runs = points.iter().map(|point| point.1.len()).min().unwrap_or_default();
        let of_run = |run: usize| {
            slope(&points.iter().map(|(x, errors)| (x.ln(), errors[run].ln())).collect::<Vec<_>>())
        };
        (0..runs).map(of_run).collect()
    }
}

/// Returns the elements with the given indices.
pub(crate) fn picked(sample: &[f64], runs: &[usize]) -> Vec<f64> {
    runs.iter().map(|&run| sample[run]).collect()
}

/// Returns two samples, restricted to the runs that both contain.
pub(crate) fn paired(one: &[f64], other: &[f64]) -> (Vec<f64>, Vec<f64>) {
    one.iter().zip(other).filter(|(one, other)| !one.is_nan() && !other.is_nan()).unzip()
}

#[cfg(test)]
mod tests {
    use super::super::curves::{Centre, Level, Point};
    use super::*;
    use crate::comparison::contenders;
    use crate::reproduce::verdict::Verdict;
    use apportion::estimators::LeverageShap;

    contenders! {
        /// Estimators of a paper, and an additional one.
        subject Subject;
        Subject: "subject", LEVERAGE_SHAP, LeverageShap::default();
        Rival: "rival", KERNEL_SHAP, LeverageShap::default();
        Added: "added", LIME, LeverageShap::default();
    }
    use Contender as Who;

    const OF_PAPER: [Who; 2] = [Who::Subject, Who::Rival];

    /// Returns errors of 20 runs, which vary more between runs than between contenders.
    fn errors(scale: f64) -> Vec<f64> {
        (0..20).map(|run| scale * (f64::from(run * 7 % 20) / 3.0).exp()).collect()
    }

    /// Creates one panel per element of `panels`, which gives the scale of each contender's errors.
    fn curves(panels: &[&[(Who, f64)]]) -> Curves<Who> {
        let level = Level { label: "10n".to_owned(), x: 10.0, tick: String::new() };
        let points = panels.iter().enumerate().flat_map(|(panel, here)| {
            here.iter().filter_map(move |&(who, scale)| Point::new(panel, who, 0, false, errors(scale)))
        });
        Curves {
            panels: (0..panels.len()).map(|panel| format!("panel {panel}")).collect(),
            levels: vec![level],
            points: points.collect(),
            centre: Centre::Median,
        }
    }

    fn below(curves: &Curves<Who>) -> Verdict {
        curves.below("", "", (Who::Subject, Who::Rival)).verdict
    }

    fn best(curves: &Curves<Who>) -> Verdict {
        curves.best("", "", &[Who::Subject]).verdict
    }

    #[test]
    fn runs_are_compared_with_themselves() {
        // The errors differ by 10% in every run, far less than errors vary between runs.
        assert_eq!(below(&curves(&[&[(Who::Subject, 0.9), (Who::Rival, 1.0)]])), Verdict::Holds);
        assert_eq!(below(&curves(&[&[(Who::Subject, 1.1), (Who::Rival, 1.0)]])), Verdict::DoesNotHold);
        assert_eq!(below(&curves(&[&[(Who::Subject, 1.0), (Who::Rival, 1.0)]])), Verdict::Undecided);
        assert_eq!(below(&curves(&[])), Verdict::NotTested);
    }

    #[test]
    fn a_contender_or_dataset_that_is_added_does_not_flip_a_verdict_of_the_paper() {
        let all = curves(&[
            &[(Who::Subject, 0.5), (Who::Rival, 1.0), (Who::Added, 0.1)],
            &[(Who::Subject, 2.0), (Who::Rival, 1.0)],
        ]);
        assert_eq!(best(&all), Verdict::DoesNotHold);
        let of_paper = all.only(|panel| panel == 0, &OF_PAPER);
        assert_eq!((best(&of_paper), below(&of_paper)), (Verdict::Holds, Verdict::Holds));
        assert_eq!(best(&all.only(|_| false, &OF_PAPER)), Verdict::NotTested);
    }

    #[test]
    fn alike_is_shown_by_runs_that_are_near_and_not_by_too_few_to_tell() {
        let pair = (Who::Subject, Who::Rival);
        let verdict = |scale: f64| {
            let curves = curves(&[&[(Who::Subject, scale), (Who::Rival, 1.0)]]);
            let cases = curves.alike_cases([(0, 0)], pair, 1.5);
            By::SignedRanks.in_all("", "", "", cases).verdict
        };
        assert_eq!((verdict(1.4), verdict(0.7)), (Verdict::Holds, Verdict::Holds));
        assert_eq!((verdict(1.6), verdict(0.6)), (Verdict::DoesNotHold, Verdict::DoesNotHold));
    }

    #[test]
    fn slopes_are_those_of_the_runs() {
        let mut two = curves(&[&[(Who::Subject, 1.0)]]);
        two.levels.push(Level { label: "100n".to_owned(), x: 100.0, tick: String::new() });
        two.points.extend(Point::new(0, Who::Subject, 1, false, errors(0.01)));
        let slopes = two.slopes(0, Who::Subject);
        assert!(slopes.len() == 20 && slopes.iter().all(|slope| (slope + 2.0).abs() < 1e-12));
    }

    #[test]
    fn summaries_are_compared_over_runs_drawn_again() {
        let curves = curves(&[&[(Who::Subject, 0.001), (Who::Rival, 1.0)]]);
        let third_to_median = [|s: &Summary| s.third, |s: &Summary| s.median];
        let cases = curves.summary_cases([(0, 0)], (Who::Subject, Who::Rival), third_to_median, 1.5);
        let claim = By::Resampling.in_all("", "", "", cases);
        assert_eq!(claim.verdict, Verdict::Holds);
    }
}
