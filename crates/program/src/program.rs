//! The implementation of [`Model`] for programs.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use apportion_games::{BoxError, Model, Rows};

use crate::answers::Answer;
use crate::child::Child;
use crate::column::Column;
use crate::error::{Batch, ProgramError};
use crate::options::ProgramOptions;
use crate::pool::Pool;
use crate::process::{shown, were_ended};
use crate::requests::Requests;

/// Maximum difference between the outputs for the same row in two batches, relative to the largest output. It
/// exceeds rounding errors in single precision, which may differ between batch sizes.
const AGREEMENT: f64 = 1e-5;
/// Maximum number of rows in the trial batch. All rows after the first one differ from it.
const TRIAL_ROWS: usize = 8;

/// A command that reads rows and writes outputs, as described in [`Format`](crate::Format); a [`Model`].
///
/// The shell (`sh -c`; on Windows `cmd /C`) runs the command once, and again if the process dies or takes too
/// long ([`ProgramOptions::restarts`]). The program's standard error is forwarded to the standard error of
/// this process. When this value is dropped, the standard input of the program is closed. If the program has
/// not exited two seconds later, it is killed with all processes that it started.
///
/// A prediction must be a function of its row. Then attributions do not depend on the batches, on the number
/// of processes, or on restarts. Attributions are bitwise identical if the program returns bitwise identical
/// outputs for a row, regardless of the other rows in a batch.
///
/// Memory is needed for two batches of rows per process, and for their answers.
pub struct Program {
    command: String,
    requests: Requests,
    options: ProgramOptions,
    outputs: usize,
    names: Option<Vec<String>>,
    /// The value that [`decimal_comma`](Self::decimal_comma) returns.
    decimal_comma: Option<String>,
    /// Rows that are predicted again at the end of a run, to compare the outputs.
    witnesses: Mutex<Vec<Witness>>,
    /// Whether a row of the run has been predicted both alone and in its batch. Always `true` if batches have
    /// a single row.
    is_compared: AtomicBool,
    /// The largest absolute output of the test at the start. Differences between outputs are measured
    /// relative to it.
    scale: f64,
    restarts: AtomicUsize,
    pool: Pool,
}

/// A row, and the outputs that the program returned for it in a batch.
struct Witness {
    row: Vec<f64>,
    outputs: Vec<f64>,
    /// The number of rows of that batch.
    together: usize,
}

impl Program {
    /// Starts a command that reads rows of these `columns`, and tests it. The first of `rows` is predicted
    /// alone, and then in a batch with up to seven rows that differ from it (or with a copy of itself, if no
    /// row differs). The last row of that batch is then predicted alone. The outputs of a row must be the
    /// same in all batches. The first answer determines the number of outputs.
    ///
    /// Later, one row of the first batch is predicted again alone. At the end of a run,
    /// [`finish`](Self::finish) predicts these rows again.
    ///
    /// # Errors
    ///
    /// [`ProgramError::Options`] (also if there are no rows), [`ProgramError::Start`],
    /// [`ProgramError::NotAFunction`], and the errors of [`predictions`](Self::predictions). The command is
    /// not restarted during the test.
    pub fn start(
        command: &str,
        columns: &[Column],
        rows: Rows<'_>,
        options: &ProgramOptions,
    ) -> Result<Self, ProgramError> {
        check(command, options)?;
        let requests = Requests::new(options.format, columns)?;
        let Some(row) = rows.iter().next() else {
            return Err(ProgramError::options(
                "the program is tested on a row before the run; pass at least one row",
            ));
        };
        let trial = Trial::new(rows, row);
        let (alone, together) = (trial.rows(0..1)?, trial.rows(0..trial.count)?);
        requests.check(together)?;
        let mut child = Child::start(command, &requests, options)?;
        let mut answers = Vec::new();
        let mut receive = |_, batch, answer: Answer| {
            check_finite(&answer, answer.values.len() / answer.rows, 0)?;
            answers.push((batch, answer));
            Ok(())
        };
        let asked = child.request(&requests, alone, 1, &mut receive);
        let asked = asked.and_then(|()| child.request(&requests, together, options.batch_rows, &mut receive));
        let asked = asked.and_then(|()| match trial.is_of_one_row {
            true => Ok(()),
            false => child.request(&requests, trial.rows(trial.count - 1..trial.count)?, 1, &mut receive),
        });
        if let Err(error) = asked {
            child.kill();
            return Err(error);
        }
        let (_, first) = answers.swap_remove(0);
        let outputs = first.values.len();
        let mut scale = largest(&first.values);
        for (batch, answer) in &answers {
            check_outputs(*batch, answer, outputs)?;
            scale = scale.max(largest(&answer.values));
        }
        // Sort the batches in the order in which they were sent: the first row alone, all rows, the last row
        // alone.
        answers.sort_by_key(|(batch, _)| batch.0);
        let all: Vec<f64> = answers.into_iter().flat_map(|(_, answer)| answer.values).collect();
        let together_rows = trial.count.min(options.batch_rows);
        let compare = |row: usize, earlier: (&[f64], usize), later: (&[f64], usize)| {
            let differ = OutputDifference { earlier, later, scale, at_end: false };
            differ.check(|| Ok(requests.cells(trial.rows(row..row + 1)?)))
        };
        compare(0, (&first.values, 1), (&all[..outputs], together_rows))?;
        let last = trial.count - 1;
        let last_together = (&all[last * outputs..][..outputs], together_rows);
        match trial.is_of_one_row {
            true => compare(last, (&first.values, 1), last_together)?,
            false => compare(last, last_together, (&all[trial.count * outputs..], 1))?,
        }
        if let Some(names) = first.names.as_ref().filter(|names| names.len() != outputs) {
            let (actual, expected) = (outputs, names.len());
            return Err(ProgramError::Outputs {
                batch: Batch(1),
                actual,
                expected,
                by: "one per declared output name",
            });
        }
        Ok(Self {
            command: command.to_owned(),
            requests,
            options: options.clone(),
            outputs,
            decimal_comma: first.decimal_comma.filter(|_| first.names.is_none()),
            names: first.names,
            witnesses: Mutex::new(vec![Witness { row: row.to_vec(), outputs: first.values, together: 1 }]),
            is_compared: AtomicBool::new(options.batch_rows == 1),
            scale,
            restarts: AtomicUsize::new(0),
            pool: Pool::new(child, options.workers - 1),
        })
    }

