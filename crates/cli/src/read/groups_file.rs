//! Groups of features in a JSON file: `{"GROUP": ["FEATURE", …], …}` or `[["FEATURE", …], …]`. Nested groups
//! have the same form: `{"GROUP": {"GROUP": ["FEATURE", …], …}, …}`.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use anyhow::{Context, Result};
use apportion::games::Member;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// Reads the groups in the order of the file. Features are given by name, or by index as a string.
pub(crate) fn read(path: &Path) -> Result<Vec<Member<String>>> {
    let says = || format!("cannot read the groups from {}", path.display());
    let bytes = std::fs::read(path).with_context(says)?;
    let GroupList(groups) = serde_json::from_slice(&bytes)
        .context(
            "the file must contain groups as {\"GROUP\": [\"FEATURE\", …], …} or [[\"FEATURE\", …], …], with \
             groups or features as members",
        )
        .with_context(says)?;
    Ok(groups)
}

/// Groups in either form of the file. The names of groups have no effect.
struct GroupList(Vec<Member<String>>);

impl<'de> Deserialize<'de> for GroupList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct GroupsVisitor;
        impl<'de> Visitor<'de> for GroupsVisitor {
            type Value = GroupList;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object or a list of groups")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<GroupList, A::Error> {
                named(map).map(GroupList)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<GroupList, A::Error> {
                let mut groups = Vec::new();
                while let Some(Group(group)) = list.next_element()? {
                    groups.push(Member::Group(group));
                }
                Ok(GroupList(groups))
            }
        }
        deserializer.deserialize_any(GroupsVisitor)
    }
}

/// Reads groups by name; names must be unique.
fn named<'de, A: MapAccess<'de>>(mut map: A) -> Result<Vec<Member<String>>, A::Error> {
    let (mut names, mut groups) = (BTreeSet::new(), Vec::new());
    while let Some((name, Group(group))) = map.next_entry::<String, Group>()? {
        groups.push(Member::Group(group));
        if let Some(name) = names.replace(name) {
            return Err(serde::de::Error::custom(format!("duplicate group name {name:?}")));
        }
    }
    Ok(groups)
}

/// The members of a group: a list of features and subgroups, or subgroups by name.
struct Group(Vec<Member<String>>);

impl<'de> Deserialize<'de> for Group {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Entry::deserialize(deserializer)?.0 {
            Member::Group(members) => Ok(Self(members)),
            Member::Player(_) => {
                Err(serde::de::Error::custom("expected a group (a list of features), found a single feature"))
            }
        }
    }
}

/// A feature or a group.
struct Entry(Member<String>);

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MemberVisitor;
        impl<'de> Visitor<'de> for MemberVisitor {
            type Value = Entry;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a feature, its index, or a group")
            }

            fn visit_str<E>(self, name: &str) -> Result<Entry, E> {
                Ok(Entry(Member::Player(name.to_owned())))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Entry, E> {
                Ok(Entry(Member::Player(number.to_string())))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Entry, A::Error> {
                named(map).map(|groups| Entry(Member::Group(groups)))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Entry, A::Error> {
                let mut members = Vec::new();
                while let Some(Entry(member)) = list.next_element()? {
                    members.push(member);
                }
                Ok(Entry(Member::Group(members)))
            }
        }
        deserializer.deserialize_any(MemberVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(text: &str) -> Result<Vec<Member<String>>> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("groups.json");
        std::fs::write(&path, text)?;
        read(&path)
    }

    fn feature(name: &str) -> Member<String> {
        Member::Player(name.to_owned())
    }

    #[test]
    fn objects_and_lists_are_read_in_their_order() {
        let expected =
            [Member::Group(vec![feature("income, k$"), feature("age")]), Member::Group(vec![feature("2")])];
        assert_eq!(groups(r#"{"z": ["income, k$", "age"], "a": [2]}"#).unwrap(), expected);
        assert_eq!(groups(r#"[["income, k$", "age"], ["2"]]"#).unwrap(), expected);
    }

    #[test]
    fn groups_hold_groups_in_either_form() {
        let two = Member::Group(vec![feature("a"), feature("b")]);
        let inner = Member::Group(vec![two.clone(), Member::Group(vec![feature("c")])]);
        let expected = [inner, Member::Group(vec![feature("d")])];
        assert_eq!(groups(r#"{"z": {"y": ["a", "b"], "x": ["c"]}, "w": ["d"]}"#).unwrap(), expected);
        assert_eq!(groups(r#"[[["a", "b"], ["c"]], ["d"]]"#).unwrap(), expected);
        let mixed = [Member::Group(vec![two, feature("3")])];
        assert_eq!(groups(r#"{"z": [["a", "b"], 3]}"#).unwrap(), mixed);
    }

    #[test]
    fn what_lists_no_groups_is_refused() {
        for text in [
            "",
            "3",
            "[\"a\"]",
            "{\"a\": \"b\"}",
            "{\"a\": {\"b\": \"c\"}}",
            "[[1.5]]",
            "[[\"a\"]",
            "[[true]]",
        ] {
            let message = format!("{:#}", groups(text).unwrap_err());
            assert!(message.contains("must contain groups as"), "{text}: {message}");
        }
        assert!(
            format!("{:#}", read(Path::new("/nowhere/a.json")).unwrap_err())
                .contains("cannot read the groups")
        );
    }
}
