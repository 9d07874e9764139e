//! The graph of the features, as given by options.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::Result;
use apportion::options::{self, OptionError};

/// The requested graph of features, before it is checked against their names.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum GraphOption {
    /// A graph given on the command line.
    Words(options::GraphOption),
    /// A file with an edge on each line.
    File(PathBuf),
}

impl FromStr for GraphOption {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        match text.trim().strip_prefix("file=") {
            Some(path) => Ok(Self::File(PathBuf::from(path))),
            None => text.parse().map(Self::Words),
        }
    }
}

impl GraphOption {
    /// Returns the path of the file, if there is one.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Words(_) => None,
            Self::File(path) => Some(path),
        }
    }
}