    /// Returns the number of outputs per row.
    pub fn output_count(&self) -> usize {
        self.outputs
    }

    /// Returns the names of the outputs, if the program wrote any.
    pub fn output_names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// Returns the first line of the program's answers if it may be a single number with a decimal comma, as
    /// in `5,25`. Such a line consists of several numbers separated by commas, and at least one of them has
    /// no decimal point. If the program names its outputs, this method returns `None`.
    pub fn decimal_comma(&self) -> Option<&str> {
        self.decimal_comma.as_deref()
    }

    /// Predicts a few rows again, and checks that the program still returns the same outputs. Call this at
    /// the end of a run.
    ///
    /// # Errors
    ///
    /// [`ProgramError::NotAFunction`], and the errors of [`predictions`](Self::predictions).
    pub fn finish(&self) -> Result<(), ProgramError> {
        let witnesses = self.witnesses.lock().unwrap_or_else(PoisonError::into_inner);
        witnesses.iter().try_for_each(|witness| self.compare(witness, true))
    }

    /// Returns the number of times that a process that died or took too long was replaced.
    pub fn restarts(&self) -> usize {
        self.restarts.load(Ordering::Relaxed)
    }

    /// Predicts rows; the result is rows × outputs, row-major.
    ///
    /// # Errors
    ///
    /// [`GameError::Width`](apportion_games::GameError::Width), [`ProgramError::NoCategory`] and
    /// [`ProgramError::Options`] for rows that cannot be written. If a process dies
    /// ([`ProgramError::Ended`]), takes too long ([`ProgramError::Hung`]) or closes its streams
    /// ([`ProgramError::Closed`]), and no restart is left, this error is returned; after a restart, it is
    /// wrapped in [`ProgramError::Again`]. Errors for invalid answers are returned immediately:
    /// [`ProgramError::NotAFunction`], [`ProgramError::RowCount`], [`ProgramError::Unasked`],
    /// [`ProgramError::NotNumbers`], [`ProgramError::LineWidth`], [`ProgramError::Outputs`],
    /// [`ProgramError::NotArrow`], [`ProgramError::NotFinite`]. Also [`ProgramError::Start`] if a process
    /// cannot be started, and [`ProgramError::Stopped`] after [`end_all`](crate::end_all).
    pub fn predictions(&self, rows: Rows<'_>) -> Result<Vec<f64>, ProgramError> {
        let mut out = vec![0.0; rows.len() * self.outputs];
        self.predict_into(rows, &mut out)?;
        Ok(out)
    }

    fn predict_into(&self, rows: Rows<'_>, out: &mut [f64]) -> Result<(), ProgramError> {
        self.evaluate(rows, out)?;
        // Predict one row again alone: the last row of the first batch in which rows differ. A program that
        // uses the mean over a batch, for example, returns a different output for this row alone.
        let together = rows.len().min(self.options.batch_rows);
        let last = together.saturating_sub(1);
        if last == 0
            || have_same_bits(rows.row(0), rows.row(last))
            || self.is_compared.swap(true, Ordering::Relaxed)
        {
            return Ok(());
        }
        let outputs = out[last * self.outputs..][..self.outputs].to_vec();
        let witness = Witness { row: rows.row(last).to_vec(), outputs, together };
        self.compare(&witness, false)?;
        self.witnesses.lock().unwrap_or_else(PoisonError::into_inner).push(witness);
        Ok(())
    }

