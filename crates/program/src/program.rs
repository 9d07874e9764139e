//! A program as a model.

use std::sync::atomic::{AtomicUsize, Ordering};

use apportion_games::{BoxError, Model, Rows};

use crate::answers::Answer;
use crate::child::Child;
use crate::column::Column;
use crate::error::{Batch, ProgramError};
use crate::options::ProgramOptions;
use crate::pool::Pool;
use crate::process::were_ended;
use crate::requests::Requests;

/// How far the outputs of a row may be apart alone and in a batch, relative to the largest. Rounding leaves far less.
const AGREEMENT: f64 = 1e-6;

/// A command that reads rows and writes outputs, as [`Format`](crate::Format) describes; a [`Model`] of games.
///
/// It is run by the shell (`sh -c`, of Windows `cmd /C`), once, and again where it dies or takes too long
/// ([`ProgramOptions::restarts`]). Its standard error goes to ours. When this is dropped its standard input ends; a process that has not
/// ended two seconds later is killed with all that it started.
///
/// A prediction must be a function of its row. Then values of games do not depend on the rows of a batch, on the number of processes,
/// nor on restarts; they are the same bits where the program's outputs are, whatever rows are in a batch.
///
/// Memory: the rows of two batches for each process, and their answers.
pub struct Program {
    command: String,
    requests: Requests,
    options: ProgramOptions,
    outputs: usize,
    names: Option<Vec<String>>,
    restarts: AtomicUsize,
    pool: Pool,
}

impl Program {
    /// Starts a command that reads rows of these `columns`, and asks it for the outputs of `row`: alone, and twice in one batch, which
    /// must be the same. The number of outputs is that of the first answer.
    ///
    /// # Errors
    ///
    /// [`ProgramError::Options`], [`ProgramError::Start`], [`ProgramError::NotAFunction`], and what
    /// [`predictions`](Self::predictions) returns. The command is not started again.
    pub fn start(
        command: &str,
        columns: &[Column],
        row: &[f64],
        options: &ProgramOptions,
    ) -> Result<Self, ProgramError> {
        check(command, options)?;
        let requests = Requests::new(options.format, columns)?;
        let twice = [row, row].concat();
        let (alone, twice) = (Rows::try_new(row, columns.len())?, Rows::try_new(&twice, columns.len())?);
        requests.check(alone)?;
        let mut child = Child::start(command, &requests, options)?;
        let mut answers = Vec::new();
        let mut receive = |_, batch, answer: Answer| {
            check_finite(&answer, answer.values.len() / answer.rows, 0)?;
            answers.push((batch, answer));
            Ok(())
        };
        let asked = child.ask(&requests, alone, 1, &mut receive);
        let asked = asked.and_then(|()| child.ask(&requests, twice, options.batch_rows, &mut receive));
        if let Err(error) = asked {
            child.kill();
            return Err(error);
        }
        let (_, first) = answers.swap_remove(0);
        let outputs = first.values.len();
        for (batch, answer) in &answers {
            check_outputs(*batch, answer, outputs)?;
            check_function(&first.values, &answer.values)?;
        }
        if let Some(names) = first.names.as_ref().filter(|names| names.len() != outputs) {
            let (given, wanted) = (outputs, names.len());
            return Err(ProgramError::Outputs { batch: Batch(1), given, wanted, by: "it named" });
        }
        Ok(Self {
            command: command.to_owned(),
            requests,
            options: options.clone(),
            outputs,
            names: first.names,
            restarts: AtomicUsize::new(0),
            pool: Pool::new(child, options.workers - 1),
        })
    }

    /// Number of outputs per row.
    pub fn output_count(&self) -> usize {
        self.outputs
    }

    /// What the program calls its outputs, where it said so.
    pub fn output_names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// How many times a process was started in the place of one that died or took too long.
    pub fn restarts(&self) -> usize {
        self.restarts.load(Ordering::Relaxed)
    }

    /// The outputs of rows: rows × outputs, row-major.
    ///
    /// # Errors
    ///
    /// [`GameError::Width`](apportion_games::GameError::Width)
    /// and [`ProgramError::NoWord`] for rows that it cannot be asked for. Where a process dies ([`ProgramError::Ended`]), takes too long
    /// ([`ProgramError::Hung`]) or closes its streams ([`ProgramError::Closed`]), the error of the last of the restarts that are allowed,
    /// in [`ProgramError::Again`]. Any other answer that is wrong is returned at once: [`ProgramError::RowCount`],
    /// [`ProgramError::Unasked`], [`ProgramError::NotNumbers`], [`ProgramError::LineWidth`], [`ProgramError::Outputs`],
    /// [`ProgramError::NotArrow`], [`ProgramError::NotFinite`].
    pub fn predictions(&self, rows: Rows<'_>) -> Result<Vec<f64>, ProgramError> {
        let mut out = vec![0.0; rows.len() * self.outputs];
        self.predict_into(rows, &mut out)?;
        Ok(out)
    }

