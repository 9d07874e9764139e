//! Groups of features as they are typed, or as they are found in data.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, Result};
use apportion::partitions::{ClusteredFeatures, Cut, Dependence, FeatureClustering, Linkage};
use apportion::{Partition, Rows};
use clap::Args;

use crate::failure::Usage;
use crate::groups_file;
use crate::quoted;

/// What separates groups, and features in them.
const SEPARATORS: [char; 2] = [';', ','];

/// The groups that were asked for, not yet compared with the features.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Groups {
    /// Found in data: as many as given, else those whose dependence is significant.
    Auto(Option<usize>),
    /// Typed: for each group the features, by name or number.
    Given(Vec<Vec<String>>),
    /// Listed in a JSON file.
    File(PathBuf),
}

/// How groups are found in data.
#[derive(Debug, Args)]
pub(crate) struct Clustering {
    /// How dependence is measured to find groups: spearman, mutual-information[=BINS], nearest-neighbours[=K] (mutual information by
    /// nearest neighbours), mic (the maximal information coefficient)
    /// [default: spearman]
    #[arg(long, value_name = "MEASURE", value_parser = dependence)]
    pub(crate) dependence: Option<Dependence>,

    /// How the dependence of groups follows from that of features: average, single, complete
    /// [default: average]
    #[arg(long, value_name = "NAME", value_parser = str::parse::<Linkage>)]
    pub(crate) linkage: Option<Linkage>,
}

fn dependence(name: &str) -> Result<Dependence, String> {
    match name.parse() {
        Ok(Dependence::MutualInformation { bins: Some(bins @ 0..=1) }) => {
            Err(format!("{bins} bins tell nothing; give 2 or more, or leave the number out"))
        }
        Ok(Dependence::NearestNeighbours { neighbours: Some(0), .. }) => {
            Err("there are no 0 nearest neighbours; give 1 or more, or leave the number out".to_owned())
        }
        Ok(dependence) => Ok(dependence),
        Err(error) => Err(error.to_string()),
    }
}

impl FromStr for Groups {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        match text.split_once('=') {
            None if text == "auto" => return Ok(Self::Auto(None)),
            Some(("auto", count)) => {
                let count = count.trim().parse();
                return count.map(|count| Self::Auto(Some(count))).map_err(|_| {
                    format!("{text:?} names no number of groups; write auto=3, or auto to have it found")
                });
            }
            _ => {}
        }
        if Path::new(text).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json")) {
            return Ok(Self::File(PathBuf::from(text)));
        }
        let group =
            |group| quoted::split(group, ',', &SEPARATORS).into_iter().map(quoted::unquoted).collect();
        // A separator at the end is no further group.
        let typed = text.trim_end_matches(';');
        Ok(Self::Given(quoted::split(typed, ';', &SEPARATORS).into_iter().map(group).collect()))
    }
}

impl Groups {
    /// The partition of the features with these `names`, found in `data` where that is asked for.
    pub(crate) fn partition(
        &self,
        names: &[String],
        clustering: &Clustering,
        data: impl FnOnce() -> Result<Vec<f64>>,
    ) -> Result<Partition> {
        match self {
            Self::Auto(count) => Ok(find(*count, clustering, &data()?, names.len())?.partition),
            Self::Given(groups) => given(groups, names),
            Self::File(path) => given(&groups_file::read(path)?, names),
        }
    }
}

/// Groups of the columns of `data` that depend on each other.
pub(crate) fn find(
    count: Option<usize>,
    clustering: &Clustering,
    data: &[f64],
    columns: usize,
) -> Result<ClusteredFeatures> {
    if let Some(count) = count.filter(|count| !(1..=columns).contains(count)) {
        let says = format!("--groups auto={count}: {columns} features make 1 to {columns} groups");
        return Err(Usage(says).into());
    }
    let clustering = FeatureClustering {
        dependence: clustering.dependence.unwrap_or_default(),
        linkage: clustering.linkage.unwrap_or_default(),
        cut: count.map(Cut::Groups),
        ..FeatureClustering::default()
    };
    clustering.fit(Rows::new(data, columns)).context("no groups can be found in the data")
}

