//! What cannot be written, read or resumed.

use std::io;
use std::path::PathBuf;

/// Why a file cannot be written, or a run not be resumed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// Something else than results would be mixed with them.
    #[error("{what} cannot be written to standard output, which is for results; use the name of a file")]
    StandardOutput {
        /// The option, and the path as it was given.
        what: String,
    },
    /// A symbolic link to a file that does not exist.
    #[error("{what} is a broken symbolic link; use another name")]
    BrokenLink {
        /// The option, and the path as it was given.
        what: String,
    },
    /// A file that is read as well.
    #[error("{what} is also an input file; use another name")]
    Input {
        /// The option, and the path as it was given.
        what: String,
    },
    /// Standard output is redirected to a file that is read.
    #[error(
        "standard output is redirected to {input}, which is also an input file; redirect it to another file"
    )]
    StandardOutputIsInput {
        /// The name of the input.
        input: String,
    },
    /// The path of a directory.
    #[error("{what} is a directory; use the name of a file")]
    Directory {
        /// The option, and the path as it was given.
        what: String,
    },
    /// The directory of the file does not exist.
    #[error("{what}: directory {directory} does not exist; create it, or use another name")]
    NoDirectory {
        /// The option, and the path as it was given.
        what: String,
        /// The directory.
        directory: PathBuf,
    },
    /// A file that may not be changed, or a name that cannot be a file's.
    #[error("{what} cannot be written: {source}; use another name")]
    NotWritable {
        /// The option, and the path as it was given.
        what: String,
        /// What the system reports.
        source: io::Error,
    },
    /// A descriptor, a pipe or a device, which cannot be replaced.
    #[error("{what} is not a regular file; a checkpoint requires one")]
    NotRegular {
        /// The option, and the path as it was given.
        what: String,
    },
    /// Writing failed; the message names the file.
    #[error(transparent)]
    Write(#[from] io::Error),
    /// What is written could not be formatted.
    #[error("cannot format {what}: {source}")]
    Format {
        /// What was to be written.
        what: &'static str,
        /// Why.
        source: serde_json::Error,
    },
    /// A checkpoint that cannot be read.
    #[error("cannot read {what}: {source}")]
    Read {
        /// The option, and the path as it was given.
        what: String,
        /// What the system reports.
        source: io::Error,
    },
    /// A file that is not a checkpoint, or a corrupt one.
    #[error("{what} is not a checkpoint, or is corrupt ({problem}); remove it to restart")]
    Corrupt {
        /// The option, and the path as it was given.
        what: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A checkpoint of another version.
    #[error(
        "{what} was written by version {version} in format {format}, this is version {own_version} with format {own_format}; \
         remove it to restart"
    )]
    Version {
        /// The option, and the path as it was given.
        what: String,
        /// The version that wrote it.
        version: String,
        /// The format of the file.
        format: u32,
        /// This version.
        own_version: &'static str,
        /// The format of this version.
        own_format: u32,
    },
    /// A checkpoint of another run.
    #[error(
        "{what} is the checkpoint of another run: {part} was {stored}, and is {given}; resume with the same {part}, or remove the file to restart"
    )]
    OtherRun {
        /// The option, and the path as it was given.
        what: String,
        /// What is different.
        part: String,
        /// As the checkpoint has it.
        stored: String,
        /// As it is now.
        given: String,
    },
    /// The model predicts something else than when the checkpoint was written.
    #[error(
        "{what} is the checkpoint of another model: the prediction for row {row} was {stored}, and is {given}; restore the model, or remove the file to \
         restart"
    )]
    OtherModel {
        /// The option, and the path as it was given.
        what: String,
        /// The row, counted from 0 among those that are explained.
        row: usize,
        /// The prediction in the checkpoint.
        stored: f64,
        /// The prediction now.
        given: f64,
    },
    /// A checkpoint that another run writes to.
    #[error("{what} is in use by another run; wait until it ends, or use another name")]
    InUse {
        /// The option, and the path as it was given.
        what: String,
    },
    /// A file that would be lost.
    #[error("{what} exists and is not a checkpoint; use another name, or remove it")]
    NotACheckpoint {
        /// The option, and the path as it was given.
        what: String,
    },
    /// A checkpoint that would be lost.
    #[error("{what} has an earlier run{rows}; continue it (--resume), or remove it to restart")]
    EarlierRun {
        /// The option, and the path as it was given.
        what: String,
        /// How many rows it has, in parentheses; empty if it cannot be read.
        rows: String,
    },
}

impl FileError {
    /// Returns whether the request is wrong whatever the files contain.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::StandardOutput { .. })
    }

    /// Returns whether a file that was read is wrong, rather than the request.
    pub fn is_data(&self) -> bool {
        matches!(self, Self::Corrupt { .. } | Self::Version { .. })
    }

    /// Returns the number that the system has for this error, if it is one of the file system.
    pub fn os_error(&self) -> Option<i32> {
        #[cfg(unix)]
        use rustix::io::Errno;
        match self {
            Self::NotWritable { source, .. } | Self::Read { source, .. } => source.raw_os_error(),
            Self::Write(error) => Some(os_error_of(error).unwrap_or(EIO)),
            #[cfg(unix)]
            Self::Directory { .. } => Some(Errno::ISDIR.raw_os_error()),
            #[cfg(unix)]
            Self::NoDirectory { .. } | Self::BrokenLink { .. } => Some(Errno::NOENT.raw_os_error()),
            _ => None,
        }
    }
}

/// An error of input or output, for one that has no number.
const EIO: i32 = 5;

/// Returns the number of the error behind one that names the file.
fn os_error_of(error: &io::Error) -> Option<i32> {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(number) = error.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error) {
            return Some(number);
        }
        cause = error.source();
    }
    None
}
