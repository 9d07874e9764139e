//! Any program that reads rows on its standard input and writes outputs on its standard output, as a model of
//! games.
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
//! | item | what it is |
//! |---|---|
//! | [`Program`] | a command, run by the shell once, that answers batch after batch; a [`Model`] |
//! | [`Column`], [`Texts`] | the name of a feature, and its words where it has some |
//! | [`ProgramOptions`], [`Format`] | CSV or Arrow, rows per batch, time-out, restarts, workers |
//! | [`ProgramError`], [`Batch`] | what the program did, what is wanted, what to do |
//!
//! What the program reads and writes is described in [`Format`], with a server of ten lines. Feature `arrow`:
//! [`Format::Arrow`].

mod answers;
mod child;
mod column;
mod error;
mod options;
mod pool;
mod process;
mod program;
mod requests;

/// Types of a lower crate in signatures here, so that users of this crate need no other.
#[doc(no_inline)]
pub use apportion_games::{Model, Rows};

pub use column::{Column, Texts};
pub use error::{Batch, ProgramError};
pub use options::{Format, ProgramOptions};
pub use process::end_all;
pub use program::Program;

/// The example of the README is a test.
#[cfg(all(doctest, unix))]
#[doc = include_str!("../README.md")]
struct Readme;
