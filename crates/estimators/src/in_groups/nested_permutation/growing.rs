//! Nested permutations in which the draws for a budget are a subset of the draws for every larger budget.
//!
//! # Notation
//!
//! There are B scenarios, or equal parts of their weights, and D draws, `D = q B + r` with r < B. Draw j in
//! scenario l has a separate random stream.
//!
//! # Method
//!
//! Every scenario has q draws, and the first r scenarios of a random order have one more. Draws are therefore
//! only added as D grows, and scenarios are drawn without replacement in each round.

use std::ops::Range;

use apportion_games::{Game, Purpose, stream};
use apportion_samplers::permutation;
use rand_chacha::ChaCha8Rng;

use super::walk::{MAX_DRAWS, Walk};
use crate::error::{EstimatorError, Result};
use crate::report::Influences;
use crate::support::product_draws::{Moments, Plan, ProductDraws, ScenarioCoalitions, Strata, averages};

/// The number of scenarios to process in one batch, to bound the memory.
const SCENARIOS_AT_ONCE: usize = 256;
/// Log2 of the maximum number of draws per scenario. It is limited by the numbering of random streams.
const DRAW_BITS: u32 = 24;
/// The number of the random stream for the order of the scenarios. It is larger than the stream numbers for
/// permutations of players.
const ORDER_UNIT: u64 = 1 << 47;
/// The minimum number of degrees of freedom for standard errors, and for variances per scenario.
const MIN_DEGREES: usize = 4;

/// Values, n × k, with their standard errors and the degrees of freedom of the standard errors.
pub(super) struct GrownEstimate {
    pub(super) values: Vec<f64>,
    pub(super) std_errors: Option<Vec<f64>>,
    /// The influences of the draws.
    pub(super) influences: Influences,
    pub(super) degrees_of_freedom: f64,
}

/// Computes the means over `draws` draws of `walk`, with the `scenarios` of the game as strata, and their
/// standard errors.
///
/// With at least two draws in each scenario, the standard errors are those of the mean of the scenarios'
/// means. With fewer draws, they are those of the mean of all draws, as if scenarios were drawn with
/// replacement; this overestimates the errors. (Extrapolating the variance from the few scenarios with two
/// draws covered the true value in as few as 61% of the cases.)
pub(super) fn average(
    game: &dyn Game,
    walk: &Walk<'_>,
    scenarios: usize,
    draws: usize,
    width: usize,
    seed: u64,
) -> Result<GrownEstimate> {
    let (rounds, more) = (draws / scenarios, draws % scenarios);
    if rounds >= 1 << DRAW_BITS || scenarios > MAX_DRAWS >> DRAW_BITS {
        return Err(EstimatorError::Draws { actual: draws, min: 1, max: scenarios << DRAW_BITS });
    }
    let order = permutation(scenarios, seed, ORDER_UNIT);
    let mut sums = Sums::new(width);
    for (at, chosen) in order.chunks(SCENARIOS_AT_ONCE).enumerate() {
        let with_one_more = more.saturating_sub(at * SCENARIOS_AT_ONCE).min(chosen.len());
        for (chosen, draws) in [(&chosen[..with_one_more], rounds + 1), (&chosen[with_one_more..], rounds)] {
            if draws > 0 && !chosen.is_empty() {
                let draws_of = ScenarioDraws { walk, scenarios: chosen, seed };
                let strata = Strata::one(draws);
                let plan = Plan { units: chosen.len(), strata, block: 1, width, weights: None };
                averages(game, &draws_of, plan)?
                    .into_iter()
                    .for_each(|unit| sums.add(&unit.into_moments(), draws));
            }
        }
    }
    Ok(sums.finish(scenarios, draws))
}

/// The draws in some scenarios. Each scenario is a unit of [`ProductDraws`].
struct ScenarioDraws<'a, 'w> {
    walk: &'a Walk<'w>,
    scenarios: &'a [usize],
    seed: u64,
}

impl ProductDraws for ScenarioDraws<'_, '_> {
    type BlockState = Vec<usize>;

    fn rows_per_draw(&self, _: usize) -> usize {
        self.walk.rows_per_draw(0)
    }

    fn stream(&self, unit: usize, block: usize) -> ChaCha8Rng {
        let number = (self.scenarios[unit] as u64) << DRAW_BITS | block as u64;
        stream(self.seed, Purpose::NestedPermutations, number)
    }

    fn draw(
        &self,
        unit: usize,
        draws: Range<usize>,
        rng: &mut ChaCha8Rng,
        asked: &mut ScenarioCoalitions,
    ) -> Vec<usize> {
        let scenario = self.scenarios[unit];
        draws.flat_map(|_| self.walk.draw(0, scenario..scenario + 1, rng, asked)).collect()
    }

