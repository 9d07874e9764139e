//! Stratified draws, with their mean and standard errors.
//!
//! The weights of the scenarios, laid end to end, form an interval, whose `L` equal parts are the strata.
//! Drawing from each stratum has the same mean as drawing from the whole interval, but no variance between
//! strata.

use super::moments::Moments;
use crate::report::Influences;

/// Estimates for the requested players.
#[derive(Debug, Clone, PartialEq)]
pub struct PlayerEstimates {
    /// The values, players × outputs, row-major, in units of the outputs and in the order of the requested
    /// players.
    pub values: Vec<f64>,
    /// The standard error of each value; `None` for fewer than five draws. Standard errors include an
    /// allowance for players whose draws hardly varied, which may have missed a contribution of the typical
    /// size among the requested players.
    pub std_errors: Option<Vec<f64>>,
    /// The number of evaluations, each of a coalition in one scenario.
    pub scenario_evaluations: usize,
}

/// A division of `draws` draws into `count` strata. Each stratum has ⌊draws / count⌋ draws, and the first
/// ones have one more. Draws are numbered stratum by stratum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Strata {
    pub(crate) count: usize,
    pub(crate) draws: usize,
}

impl Strata {
    /// Returns a single stratum for all draws.
    pub(crate) fn one(draws: usize) -> Self {
        Self { count: 1, draws }
    }

    /// Returns one stratum per scenario, or fewer strata, so that each has the two draws required to estimate
    /// its variance.
    pub(crate) fn of_scenarios(scenarios: usize, draws: usize) -> Self {
        Self { count: scenarios.min(draws / 2).max(1), draws }
    }

    /// Returns the stratum of draw number `draw`.
    pub(crate) fn stratum(self, draw: usize) -> usize {
        let (each, more) = (self.draws / self.count, self.draws % self.count);
        if draw < more * (each + 1) { draw / (each + 1) } else { more + (draw - more * (each + 1)) / each }
    }

    /// Returns the number of the first draw after `stratum`.
    pub(crate) fn end(self, stratum: usize) -> usize {
        (stratum + 1) * (self.draws / self.count) + (stratum + 1).min(self.draws % self.count)
    }
}

/// An accumulator for the mean, over all strata, of the means of their samples. Samples must be added stratum
/// by stratum.
#[derive(Debug, Clone)]
pub(crate) struct Stratified {
    strata: Strata,
    /// Sums over the completed strata: of their means, and of the variances of these means.
    means: Vec<f64>,
    variances: Vec<f64>,
    /// The influences of the samples in the completed strata.
    influences: Influences,
    stratum: usize,
    current: Moments,
}

impl Stratified {
    /// Creates the accumulator with samples of the first stratum.
    pub(crate) fn new(strata: Strata, first: Moments) -> Self {
        let width = first.mean().len();
        Self {
            strata,
            means: vec![0.0; width],
            variances: vec![0.0; width],
            influences: Influences::none(width),
            stratum: 0,
            current: first,
        }
    }

    /// Adds samples of `stratum`, which is the current stratum or the next one.
    pub(crate) fn add(&mut self, stratum: usize, samples: Moments) {
        if stratum == self.stratum {
            self.current.merge(&samples);
            return;
        }
        self.close();
        (self.stratum, self.current) = (stratum, samples);
    }

    /// Returns the moments of the samples in the current stratum.
    pub(crate) fn into_moments(self) -> Moments {
        self.current
    }

    fn close(&mut self) {
        self.means.iter_mut().zip(self.current.mean()).for_each(|(sum, mean)| *sum += mean);
        let variances = self.current.variances();
        self.variances.iter_mut().zip(variances).for_each(|(sum, variance)| *sum += variance);
        self.influences.add(&self.current.influences());
    }

    /// Returns the mean. It has standard errors if there are at least four degrees of freedom: five samples
    /// in one stratum, and one more for every further stratum.
    pub(crate) fn finish(mut self) -> Finished {
        let count = self.strata.count as f64;
        let share =
            if self.strata.count == 1 { self.current.share() } else { (self.strata.draws as f64).recip() };
        let degrees = if self.strata.count == 1 {
            self.current.effective_number() - 1.0
        } else {
            (self.strata.draws - self.strata.count) as f64
        };
        self.close();
        let means = self.means.iter().map(|sum| sum / count).collect();
        let errors = || self.variances.iter().map(|sum| sum.sqrt() / count).collect();
        let std_errors = (degrees >= MIN_DEGREES).then(errors);
        Finished { means, std_errors, influences: self.influences.scaled(count.recip()), share }
    }
}

/// The minimum number of degrees of freedom for standard errors. It is slightly below 4, because it is
/// compared with a rounded quotient.
const MIN_DEGREES: f64 = 4.0 - 1e-9;

