//! Names of the measures of dependence.

use std::fmt;
use std::str::FromStr;

use super::Dependence;
use crate::error::PartitionsError;

/// Formats the name: `spearman`, `mutual-information`, `mutual-information=BINS`, `nearest-neighbours`,
/// `nearest-neighbours=K`, or `mic`. The name does not include the seed.
impl fmt::Display for Dependence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AbsoluteSpearman => write!(f, "spearman"),
            Self::MaximalInformation => write!(f, "mic"),
            Self::MutualInformation { bins: None } => write!(f, "mutual-information"),
            Self::MutualInformation { bins: Some(bins) } => write!(f, "mutual-information={bins}"),
            Self::NearestNeighbours { neighbours: None, .. } => write!(f, "nearest-neighbours"),
            Self::NearestNeighbours { neighbours: Some(neighbours), .. } => {
                write!(f, "nearest-neighbours={neighbours}")
            }
        }
    }
}

/// Parses the names that `Display` writes. The seed is 0.
impl FromStr for Dependence {
    type Err = PartitionsError;

    fn from_str(name: &str) -> Result<Self, PartitionsError> {
        let unknown = || PartitionsError::UnknownName {
            what: "measure of dependence",
            name: name.to_owned(),
            known: "spearman, mutual-information, mutual-information=BINS, nearest-neighbours, \
                    nearest-neighbours=K, mic",
        };
        let number = |text: &str| text.parse::<usize>().map_err(|_| unknown());
        match name.split_once('=') {
            None if name == "spearman" => Ok(Self::AbsoluteSpearman),
            None if name == "mic" => Ok(Self::MaximalInformation),
            None if name == "mutual-information" => Ok(Self::mutual_information()),
            None if name == "nearest-neighbours" => Ok(Self::nearest_neighbours()),
            Some(("mutual-information", bins)) => Ok(Self::MutualInformation { bins: Some(number(bins)?) }),
            Some(("nearest-neighbours", k)) => {
                Ok(Self::NearestNeighbours { neighbours: Some(number(k)?), seed: 0 })
            }
            _ => Err(unknown()),
        }
    }
}