    fn predict_into(&self, rows: Rows<'_>, out: &mut [f64]) -> Result<(), ProgramError> {
        self.requests.check(rows)?;
        if rows.is_empty() {
            return Ok(());
        }
        let mut place = self.pool.place();
        let (mut done, mut restarts) = (0, 0);
        loop {
            if were_ended() {
                return Err(ProgramError::Stopped);
            }
            let child = match place.child.take() {
                Some(child) => child,
                None => Child::start(&self.command, &self.requests, &self.options)?,
            };
            let before = done;
            match self.go_on(child, rows, &mut done, out) {
                Ok(child) => {
                    place.child = Some(child);
                    return Ok(());
                }
                Err(_) if were_ended() => return Err(ProgramError::Stopped),
                Err(error) if !error.is_of_process() => return Err(error),
                Err(error) => {
                    // Each batch may be tried so often.
                    restarts = if done > before { 0 } else { restarts };
                    if restarts == self.options.restarts {
                        return Err(match restarts {
                            0 => error,
                            restarts => ProgramError::Again { restarts, last: Box::new(error) },
                        });
                    }
                    restarts += 1;
                    self.restarts.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
    }

    /// Asks for the outputs of the rows from `done` on, which counts those that came. Returns the process, unless it is of no more use.
    fn go_on(
        &self,
        mut child: Child,
        rows: Rows<'_>,
        done: &mut usize,
        out: &mut [f64],
    ) -> Result<Child, ProgramError> {
        let first = *done;
        let rest = rows.slice(first..rows.len());
        let mut receive = |start: usize, batch, answer: Answer| {
            check_outputs(batch, &answer, self.outputs)?;
            check_finite(&answer, self.outputs, first + start)?;
            let start = (first + start) * self.outputs;
            out[start..start + answer.values.len()].copy_from_slice(&answer.values);
            *done += answer.rows;
            Ok(())
        };
        match child.ask(&self.requests, rest, self.options.batch_rows, &mut receive) {
            Ok(()) => Ok(child),
            Err(error) => {
                child.kill();
                Err(error)
            }
        }
    }
}

fn check(command: &str, options: &ProgramOptions) -> Result<(), ProgramError> {
    let problem = if command.trim().is_empty() {
        "the command is empty; give one that reads rows and writes outputs"
    } else if command.contains('\0') {
        "the command has a character 0 in it; leave it out"
    } else if options.batch_rows == 0 {
        "a batch of 0 rows is asked for; give 1 or more"
    } else if options.workers == 0 {
        "0 workers are asked for; give 1 or more"
    } else if options.timeout.is_zero() {
        "a time-out of 0 s is asked for; give more"
    } else {
        return Ok(());
    };
    Err(ProgramError::options(problem))
}

fn check_outputs(batch: Batch, answer: &Answer, wanted: usize) -> Result<(), ProgramError> {
    let given = answer.values.len() / answer.rows;
    if given == wanted {
        return Ok(());
    }
    Err(ProgramError::Outputs { batch, given, wanted, by: "the first answer had" })
}

/// Refuses outputs that are not finite, in an answer whose first row is row `first` of those given.
fn check_finite(answer: &Answer, outputs: usize, first: usize) -> Result<(), ProgramError> {
    match answer.values.iter().position(|value| !value.is_finite()) {
        Some(at) => Err(ProgramError::NotFinite {
            row: first + at / outputs,
            output: at % outputs,
            value: answer.values[at],
        }),
        None => Ok(()),
    }
}

/// Refuses outputs of rows, all of them the same, that are not those of the row `alone`.
fn check_function(alone: &[f64], together: &[f64]) -> Result<(), ProgramError> {
    let largest = alone.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    for row in together.chunks(alone.len()) {
        for (output, (&alone, &together)) in alone.iter().zip(row).enumerate() {
            if (alone - together).abs() > AGREEMENT * largest {
                return Err(ProgramError::NotAFunction { output, alone, together });
            }
        }
    }
    Ok(())
}

impl Model for Program {
    fn outputs(&self) -> usize {
        self.outputs
    }

    fn features(&self) -> Option<usize> {
        Some(self.requests.columns())
    }

    /// A batch: with each a program has work to do beside its rows.
    fn rows_per_call(&self) -> usize {
        self.options.batch_rows
    }

    fn predict(&self, rows: Rows<'_>, out: &mut [f64]) -> Result<(), BoxError> {
        self.predict_into(rows, out).map_err(ProgramError::boxed)
    }
}

impl std::fmt::Debug for Program {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("Program")
            .field("command", &self.command)
            .field("outputs", &self.outputs)
            .finish_non_exhaustive()
    }
}
