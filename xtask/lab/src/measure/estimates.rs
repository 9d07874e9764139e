//! Estimates of contenders (methods of the library, or programs) in all runs of a problem.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use apportion::games::parallel;
use apportion::{Estimator, Explanation, Method, Value};

use super::games::{Known, Problem};
use crate::laboratory::cli::NamedCommand;
use crate::laboratory::program::{Pool, ProgramResult};

/// An estimator in the comparison.
pub(super) enum Contender {
    Method(Method),
    /// A name and a program.
    Program(String, Pool),
}

/// A contender for one value.
pub(super) enum Runner<'a> {
    Method(Box<dyn Estimator>),
    Program(&'a Pool),
}

/// The result of one run.
pub(super) struct Estimate {
    pub(super) values: Vec<f64>,
    pub(super) evaluations: usize,
    pub(super) seconds: f64,
    /// The explanation with everything that a method of the library returns; `None` for programs.
    pub(super) explanation: Option<Explanation>,
}

impl Contender {
    pub(super) fn of_program(named: &NamedCommand, limit: Duration) -> Self {
        Self::Program(named.name.clone(), Pool::new(&named.command, limit))
    }

    pub(super) fn name(&self) -> &str {
        match self {
            Self::Method(method) => method.name(),
            Self::Program(name, _) => name,
        }
    }

    /// Returns the contender for `value`, or `None` if it does not support this value. Programs ignore
    /// `value`: their command determines what they estimate.
    pub(super) fn runner(&self, value: &Value, growing: bool) -> Option<Runner<'_>> {
        Some(match self {
            Self::Method(method) => {
                let estimator = method.estimator(value)?;
                Runner::Method(if growing { estimator.growing() } else { estimator })
            }
            Self::Program(_, program) => Runner::Program(program),
        })
    }
}

impl Runner<'_> {
    /// Returns the minimum number of evaluations of a method. The minimum of a program is 0, because it
    /// rejects unsupported budgets itself.
    pub(super) fn minimum_budget(&self, players: usize) -> usize {
        match self {
            Self::Method(estimator) => estimator.minimum_budget(players),
            Self::Program(_) => 0,
        }
    }

    fn estimate(&self, known: &Known, budget: usize, seed: u64) -> Result<Estimate> {
        let started = Instant::now();
        let (values, evaluations, explanation) = match self {
            Self::Method(estimator) => {
                let found = estimator.estimate(&*known.game, budget, seed)?;
                (found.values.clone(), found.evaluations, Some(found))
            }
            Self::Program(program) => match program.estimate(&*known.game, budget, seed)? {
                ProgramResult::Estimate(values, evaluations) => (values, evaluations, None),
                ProgramResult::Refused(reason) => bail!("{reason}"),
            },
        };
        let seconds = started.elapsed().as_secs_f64();
        Ok(Estimate { values, evaluations, seconds, explanation })
    }
}

/// Computes the estimates of all runs of a problem, in parallel.
///
/// # Errors
///
/// The first error of a run.
pub(super) fn estimates(problem: &Problem, runner: &Runner<'_>, budget: usize) -> Result<Vec<Estimate>> {
    let runs: Vec<(&Known, u64)> = problem.runs().collect();
    parallel::try_map(&runs, |&(known, seed)| runner.estimate(known, budget, seed))
}
