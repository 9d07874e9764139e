//! The distance between groups of features.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::PartitionsError;

/// The distance between two groups, as a function of the distances 1 − dependence between their features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Linkage {
    /// The mean distance over all pairs of one feature from each group.
    #[default]
    Average,
    /// The minimum: groups are merged by the distance of their two most dependent features. They may become
    /// long chains.
    Single,
    /// The maximum: groups are merged by the distance of their two least dependent features, so all features
    /// of a group depend on one another.
    Complete,
}

impl Linkage {
    pub(crate) fn method(self) -> kodama::Method {
        match self {
            Self::Average => kodama::Method::Average,
            Self::Single => kodama::Method::Single,
            Self::Complete => kodama::Method::Complete,
        }
    }
}

/// Formats the name: `average`, `single` or `complete`.
impl fmt::Display for Linkage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Average => "average",
            Self::Single => "single",
            Self::Complete => "complete",
        })
    }
}

impl FromStr for Linkage {
    type Err = PartitionsError;

    fn from_str(name: &str) -> Result<Self, PartitionsError> {
        match name {
            "average" => Ok(Self::Average),
            "single" => Ok(Self::Single),
            "complete" => Ok(Self::Complete),
            _ => Err(PartitionsError::UnknownName {
                what: "linkage",
                name: name.to_owned(),
                known: "average, single, complete",
            }),
        }
    }
}
