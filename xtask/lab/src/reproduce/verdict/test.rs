//! Statistical tests over runs.
//!
//! A statement has a limit, such as "the ratio is below 1". Its test has two p-values: the probabilities, if
//! the truth is at the limit, of evidence for the statement and of evidence against it that is at least as
//! strong as observed.

use apportion::games::{Purpose, stream};
use rand::RngExt as _;
use serde::{Deserialize, Serialize};

use super::super::statistics::Measurement;
use super::grounds::{Chances, Grounds};

/// The kind of test for a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum By {
    /// Not a statistical test, because nothing is sampled.
    Nothing,
    SignedRanks,
    StandardError,
    Counts,
    Resampling,
    Fit,
}

impl By {
    /// Returns the description of the test that is printed with the rule of a claim.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Nothing => "nothing is sampled, so chance has no effect",
            Self::SignedRanks => {
                "tested run by run with Wilcoxon's signed-rank test; chance: at the limit, both signs of a \
                 run's difference are equally probable, whatever its size"
            }
            Self::StandardError => {
                "tested by the mean over the runs and its standard error, with Student's t; chance: the \
                 truth is at the limit"
            }
            Self::Counts => "tested with the binomial distribution; chance: the true share is at the limit",
            Self::Resampling => {
                "tested by the bootstrap, which resamples the runs with replacement; chance: the share of \
                 the resamples on the other side of the limit"
            }
            Self::Fit => "tested by χ²; chance: the draws are from the distribution",
        }
    }
}

/// Number of bootstrap samples.
const RESAMPLES: usize = 1999;

/// Two one-sided p-values of a statement, and the underlying data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "Grounds", into = "Grounds")]
pub(crate) struct Test {
    /// Probability, if the truth is at the limit, of evidence for the statement at least as strong as
    /// observed.
    pub(crate) favour: f64,
    /// Probability, if the truth is at the limit, of evidence against the statement at least as strong as
    /// observed.
    pub(crate) against: f64,
    /// Number of runs, or `None` if nothing is sampled.
    pub(crate) runs: Option<usize>,
    pub(super) grounds: Grounds,
}

impl From<Grounds> for Test {
    fn from(grounds: Grounds) -> Self {
        Self::on(grounds)
    }
}

impl From<Test> for Grounds {
    fn from(test: Test) -> Self {
        test.grounds
    }
}

impl Test {
    /// Computes the test from its data.
    pub(super) fn on(grounds: Grounds) -> Self {
        Self::with(grounds.chances(), grounds)
    }

    /// Creates a test from the p-values of its data.
    fn with(Chances { favour, against, runs }: Chances, grounds: Grounds) -> Self {
        Self { favour, against, runs, grounds }
    }

    fn chances(&self) -> Chances {
        Chances { favour: self.favour, against: self.against, runs: self.runs }
    }

    /// Creates a test of a fact that involves no sampling.
    pub(crate) fn certain(is_so: bool) -> Self {
        Self::on(Grounds::Certain(is_so))
    }

    /// Creates a test from p-values computed elsewhere.
    pub(crate) fn of_chances(favour: f64, against: f64, runs: usize) -> Self {
        Self::on(Grounds::Found { favour, against, runs })
    }

    /// Tests that numbers, one per run, lie below `limit`, with Wilcoxon's signed-rank test. Numbers at the
    /// limit are ignored; infinite numbers have the highest rank.
    pub(crate) fn below(sample: &[f64], limit: f64) -> Self {
        Self::on(Grounds::signed_ranks(sample.iter().map(|value| value - limit)))
    }

    /// Tests that numbers, one per run, lie above `limit`.
    pub(crate) fn above(sample: &[f64], limit: f64) -> Self {
        Self::below(sample, limit).opposite()
    }

    /// Tests that numbers, one per run, lie between two limits.
    pub(crate) fn within(sample: &[f64], (low, high): (f64, f64)) -> Self {
        Self::all([Self::above(sample, low), Self::below(sample, high)])
    }

    /// Tests that the ratio of two numbers per run is below `factor`.
    pub(crate) fn ratio_below(one: &[f64], other: &[f64], factor: f64) -> Self {
        Self::below(&log_ratios(one, other), factor.ln())
    }

    /// Tests that an estimate from `runs` runs, with a standard error, is below `limit`.
    pub(crate) fn measured_below(measured: Measurement, runs: usize, limit: f64) -> Self {
        Self::on(Grounds::Measured { distance: measured.value - limit, error: measured.error, runs })
    }

