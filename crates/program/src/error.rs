//! Errors of programs.

use std::time::Duration;

use apportion_games::phrases::{expected_index, plural};
use apportion_games::{BoxError, GameError};

/// An error while starting a program, or while it predicts rows.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// The columns or options are invalid.
    #[error("{problem}")]
    Options {
        /// The problem, with the actual and the expected value.
        problem: String,
    },
    /// The shell could not be started.
    #[error("cannot start {command:?}: {source}")]
    Start {
        /// The shell command.
        command: String,
        /// The I/O error when starting the shell.
        source: std::io::Error,
    },
    /// The process ended before it had answered.
    #[error("the program exited ({status}) before it returned the outputs of {batch}{hint}; {said}")]
    Ended {
        /// The exit status of the process, or the signal that ended it.
        status: String,
        /// The batch that the process did not answer.
        batch: Batch,
        /// The usual meaning of this exit status; may be empty.
        hint: &'static str,
        /// The last lines that the process wrote to standard error.
        said: String,
    },
    /// The process exceeded the time-out and was killed.
    #[error(
        "the program did not return the outputs of {batch} within {} s and was killed (rows received: {rows} \
         of {expected}){hint}; if the program is slow, raise the timeout (--predict-timeout S); {said}",
        limit.as_secs_f64()
    )]
    Hung {
        /// The batch that the process did not answer.
        batch: Batch,
        /// The time-out for a batch.
        limit: Duration,
        /// Number of rows of the answer that were received.
        rows: usize,
        /// Number of rows of the batch.
        expected: usize,
        /// A hint about the cause; may be empty.
        hint: &'static str,
        /// The last lines that the process wrote to standard error.
        said: String,
    },
    /// The process is running, but has closed its input or output.
    #[error(
        "the program closed its standard {stream} before it returned the outputs of {batch}; the program \
         must process batch after batch until its standard input ends; {said}"
    )]
    Closed {
        /// The closed stream, "input" or "output".
        stream: &'static str,
        /// The batch that the process did not answer.
        batch: Batch,
        /// The last lines that the process wrote to standard error.
        said: String,
    },
    /// The process still failed after the maximum number of restarts.
    #[error("the program failed again after {restarts} restart{}: {last}", plural(*restarts))]
    Again {
        /// Number of restarts.
        restarts: usize,
        /// The error of the last restarted process.
        last: Box<ProgramError>,
    },
    /// All programs were stopped ([`end_all`](crate::end_all)).
    #[error("the run was interrupted, and the program was stopped")]
    Stopped,
    /// An answer has too few or too many rows.
    #[error(
        "the program returned {actual}{} for {batch}, expected {expected}; the program must write one line \
         per row, and an empty line after each batch",
        match (*at_least, *actual) {
            (true, _) => " or more rows",
            (false, 1) => " row",
            (false, _) => " rows",
        }
    )]
    RowCount {
        /// The batch that was answered.
        batch: Batch,
        /// Number of rows of the answer.
        actual: usize,
        /// Whether the answer may have more rows than `actual`.
        at_least: bool,
        /// Number of rows of the batch.
        expected: usize,
    },
    /// The program answered before a batch was sent, or before it had read all rows of the batch.
    #[error(
        "the program returned outputs for {batch} before it had read the rows; the program must read all \
         rows of a batch before it writes their outputs"
    )]
    Unasked {
        /// The batch that was answered.
        batch: Batch,
    },
    /// A line of the output does not consist of numbers.
    #[error(
        "line {line} of the program's output is {text:?}, expected comma-separated numbers; write anything \
         else to standard error"
    )]
    NotNumbers {
        /// The line number, counted from 1.
        line: usize,
        /// The line, truncated if it is long.
        text: String,
    },
    /// A row has a different number of outputs than the rows before it.
    #[error(
        "line {line} of the program's output has {actual} number{}, expected {expected} as in the rows \
         before it; commas separate outputs, so write decimals with a point",
        plural(*actual)
    )]
    LineWidth {
        /// The line number, counted from 1.
        line: usize,
        /// Number of values in the line.
        actual: usize,
        /// Number of values in each row before this line.
        expected: usize,
    },
    /// The number of outputs differs from the number in the first answer, or from the number of output names.
    #[error(
        "the program returned {actual} output{} per row for {batch}; expected {expected}, {by}",
        plural(*actual)
    )]
    Outputs {
        /// The batch that was answered.
        batch: Batch,
        /// Number of outputs per row of the answer.
        actual: usize,
        /// Expected number of outputs per row.
        expected: usize,
        /// Why this number is expected: "as in the first batch", "one per declared output name".
        by: &'static str,
    },
    /// The output is not an Arrow stream with columns of numbers.
    #[error(
        "the program's output cannot be read as an Arrow stream of numbers: {problem}; write an Arrow stream \
         with one column of numbers per output, or use the CSV format"
    )]
    NotArrow {
        /// What is wrong with the output.
        problem: String,
    },
    /// An output is infinite or NaN.
    #[error("output {output} of row {row} is {value}, but predictions must be finite; check the program")]
    NotFinite {
        /// Index of the row among the rows passed to the program.
        row: usize,
        /// Index of the output.
        output: usize,
        /// The value of the output.
        value: f64,
    },
    /// The outputs of a row differ between two batches.
    #[error(
        "output {output} of the row {row:?} is {first} {} and {second} {}{}; the program must be \
         deterministic, and must not depend on earlier calls or on other rows of a batch",
        Together(*first_rows),
        Together(*second_rows),
        if *at_end { " at the end of the run" } else { "" }
    )]
    NotAFunction {
        /// The cells of the row, as sent to the program.
        row: String,
        /// Index of the output.
        output: usize,
        /// The output in the earlier batch.
        first: f64,
        /// Number of rows of the batch with this output.
        first_rows: usize,
        /// The output in the later batch.
        second: f64,
        /// Number of rows of the batch with this output.
        second_rows: usize,
        /// Whether the later batch was the check at the end of a run.
        at_end: bool,
    },
    /// A number in a categorical column does not encode a category.
    #[error(
        "row {row} has the invalid category code {value} in column {column:?}; {}",
        expected_index(*categories, "category")
    )]
    NoCategory {
        /// Index of the row among the rows passed to the program.
        row: usize,
        /// The name of the column.
        column: String,
        /// The number in the cell.
        value: f64,
        /// Number of categories of the column.
        categories: usize,
    },
    /// The rows have the wrong width.
    #[error(transparent)]
    Game(#[from] GameError),
}

/// The number of a batch sent to a process, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Batch(pub(crate) usize);

impl std::fmt::Display for Batch {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "batch {}", self.0)
    }
}

/// The number of rows that are predicted together.
struct Together(usize);

impl std::fmt::Display for Together {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            1 => to.write_str("alone"),
            rows => write!(to, "in a batch of {rows} rows"),
        }
    }
}

impl ProgramError {
    pub(crate) fn options(problem: impl Into<String>) -> Self {
        Self::Options { problem: problem.into() }
    }

    /// Returns whether a new process may succeed, because the process failed rather than returning an invalid
    /// answer.
    pub(crate) fn is_of_process(&self) -> bool {
        matches!(self, Self::Ended { .. } | Self::Hung { .. } | Self::Closed { .. })
    }

    /// Boxes the error for a game. A [`GameError`] is boxed directly, not as a [`ProgramError`].
    pub(crate) fn boxed(self) -> BoxError {
        match self {
            Self::Game(error) => error.into(),
            error => error.into(),
        }
    }
}
