//! Atomic writing of result files, and checkpoints of runs.
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
//! | item | description |
//! |---|---|
//! | [`Destination`], [`Sink`] | a file that is written atomically, standard output, or a device |
//! | [`CheckpointFile`] | a file with the finished rows of a run, and the state of its unfinished rows |
//! | [`Key`] | everything on which a run depends: a checkpoint can only be resumed with the same key |
//! | [`digest`] | SHA-256 of files, numbers and strings, for keys |
//! | [`FileError`] | errors of writing, reading and resuming, with advice on what to do |

mod checkpoint;
mod destination;
pub mod digest;
mod error;
mod key;

pub use checkpoint::{BEGINNING, CheckpointFile, facts, is_checkpoint};
pub use destination::{Destination, Sink, is_closed_pipe};
pub use error::FileError;
pub use key::Key;

/// Runs the examples of the README as doctests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
