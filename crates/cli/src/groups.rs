//! Groups of features as they are typed, or as they are found in data.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, Result};
use apportion::games::Graph;
use apportion::games::Member;
use apportion::partitions::{ClusteredFeatures, Cut, Dependence, FeatureClustering, Linkage};
use apportion::plots;
use apportion::values::ValueError;
use apportion::{Hierarchy, Partition, Rows, SolutionConcept, Value};
use clap::Args;

use crate::failure::Usage;
use crate::groups_file;
use crate::quoted;

/// What separates groups, and features in them.
const SEPARATORS: [char; 2] = [';', ','];

/// How deep typed groups may be within groups; as deep as JSON may be.
const DEEPEST: usize = 120;

/// The groups that were asked for, not yet compared with the features.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Groups {
    /// Found in data.
    Auto(Find),
    /// Typed: for each group the features, by name or number, and the groups in it.
    Given(Vec<Member<String>>),
    /// Listed in a JSON file.
    File(PathBuf),
}

/// What is found in data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Find {
    /// Groups whose dependence is significant.
    Significant,
    /// So many groups.
    Count(usize),
    /// The whole dendrogram: groups within groups.
    Tree,
}

/// The groups of the features.
pub(crate) enum Structure {
    Groups(Partition),
    /// Groups within groups.
    Levels(Hierarchy),
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
            None if text == "auto" => return Ok(Self::Auto(Find::Significant)),
            Some(("auto", what)) if what.trim() == "tree" => return Ok(Self::Auto(Find::Tree)),
            Some(("auto", count)) => {
                let count = count.trim().parse();
                return count.map(|count| Self::Auto(Find::Count(count))).map_err(|_| {
                    format!(
                        "{text:?} names no number of groups; write auto=3, auto to have it found, or auto=tree for groups within groups"
                    )
                });
            }
            _ => {}
        }
        if Path::new(text).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json")) {
            return Ok(Self::File(PathBuf::from(text)));
        }
        // A separator at the end is no further group.
        let typed = text.trim_end_matches(';');
        let items = |group| quoted::split(group, ',', &SEPARATORS);
        let groups = quoted::split(typed, ';', &SEPARATORS);
        if groups.iter().any(|&group| items(group).iter().any(|item| item.trim_start().starts_with('('))) {
            return Nested { rest: typed, depth: 0 }.all().map(Self::Given);
        }
        let member = |item| Member::Player(quoted::unquoted(item));
        let group = |group| Member::Group(items(group).into_iter().map(member).collect());
        Ok(Self::Given(groups.into_iter().map(group).collect()))
    }
}

/// Groups within groups as they are typed: `(a,b;c);d`, a group in parentheses in the place of a feature.
struct Nested<'t> {
    rest: &'t str,
    /// Parentheses that are open.
    depth: usize,
}

impl Nested<'_> {
    fn all(mut self) -> Result<Vec<Member<String>>, String> {
        let groups = self.groups()?;
        match self.rest {
            "" => Ok(groups),
            rest => Err(format!(
                "groups within groups are typed as \"(a,b;c);d\"; behind them stands {rest:?}, where a comma or semicolon is wanted"
            )),
        }
    }

    /// Groups up to the end, or to the parenthesis that closes them.
    fn groups(&mut self) -> Result<Vec<Member<String>>, String> {
        let mut groups = vec![Vec::new()];
        loop {
            let member = self.member()?;
            if let Some(group) = groups.last_mut() {
                group.push(member);
            }
            self.rest = self.rest.trim_start();
            if let Some(rest) = self.rest.strip_prefix(';') {
                groups.push(Vec::new());
                self.rest = rest;
            } else if let Some(rest) = self.rest.strip_prefix(',') {
                self.rest = rest;
            } else {
                return Ok(groups.into_iter().map(Member::Group).collect());
            }
        }
    }

    fn member(&mut self) -> Result<Member<String>, String> {
        self.rest = self.rest.trim_start();
        if let Some(rest) = self.rest.strip_prefix('(') {
            if self.depth == DEEPEST {
                return Err(format!("groups are within groups at most {DEEPEST} deep"));
            }
            (self.rest, self.depth) = (rest, self.depth + 1);
            let groups = self.groups()?;
            let Some(rest) = self.rest.strip_prefix(')') else {
                return Err("a parenthesis of the groups is not closed; write \"(a,b;c);d\"".to_owned());
            };
            (self.rest, self.depth) = (rest, self.depth - 1);
            return Ok(Member::Group(groups));
        }
        let end = match self.rest.strip_prefix('"') {
            // Up to a quote that is not doubled.
            Some(inside) => {
                let mut letters = inside.char_indices();
                loop {
                    match letters.next() {
                        Some((at, '"')) if !inside[at + 1..].starts_with('"') => break at + 2,
                        Some((_, '"')) => drop(letters.next()),
                        Some(_) => {}
                        None => return Err(format!("a quote is not closed in {:?}", self.rest)),
                    }
                }
            }
            None => {
                let is_end = |letter| matches!(letter, ',' | ';') || (letter == ')' && self.depth > 0);
                self.rest.find(is_end).unwrap_or(self.rest.len())
            }
        };
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        Ok(Member::Player(quoted::unquoted(name)))
    }
}

