//! Evaluates the orders of all draws: coalitions in batches of bounded size, contributions draw by draw.

use std::ops::Range;
use std::rc::Rc;

use apportion_games::{Coalition, Coalitions, Game, Purpose, parallel, stream, words_for};
use apportion_samplers::{Discrete, permutation};

use crate::error::Result;
use crate::report::RunningMoments;
use crate::sampling::optimized_monte_carlo::orders::Pattern;
use crate::support::DrawDistribution;

/// The values of ∅ and N for a draw.
pub(crate) enum Ends {
    /// v(∅) and v(N) are known: draws evaluate the average over all scenarios.
    Known(Vec<f64>, Vec<f64>),
    /// Each draw uses one scenario from this distribution, and evaluates ∅ and N in it.
    InScenarios(Discrete),
}

/// The draws of all players' contributions along random orders.
pub(crate) struct Walks<'g> {
    pub(crate) game: &'g dyn Game,
    pub(crate) pattern: Pattern,
    pub(crate) ends: Ends,
    pub(crate) seed: u64,
}

/// Consecutive steps of one draw that are evaluated in one batch.
struct Piece {
    order: Rc<Vec<usize>>,
    steps: Range<usize>,
}

/// The maximum number of coalitions in a batch. The number of their 64-bit words is limited too, so that
/// memory is bounded for many players.
const BATCH_ROWS: usize = 1 << 14;
const BATCH_WORDS: usize = 1 << 18;

/// The number of coalitions per task of a thread, if they are evaluated in scenarios.
const TASK_ROWS: usize = 1 << 10;

impl Walks<'_> {
    /// Returns the number of coalitions that a draw evaluates.
    pub(crate) fn rows_per_draw(&self) -> usize {
        let ends = if matches!(self.ends, Ends::Known(..)) { 0 } else { 2 };
        self.pattern.rows().saturating_add(ends)
    }

    /// Returns the moments of `draws` samples of n × k numbers, and their error distribution.
    ///
    /// Samples are added in the order of the draws, for any number of threads.
    pub(crate) fn run(&self, draws: usize) -> Result<(RunningMoments, DrawDistribution)> {
        let (players, outputs) = (self.pattern.players, self.game.outputs());
        let mut samples = Samples::new(self.pattern, outputs, &self.ends);
        let all = self.rows_per_draw().saturating_mul(draws);
        let rows = (BATCH_WORDS / words_for(players)).clamp(4, BATCH_ROWS).min(all);
        let mut batch = Coalitions::with_capacity(players, rows);
        let (mut scenarios, mut pieces): (Vec<usize>, Vec<Piece>) = (Vec::new(), Vec::new());
        let mut values = Vec::new();
        let (mut draw, mut next) = (0, 0);
        let (mut order, mut joined) = (Rc::new(Vec::new()), Coalition::empty(players));
        let mut scenario = 0;
        while draw < draws {
            batch.clear();
            scenarios.clear();
            pieces.clear();
            // Leave room for ∅, N and a step.
            while draw < draws && (batch.is_empty() || batch.len() + 4 <= rows) {
                if next == 0 {
                    order = Rc::new(permutation(players, self.seed, draw as u64));
                    if let Ends::InScenarios(distribution) = &self.ends {
                        scenario = distribution.draw(&mut stream(
                            self.seed,
                            Purpose::NestedPermutations,
                            draw as u64,
                        ));
                        batch.push_empty();
                        batch.push_full();
                    }
                }
                let room = rows.saturating_sub(batch.len()) / self.pattern.rows_per_step();
                let steps = next..self.pattern.steps().min(next + room.max(1));
                for step in steps.clone() {
                    self.pattern.push(&order, step, &mut joined, &mut batch);
                }
                scenarios.resize(batch.len(), scenario);
                next = steps.end;
                pieces.push(Piece { order: Rc::clone(&order), steps });
                if next == self.pattern.steps() {
                    (draw, next) = (draw + 1, 0);
                }
            }
            values.resize(batch.len() * outputs, 0.0);
            self.evaluate(&batch, &scenarios, &mut values)?;
            let mut answers = &values[..];
            pieces.iter().for_each(|piece| answers = samples.absorb(piece, answers));
        }
        Ok((samples.moments, samples.distribution))
    }

    /// Evaluates a batch. The average game is evaluated in one call, because it may cache. Coalitions in
    /// scenarios are never cached by a game, so they are evaluated in tasks for several threads.
    fn evaluate(&self, batch: &Coalitions, scenarios: &[usize], values: &mut [f64]) -> Result<()> {
        if matches!(self.ends, Ends::Known(..)) {
            return Ok(self.game.values(batch, values)?);
        }
        if !self.game.parallel() || batch.len() <= TASK_ROWS {
            return Ok(self.game.values_in_scenarios(batch, scenarios, values)?);
        }
        let tasks = values.chunks_mut(TASK_ROWS * self.game.outputs()).enumerate();
        parallel::try_map(tasks, |(task, values)| {
            let rows = task * TASK_ROWS..batch.len().min((task + 1) * TASK_ROWS);
            let own = batch.slice(rows.clone());
            self.game.values_in_scenarios(&own, &scenarios[rows], values)
        })?;
        Ok(())
    }
}

