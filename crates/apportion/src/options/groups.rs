//! Groups of features.

use std::str::FromStr;

use apportion_games::{Graph, Hierarchy, Member, Partition};
use apportion_values::{SolutionConcept, Value, ValueError};

use super::error::OptionError;
use super::nested::Nested;
use super::quoted::{split, typed, unquoted};

/// The separators: the first between groups, the second between the features in a group.
pub(super) const SEPARATORS: [char; 2] = [';', ','];

/// Groups of features, not yet checked against the features of a model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Groups {
    /// Groups to be found in data.
    Auto(FindGroups),
    /// Groups of features by name or index, which may contain groups.
    Names(Vec<Member<String>>),
    /// Groups of features by index.
    Structure(Structure),
}

/// A method to find groups in data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FindGroups {
    /// Groups of features that depend significantly on one another.
    Significant,
    /// A fixed number of groups.
    Count(usize),
    /// The whole dendrogram, as nested groups.
    Tree,
}

impl FromStr for Groups {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        let text = text.trim();
        match text.split_once('=') {
            None if text == "auto" => return Ok(Self::Auto(FindGroups::Significant)),
            Some(("auto", what)) if what.trim() == "tree" => return Ok(Self::Auto(FindGroups::Tree)),
            Some(("auto", count)) => {
                let invalid = |_| OptionError::Invalid {
                    option: "groups",
                    problem: format!(
                        "invalid number of groups {:?}; use auto=K (e.g. auto=3), auto, or auto=tree \
                         for nested groups",
                        count.trim()
                    ),
                };
                return count
                    .trim()
                    .parse()
                    .map(|count| Self::Auto(FindGroups::Count(count)))
                    .map_err(invalid);
            }
            _ => {}
        }
        // A trailing separator does not start another group.
        let text = text.trim_end_matches(';');
        let items = |group| split(group, ',', &SEPARATORS);
        let groups = split(text, ';', &SEPARATORS);
        if groups.iter().any(|&group| items(group).iter().any(|item| item.trim_start().starts_with('('))) {
            return Nested::new(text).all().map(Self::Names);
        }
        let member = |item| Member::Player(unquoted(item));
        let group = |group| Member::Group(items(group).into_iter().map(member).collect());
        Ok(Self::Names(groups.into_iter().map(group).collect()))
    }
}

/// Groups of features by index.
#[derive(Debug, Clone, PartialEq)]
pub enum Structure {
    /// Groups of features.
    Groups(Partition),
    /// Nested groups.
    Levels(Hierarchy),
}

impl Structure {
    /// Returns the groups of `players` players. Nested groups become plain groups if all nesting comes from
    /// groups with a single member.
    ///
    /// # Errors
    ///
    /// [`GameError`](apportion_games::GameError) if they do not contain every player exactly once.
    pub fn new(players: usize, members: Vec<Member>) -> Result<Self, apportion_games::GameError> {
        if let Some(groups) = members.iter().map(features_of).collect::<Option<Vec<_>>>() {
            return Partition::new(players, groups).map(Self::Groups);
        }
        let hierarchy = Hierarchy::new(players, members)?;
        Ok(hierarchy.partition().map_or(Self::Levels(hierarchy), Self::Groups))
    }

    /// Returns the value of a solution concept with these groups or this graph.
    ///
    /// # Errors
    ///
    /// The errors of [`Value::from_concept`] and [`Value::over_hierarchy`].
    pub fn value(
        concept: SolutionConcept,
        groups: Option<Self>,
        graph: Option<Graph>,
    ) -> Result<Value, ValueError> {
        match groups {
            Some(Self::Levels(hierarchy)) => Value::over_hierarchy(concept, hierarchy),
            Some(Self::Groups(partition)) => Value::from_concept(concept, Some(partition), graph),
            None => Value::from_concept(concept, None, graph),
        }
    }
}

impl Groups {
    /// Returns the groups of the features with these `names`; `None` for groups to be found in data.
    ///
    /// # Errors
    ///
    /// [`OptionError::Feature`] for an unknown feature, and [`OptionError::Groups`] if the groups do not
    /// contain every feature exactly once.
    pub fn structure(&self, names: &[String]) -> Result<Option<Structure>, OptionError> {
        let members = match self {
            Self::Auto(_) => return Ok(None),
            Self::Structure(structure) => return Ok(Some(structure.clone())),
            Self::Names(groups) => groups.iter().map(|group| by_index(group, names)),
        };
        let members = members.collect::<Result<_, _>>()?;
        let invalid = |source| OptionError::Groups { source, features: names.to_vec() };
        Structure::new(names.len(), members).map(Some).map_err(invalid)
    }

    /// Returns the groups for which a value is defined; `None` for values without groups.
    pub fn from_value(value: &Value) -> Option<Self> {
        let groups = value.groups().map(|partition| Structure::Groups(partition.clone()));
        let levels = || value.hierarchy().map(|hierarchy| Structure::Levels(hierarchy.clone()));
        groups.or_else(levels).map(Self::Structure)
    }