/// A mean over strata.
pub(crate) struct Finished {
    pub(crate) means: Vec<f64>,
    pub(crate) std_errors: Option<Vec<f64>>,
    /// The influences of the samples.
    influences: Influences,
    /// The weight of one sample in the mean.
    share: f64,
}

impl Finished {
    /// Concatenates the estimates of several units, and computes the amount by which one more draw could
    /// change each value, for `outputs` outputs.
    pub(crate) fn all(units: Vec<Stratified>, outputs: usize, scenario_evaluations: usize) -> Estimates {
        let (mut values, mut std_errors) = (Vec::new(), Some(Vec::new()));
        let (mut influences, mut shares) = (Influences::none(0), Vec::new());
        for unit in units.into_iter().map(Stratified::finish) {
            shares.resize(shares.len() + unit.means.len(), unit.share);
            values.extend(unit.means);
            influences.extend(unit.influences);
            std_errors = std_errors.zip(unit.std_errors).map(|(all, own)| [all, own].concat());
        }
        let one_draw = influences.one_draw(&values, &shares, outputs);
        Estimates { values, std_errors, one_draw, scenario_evaluations }
    }
}

/// The values, with error estimates from their draws.
pub(crate) struct Estimates {
    pub(crate) values: Vec<f64>,
    /// Standard errors from the spread of the draws.
    pub(crate) std_errors: Option<Vec<f64>>,
    /// The amount by which one more draw could change each value.
    pub(crate) one_draw: Vec<f64>,
    /// The number of evaluations, each of a coalition in one scenario.
    pub(crate) scenario_evaluations: usize,
}

impl From<Estimates> for PlayerEstimates {
    /// Adds the allowance for unseen events to the errors.
    fn from(estimates: Estimates) -> Self {
        let Estimates { values, std_errors, one_draw, scenario_evaluations } = estimates;
        let both =
            |errors: Vec<f64>| errors.iter().zip(&one_draw).map(|(error, more)| error.hypot(*more)).collect();
        Self { values, std_errors: std_errors.map(both), scenario_evaluations }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_numbered_stratum_by_stratum_as_evenly_as_can_be() {
        for draws in 1..40 {
            for count in 1..=draws {
                let strata = Strata { count, draws };
                let mut sizes = vec![0; count];
                (0..draws).for_each(|draw| sizes[strata.stratum(draw)] += 1);
                assert!((1..draws).all(|draw| strata.stratum(draw) >= strata.stratum(draw - 1)));
                let mut end = 0;
                for (stratum, size) in sizes.iter().enumerate() {
                    end += size;
                    assert_eq!(strata.end(stratum), end, "{strata:?}");
                    assert!((draws / count..=draws.div_ceil(count)).contains(size));
                }
            }
        }
    }

    #[test]
    fn every_stratum_has_two_draws_where_there_are_as_many() {
        let count = |scenarios, draws| Strata::of_scenarios(scenarios, draws).count;
        assert_eq!([count(1, 100), count(100, 1), count(100, 2), count(100, 7)], [1, 1, 1, 3]);
        assert_eq!([count(100, 199), count(100, 200), count(100, 1000)], [99, 100, 100]);
    }

    #[test]
    fn means_and_errors_are_those_of_the_strata() {
        // Add the samples of two strata, with three and two samples, in pieces.
        let samples = [1.0, 3.0, 5.0, 10.0, 14.0];
        let strata = Strata { count: 2, draws: 5 };
        let of = |range: std::ops::Range<usize>| Moments::from_samples(&samples[range], 1, None);
        let mut stratified = Stratified::new(strata, of(0..2));
        stratified.add(0, of(2..3));
        stratified.add(1, of(3..4));
        stratified.add(1, of(4..5));
        // The means are 3 and 12, and the variances are 4 and 8, over three and two samples. Three degrees of
        // freedom are too few for standard errors.
        let Finished { means, std_errors, .. } = stratified.finish();
        assert_eq!((means, std_errors), (vec![7.5], None));

        let strata = Strata { count: 2, draws: 10 };
        let twice = |range: std::ops::Range<usize>| Moments::from_samples(&samples[range].repeat(2), 1, None);
        let mut stratified = Stratified::new(strata, twice(0..3));
        stratified.add(1, twice(3..5));
        let Finished { means, std_errors, .. } = stratified.finish();
        // The squared deviations are 16 and 16, with five and three degrees of freedom.
        let expected = ((16.0 / 5.0 / 6.0 + 16.0 / 3.0 / 4.0) / 4.0f64).sqrt();
        assert!((means[0] - 7.5).abs() < 1e-15 && (std_errors.unwrap()[0] - expected).abs() < 1e-15);
    }
}