    /// Tests that an estimate with a standard error is between two limits.
    pub(crate) fn measured_within(measured: Measurement, runs: usize, (low, high): (f64, f64)) -> Self {
        let above = Self::measured_below(measured, runs, low).opposite();
        Self::all([above, Self::measured_below(measured, runs, high)])
    }

    /// Tests that the mean of independent numbers is below `limit`.
    pub(crate) fn mean_below(sample: &[f64], limit: f64) -> Self {
        Self::measured_below(Measurement::mean(sample), sample.len(), limit)
    }

    /// Tests that the mean of independent numbers is between two limits.
    pub(crate) fn mean_within(sample: &[f64], limits: (f64, f64)) -> Self {
        Self::measured_within(Measurement::mean(sample), sample.len(), limits)
    }

    /// Tests that a probability is above `limit`, given `count` successes in `of` trials.
    pub(crate) fn share_above(count: usize, of: usize, limit: f64) -> Self {
        Self::on(Grounds::Share { count, of, limit })
    }

    /// Returns the test of the negated statement.
    pub(crate) fn opposite(self) -> Self {
        Self::with(self.chances().opposite(), Grounds::Opposite(Box::new(self.grounds)))
    }

    /// Tests that all of several statements are true. The p-value in favour is that of the weakest evidence.
    /// The p-value against is that of the strongest evidence, corrected for the number of statements.
    ///
    /// Without statements, the p-values are NaN.
    pub(crate) fn all(tests: impl IntoIterator<Item = Self>) -> Self {
        let tests: Vec<Self> = tests.into_iter().collect();
        let chances: Vec<Chances> = tests.iter().map(Self::chances).collect();
        let grounds = tests.into_iter().map(|test| test.grounds).collect();
        Self::with(Chances::all(&chances), Grounds::All(grounds))
    }

    /// Tests that at least one of several statements is true.
    pub(crate) fn any(tests: impl IntoIterator<Item = Self>) -> Self {
        Self::all(tests.into_iter().map(Self::opposite)).opposite()
    }
}

/// Returns the log ratio of two numbers in each run; two zeros count as equal.
fn log_ratios(one: &[f64], other: &[f64]) -> Vec<f64> {
    one.iter().zip(other).map(|(one, other)| if one == other { 0.0 } else { (one / other).ln() }).collect()
}

/// A statistic of the runs, and its bootstrap distribution.
pub(crate) struct Resamples {
    /// The statistic of the original runs; NaN if there are no runs.
    pub(crate) value: f64,
    values: Vec<f64>,
    runs: usize,
}

impl Resamples {
    /// Computes `statistic` for runs drawn with replacement from `runs`, with a fixed seed.
    pub(crate) fn draw(runs: usize, statistic: impl Fn(&[usize]) -> f64) -> Self {
        let mut rng = stream(0, Purpose::Experiment, runs as u64);
        let mut drawn = vec![0; runs];
        let mut value = || {
            drawn.iter_mut().for_each(|run| *run = rng.random_range(0..runs));
            statistic(&drawn)
        };
        let values = if runs == 0 { Vec::new() } else { (0..RESAMPLES).map(|_| value()).collect() };
        let each: Vec<usize> = (0..runs).collect();
        Self { value: if runs == 0 { f64::NAN } else { statistic(&each) }, values, runs }
    }

    /// Tests that the statistic is below `limit`.
    pub(crate) fn below(&self, limit: f64) -> Test {
        let share = |is_beyond: &dyn Fn(f64) -> bool| {
            let count = self.values.iter().filter(|&&value| is_beyond(value)).count();
            (count + 1) as f64 / (self.values.len() + 1) as f64
        };
        if self.values.is_empty() || self.values.iter().any(|value| value.is_nan()) {
            return Test::of_chances(f64::NAN, f64::NAN, self.runs);
        }
        Test::of_chances(share(&|value| value >= limit), share(&|value| value <= limit), self.runs)
    }

    /// Tests that the statistic is above `limit`.
    pub(crate) fn above(&self, limit: f64) -> Test {
        self.below(limit).opposite()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-12
    }