    /// Returns the groups as the text stored in checkpoints: `0,1;2`, or JSON for nested groups.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Auto(FindGroups::Significant) => "auto".to_owned(),
            Self::Auto(FindGroups::Count(count)) => format!("auto={count}"),
            Self::Auto(FindGroups::Tree) => "auto=tree".to_owned(),
            Self::Names(groups) => listed(groups, &String::clone).to_string(),
            Self::Structure(Structure::Groups(partition)) => {
                let group =
                    |group: &Vec<usize>| group.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
                partition.groups().iter().map(group).collect::<Vec<_>>().join(";")
            }
            Self::Structure(Structure::Levels(hierarchy)) => {
                listed(&members(hierarchy), &usize::to_string).to_string()
            }
        }
    }
}

/// Returns the groups of a hierarchy, each with its features and nested groups.
pub fn members(hierarchy: &Hierarchy) -> Vec<Member> {
    let group = |member| match member {
        Member::Player(_) => Member::Group(vec![member]),
        Member::Group(_) => member,
    };
    hierarchy.members().into_iter().map(group).collect()
}

/// Returns groups as JSON; `name` returns the name of each player.
fn listed<T>(groups: &[Member<T>], name: &impl Fn(&T) -> String) -> serde_json::Value {
    let member = |member: &Member<T>| match member {
        Member::Player(player) => name(player).into(),
        Member::Group(members) => listed(members, name),
    };
    groups.iter().map(member).collect()
}

/// Returns the features of a group; `None` if it contains groups.
fn features_of(member: &Member) -> Option<Vec<usize>> {
    let Member::Group(members) = member else { return None };
    let feature = |member: &Member| match member {
        Member::Player(feature) => Some(*feature),
        Member::Group(_) => None,
    };
    members.iter().map(feature).collect()
}

/// Replaces the names of features with their indices.
fn by_index(member: &Member<String>, names: &[String]) -> Result<Member, OptionError> {
    Ok(match member {
        Member::Player(name) => Member::Player(feature("groups", name, names)?),
        Member::Group(members) => {
            Member::Group(members.iter().map(|member| by_index(member, names)).collect::<Result<_, _>>()?)
        }
    })
}

/// Returns the index of the feature to which `option` refers, by name or otherwise by index.
pub(super) fn feature(option: &'static str, name: &str, names: &[String]) -> Result<usize, OptionError> {
    let by_name = names.iter().position(|known| known == name);
    let by_index = || name.parse::<usize>().ok().filter(|&index| index < names.len());
    by_name.or_else(by_index).ok_or_else(|| OptionError::Feature {
        option,
        name: name.to_owned(),
        features: names.to_vec(),
    })
}

