//! Tests over runs: how probable what was seen would be by chance.
//!
//! A statement has a limit, such as "the ratio is below 1". Its test gives two probabilities: of evidence for it as strong as what was
//! seen, were the truth at the limit; and of evidence against it as strong, at the same limit.

use apportion::games::{Purpose, stream};
use rand::RngExt as _;
use serde::{Deserialize, Serialize};

use super::super::statistics::Measurement;
use super::grounds::{Chances, Grounds};

/// How a statement is tested, and what chance is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum By {
    /// Nothing is drawn.
    Nothing,
    SignedRanks,
    StandardError,
    Counts,
    Resampling,
    Fit,
}

impl By {
    /// As rules print it.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Nothing => "nothing is drawn, so chance has no part",
            Self::SignedRanks => {
                "tested run by run by Wilcoxon's signed ranks; chance: at the limit either sign is as probable in every run, whatever its size"
            }
            Self::StandardError => {
                "tested by its mean over the runs and the standard error of this, with Student's t; chance: the truth is at the limit"
            }
            Self::Counts => "tested by the binomial law; chance: the true share is at the limit",
            Self::Resampling => {
                "tested by the bootstrap, runs drawn again with replacement; chance: the share of these on the other side of the limit"
            }
            Self::Fit => "tested by χ²; chance: the draws are from the law",
        }
    }
}

/// How often runs are drawn again.
const RESAMPLES: usize = 1999;

/// The probabilities of a statement's evidence by chance, and what they rest on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "Grounds", into = "Grounds")]
pub(crate) struct Test {
    /// Of evidence for it as strong.
    pub(crate) favour: f64,
    /// Of evidence against it as strong.
    pub(crate) against: f64,
    /// What it rests on; none where nothing is drawn.
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
    /// Of what is known.
    pub(super) fn on(grounds: Grounds) -> Self {
        Self::with(grounds.chances(), grounds)
    }

    /// Of chances that are those of the grounds.
    fn with(Chances { favour, against, runs }: Chances, grounds: Grounds) -> Self {
        Self { favour, against, runs, grounds }
    }

    fn chances(&self) -> Chances {
        Chances { favour: self.favour, against: self.against, runs: self.runs }
    }

    /// A fact that no draw decides.
    pub(crate) fn certain(is_so: bool) -> Self {
        Self::on(Grounds::Certain(is_so))
    }

    /// By probabilities that were found elsewhere.
    pub(crate) fn of_chances(favour: f64, against: f64, runs: usize) -> Self {
        Self::on(Grounds::Found { favour, against, runs })
    }

    /// That numbers, one of each run, lie below `limit`, by Wilcoxon's signed ranks. Numbers at the limit say nothing. Infinite ones
    /// have the highest rank.
    pub(crate) fn below(sample: &[f64], limit: f64) -> Self {
        Self::on(Grounds::signed_ranks(sample.iter().map(|value| value - limit)))
    }

    /// That they lie above it.
    pub(crate) fn above(sample: &[f64], limit: f64) -> Self {
        Self::below(sample, limit).opposite()
    }

    /// That they lie between two limits.
    pub(crate) fn within(sample: &[f64], (low, high): (f64, f64)) -> Self {
        Self::all([Self::above(sample, low), Self::below(sample, high)])
    }

    /// That one is below `factor` times the other in each run.
    pub(crate) fn ratio_below(one: &[f64], other: &[f64], factor: f64) -> Self {
        Self::below(&log_ratios(one, other), factor.ln())
    }

    /// That a number with a standard error, of so many runs, is below `limit`.
    pub(crate) fn measured_below(measured: Measurement, runs: usize, limit: f64) -> Self {
        Self::on(Grounds::Measured { distance: measured.value - limit, error: measured.error, runs })
    }

    /// That it is between two limits.
    pub(crate) fn measured_within(measured: Measurement, runs: usize, (low, high): (f64, f64)) -> Self {
        let above = Self::measured_below(measured, runs, low).opposite();
        Self::all([above, Self::measured_below(measured, runs, high)])
    }

    /// That the mean of independent numbers is below `limit`.
    pub(crate) fn mean_below(sample: &[f64], limit: f64) -> Self {
        Self::measured_below(Measurement::mean(sample), sample.len(), limit)
    }

    /// That their mean is between two limits.
    pub(crate) fn mean_within(sample: &[f64], limits: (f64, f64)) -> Self {
        Self::measured_within(Measurement::mean(sample), sample.len(), limits)
    }

