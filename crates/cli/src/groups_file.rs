//! Groups of features as a JSON file lists them: `{"GROUP": ["FEATURE", …], …}` or `[["FEATURE", …], …]`.

use std::fmt;
use std::path::Path;

use anyhow::{Context, Result};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// For each group of the file, in its order, the features: names, or numbers as text.
pub(crate) fn read(path: &Path) -> Result<Vec<Vec<String>>> {
    let says = || format!("cannot read the groups {}", path.display());
    let bytes = std::fs::read(path).with_context(says)?;
    let Listed(groups) = serde_json::from_slice(&bytes)
        .context("groups are wanted as {\"GROUP\": [\"FEATURE\", …], …} or [[\"FEATURE\", …], …]")
        .with_context(says)?;
    Ok(groups.into_iter().map(|group| group.into_iter().map(|Feature(name)| name).collect()).collect())
}

/// The groups of either form. The names of groups are for who reads the file.
struct Listed(Vec<Vec<Feature>>);

impl<'de> Deserialize<'de> for Listed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Listed;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of groups, or a list of them")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Listed, A::Error> {
                let mut groups = Vec::new();
                while let Some((_, group)) = map.next_entry::<String, Vec<Feature>>()? {
                    groups.push(group);
                }
                Ok(Listed(groups))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Listed, A::Error> {
                let mut groups = Vec::new();
                while let Some(group) = list.next_element()? {
                    groups.push(group);
                }
                Ok(Listed(groups))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// A feature by name or number.
struct Feature(String);

impl<'de> Deserialize<'de> for Feature {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        #[serde(untagged, expecting = "the name of a feature is wanted, or its number")]
        enum Either {
            Name(String),
            Number(u64),
        }
        Ok(Self(match Either::deserialize(deserializer)? {
            Either::Name(name) => name,
            Either::Number(number) => number.to_string(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(text: &str) -> Result<Vec<Vec<String>>> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("groups.json");
        std::fs::write(&path, text)?;
        read(&path)
    }

    #[test]
    fn objects_and_lists_are_read_in_their_order() {
        let wanted = vec![vec!["income, k$".to_owned(), "age".to_owned()], vec!["2".to_owned()]];
        assert_eq!(groups(r#"{"z": ["income, k$", "age"], "a": [2]}"#).unwrap(), wanted);
        assert_eq!(groups(r#"[["income, k$", "age"], ["2"]]"#).unwrap(), wanted);
    }

    #[test]
    fn what_lists_no_groups_is_refused() {
        for text in ["", "3", "[\"a\"]", "{\"a\": \"b\"}", "[[1.5]]", "[[\"a\"]"] {
            let message = format!("{:#}", groups(text).unwrap_err());
            assert!(message.contains("groups are wanted as"), "{text}: {message}");
        }
        assert!(
            format!("{:#}", read(Path::new("/nowhere/a.json")).unwrap_err())
                .contains("cannot read the groups")
        );
    }
}