/// The option that gives these groups: features by name, or by number where several have the name or it is empty.
pub(crate) fn typed(groups: &[Vec<usize>], names: &[String]) -> String {
    let feature = |&feature: &usize| {
        let name = &names[feature];
        let is_unique = names.iter().filter(|other| *other == name).count() == 1;
        if is_unique && !name.is_empty() { quoted::typed(name, &SEPARATORS) } else { feature.to_string() }
    };
    let group = |group: &Vec<usize>| group.iter().map(feature).collect::<Vec<_>>().join(",");
    groups.iter().map(group).collect::<Vec<_>>().join(";")
}

/// The feature that is meant in `option`: by its name; where none has it, by its number.
pub(crate) fn feature(option: &str, name: &str, names: &[String]) -> Result<usize> {
    let by_name = names.iter().position(|known| known == name);
    let by_number = || name.parse::<usize>().ok().filter(|&number| number < names.len());
    by_name.or_else(by_number).ok_or_else(|| {
        let says = if name.is_empty() {
            "a feature without a name, or a group without features".to_owned()
        } else {
            format!("{name:?}, which is no feature")
        };
        let known = names.join(", ");
        Usage(format!("{option} has {says}; features are {known}, or 0 to {}", names.len() - 1)).into()
    })
}

/// The partition into the groups that were typed.
fn given(groups: &[Vec<String>], names: &[String]) -> Result<Partition> {
    let feature = |name: &String| feature("--groups", name, names);
    let numbers = groups.iter().map(|group| group.iter().map(feature).collect::<Result<Vec<_>>>());
    Partition::new(names.len(), numbers.collect::<Result<_>>()?).map_err(|error| {
        let numbered: Vec<String> =
            names.iter().enumerate().map(|(number, name)| format!("{number} {name}")).collect();
        Usage(format!("--groups: {error}; features are {}", numbered.join(", "))).into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(text: &str) -> Result<Partition> {
        let names = ["age", "sex", "0", "bmi"].map(str::to_owned);
        let clustering = Clustering { dependence: None, linkage: None };
        let no_data = || anyhow::bail!("no data is needed");
        text.parse::<Groups>().unwrap().partition(&names, &clustering, no_data)
    }

    #[test]
    fn features_are_meant_by_name_first_and_by_number_where_none_has_it() {
        let wanted = Partition::new(4, vec![vec![3, 1], vec![0], vec![2]]).unwrap();
        assert_eq!(groups("bmi, sex;age;0").unwrap(), wanted);
        assert_eq!(groups("3,1; age ;2;").unwrap(), wanted);
    }

    #[test]
    fn what_is_no_partition_is_refused_with_the_features() {
        for (text, wanted) in [
            ("age,sex;bmi", "1 of 4 players are in no group, the first being 2"),
            ("age,sex,0;bmi,age", "player 0 is in group 0 and again in group 1"),
            ("age,sex,0;;bmi", "a group without features"),
            ("age,sex,weight;0,bmi", "\"weight\", which is no feature"),
            ("age,sex,0;4", "\"4\", which is no feature"),
        ] {
            let message = groups(text).unwrap_err().to_string();
            assert!(message.contains(wanted) && message.contains("bmi"), "{message}");
        }
    }

    #[test]
    fn what_was_found_can_be_typed() {
        let wanted = vec![vec![3, 1], vec![0], vec![2]];
        for names in [
            ["age", "sex", "0", "bmi"],
            ["a;b", "c,d", "\"e\"", "x y "],
            ["a", "a", "b", ""],
            ["3", "2", "1", "0"],
        ] {
            let names = names.map(str::to_owned);
            let Groups::Given(read) = typed(&wanted, &names).parse().unwrap() else { panic!("{names:?}") };
            assert_eq!(given(&read, &names).unwrap().groups(), wanted, "{names:?}");
        }
        let names = ["age", "sex", "bmi"].map(str::to_owned);
        assert_eq!(typed(&[vec![0, 2], vec![1]], &names), "age,bmi;sex");
    }

    #[test]
    fn a_number_of_groups_to_find_is_a_number() {
        assert_eq!("auto=3".parse::<Groups>().unwrap(), Groups::Auto(Some(3)));
        assert_eq!("auto".parse::<Groups>().unwrap(), Groups::Auto(None));
        assert!("auto=many".parse::<Groups>().unwrap_err().contains("auto=3"));
    }
}
