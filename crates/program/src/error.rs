//! What can go wrong with a program.

use std::time::Duration;

use apportion_games::{BoxError, GameError};

/// Why a program could not be started, or did not predict rows.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// Columns or options that no program can be asked with.
    #[error("{problem}")]
    Options {
        /// What was given and what is wanted.
        problem: String,
    },
    /// The shell could not be started.
    #[error("cannot start {command:?}: {source}")]
    Start {
        /// The command.
        command: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The process ended before it had answered.
    #[error("the program ended ({status}) before it answered {batch}{hint}; {said}")]
    Ended {
        /// How it ended: its exit status or the signal.
        status: String,
        /// Which of its batches it did not answer.
        batch: Batch,
        /// What such a status usually means; may be empty.
        hint: &'static str,
        /// The last lines of its standard error.
        said: String,
    },
    /// The process took too long, and was killed.
    #[error(
        "the program did not answer {batch} within {} s, and was killed: {rows} of {wanted} rows came{hint}; {said}",
        limit.as_secs_f64()
    )]
    Hung {
        /// Which of its batches it did not answer.
        batch: Batch,
        /// The most time for a batch.
        limit: Duration,
        /// Rows of the answer that came.
        rows: usize,
        /// Rows of the batch.
        wanted: usize,
        /// What is missing; may be empty.
        hint: &'static str,
        /// The last lines of its standard error.
        said: String,
    },
    /// The process runs, and has closed what it reads or writes.
    #[error("the program closed its standard {stream} before it answered {batch}; {said}")]
    Closed {
        /// "input" or "output".
        stream: &'static str,
        /// Which of its batches it did not answer.
        batch: Batch,
        /// The last lines of its standard error.
        said: String,
    },
    /// As many restarts as are allowed did not help.
    #[error("{last} (the same after {restarts} restarts of the program)")]
    Again {
        /// How many times it was started again.
        restarts: usize,
        /// What it did the last time.
        last: Box<ProgramError>,
    },
    /// All programs were ended ([`end_all`](crate::end_all)).
    #[error("the run was interrupted, and the program was ended with it")]
    Stopped,
    /// An answer with too few or too many rows.
    #[error(
        "the program answered {batch} of {wanted} rows with {given}{}; it must answer each row with one line, and end each answer with one empty line",
        if *at_least { " or more" } else { "" }
    )]
    RowCount {
        /// Which of its batches.
        batch: Batch,
        /// Rows of the answer.
        given: usize,
        /// Whether there may be more.
        at_least: bool,
        /// Rows of the batch.
        wanted: usize,
    },
    /// An answer to a batch that was not asked, or whose rows were not all read.
    #[error(
        "the program answered {batch} before it had read the rows; it must read all rows of a batch, then answer"
    )]
    Unasked {
        /// Which of its batches.
        batch: Batch,
    },
    /// A line that is not made of numbers.
    #[error(
        "line {line} of the program's output is {text:?}, but numbers separated by commas are wanted; write anything else to standard error"
    )]
    NotNumbers {
        /// Which line, from 1.
        line: usize,
        /// The line, cut off where it is long.
        text: String,
    },
    /// A row with another number of outputs than the rows before.
    #[error(
        "line {line} of the program's output has {given} numbers, but the rows before it have {wanted}; commas separate outputs, so write \
         decimals with a point"
    )]
    LineWidth {
        /// Which line, from 1.
        line: usize,
        /// Its numbers.
        given: usize,
        /// Those of the rows before.
        wanted: usize,
    },
    /// Another number of outputs than at the start, or than names of outputs.
    #[error(
        "the program answered {batch} with {given} outputs per row, but {wanted} are wanted: as many as {by}"
    )]
    Outputs {
        /// Which of its batches.
        batch: Batch,
        /// Outputs per row of the answer.
        given: usize,
        /// Outputs per row that are wanted.
        wanted: usize,
        /// What has as many: "the first answer had", "it named".
        by: &'static str,
    },
    /// Output that is no stream of Arrow with columns of numbers.
    #[error("the program's output cannot be read as an Arrow stream of numbers: {problem}")]
    NotArrow {
        /// What was found and what is wanted.
        problem: String,
    },
    /// An output that is infinite or not a number.
    #[error(
        "output {output} of row {row} is {value}; a model needs finite predictions, so check the program at that row"
    )]
    NotFinite {
        /// Which row of those given, from 0.
        row: usize,
        /// Which of the outputs.
        output: usize,
        /// What came out.
        value: f64,
    },
    /// A row whose outputs changed from one batch to another.
    #[error(
        "output {output} of the row {row:?} is {first} {} and {second} {}{}; a model must be a function of a row: it must not draw at \
         random, count its calls or depend on other rows of a batch",
        Together(*first_rows),
        Together(*second_rows),
        if *at_end { " at the end of the run" } else { "" }
    )]
    NotAFunction {
        /// The cells of the row, as the program reads them.
        row: String,
        /// Which of the outputs.
        output: usize,
        /// The output in the earlier batch.
        first: f64,
        /// Rows of that batch.
        first_rows: usize,
        /// The output in the later batch.
        second: f64,
        /// Rows of that batch.
        second_rows: usize,
        /// Whether the later batch was the check at the end of a run.
        at_end: bool,
    },
    /// A number in a column of words that stands for none of them.
    #[error("row {row} has the value {value} in column {column:?}, which has {words} words, numbered from 0")]
    NoWord {
        /// Which row of those given, from 0.
        row: usize,
        /// The name of the column.
        column: String,
        /// The number.
        value: f64,
        /// How many words the column has.
        words: usize,
    },
    /// Rows of another width than the program has columns, or with an infinite value.
    #[error(transparent)]
    Game(#[from] GameError),
}

/// Which batch of a process, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Batch(pub(crate) usize);

impl std::fmt::Display for Batch {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "its batch {}", self.0)
    }
}

/// A number of rows that are predicted together.
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

    /// Whether a new process may do better: this one is gone, but what it answered was sound.
    pub(crate) fn is_of_process(&self) -> bool {
        matches!(self, Self::Ended { .. } | Self::Hung { .. } | Self::Closed { .. })
    }

    /// For a game, which takes its own errors as they are.
    pub(crate) fn boxed(self) -> BoxError {
        match self {
            Self::Game(error) => error.into(),
            error => error.into(),
        }
    }
}