    /// Predicts a row alone, and compares the outputs with the earlier outputs for this row.
    fn compare(&self, witness: &Witness, at_end: bool) -> Result<(), ProgramError> {
        let row = Rows::try_new(&witness.row, self.requests.columns())?;
        let mut alone = vec![0.0; self.outputs];
        self.evaluate(row, &mut alone)?;
        let (earlier, later) = ((&witness.outputs[..], witness.together), (&alone[..], 1));
        OutputDifference { earlier, later, scale: self.scale, at_end }.check(|| Ok(self.requests.cells(row)))
    }

    fn evaluate(&self, rows: Rows<'_>, out: &mut [f64]) -> Result<(), ProgramError> {
        self.requests.check(rows)?;
        if rows.is_empty() {
            return Ok(());
        }
        let mut place = self.pool.acquire();
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
            match self.request_outputs(child, rows, &mut done, out) {
                Ok(child) => {
                    place.child = Some(child);
                    return Ok(());
                }
                Err(_) if were_ended() => return Err(ProgramError::Stopped),
                Err(error) if !error.is_of_process() => return Err(error),
                Err(error) => {
                    // The limit on restarts applies to each batch, so progress resets the count.
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

    /// Requests the outputs for the rows from index `done` on, and adds the number of rows received to
    /// `done`. Returns the process, unless it failed.
    fn request_outputs(
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
        match child.request(&self.requests, rest, self.options.batch_rows, &mut receive) {
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
        "the command is empty; pass one that reads rows and writes outputs"
    } else if command.contains('\0') {
        "the command contains a NUL character; remove it"
    } else if options.batch_rows == 0 {
        "the batch size must be at least 1, got 0"
    } else if options.workers == 0 {
        "the number of workers must be at least 1, got 0"
    } else if options.timeout.is_zero() {
        "the timeout must be positive, got 0 s"
    } else {
        return Ok(());
    };
    Err(ProgramError::options(problem))
}

fn check_outputs(batch: Batch, answer: &Answer, expected: usize) -> Result<(), ProgramError> {
    let actual = answer.values.len() / answer.rows;
    if actual == expected {
        return Ok(());
    }
    Err(ProgramError::Outputs { batch, actual, expected, by: "as in the first batch" })
}

/// Returns an error for outputs that are not finite; `first` is the index of the answer's first row among the
/// rows passed.
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

/// The rows on which a program is tested.
struct Trial {
    values: Vec<f64>,
    columns: usize,
    /// Number of rows, at least two.
    count: usize,
    /// Whether the rows are two copies of the same row.
    is_of_one_row: bool,
}

impl Trial {
    /// Selects the first of `rows` and rows that differ from it, at most [`TRIAL_ROWS`] in total. If no row
    /// differs, selects the first row twice.
    fn new(rows: Rows<'_>, first: &[f64]) -> Self {
        let others = rows.iter().filter(|row| !have_same_bits(row, first)).take(TRIAL_ROWS - 1);
        let mut values = first.to_vec();
        others.for_each(|row| values.extend(row));
        let is_of_one_row = values.len() == first.len();
        if is_of_one_row {
            values.extend(first);
        }
        Self { count: values.len() / first.len().max(1), values, columns: first.len(), is_of_one_row }
    }

    fn rows(&self, range: std::ops::Range<usize>) -> Result<Rows<'_>, ProgramError> {
        Ok(Rows::try_new(&self.values[range.start * self.columns..range.end * self.columns], self.columns)?)
    }
}

/// Returns whether two rows have the same bits; NaN is equal to itself.
fn have_same_bits(one: &[f64], other: &[f64]) -> bool {
    one.iter().zip(other).all(|(one, other)| one.to_bits() == other.to_bits())
}

fn largest(outputs: &[f64]) -> f64 {
    outputs.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()))
}

/// The outputs for one row in two batches, each with the number of rows in that batch.
struct OutputDifference<'a> {
    earlier: (&'a [f64], usize),
    later: (&'a [f64], usize),
    scale: f64,
    at_end: bool,
}

impl OutputDifference<'_> {
    /// Returns an error for the first output that differs; `cells` returns the row as text for the message.
    fn check(&self, cells: impl Fn() -> Result<String, ProgramError>) -> Result<(), ProgramError> {
        let ((earlier, first_rows), (later, second_rows)) = (self.earlier, self.later);
        let limit = AGREEMENT * self.scale.max(largest(earlier)).max(largest(later));
        for (output, (&first, &second)) in earlier.iter().zip(later).enumerate() {
            if (first - second).abs() > limit {
                let (row, at_end) = (shown(&cells()?), self.at_end);
                return Err(ProgramError::NotAFunction {
                    row,
                    output,
                    first,
                    first_rows,
                    second,
                    second_rows,
                    at_end,
                });
            }
        }
        Ok(())
    }
}

impl Model for Program {
    fn outputs(&self) -> usize {
        self.outputs
    }

    fn features(&self) -> Option<usize> {
        Some(self.requests.columns())
    }

    /// Returns the size of a batch, because the program has a fixed cost per batch.
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
