//! Draws in strata, and the mean and standard errors that they have.
//!
//! The scenarios' weights laid end to end are an interval; its `L` equal parts are the strata. Draws in each of them, rather than anywhere, have
//! the same mean, and no variance from stratum to stratum.

use crate::product_space::moments::Moments;

/// `draws` draws, ⌊draws / count⌋ in each of `count` strata and one more in the first of them, numbered stratum by stratum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Strata {
    pub(crate) count: usize,
    pub(crate) draws: usize,
}

impl Strata {
    /// All draws alike.
    pub(crate) fn one(draws: usize) -> Self {
        Self { count: 1, draws }
    }

    /// As many as there are scenarios, but so that each has two draws, by which its variance can be told.
    pub(crate) fn of_scenarios(scenarios: usize, draws: usize) -> Self {
        Self { count: scenarios.min(draws / 2).max(1), draws }
    }

    /// The stratum of draw number `draw`.
    pub(crate) fn of(self, draw: usize) -> usize {
        let (each, more) = (self.draws / self.count, self.draws % self.count);
        if draw < more * (each + 1) { draw / (each + 1) } else { more + (draw - more * (each + 1)) / each }
    }

    /// The number of the first draw beyond `stratum`.
    pub(crate) fn end(self, stratum: usize) -> usize {
        (stratum + 1) * (self.draws / self.count) + (stratum + 1).min(self.draws % self.count)
    }
}

/// The mean over strata of the means of their samples, in the making: samples come stratum by stratum.
#[derive(Debug, Clone)]
pub(crate) struct Stratified {
    strata: Strata,
    /// Sums over the strata that are complete: of their means, and of the variances of these.
    means: Vec<f64>,
    variances: Vec<f64>,
    stratum: usize,
    current: Moments,
}

impl Stratified {
    /// Begins with samples of the first stratum.
    pub(crate) fn new(strata: Strata, first: Moments) -> Self {
        let width = first.mean().len();
        Self { strata, means: vec![0.0; width], variances: vec![0.0; width], stratum: 0, current: first }
    }

    /// Adds samples of `stratum`, the one of the samples before or the next.
    pub(crate) fn add(&mut self, stratum: usize, samples: Moments) {
        if stratum == self.stratum {
            self.current.merge(&samples);
            return;
        }
        self.close();
        (self.stratum, self.current) = (stratum, samples);
    }

    fn close(&mut self) {
        self.means.iter_mut().zip(self.current.mean()).for_each(|(sum, mean)| *sum += mean);
        let variances = self.current.variances();
        self.variances.iter_mut().zip(variances).for_each(|(sum, variance)| *sum += variance);
    }

    /// The mean, and its standard errors where there are five samples or more, and as many more for every further stratum as to leave
    /// the same four degrees of freedom.
    pub(crate) fn finish(mut self) -> (Vec<f64>, Option<Vec<f64>>) {
        let count = self.strata.count as f64;
        let degrees = if self.strata.count == 1 {
            self.current.effective_number() - 1.0
        } else {
            (self.strata.draws - self.strata.count) as f64
        };
        self.close();
        let means = self.means.iter().map(|sum| sum / count).collect();
        let errors = || self.variances.iter().map(|sum| sum.sqrt() / count).collect();
        (means, (degrees >= FEWEST_DEGREES).then(errors))
    }
}

/// Degrees of freedom below which there are no standard errors; a little less, as a quotient is compared with it.
const FEWEST_DEGREES: f64 = 4.0 - 1e-9;

/// Means and standard errors of several units, one after the other.
pub(crate) fn finish_all(units: Vec<Stratified>) -> (Vec<f64>, Option<Vec<f64>>) {
    let (means, errors): (Vec<_>, Vec<_>) = units.into_iter().map(Stratified::finish).unzip();
    (means.concat(), errors.into_iter().collect::<Option<Vec<_>>>().map(|errors| errors.concat()))
}
