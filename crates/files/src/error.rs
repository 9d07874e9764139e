//! Errors of writing, reading and resuming.

use std::io;
use std::path::PathBuf;

/// An error while writing a file or resuming a run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// Other output would be mixed with the results.
    #[error("cannot write {what} to standard output, which is reserved for the results; choose a file path")]
    StandardOutput {
        /// The option and the path, as given.
        what: String,
    },
    /// The path is a symbolic link to a file that does not exist.
    #[error("{what} is a broken symbolic link; choose another path")]
    BrokenLink {
        /// The option and the path, as given.
        what: String,
    },
    /// The file is also an input.
    #[error("{what} would overwrite an input file; choose another path")]
    Input {
        /// The option and the path, as given.
        what: String,
    },
    /// Standard output is redirected to an input file.
    #[error(
        "standard output is redirected to {input}, which would overwrite an input file; redirect it to \
         another file"
    )]
    StandardOutputIsInput {
        /// The name of the input.
        input: String,
    },
    /// The path is a directory.
    #[error("{what} is a directory; choose a file path")]
    Directory {
        /// The option and the path, as given.
        what: String,
    },
    /// The directory of the file does not exist.
    #[error("{what}: directory {directory} does not exist; create it or choose another path")]
    NoDirectory {
        /// The option and the path, as given.
        what: String,
        /// The directory that does not exist.
        directory: PathBuf,
    },
    /// The file is not writable, or the path is not a valid file name.
    #[error("{what} cannot be written: {source}; choose another path")]
    NotWritable {
        /// The option and the path, as given.
        what: String,
        /// The I/O error.
        source: io::Error,
    },
    /// The path is a descriptor, a pipe or a device, which cannot be replaced.
    #[error("{what} is not a regular file, so it cannot store a checkpoint; choose another path")]
    NotRegular {
        /// The option and the path, as given.
        what: String,
    },
    /// Writing failed; the message names the file.
    #[error(transparent)]
    Write(#[from] io::Error),
    /// The content could not be formatted.
    #[error("cannot format {what}: {source}")]
    Format {
        /// The kind of content.
        what: &'static str,
        /// The error of the formatter.
        source: serde_json::Error,
    },
    /// The checkpoint cannot be read.
    #[error("cannot read {what}: {source}")]
    Read {
        /// The option and the path, as given.
        what: String,
        /// The I/O error.
        source: io::Error,
    },
    /// The file is not a checkpoint, or is corrupt.
    #[error(
        "{what} is not a checkpoint, or is corrupt ({problem}); choose another path, or restart with a new \
         checkpoint file"
    )]
    Corrupt {
        /// The option and the path, as given.
        what: String,
        /// The problem with the file.
        problem: String,
    },
    /// The content that [`facts`](crate::facts) received is not a checkpoint, or is corrupt.
    #[error(
        "the file is not a checkpoint, or is corrupt ({problem}); choose another path, or restart with a new \
         checkpoint file"
    )]
    NotCheckpoint {
        /// The problem with the content.
        problem: String,
    },
    /// The checkpoint has a different version.
    #[error(
        "{what} was written by version {version} (format {format}), but this is version {own_version} \
         (format {own_format}); restart with a new checkpoint file"
    )]
    Version {
        /// The option and the path, as given.
        what: String,
        /// The version of this crate that wrote the checkpoint.
        version: String,
        /// The version of the file format in the checkpoint.
        format: u32,
        /// The version of this crate.
        own_version: &'static str,
        /// The file format that this version writes.
        own_format: u32,
    },
    /// The checkpoint belongs to a different run.
    #[error(
        "{what} belongs to a different run ({part}: {stored}, now {actual}); resume with the same {part}, or \
         restart with a new checkpoint file"
    )]
    OtherRun {
        /// The option and the path, as given.
        what: String,
        /// The name of the part that differs.
        part: String,
        /// The value of this part in the checkpoint.
        stored: String,
        /// The value of this part in this run.
        actual: String,
    },
    /// The model's predictions differ from the predictions in the checkpoint.
    #[error(
        "{what} belongs to a different model: the prediction for row {row} was {stored} and is now {actual}; \
         restore the model, or restart with a new checkpoint file"
    )]
    OtherModel {
        /// The option and the path, as given.
        what: String,
        /// The row, counted from 0 among the explained rows.
        row: usize,
        /// The prediction in the checkpoint.
        stored: f64,
        /// The prediction of the current model.
        actual: f64,
    },
    /// The checkpoint is in use by another run.
    #[error("{what} is in use by another run; wait until it ends, or choose another path")]
    InUse {
        /// The option and the path, as given.
        what: String,
    },
    /// The path would overwrite a file that is not a checkpoint.
    #[error("{what} exists and is not a checkpoint; choose another path, or delete the file")]
    NotACheckpoint {
        /// The option and the path, as given.
        what: String,
    },
    /// The path would overwrite the checkpoint of an earlier run.
    #[error("{what} contains an earlier run{rows}; pass --resume {path} to continue it, or delete the file")]
    EarlierRun {
        /// The option and the path, as given.
        what: String,
        /// The path, as given.
        path: PathBuf,
        /// The numbers of rows in the checkpoint, in parentheses; empty if it cannot be read.
        rows: String,
    },
}

impl FileError {
    /// Returns whether the user's request is invalid, regardless of the contents of files.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::StandardOutput { .. })
    }

    /// Returns whether the contents of a checkpoint are invalid, as opposed to the user's request.
    pub fn is_data(&self) -> bool {
        matches!(self, Self::Corrupt { .. } | Self::NotCheckpoint { .. } | Self::Version { .. })
    }

    /// Returns the error number of the system, if this is an error of the file system.
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

/// The system's error number for an I/O error, used for errors without a number.
const EIO: i32 = 5;

/// Returns the error number of the system error that `error` wraps together with the name of the file.
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