/// Returns the text that is [parsed](Groups) as these groups. Features are listed by name, or by index if the
/// name is empty or not unique.
pub fn format_groups(groups: &[Vec<usize>], names: &[String]) -> String {
    let feature = |&feature: &usize| {
        let name = &names[feature];
        let is_unique = names.iter().filter(|other| *other == name).count() == 1;
        match name.is_empty() || !is_unique {
            true => feature.to_string(),
            // A leading parenthesis would start a group.
            false if name.starts_with('(') => format!("\"{}\"", name.replace('"', "\"\"")),
            false => typed(name, &SEPARATORS),
        }
    };
    let group = |group: &Vec<usize>| group.iter().map(feature).collect::<Vec<_>>().join(",");
    groups.iter().map(group).collect::<Vec<_>>().join(";")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn structure(text: &str, names: &[&str]) -> Result<Structure, OptionError> {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        Ok(text.parse::<Groups>()?.structure(&names)?.expect("groups are given"))
    }

    fn partition(text: &str, names: &[&str]) -> Result<Vec<Vec<usize>>, OptionError> {
        match structure(text, names)? {
            Structure::Groups(partition) => Ok(partition.groups().to_vec()),
            Structure::Levels(hierarchy) => panic!("{hierarchy:?}"),
        }
    }

    const NAMES: [&str; 4] = ["age", "sex", "0", "bmi"];

    #[test]
    fn features_are_meant_by_name_first_and_by_number_where_none_has_it() {
        let expected = [vec![3, 1], vec![0], vec![2]];
        assert_eq!(partition("bmi, sex;age;0", &NAMES).unwrap(), expected);
        assert_eq!(partition("3,1; age ;2;", &NAMES).unwrap(), expected);
    }

    #[test]
    fn what_is_no_partition_is_refused_with_the_features() {
        for (text, expected) in [
            ("age,sex;0", "groups: 1 of 4 features is missing: \"bmi\"; list each feature in exactly one"),
            ("age;sex", "groups: 2 of 4 features are missing: \"0\", \"bmi\"; list each feature in exactly"),
            ("age,sex,0;bmi,age", "groups: feature \"age\" is in both group 0 and group 1; list each"),
            ("age,sex,0,sex;bmi", "groups: feature \"sex\" is listed twice in group 0; list each"),
            ("age,sex,0;;bmi", "empty feature name or empty group in groups; available features: 0 age"),
            ("age,sex,weight;0,bmi", "unknown feature \"weight\" in groups; available features: 0 age"),
            ("age,sex,0;4", "unknown feature \"4\" in groups; available features: 0 age"),
        ] {
            let message = partition(text, &NAMES).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
    }

    #[test]
    fn what_was_found_can_be_typed() {
        let expected = vec![vec![3, 1], vec![0], vec![2]];
        for names in [
            ["age", "sex", "0", "bmi"],
            ["a;b", "c,d", "\"e\"", "x y "],
            ["a", "a", "b", ""],
            ["3", "2", "1", "0"],
            ["(a", "(b)", "c)", "d(e)"],
        ] {
            let texts = names.map(str::to_owned);
            assert_eq!(partition(&format_groups(&expected, &texts), &names).unwrap(), expected, "{names:?}");
        }
        let names = ["age", "sex", "bmi"].map(str::to_owned);
        assert_eq!(format_groups(&[vec![0, 2], vec![1]], &names), "age,bmi;sex");
    }

    #[test]
    fn a_number_of_groups_to_find_is_a_number() {
        assert_eq!("auto=3".parse::<Groups>().unwrap(), Groups::Auto(FindGroups::Count(3)));
        assert_eq!("auto".parse::<Groups>().unwrap(), Groups::Auto(FindGroups::Significant));
        assert_eq!("auto=tree".parse::<Groups>().unwrap(), Groups::Auto(FindGroups::Tree));
        assert!("auto=many".parse::<Groups>().unwrap_err().to_string().contains("auto=3"));
    }

    fn nested(text: &str, names: &[&str]) -> Result<Vec<Member>, OptionError> {
        Ok(match structure(text, names)? {
            Structure::Levels(hierarchy) => hierarchy.members(),
            Structure::Groups(partition) => Hierarchy::from(&partition).members(),
        })
    }

    #[test]
    fn groups_in_parentheses_are_within_groups() {
        use Member::{Group as G, Player as P};
        let names = ["age", "sex", "bmi", "f(x)", "a;b"];
        let three = G(vec![G(vec![P(0), P(1)]), P(2)]);
        let expected = [three, P(3), P(4)];
        for text in ["(age,sex;bmi);f(x);\"a;b\"", " ( 0 , 1 ; bmi ) ; f(x);4", "(age,sex),bmi;f(x);\"a;b\""]
        {
            assert_eq!(nested(text, &names).unwrap(), expected, "{text}");
        }
        let deep = "((age,\"a;b\";sex);bmi);f(x)";
        let expected = [G(vec![G(vec![G(vec![P(0), P(4)]), P(1)]), P(2)]), P(3)];
        assert_eq!(nested(deep, &names).unwrap(), expected);
        // Two levels are plain groups, regardless of extra parentheses.
        assert_eq!(nested("((age,sex));bmi;f(x);4", &names).unwrap().len(), 4);
        // Parentheses within names belong to the names.
        assert_eq!(nested("f(x),age;sex;bmi;4", &names).unwrap()[0], G(vec![P(3), P(0)]));
    }

    #[test]
    fn what_is_no_hierarchy_is_refused_with_what_to_do() {
        let names = ["age", "sex", "bmi"];
        for (text, expected) in [
            ("(age,sex;bmi", "missing closing parenthesis"),
            ("(age,sex)bmi", "expected a comma or semicolon, found \"bmi\""),
            ("(\"age,sex);bmi", "missing closing quote"),
            ("((age,sex);age);bmi", "feature \"age\" is listed twice"),
            ("((age,sex);bmi,weight)", "unknown feature \"weight\""),
            ("((age;sex),sex)", "feature \"sex\" is listed twice"),
            ("(age,(sex,age));bmi", "feature \"age\" is listed twice"),
            ("((age,sex),());bmi", "empty feature name or empty group"),
        ] {
            let message = nested(text, &names).unwrap_err().to_string();
            assert!(message.contains(expected), "{text}: {message}");
        }
        let message = nested("((0,2);3);1", &["a", "b", "c", "d", "e"]).unwrap_err().to_string();
        assert!(message.contains("1 of 5 features is missing: \"e\"; list every feature"), "{message}");
    }

    #[test]
    fn words_have_indices_and_levels() {
        let words = |text: &str| {
            let names = ["age", "sex", "bmi", "bp"].map(str::to_owned);
            let groups = text.parse::<Groups>().unwrap().structure(&names).unwrap();
            let value = Structure::value(SolutionConcept::owen(), groups, None).unwrap();
            Groups::from_value(&value).unwrap().words()
        };
        assert_eq!(words("bmi;sex,age;bp"), "2;1,0;3");
        assert_eq!(words("(age,sex;bmi);bp"), r#"[[["0","1"],"2"],["3"]]"#);
    }
}
