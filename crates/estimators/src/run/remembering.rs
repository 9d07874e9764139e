//! A game that remembers what it was asked, and says how far it has come.

use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};

use apportion_games::{Coalitions, Game, GameError};

use super::memory::{Memory, most_remembered};

/// Coalitions that are evaluated between two reports, where a model has to predict rows for them: as many as take this many rows.
const ROWS_BETWEEN_REPORTS: usize = 1 << 16;

/// Coalitions between two reports, least and most.
const COALITIONS_BETWEEN_REPORTS: (usize, usize) = (16, 1 << 14);

/// Who is told after every chunk of evaluations, and may stop them.
pub(crate) type Reporter<'a> = dyn Fn(&Remembering<'_>) -> ControlFlow<()> + Sync + 'a;

/// The same game, nothing evaluated twice, in chunks between which a reporter is asked whether to go on.
pub(crate) struct Remembering<'g> {
    game: Box<dyn Game + 'g>,
    memory: Mutex<Memory>,
}

impl<'g> Remembering<'g> {
    pub(crate) fn new(game: Box<dyn Game + 'g>, memory: Memory) -> Self {
        Self { game, memory: Mutex::new(memory) }
    }

    /// The memory is whole at any moment another thread can see it, so a panic elsewhere does not spoil it.
    pub(crate) fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn game(&self) -> &dyn Game {
        &*self.game
    }

    /// Evaluations of the game: a coalition in one of B scenarios is the B-th part of one. Rounded up.
    pub(crate) fn evaluations(&self) -> usize {
        let memory = self.memory();
        memory.averages() + memory.in_scenarios().div_ceil(self.game.scenarios().max(1))
    }

    /// Rows that a model behind the game predicted.
    pub(crate) fn model_rows(&self) -> usize {
        let memory = self.memory();
        let rows = self.game.rows_per_coalition();
        memory.averages() * rows + memory.in_scenarios() * rows / self.game.scenarios().max(1)
    }

    /// Coalitions between two reports.
    fn chunk(&self) -> usize {
        let (least, most) = COALITIONS_BETWEEN_REPORTS;
        (ROWS_BETWEEN_REPORTS / self.game.rows_per_coalition().max(1)).clamp(least, most)
    }

    fn fill(
        &self,
        batch: &Coalitions,
        scenarios: Option<&[usize]>,
        out: &mut [f64],
        report: &Reporter<'_>,
    ) -> Result<(), GameError> {
        let outputs = self.game.outputs();
        // A game of one scenario is that scenario.
        let scenarios = scenarios.filter(|_| self.game.scenarios() > 1);
        let (missing, their_scenarios) = self.memory().missing(batch, scenarios);
        let most = most_remembered(batch.players(), outputs);
        if self.memory().rows() + missing.len() > most {
            let what = format!(
                "a run remembers what it evaluates, at most {most} coalitions of this game, each with its scenario; give a smaller budget"
            );
            return Err(GameError::Parameter { what });
        }
        for start in (0..missing.len()).step_by(self.chunk()) {
            let range = start..missing.len().min(start + self.chunk());
            let chunk = missing.slice(range.clone());
            let mut values = vec![0.0; chunk.len() * outputs];
            // Unlocked: the game may take long, and may use the threads that wait for the memory.
            match scenarios {
                None => self.game.values(&chunk, &mut values)?,
                Some(_) => {
                    self.game.values_in_scenarios(&chunk, &their_scenarios[range.clone()], &mut values)?;
                }
            }
            let mut memory = self.memory();
            for (row, (coalition, values)) in chunk.iter().zip(values.chunks_exact(outputs)).enumerate() {
                let scenario = scenarios.map(|_| their_scenarios[start + row]);
                memory.insert(coalition.words(), scenario, values);
            }
            drop(memory);
            if report(self).is_break() {
                return Err(GameError::Interrupted { evaluations: self.evaluations() });
            }
        }
        let memory = self.memory();
        for (row, (coalition, out)) in batch.iter().zip(out.chunks_exact_mut(outputs)).enumerate() {
            if let Some(values) = memory.get(coalition.words(), scenarios.map(|scenarios| scenarios[row])) {
                out.copy_from_slice(values);
            }
        }
        Ok(())
    }

    /// The game as an estimator sees it, with someone who is told of every chunk.
    pub(crate) fn reporting<'r>(&'r self, report: &'r Reporter<'r>) -> Reporting<'r, 'g> {
        Reporting { remembering: self, report }
    }
}

/// A [`Remembering`] game with a reporter.
pub(crate) struct Reporting<'r, 'g> {
    remembering: &'r Remembering<'g>,
    report: &'r Reporter<'r>,
}

/// A table is not handed through: what is read in it would not be counted.
impl Game for Reporting<'_, '_> {
    fn players(&self) -> usize {
        self.remembering.game.players()
    }
    fn outputs(&self) -> usize {
        self.remembering.game.outputs()
    }
    fn rows_per_coalition(&self) -> usize {
        self.remembering.game.rows_per_coalition()
    }
    fn parallel(&self) -> bool {
        self.remembering.game.parallel()
    }
    fn scenarios(&self) -> usize {
        self.remembering.game.scenarios()
    }
    fn scenario_weights(&self) -> Option<&[f64]> {
        self.remembering.game.scenario_weights()
    }
    fn values_in_scenarios(
        &self,
        batch: &Coalitions,
        scenarios: &[usize],
        out: &mut [f64],
    ) -> Result<(), GameError> {
        self.remembering.fill(batch, Some(scenarios), out, self.report)
    }
    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        self.remembering.fill(batch, None, out, self.report)
    }
}
