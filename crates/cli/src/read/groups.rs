//! Groups of features: read from a file, found in data, and named for results.

use anyhow::{Context, Error, Result, anyhow};
use apportion::games::Member;
use apportion::options::{self, FindGroups, Structure};
use apportion::partitions::{ClusteredFeatures, Cut, FeatureClustering, PartitionsError};
use apportion::{Partition, Rows, Value};

use super::groups_file;
use crate::failure::Usage;
use crate::option_error::usage;
use crate::parse::groups::{Clustering, Groups};

impl Groups {
    /// Returns the groups of the features with these `names`, found in `data` if that is requested.
    pub(crate) fn structure(
        &self,
        names: &[String],
        clustering: &Clustering,
        data: impl FnOnce() -> Result<Vec<f64>>,
    ) -> Result<Structure> {
        let groups = match self {
            Self::Words(options::Groups::Auto(what)) => {
                let found = find(*what, clustering, &data()?, names)?;
                return Ok(match what {
                    FindGroups::Tree => Structure::Levels(found.dendrogram.hierarchy()),
                    _ => Structure::Groups(found.partition),
                });
            }
            Self::Words(groups) => groups.structure(names),
            Self::File(path) => options::Groups::Names(groups_file::read(path)?).structure(names),
        };
        groups.map_err(usage)?.context("finding groups requires data")
    }

    /// Returns the groups, or an error if they are nested.
    pub(crate) fn partition(
        &self,
        names: &[String],
        clustering: &Clustering,
        data: impl FnOnce() -> Result<Vec<f64>>,
    ) -> Result<Partition> {
        match self.structure(names, clustering, data)? {
            Structure::Groups(partition) => Ok(partition),
            Structure::Levels(_) => {
                let says = "--interactions does not support nested groups; use a single level of groups";
                Err(Usage(says.to_owned()).into())
            }
        }
    }
}

/// Returns the groups of a value, if it has some, with their features and subgroups.
pub(crate) fn members(value: &Value) -> Option<Vec<Member>> {
    let group =
        |features: &Vec<usize>| Member::Group(features.iter().map(|&one| Member::Player(one)).collect());
    let groups = value.groups().map(|partition| partition.groups().iter().map(group).collect());
    groups.or_else(|| value.hierarchy().map(options::members))
}

/// Replaces features with their names, as in results.
pub(crate) fn named(groups: &[Member], features: &[String]) -> Vec<apportion_results::Member> {
    let member = |member: &Member| match member {
        Member::Player(feature) => apportion_results::Member::Feature(features[*feature].clone()),
        Member::Group(members) => apportion_results::Member::Group(named(members, features)),
    };
    groups.iter().map(member).collect()
}

/// Returns the name of each group: the names of its features, as on the command line.
pub(crate) fn names_of_groups(groups: &[Vec<usize>], features: &[String]) -> Vec<String> {
    let name = |group: &Vec<usize>| {
        group.iter().map(|&feature| features[feature].as_str()).collect::<Vec<_>>().join(",")
    };
    groups.iter().map(name).collect()
}

/// Finds groups of dependent columns in `data`; `names` are the names of the columns.
pub(crate) fn find(
    what: FindGroups,
    clustering: &Clustering,
    data: &[f64],
    names: &[String],
) -> Result<ClusteredFeatures> {
    let columns = names.len();
    let count = match what {
        FindGroups::Count(count) => Some(count),
        _ => None,
    };
    if let Some(count) = count.filter(|count| !(1..=columns).contains(count)) {
        let says = format!(
            "invalid value auto={count} for --groups: the number of groups must be from 1 to the number of \
             features, {columns}"
        );
        return Err(Usage(says).into());
    }
    let clustering = FeatureClustering {
        dependence: clustering.dependence.unwrap_or_default(),
        linkage: clustering.linkage.unwrap_or_default(),
        cut: count.map(Cut::Groups),
        ..FeatureClustering::default()
    };
    clustering
        .fit(Rows::new(data, columns))
        .map_err(|error| with_names(error, names))
        .context("cannot find groups in the data")
}

/// Rewords an error that refers to features by index.
fn with_names(error: PartitionsError, names: &[String]) -> Error {
    match error {
        PartitionsError::TooFewRows { first, second, complete, min } => anyhow!(
            "only {complete} {} values for both {:?} and {:?}, but measuring dependence requires at least \
             {min}; add rows or remove one of the two features",
            if complete == 1 { "row has" } else { "rows have" },
            names[first],
            names[second]
        ),
        PartitionsError::Infinite { row, column, value } => anyhow!(
            "row {row} of the data has the value {value} in {:?}, but measuring the dependence of features \
             requires finite values; pass a finite number, or list the groups instead",
            names[column]
        ),
        error => error.into(),
    }
}