    /// That more than the share `limit` of what is counted is so, where `count` of `of` are.
    pub(crate) fn share_above(count: usize, of: usize, limit: f64) -> Self {
        Self::on(Grounds::Share { count, of, limit })
    }

    /// The same of the opposite statement.
    pub(crate) fn opposite(self) -> Self {
        Self::with(self.chances().opposite(), Grounds::Opposite(Box::new(self.grounds)))
    }

    /// That all of several statements are true: the weakest evidence speaks for it; the strongest against, of as many chances as there are.
    ///
    /// Without a statement there is no test: its probabilities are not numbers.
    pub(crate) fn all(tests: impl IntoIterator<Item = Self>) -> Self {
        let tests: Vec<Self> = tests.into_iter().collect();
        let chances: Vec<Chances> = tests.iter().map(Self::chances).collect();
        let grounds = tests.into_iter().map(|test| test.grounds).collect();
        Self::with(Chances::all(&chances), Grounds::All(grounds))
    }

    /// That one of several is true.
    pub(crate) fn any(tests: impl IntoIterator<Item = Self>) -> Self {
        Self::all(tests.into_iter().map(Self::opposite)).opposite()
    }
}

/// The logarithm of one over the other in each run. Two zeros are alike.
fn log_ratios(one: &[f64], other: &[f64]) -> Vec<f64> {
    one.iter().zip(other).map(|(one, other)| if one == other { 0.0 } else { (one / other).ln() }).collect()
}

/// A statistic of the runs, and what it is of runs drawn again.
pub(crate) struct Resamples {
    /// Of all runs, each once; NaN without runs.
    pub(crate) value: f64,
    values: Vec<f64>,
    runs: usize,
}

impl Resamples {
    /// `statistic` of the numbers of runs drawn with replacement from `runs`, always the same ones.
    pub(crate) fn of(runs: usize, statistic: impl Fn(&[usize]) -> f64) -> Self {
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

    /// That the statistic is below `limit`.
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

    /// That it is above.
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
        // Of ranks 1, 2, 3 the positive ones sum to 0 with one sign of eight, to at most 1 with two.
        let all = Test::below(&[-1.0, -2.0, -3.0], 0.0);
        assert!(near(all.favour, 0.125) && near(all.against, 1.0) && all.runs == Some(3));
        let most = Test::below(&[1.0, -2.0, -3.0], 0.0);
        assert!(near(most.favour, 0.25) && near(most.against, 7.0 / 8.0));
        // Ranks 1.5, 1.5, 3: at most 1.5 is none, or one of the first two.
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
    fn many_ranks_have_the_same_chances_by_the_normal_law() {
        let sample = |count: usize| -> Vec<f64> {
            (1..=count).map(|i| if i % 3 == 0 { i as f64 } else { -(i as f64) }).collect()
        };
        let (exact, normal) = (Test::below(&sample(100), 0.0).favour, Test::below(&sample(101), 0.0).favour);
        assert!(exact < 0.01 && (exact.ln() - normal.ln()).abs() < 0.35, "{exact} {normal}");
    }

    #[test]
    fn a_mean_is_below_what_lies_many_standard_errors_above_it() {
        let sample = [1.0, 1.2, 0.8, 1.1, 0.9];
        // The mean is 1, its standard error √0.005: t = −14.14 of 4 degrees of freedom.
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
    fn shares_have_the_tails_of_the_binomial_law() {
        let all = Test::share_above(10, 10, 0.5);
        assert!(near(all.favour, 0.5f64.powi(10)) && near(all.against, 1.0));
        let none = Test::share_above(0, 10, 0.5);
        assert!(near(none.favour, 1.0) && near(none.against, 0.5f64.powi(10)));
        assert!(Test::share_above(0, 0, 0.5).favour.is_nan());
    }

    #[test]
    fn runs_drawn_again_tell_a_statistic_from_a_limit_outside_its_spread() {
        let sample: Vec<f64> = (0..20).map(f64::from).collect();
        let mean = Resamples::of(20, |runs| runs.iter().map(|&run| sample[run]).sum::<f64>() / 20.0);
        assert_eq!(mean.below(20.0).favour, 1.0 / 2000.0);
        assert!(mean.below(9.5).favour > 0.3 && mean.above(9.5).favour > 0.3);
        assert!(Resamples::of(0, |_| 0.0).below(1.0).favour.is_nan());
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
