//! Files of results: written whole or not at all, and checkpoints of runs.
//!
//! ```
//! use std::io::Write;
//!
//! use apportion_files::{Destination, FileError};
//!
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("results.csv");
//! let destination = Destination::file("results", &path, &[])?;
//! destination.write(|out| -> Result<(), FileError> { Ok(out.write_all(b"row,age\n")?) })?;
//! assert_eq!(std::fs::read(&path)?, b"row,age\n");
//! # Ok::<(), FileError>(())
//! ```
//!
//! | item | what it is |
//! |---|---|
//! | [`Destination`], [`Sink`] | a file that appears whole or not at all, standard output, or a device |
//! | [`CheckpointFile`] | the rows of a run that are done, and its state in those that are not, in a file |
//! | [`Key`] | what a run depends on: a checkpoint resumes only with the same |
//! | [`digest`] | SHA-256 of files, numbers and texts, as keys contain them |
//! | [`FileError`] | what cannot be written, read or resumed, and what to do |

mod checkpoint;
mod destination;
pub mod digest;
mod error;
mod key;

pub use checkpoint::{BEGINNING, CheckpointFile, facts, is_checkpoint};
pub use destination::{Destination, Sink, is_closed_pipe};
pub use error::FileError;
pub use key::Key;

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
