//! A game that stores its evaluations and reports progress.

use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};

use apportion_games::{Coalitions, Game, GameError};

use super::memory::{Memory, max_remembered};

/// The number of model rows between two reports. The number of coalitions between two reports follows from
/// it.
const ROWS_BETWEEN_REPORTS: usize = 1 << 16;

/// The minimum and maximum number of coalitions between two reports.
const COALITIONS_BETWEEN_REPORTS: (usize, usize) = (16, 1 << 14);

/// A callback that is called after every chunk of evaluations and can stop the run.
pub(crate) type Reporter<'a> = dyn Fn(&RememberingGame<'_>) -> ControlFlow<()> + Sync + 'a;

/// A game that evaluates nothing twice. A reporter may stop its evaluation after each chunk.
pub(crate) struct RememberingGame<'g> {
    game: Box<dyn Game + 'g>,
    memory: Mutex<Memory>,
}

impl<'g> RememberingGame<'g> {
    pub(crate) fn new(game: Box<dyn Game + 'g>, memory: Memory) -> Self {
        Self { game, memory: Mutex::new(memory) }
    }

    /// Locks the memory. Ignores poisoning: the memory is consistent whenever another thread can see it.
    pub(crate) fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn game(&self) -> &dyn Game {
        &*self.game
    }

    /// Returns the number of evaluations of the game, rounded up. A coalition in one of B scenarios counts as
    /// 1/B of an evaluation.
    pub(crate) fn evaluations(&self) -> usize {
        let memory = self.memory();
        memory.averages() + memory.in_scenarios().div_ceil(self.game.scenarios().max(1))
    }

    /// Returns the number of rows that the model predicted.
    pub(crate) fn model_rows(&self) -> usize {
        let memory = self.memory();
        let rows = self.game.rows_per_coalition();
        memory.averages() * rows + memory.in_scenarios() * rows / self.game.scenarios().max(1)
    }

    /// Returns the number of coalitions between two reports.
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
        // In a game with a single scenario, this scenario is the average.
        let scenarios = scenarios.filter(|_| self.game.scenarios() > 1);
        let (missing, their_scenarios) = self.memory().missing(batch, scenarios);
        let most = max_remembered(batch.players(), outputs);
        if self.memory().rows() + missing.len() > most {
            let what = format!(
                "a run can store at most {most} coalitions of this game, each with its scenario; lower the \
                 budget"
            );
            return Err(GameError::Parameter { what });
        }
        for start in (0..missing.len()).step_by(self.chunk()) {
            let range = start..missing.len().min(start + self.chunk());
            let chunk = missing.slice(range.clone());
            let mut values = vec![0.0; chunk.len() * outputs];
            // Do not hold the lock during the evaluation, which may take long, and may use threads that wait
            // for the memory.
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

    /// Returns the game that estimators evaluate, with a reporter that is called after every chunk.
    pub(crate) fn reporting<'r>(&'r self, report: &'r Reporter<'r>) -> ReportingGame<'r, 'g> {
        ReportingGame { remembering: self, report }
    }
}

/// A [`RememberingGame`] with a reporter.
pub(crate) struct ReportingGame<'r, 'g> {
    remembering: &'r RememberingGame<'g>,
    report: &'r Reporter<'r>,
}

/// Does not expose the table of the game, because reads from the table would not be counted.
impl Game for ReportingGame<'_, '_> {
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
