//! Estimators in a run: methods of the library, and external programs.

use std::time::Duration;

use anyhow::{Context, Result};
use apportion::{Estimator, Game, Method, Value};
use apportion_files::digest;

use super::cli::NamedCommand;
use super::program::{self, ProgramResult};
use super::record::EstimatorRecord;

/// An estimator with its name: a method of the library, or an external program.
pub(crate) struct Contestant {
    pub(crate) name: String,
    way: Runner,
}

enum Runner {
    Method(Method),
    Program { command: String, limit: Duration },
}

impl Contestant {
    /// Creates an estimator from the method of the library with this name.
    ///
    /// # Errors
    ///
    /// If the name is unknown.
    pub(crate) fn of_method(name: &str) -> Result<Self> {
        Ok(Self { name: name.to_owned(), way: Runner::Method(name.parse()?) })
    }

    pub(crate) fn of_program(named: &NamedCommand, limit: Duration) -> Self {
        Self { name: named.name.clone(), way: Runner::Program { command: named.command.clone(), limit } }
    }

    pub(crate) fn record(&self) -> EstimatorRecord {
        let (program, files) = match &self.way {
            Runner::Method(_) => (None, Vec::new()),
            Runner::Program { command, .. } => (Some(command.clone()), files(command)),
        };
        EstimatorRecord { name: self.name.clone(), program, files }
    }

    /// Returns the reason why the estimator does not support this value or budget, if that is known without
    /// running the estimator.
    pub(crate) fn refuses(&self, value: &Value, players: usize, budget: usize) -> Option<String> {
        let Runner::Method(method) = self.way else { return None };
        let Some(estimator) = method.estimator(value) else {
            return Some(format!("{} does not compute {} values", self.name, value.concept()));
        };
        let least = estimator.minimum_budget(players);
        (budget < least).then(|| {
            format!(
                "{} requires at least {least} evaluations for {players} player{}, but the budget is {budget}",
                self.name,
                if players == 1 { "" } else { "s" }
            )
        })
    }

    /// Estimates the values of the game, and returns them with the number of evaluations.
    pub(crate) fn estimate(
        &self,
        value: &Value,
        game: &dyn Game,
        budget: usize,
        seed: u64,
    ) -> Result<ProgramResult> {
        match &self.way {
            Runner::Method(method) => {
                let estimator: Box<dyn Estimator> = method
                    .estimator(value)
                    .with_context(|| format!("{} does not compute {}", self.name, value.concept()))?;
                let explanation = estimator.estimate(game, budget, seed)?;
                Ok(ProgramResult::Estimate(explanation.values, explanation.evaluations))
            }
            Runner::Program { command, limit } => Ok(program::estimate(command, game, budget, seed, *limit)?),
        }
    }
}

/// Returns the files named in a command, with their digests.
fn files(command: &str) -> Vec<(String, String)> {
    let in_digits = |digest: String| digest.trim_start_matches("sha256:").to_owned();
    digest::digest_files_in(command).into_iter().map(|(file, digest)| (file, in_digits(digest))).collect()
}
