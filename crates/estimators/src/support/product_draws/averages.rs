//! Averages of independent draws, in fixed blocks.

use std::ops::Range;

use apportion_games::{Coalitions, Game, parallel};
use rand_chacha::ChaCha8Rng;

use super::moments::Moments;
use super::strata::{Strata, Stratified};
use crate::error::Result;

/// A sampling scheme. For each of several units (single players, or all players together), it draws
/// coalitions and converts their values to independent samples of `width` numbers.
pub(crate) trait ProductDraws: Sync {
    /// The data of a drawn block from which the samples are computed after the game is evaluated.
    type BlockState;

    /// Returns the number of coalitions per draw for `unit`.
    fn rows_per_draw(&self, unit: usize) -> usize;

    /// Returns the random stream for a block of a unit.
    fn stream(&self, unit: usize, block: usize) -> ChaCha8Rng;

    /// Makes the draws with the indices `draws`, by appending coalitions and their scenarios to `asked`.
    fn draw(
        &self,
        unit: usize,
        draws: Range<usize>,
        rng: &mut ChaCha8Rng,
        asked: &mut ScenarioCoalitions,
    ) -> Self::BlockState;

    /// Computes the samples from the values of the coalitions, and returns them one after another.
    fn samples(&self, unit: usize, drawn: Self::BlockState, values: &[f64]) -> Vec<f64>;
}

/// Coalitions to evaluate, each in a scenario.
pub(crate) struct ScenarioCoalitions {
    pub(crate) coalitions: Coalitions,
    pub(crate) scenarios: Vec<usize>,
}

impl ScenarioCoalitions {
    /// Appends the coalition with bits `words`.
    pub(crate) fn push(&mut self, words: &[u64]) {
        self.coalitions.push_words(words);
    }

    /// Sets the scenario of all coalitions pushed since the last call.
    pub(crate) fn all_in(&mut self, scenario: usize) {
        self.scenarios.resize(self.coalitions.len(), scenario);
    }
}

/// The number of draws, and their division into units, strata and blocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan<'w> {
    /// The number of units.
    pub(crate) units: usize,
    /// The draws per unit; they are numbered in the order of their strata.
    pub(crate) strata: Strata,
    /// The number of draws in a block. Results depend on it, but not on the division into batches and
    /// threads.
    pub(crate) block: usize,
    /// The number of entries in each sample.
    pub(crate) width: usize,
    /// The weights of the draws, if they differ.
    pub(crate) weights: Option<&'w [f64]>,
}

/// The approximate number of coalitions in a batch. A batch contains several small blocks.
const BATCH_ROWS: usize = 1 << 11;

/// Draws coalitions, evaluates the game, and returns the moments of each unit's samples.
///
/// Every block has a separate random stream, and blocks are merged in order, so the result is bitwise
/// identical for any number of threads. Each thread stores one batch and its values.
pub(crate) fn averages(
    game: &dyn Game,
    draws: &impl ProductDraws,
    plan: Plan<'_>,
) -> Result<Vec<Stratified>> {
    let blocks_per_unit = plan.strata.draws.div_ceil(plan.block);
    let blocks = plan.units * blocks_per_unit;
    let rows = (0..plan.units).map(|unit| draws.rows_per_draw(unit)).max().unwrap_or(1);
    let blocks_per_batch = (BATCH_ROWS / (rows * plan.block.min(plan.strata.draws)).max(1)).max(1);
    let of_batch = |batch: usize| {
        let first = batch * blocks_per_batch;
        let blocks = first..blocks.min(first + blocks_per_batch);
        moments(game, draws, plan, blocks.map(|block| (block / blocks_per_unit, block % blocks_per_unit)))
    };

    let mut units: Vec<Stratified> = Vec::with_capacity(plan.units);
    let mut merge = |samples: Vec<Samples>| {
        for Samples { unit, stratum, moments } in samples {
            match units.get_mut(unit) {
                Some(unit) => unit.add(stratum, moments),
                None => units.push(Stratified::new(plan.strata, moments)),
            }
        }
    };
    let batches = blocks.div_ceil(blocks_per_batch);
    let at_once = if game.parallel() { 4 * rayon::current_num_threads() } else { 1 };
    for first in (0..batches).step_by(at_once) {
        let wave = first..batches.min(first + at_once);
        if wave.len() == 1 {
            merge(of_batch(first)?);
        } else {
            // Collect all results first, so that the first of several errors is returned.
            let results: Vec<_> = parallel::map(wave, of_batch);
            results.into_iter().try_for_each(|result| result.map(&mut merge))?;
        }
    }
    Ok(units)
}

/// The moments of a unit's samples in one stratum.
struct Samples {
    unit: usize,
    stratum: usize,
    moments: Moments,
}

/// Returns the moments of the samples in `blocks`, which are given as pairs of a unit and a block number.
fn moments<D: ProductDraws>(
    game: &dyn Game,
    draws: &D,
    plan: Plan<'_>,
    blocks: impl Iterator<Item = (usize, usize)>,
) -> Result<Vec<Samples>> {
    let coalitions = Coalitions::with_capacity(game.players(), BATCH_ROWS);
    let mut asked = ScenarioCoalitions { coalitions, scenarios: Vec::with_capacity(BATCH_ROWS) };
    let drawn: Vec<_> = blocks
        .map(|(unit, block)| {
            let (first, range) = (asked.scenarios.len(), plan.range(block));
            let drawn = draws.draw(unit, range.clone(), &mut draws.stream(unit, block), &mut asked);
            (unit, range, drawn, first..asked.scenarios.len())
        })
        .collect();
    let outputs = game.outputs();
    let mut values = vec![0.0; asked.scenarios.len() * outputs];
    game.values_in_scenarios(&asked.coalitions, &asked.scenarios, &mut values)?;
    let mut moments = Vec::with_capacity(drawn.len());
    for (unit, range, drawn, rows) in drawn {
        let samples = draws.samples(unit, drawn, &values[rows.start * outputs..rows.end * outputs]);
        let mut start = range.start;
        while start < range.end {
            let stratum = plan.strata.stratum(start);
            let end = plan.strata.end(stratum).min(range.end);
            let own = &samples[(start - range.start) * plan.width..(end - range.start) * plan.width];
            let weights = plan.weights.map(|weights| &weights[start..end]);
            moments.push(Samples { unit, stratum, moments: Moments::from_samples(own, plan.width, weights) });
            start = end;
        }
    }
    Ok(moments)
}

impl Plan<'_> {
    /// Returns the indices of the draws in a block.
    fn range(&self, block: usize) -> Range<usize> {
        block * self.block..self.strata.draws.min((block + 1) * self.block)
    }
}