    fn samples(&self, _: usize, orders: Vec<usize>, values: &[f64]) -> Vec<f64> {
        self.walk.samples(0, orders, values)
    }
}

/// Sums over the scenarios processed so far.
struct Sums {
    /// The sum of the means of the scenarios.
    means: Vec<f64>,
    /// The sum of the variances of these means, for scenarios with at least two draws.
    variances: Vec<f64>,
    /// The sum of `T_l² / (D_l − 1)`, where T_l is the variance of the mean of scenario l, summed over all
    /// players.
    spread: f64,
    /// The influences of the draws on the means of their scenarios, for scenarios with at least two draws.
    influences: Influences,
    /// The moments of all draws.
    all: Option<Moments>,
}

impl Sums {
    fn new(width: usize) -> Self {
        Self {
            means: vec![0.0; width],
            variances: vec![0.0; width],
            spread: 0.0,
            influences: Influences::none(width),
            all: None,
        }
    }

    fn add(&mut self, moments: &Moments, draws: usize) {
        self.means.iter_mut().zip(moments.mean()).for_each(|(sum, mean)| *sum += mean);
        if draws > 1 {
            self.variances.iter_mut().zip(moments.variances()).for_each(|(sum, variance)| *sum += variance);
            self.influences.add(&moments.influences());
            self.spread += moments.variances().sum::<f64>().powi(2) / (draws as f64 - 1.0);
        }
        match &mut self.all {
            Some(all) => all.merge(moments),
            None => self.all = Some(moments.clone()),
        }
    }

    fn finish(self, scenarios: usize, draws: usize) -> GrownEstimate {
        let (count, degrees) = (scenarios as f64, draws.saturating_sub(scenarios));
        if draws < 2 * scenarios || degrees < MIN_DEGREES {
            let none = || (Vec::new(), Vec::new(), Influences::none(0));
            let (values, variances, influences) = self.all.map_or_else(none, |all| {
                (all.mean().to_vec(), all.variances().collect::<Vec<f64>>(), all.influences())
            });
            let errors = || variances.into_iter().map(f64::sqrt).collect();
            let std_errors = (draws > MIN_DEGREES).then(errors);
            return GrownEstimate { values, std_errors, influences, degrees_of_freedom: draws as f64 - 1.0 };
        }
        // These are Satterthwaite's degrees of freedom. There are fewer of them if few scenarios contribute
        // most of the variance.
        let total: f64 = self.variances.iter().sum();
        let effective = if self.spread > 0.0 { total * total / self.spread } else { f64::INFINITY };
        GrownEstimate {
            values: self.means.iter().map(|sum| sum / count).collect(),
            std_errors: Some(self.variances.iter().map(|sum| sum.sqrt() / count).collect()),
            influences: self.influences.scaled(count.recip()),
            degrees_of_freedom: effective.min(degrees as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(samples: &[&[f64]]) -> GrownEstimate {
        let mut sums = Sums::new(1);
        samples.iter().for_each(|own| sums.add(&Moments::from_samples(own, 1, None), own.len()));
        sums.finish(samples.len(), samples.iter().map(|own| own.len()).sum())
    }

    #[test]
    fn with_two_draws_each_errors_are_those_of_the_means_of_scenarios() {
        let grown = finished(&[&[1.0, 3.0, 5.0], &[10.0, 14.0], &[0.0, 2.0], &[7.0, 7.0]]);
        assert!((grown.values[0] - (3.0 + 12.0 + 1.0 + 7.0) / 4.0).abs() < 1e-14);
        // The variances of the means are 4/3, 8/2, 2/2 and 0.
        let expected = f64::sqrt(4.0 / 3.0 + 4.0 + 1.0) / 4.0;
        assert!((grown.std_errors.unwrap()[0] - expected).abs() < 1e-14);
        // The variances have two, one and one degrees of freedom.
        let degrees = (4.0f64 / 3.0 + 4.0 + 1.0).powi(2) / (16.0 / 9.0 / 2.0 + 16.0 + 1.0);
        assert!((grown.degrees_of_freedom - degrees).abs() < 1e-13);
    }

    #[test]
    fn with_fewer_all_draws_are_alike() {
        let grown = finished(&[&[1.0], &[3.0], &[5.0], &[7.0], &[9.0]]);
        assert_eq!((grown.values[0], grown.degrees_of_freedom), (5.0, 4.0));
        assert!((grown.std_errors.unwrap()[0] - f64::sqrt(10.0 / 5.0)).abs() < 1e-14);
        assert!(finished(&[&[1.0], &[3.0], &[5.0], &[7.0]]).std_errors.is_none());
    }
}