/// The samples accumulated so far.
struct Samples {
    pattern: Pattern,
    outputs: usize,
    /// v(∅) in the draw's scenario, and v(N) − v(∅).
    empty: Vec<f64>,
    total: Vec<f64>,
    ends_are_known: bool,
    sample: Vec<f64>,
    gains: Vec<f64>,
    innovation: Vec<f64>,
    moments: RunningMoments,
    distribution: DrawDistribution,
}

impl Samples {
    fn new(pattern: Pattern, outputs: usize, ends: &Ends) -> Self {
        let width = pattern.players * outputs;
        let (empty, full) = match ends {
            Ends::Known(empty, full) => (empty.clone(), full.clone()),
            Ends::InScenarios(_) => (vec![0.0; outputs], vec![0.0; outputs]),
        };
        Self {
            pattern,
            outputs,
            total: full.iter().zip(&empty).map(|(full, empty)| full - empty).collect(),
            empty,
            ends_are_known: matches!(ends, Ends::Known(..)),
            sample: vec![0.0; width],
            gains: vec![0.0; pattern.rows_per_step() * outputs],
            innovation: vec![0.0; width],
            moments: RunningMoments::new(width),
            distribution: DrawDistribution::new(pattern.players, outputs),
        }
    }

    /// Processes the values of a piece at the front of `values`, and returns the remaining values.
    fn absorb<'v>(&mut self, piece: &Piece, mut values: &'v [f64]) -> &'v [f64] {
        let k = self.outputs;
        if piece.steps.start == 0 {
            self.sample.fill(0.0);
            if !self.ends_are_known {
                let (ends, rest) = values.split_at(2 * k);
                let (empty, full) = ends.split_at(k);
                self.empty.copy_from_slice(empty);
                self.total.iter_mut().zip(full).zip(empty).for_each(|((t, f), e)| *t = f - e);
                values = rest;
            }
        }
        let (own, rest) = values.split_at(piece.steps.len() * self.gains.len());
        for (step, values) in piece.steps.clone().zip(own.chunks_exact(self.gains.len())) {
            let bases = self.empty.iter().cycle();
            self.gains.iter_mut().zip(values).zip(bases).for_each(|((gain, v), empty)| *gain = v - empty);
            self.pattern.absorb(&piece.order, step, &self.gains, &mut self.sample);
        }
        if piece.steps.end == self.pattern.steps() {
            self.pattern.absorb_ends(&piece.order, &self.total, &mut self.sample);
            if self.moments.count() > 0 {
                self.moments.innovation(&self.sample, &mut self.innovation);
                self.distribution.add(&self.innovation);
            }
            self.moments.add(&self.sample);
        }
        rest
    }
}