    #[test]
    fn signed_ranks_have_the_chances_of_all_signs() {
        // With ranks 1, 2, 3, the positive ranks sum to 0 for one of eight sign patterns, and to at most 1
        // for two patterns.
        let all = Test::below(&[-1.0, -2.0, -3.0], 0.0);
        assert!(near(all.favour, 0.125) && near(all.against, 1.0) && all.runs == Some(3));
        let most = Test::below(&[1.0, -2.0, -3.0], 0.0);
        assert!(near(most.favour, 0.25) && near(most.against, 7.0 / 8.0));
        // With ranks 1.5, 1.5, 3, the sum of positive ranks is at most 1.5 if no rank is positive, or only
        // one of the first two.
        let ties = Test::below(&[1.0, -1.0, -3.0], 0.0);
        assert!(near(ties.favour, 3.0 / 8.0));
        assert_eq!(Test::above(&[4.0, 5.0, 6.0], 3.0).favour, 0.125);
    }

    #[test]
    fn numbers_at_the_limit_say_nothing_infinite_ones_count_once_and_nan_is_no_test() {
        let alike = Test::below(&[1.0; 20], 1.0);
        assert_eq!((alike.favour, alike.against), (1.0, 1.0));
        let far = Test::below(&[f64::NEG_INFINITY, -1.0, -2.0], 0.0);
        assert!(near(far.favour, 0.125));
        assert!(Test::below(&[f64::NAN, 1.0], 0.0).favour.is_nan());
        assert!(Test::ratio_below(&[0.0, 1.0], &[0.0, 2.0], 1.0).favour == 0.5, "two zeros are alike");
    }

    #[test]
    fn many_ranks_have_the_same_chances_by_the_normal_distribution() {
        let sample = |count: usize| -> Vec<f64> {
            (1..=count).map(|i| if i % 3 == 0 { i as f64 } else { -(i as f64) }).collect()
        };
        let (exact, normal) = (Test::below(&sample(100), 0.0).favour, Test::below(&sample(101), 0.0).favour);
        assert!(exact < 0.01 && (exact.ln() - normal.ln()).abs() < 0.35, "{exact} {normal}");
    }

    #[test]
    fn a_mean_is_below_what_lies_many_standard_errors_above_it() {
        let sample = [1.0, 1.2, 0.8, 1.1, 0.9];
        // The mean is 1 and its standard error √0.005, so t = −14.14 with 4 degrees of freedom.
        let below = Test::mean_below(&sample, 2.0);
        assert!(below.favour < 1e-4 && below.against > 0.999);
        assert!(Test::mean_within(&sample, (0.5, 1.5)).favour < 0.01);
        assert!(Test::mean_within(&sample, (0.95, 1.05)).favour > 0.05);
        assert!(Test::mean_within(&sample, (1.5, 2.0)).against < 0.01);
        // A single run has no standard error.
        assert!(Test::mean_below(&[1.0], 2.0).favour.is_nan());
        assert_eq!(Test::mean_below(&[1.0; 3], 2.0).favour, 0.0);
    }

    #[test]
    fn shares_have_the_tails_of_the_binomial_distribution() {
        let all = Test::share_above(10, 10, 0.5);
        assert!(near(all.favour, 0.5f64.powi(10)) && near(all.against, 1.0));
        let none = Test::share_above(0, 10, 0.5);
        assert!(near(none.favour, 1.0) && near(none.against, 0.5f64.powi(10)));
        assert!(Test::share_above(0, 0, 0.5).favour.is_nan());
    }

    #[test]
    fn runs_drawn_again_tell_a_statistic_from_a_limit_outside_its_spread() {
        let sample: Vec<f64> = (0..20).map(f64::from).collect();
        let mean = Resamples::draw(20, |runs| runs.iter().map(|&run| sample[run]).sum::<f64>() / 20.0);
        assert_eq!(mean.below(20.0).favour, 1.0 / 2000.0);
        assert!(mean.below(9.5).favour > 0.3 && mean.above(9.5).favour > 0.3);
        assert!(Resamples::draw(0, |_| 0.0).below(1.0).favour.is_nan());
    }

    #[test]
    fn all_is_as_weak_as_the_weakest_and_any_as_strong_as_the_strongest() {
        let both = || [Test::of_chances(0.001, 0.9, 9), Test::of_chances(0.3, 0.2, 12)];
        let chances = |test: Test| (test.favour, test.against, test.runs);
        assert_eq!(chances(Test::all(both())), (0.3, 0.4, Some(9)));
        assert_eq!(chances(Test::any(both())), (0.002, 0.9, Some(9)));
        assert!(Test::all([]).favour.is_nan());
        let any = Test::any(both());
        assert_eq!(any, Test::on(any.grounds.clone()), "as its grounds have it");
    }
}