impl Groups {
    /// The groups of the features with these `names`, found in `data` where that is asked for.
    pub(crate) fn structure(
        &self,
        names: &[String],
        clustering: &Clustering,
        data: impl FnOnce() -> Result<Vec<f64>>,
    ) -> Result<Structure> {
        match self {
            Self::Auto(Find::Tree) => {
                let found = find(Find::Tree, clustering, &data()?, names.len())?;
                Ok(Structure::Levels(found.dendrogram.hierarchy()))
            }
            Self::Auto(what) => {
                Ok(Structure::Groups(find(*what, clustering, &data()?, names.len())?.partition))
            }
            Self::Given(groups) => given(groups, names),
            Self::File(path) => given(&groups_file::read(path)?, names),
        }
    }

    /// The same, of features alone.
    pub(crate) fn partition(
        &self,
        names: &[String],
        clustering: &Clustering,
        data: impl FnOnce() -> Result<Vec<f64>>,
    ) -> Result<Partition> {
        match self.structure(names, clustering, data)? {
            Structure::Groups(partition) => Ok(partition),
            Structure::Levels(_) => {
                let says = "--groups: groups within groups are for values of features in groups; give groups of features";
                Err(Usage(says.to_owned()).into())
            }
        }
    }
}

/// The value that was asked for, of features in these groups or on this graph.
pub(crate) fn value(
    concept: SolutionConcept,
    groups: Option<Structure>,
    graph: Option<Graph>,
) -> Result<Value, ValueError> {
    match groups {
        Some(Structure::Levels(hierarchy)) => Value::over(concept, hierarchy),
        Some(Structure::Groups(partition)) => Value::of(concept, Some(partition), graph),
        None => Value::of(concept, None, graph),
    }
}

/// The groups of a value, where it has some, each with its features and the groups in it.
pub(crate) fn members(value: &Value) -> Option<Vec<Member>> {
    let group = |features: &[usize]| Member::Group(features.iter().map(|&one| Member::Player(one)).collect());
    if let Some(partition) = value.groups() {
        return Some(partition.groups().iter().map(|features| group(features)).collect());
    }
    let top = value.hierarchy()?.members().into_iter().map(|member| match member {
        Member::Player(feature) => group(&[feature]),
        inner => inner,
    });
    Some(top.collect())
}

/// Groups with the names of their features, as results have them.
pub(crate) fn named(groups: &[Member], features: &[String]) -> Vec<apportion_results::Member> {
    let member = |member: &Member| match member {
        Member::Player(feature) => apportion_results::Member::Feature(features[*feature].clone()),
        Member::Group(members) => apportion_results::Member::Group(named(members, features)),
    };
    groups.iter().map(member).collect()
}

/// The name of each group: those of its features, as they are typed.
pub(crate) fn names_of_groups(groups: &[Vec<usize>], features: &[String]) -> Vec<String> {
    let name = |group: &Vec<usize>| {
        group.iter().map(|&feature| features[feature].as_str()).collect::<Vec<_>>().join(",")
    };
    groups.iter().map(name).collect()
}

