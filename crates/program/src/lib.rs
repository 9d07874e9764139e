//! External programs as models: any program that reads rows on standard input and writes outputs on standard
//! output.
//!
//! ```no_run
//! use apportion_program::{Column, Program, ProgramError, ProgramOptions, Rows};
//!
//! let columns = [Column::new("age"), Column::new("bmi")];
//! let values = [41.0, 27.5, 63.0, 22.1];
//! let rows = Rows::new(&values, 2);
//! let program = Program::start("python3 server.py", &columns, rows, &ProgramOptions::default())?;
//! let outputs = program.predictions(rows)?;
//! program.finish()?;
//! # Ok::<(), ProgramError>(())
//! ```
//!
//! | item | description |
//! |---|---|
//! | [`Program`] | a shell command that is started once and answers batch after batch; a [`Model`] |
//! | [`Column`], [`Texts`] | the name of a feature, and its categories if it has any |
//! | [`ProgramOptions`], [`Format`] | CSV or Arrow, rows per batch, time-out, restarts, workers |
//! | [`ProgramError`], [`Batch`] | errors: what the program did, what was expected, and how to fix it |
//!
//! [`Format`] describes the input and output of a program, with a ten-line server. The feature `arrow`
//! enables [`Format::Arrow`].

mod answers;
mod child;
mod column;
mod error;
mod options;
mod pool;
mod process;
mod program;
mod requests;

/// Types of a lower-level crate in the signatures of this crate, re-exported so that users need no other
/// dependency.
#[doc(no_inline)]
pub use apportion_games::{Model, Rows};

pub use column::{Column, Texts};
pub use error::{Batch, ProgramError};
pub use options::{Format, ProgramOptions};
pub use process::end_all;
pub use program::Program;

/// Runs the example of the README as a doctest.
#[cfg(all(doctest, unix))]
#[doc = include_str!("../README.md")]
struct Readme;
