//! Groups of features, as given by options, and the options for finding groups in data.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::Result;
use apportion::options::{self, OptionError};
use apportion::partitions::{Dependence, Linkage};
use clap::Args;

/// The requested groups of features, before they are checked against their names.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Groups {
    /// Groups given on the command line.
    Words(options::Groups),
    /// A JSON file with the groups.
    File(PathBuf),
}

/// Settings for finding groups in data.
#[derive(Debug, Args)]
pub(crate) struct Clustering {
    /// Dependence measure: spearman, mutual-information[=BINS], nearest-neighbours[=K] or mic [default:
    /// spearman]
    ///
    /// nearest-neighbours estimates mutual information from nearest neighbours; mic is the maximal
    /// information coefficient.
    #[arg(long, value_name = "MEASURE", value_parser = dependence)]
    pub(crate) dependence: Option<Dependence>,

    /// Linkage, which defines the dependence of groups: average, single or complete [default: average]
    #[arg(long, value_name = "NAME", value_parser = str::parse::<Linkage>)]
    pub(crate) linkage: Option<Linkage>,
}

fn dependence(name: &str) -> Result<Dependence, String> {
    match name.parse() {
        Ok(Dependence::MutualInformation { bins: Some(bins @ 0..=1) }) => {
            Err(format!("invalid number of bins {bins}: must be at least 2"))
        }
        Ok(Dependence::NearestNeighbours { neighbours: Some(0), .. }) => {
            Err("invalid number of nearest neighbours 0: must be at least 1".to_owned())
        }
        Ok(dependence) => Ok(dependence),
        Err(error) => Err(error.to_string()),
    }
}

impl FromStr for Groups {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        let path = Path::new(text.trim());
        match path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json")) {
            true => Ok(Self::File(path.to_owned())),
            false => text.parse().map(Self::Words),
        }
    }
}

impl Groups {
    /// Returns whether the groups are to be found in data.
    pub(crate) fn are_found(&self) -> bool {
        matches!(self, Self::Words(options::Groups::Auto(_)))
    }
}