/// Groups in JSON, with names in the place of features.
pub(crate) fn listed(groups: &[Member], names: &impl Fn(usize) -> String) -> serde_json::Value {
    let member = |member: &Member| match member {
        Member::Player(feature) => names(*feature).into(),
        Member::Group(members) => listed(members, names),
    };
    groups.iter().map(member).collect()
}

/// Groups of the columns of `data` that depend on each other.
pub(crate) fn find(
    what: Find,
    clustering: &Clustering,
    data: &[f64],
    columns: usize,
) -> Result<ClusteredFeatures> {
    let count = match what {
        Find::Count(count) => Some(count),
        Find::Significant | Find::Tree => None,
    };
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
        match name.is_empty() || !is_unique {
            true => feature.to_string(),
            // A parenthesis at the beginning would open a group.
            false if name.starts_with('(') => format!("\"{}\"", name.replace('"', "\"\"")),
            false => quoted::typed(name, &SEPARATORS),
        }
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
        let known = plots::listed(name, names.iter().map(String::as_str));
        Usage(format!("{option} has {says}; features are {known}, or 0 to {}", names.len() - 1)).into()
    })
}

/// The groups that were typed: of features alone, or within each other.
fn given(groups: &[Member<String>], names: &[String]) -> Result<Structure> {
    let members = groups.iter().map(|group| numbered(group, names)).collect::<Result<Vec<_>>>()?;
    let refused = |error| {
        let numbered: Vec<String> =
            names.iter().enumerate().map(|(number, name)| format!("{number} {name}")).collect();
        let numbered = plots::listed("", numbered.iter().map(String::as_str));
        Usage(format!("--groups: {error}; features are {numbered}")).into()
    };
    let flat: Option<Vec<Vec<usize>>> = members.iter().map(features).collect();
    if let Some(groups) = flat {
        return Partition::new(names.len(), groups).map(Structure::Groups).map_err(refused);
    }
    let hierarchy = Hierarchy::new(names.len(), members).map_err(refused)?;
    Ok(hierarchy.partition().map_or(Structure::Levels(hierarchy), Structure::Groups))
}

/// The features of a group that has no groups in it.
fn features(group: &Member) -> Option<Vec<usize>> {
    let Member::Group(members) = group else { return None };
    let feature = |member: &Member| match member {
        Member::Player(feature) => Some(*feature),
        Member::Group(_) => None,
    };
    members.iter().map(feature).collect()
}

/// The same with numbers of features in the place of names.
fn numbered(member: &Member<String>, names: &[String]) -> Result<Member> {
    Ok(match member {
        Member::Player(name) => Member::Player(feature("--groups", name, names)?),
        Member::Group(members) => {
            Member::Group(members.iter().map(|member| numbered(member, names)).collect::<Result<_>>()?)
        }
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
            ("age,sex,0;bmi,age", "player 0 is in both group 0 and group 1"),
            ("age,sex,0;;bmi", "a group without features"),
            ("age,sex,weight;0,bmi", "\"weight\", which is no feature"),
            ("age,sex,0;4", "\"4\", which is no feature"),
        ] {
            let message = groups(text).unwrap_err().to_string();
            assert!(message.contains(wanted) && message.contains("bmi"), "{message}");
        }
    }

    #[test]
    fn of_many_features_the_nearest_is_named_first() {
        let names: Vec<String> = (0..500).map(|place| format!("feature {place}")).collect();
        let message = feature("--groups", "featur 321", &names).unwrap_err().to_string();
        assert!(message.contains("; features are feature 321, feature 0, "), "{message}");
        assert!(message.ends_with("feature 8 and 490 more, or 0 to 499"), "{message}");
        let alone = Member::Group(vec![Member::Player("0".to_owned())]);
        let message = given(&[alone], &names).err().unwrap().to_string();
        assert!(message.ends_with("9 feature 9 and 490 more"), "{message}");
    }

    #[test]
    fn what_was_found_can_be_typed() {
        let wanted = vec![vec![3, 1], vec![0], vec![2]];
        for names in [
            ["age", "sex", "0", "bmi"],
            ["a;b", "c,d", "\"e\"", "x y "],
            ["a", "a", "b", ""],
            ["3", "2", "1", "0"],
            ["(a", "(b)", "c)", "d(e)"],
        ] {
            let names = names.map(str::to_owned);
            let Groups::Given(read) = typed(&wanted, &names).parse().unwrap() else { panic!("{names:?}") };
            let Structure::Groups(read) = given(&read, &names).unwrap() else { panic!("{names:?}") };
            assert_eq!(read.groups(), wanted, "{names:?}");
        }
        let names = ["age", "sex", "bmi"].map(str::to_owned);
        assert_eq!(typed(&[vec![0, 2], vec![1]], &names), "age,bmi;sex");
    }

    #[test]
    fn a_number_of_groups_to_find_is_a_number() {
        assert_eq!("auto=3".parse::<Groups>().unwrap(), Groups::Auto(Find::Count(3)));
        assert_eq!("auto".parse::<Groups>().unwrap(), Groups::Auto(Find::Significant));
        assert_eq!("auto=tree".parse::<Groups>().unwrap(), Groups::Auto(Find::Tree));
        assert!("auto=many".parse::<Groups>().unwrap_err().contains("auto=3"));
    }

    fn nested(text: &str, names: &[&str]) -> Result<Vec<Member>> {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let clustering = Clustering { dependence: None, linkage: None };
        let groups = text.parse::<Groups>().map_err(anyhow::Error::msg)?;
        match groups.structure(&names, &clustering, || anyhow::bail!("no data is needed"))? {
            Structure::Levels(hierarchy) => Ok(hierarchy.members()),
            Structure::Groups(partition) => Ok(Hierarchy::from(&partition).members()),
        }
    }

    #[test]
    fn groups_in_parentheses_are_within_groups() {
        use Member::{Group as G, Player as P};
        let names = ["age", "sex", "bmi", "f(x)", "a;b"];
        let three = G(vec![G(vec![P(0), P(1)]), P(2)]);
        let wanted = [three, P(3), P(4)];
        for text in ["(age,sex;bmi);f(x);\"a;b\"", " ( 0 , 1 ; bmi ) ; f(x);4", "(age,sex),bmi;f(x);\"a;b\""]
        {
            assert_eq!(nested(text, &names).unwrap(), wanted, "{text}");
        }
        let deep = "((age,\"a;b\";sex);bmi);f(x)";
        let wanted = [G(vec![G(vec![G(vec![P(0), P(4)]), P(1)]), P(2)]), P(3)];
        assert_eq!(nested(deep, &names).unwrap(), wanted);
        // Two levels are groups, however many parentheses are around them.
        assert_eq!(nested("((age,sex));bmi;f(x);4", &names).unwrap().len(), 4);
        // Parentheses inside of names are of the names.
        assert_eq!(nested("f(x),age;sex;bmi;4", &names).unwrap()[0], G(vec![P(3), P(0)]));
    }

    #[test]
    fn what_is_no_hierarchy_is_refused_with_what_to_do() {
        let names = ["age", "sex", "bmi"];
        for (text, wanted) in [
            ("(age,sex;bmi", "not closed"),
            ("(age,sex)bmi", "where a comma or semicolon is wanted"),
            ("(\"age,sex);bmi", "a quote is not closed"),
            ("((age,sex);age);bmi", "player 0 is listed twice"),
            ("((age,sex);bmi,weight)", "\"weight\", which is no feature"),
            ("((age;sex),sex)", "player 1 is listed twice"),
            ("(age,(sex,age));bmi", "player 0 is listed twice"),
            ("((age,sex),());bmi", "a feature without a name"),
        ] {
            let message = nested(text, &names).unwrap_err().to_string();
            assert!(message.contains(wanted), "{text}: {message}");
        }
        let message = nested("((0,2);3);1", &["a", "b", "c", "d", "e"]).unwrap_err().to_string();
        assert!(message.contains("1 of 5 players are not listed, the first being 4"), "{message}");
    }
}
