//! Which columns of a file are the model's features, and in which order.
//!
//! Where the names of the features are known and the file has all of them, columns are chosen by name: their order in the file does not
//! matter, and other columns are left out. Where they are not known, or the file has none (`.npy`) or not a single one of them, the
//! columns are taken as they stand, and their count must be the model's. A file with some of the names but not all is refused: that is a
//! slip, and guessing would give wrong results quietly. The names are the model's; where it has none, a background goes by those of the
//! rows.

use std::collections::{HashMap, HashSet};

use anyhow::{Result, bail};

/// The column that is set aside where none is named.
const DEFAULT_TARGET: &str = "target";

/// What is wanted of a file of rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'a> {
    /// The names of the features, where they are known.
    pub(crate) names: Option<&'a [String]>,
    /// Whose names they are, for messages: the model's, or for a background those of the rows.
    pub(crate) named_by: &'static str,
    /// Number of features of the model; any number where there is no model.
    pub(crate) count: Option<usize>,
    /// The column to set aside, by name or by index; [`DEFAULT_TARGET`] where it is `None`.
    pub(crate) target: Option<&'a str>,
    /// Whether a named target must be there.
    pub(crate) target_required: bool,
}

/// The columns that were chosen.
#[derive(Debug, PartialEq)]
pub(super) struct Chosen {
    /// Index in the file of each feature.
    pub(super) columns: Vec<usize>,
    /// What the reader of the results should know.
    pub(super) notes: Vec<String>,
}

/// Chooses among the columns of a header.
pub(super) fn by_name(header: &[String], wanted: &Wanted<'_>) -> Result<Chosen> {
    let target = target_of_header(header, wanted)?;
    let rest: Vec<usize> = (0..header.len()).filter(|&column| Some(column) != target).collect();
    match wanted.names {
        Some(names) => by_known_names(header, target, rest, names, wanted.named_by),
        None if wanted.count.is_none_or(|count| rest.len() == count) => {
            Ok(Chosen { columns: rest, notes: Vec::new() })
        }
        None => {
            let names: Vec<&str> = rest.iter().map(|&column| header[column].as_str()).collect();
            bail!(
                "there are {} columns{} ({}), and the model wants {}, one per feature",
                rest.len(),
                beside(header, target),
                list(&names),
                wanted.count.unwrap_or_default()
            )
        }
    }
}

/// Chooses among the columns `rest` those that have the `names`; all in order, where none has one.
fn by_known_names(
    header: &[String],
    target: Option<usize>,
    rest: Vec<usize>,
    names: &[String],
    named_by: &str,
) -> Result<Chosen> {
    let column_of: HashMap<&str, usize> =
        rest.iter().map(|&column| (header[column].as_str(), column)).collect();
    let missing: Vec<&str> =
        names.iter().map(String::as_str).filter(|name| !column_of.contains_key(name)).collect();
    if missing.is_empty() {
        let columns: Vec<usize> = names.iter().map(|name| column_of[name.as_str()]).collect();
        let chosen: HashSet<usize> = columns.iter().copied().collect();
        let left_out: Vec<&str> = rest
            .iter()
            .filter(|column| !chosen.contains(column))
            .map(|&column| header[column].as_str())
            .collect();
        let notes = (!left_out.is_empty()).then(|| {
            format!("columns that are not features of {named_by} are left out: {}", list(&left_out))
        });
        return Ok(Chosen { columns, notes: notes.into_iter().collect() });
    }
    if missing.len() < names.len() || rest.len() != names.len() {
        bail!(
            "there are {} columns{}, and {named_by} has {} features, of which the header lacks {}: {}",
            rest.len(),
            beside(header, target),
            names.len(),
            missing.len(),
            list(&missing)
        );
    }
    let notes = vec![format!(
        "no column has the name of a feature of {named_by}; columns are taken in order, {:?} as {:?} and so on",
        header[rest[0]], names[0]
    )];
    Ok(Chosen { columns: rest, notes })
}

/// Chooses among columns without names.
pub(super) fn by_position(count: usize, wanted: &Wanted<'_>) -> Result<Chosen> {
    let target = match wanted.target {
        None => None,
        Some(given) => {
            let index = given.parse().ok().filter(|&index: &usize| index < count);
            if index.is_none() && wanted.target_required {
                bail!(
                    "the matrix has no names and {count} columns; give --target as an index below {count}, not {given:?}"
                );
            }
            index
        }
    };
    let columns: Vec<usize> = (0..count).filter(|&column| Some(column) != target).collect();
    if wanted.count.is_some_and(|count| columns.len() != count) {
        let beside = if target.is_some() { " beside the target" } else { "" };
        bail!(
            "there are {} columns{beside}, and the model wants {}, one per feature",
            columns.len(),
            wanted.count.unwrap_or_default()
        );
    }
    Ok(Chosen { columns, notes: Vec::new() })
}

/// The column to set aside: by name, else by index.
fn target_of_header(header: &[String], wanted: &Wanted<'_>) -> Result<Option<usize>> {
    let named = |name: &str| header.iter().position(|column| column == name);
    let Some(given) = wanted.target else {
        let is_a_feature = wanted.names.is_some_and(|names| names.iter().any(|name| name == DEFAULT_TARGET));
        return Ok(if is_a_feature { None } else { named(DEFAULT_TARGET) });
    };
    let index = || given.parse().ok().filter(|&index: &usize| index < header.len());
    let target = named(given).or_else(index);
    if target.is_none() && wanted.target_required {
        let names: Vec<&str> = header.iter().map(String::as_str).collect();
        bail!("--target {given:?} is not a column; there are {}", list(&names));
    }
    Ok(target)
}

/// Says which column was set aside.
fn beside(header: &[String], target: Option<usize>) -> String {
    target.map_or_else(String::new, |column| format!(" beside the target {:?}", header[column]))
}

/// Names in quotes, the first few of many.
fn list(names: &[&str]) -> String {
    const SHOWN: usize = 8;
    let mut text = names.iter().take(SHOWN).map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        text.push_str(&format!(" and {} more", names.len() - SHOWN));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    fn wanted<'a>(names: Option<&'a [String]>, count: usize, target: Option<&'a str>) -> Wanted<'a> {
        Wanted { names, named_by: "the model", count: Some(count), target, target_required: true }
    }

    fn refusal(header: &[&str], wanted: &Wanted<'_>) -> String {
        by_name(&strings(header), wanted).unwrap_err().to_string()
    }

    #[test]
    fn names_of_the_model_decide_the_order_and_leave_the_rest_out() {
        let names = strings(&["a", "b"]);
        let chosen = by_name(&strings(&["id", "b", "target", "a"]), &wanted(Some(&names), 2, None)).unwrap();
        assert_eq!(chosen.columns, [3, 1]);
        assert_eq!(chosen.notes.len(), 1);
        assert!(
            chosen.notes[0].contains("\"id\"") && !chosen.notes[0].contains("target"),
            "{:?}",
            chosen.notes
        );
    }

    #[test]
    fn a_feature_called_target_is_not_set_aside() {
        let names = strings(&["a", "target"]);
        let chosen = by_name(&strings(&["target", "a"]), &wanted(Some(&names), 2, None)).unwrap();
        assert_eq!(chosen, Chosen { columns: vec![1, 0], notes: vec![] });
    }

    #[test]
    fn wholly_other_names_are_taken_in_order_with_a_note() {
        let names = strings(&["f0", "f1"]);
        let chosen = by_name(&strings(&["age", "target", "bmi"]), &wanted(Some(&names), 2, None)).unwrap();
        assert_eq!(chosen.columns, [0, 2]);
        assert!(chosen.notes[0].contains("\"age\" as \"f0\""), "{:?}", chosen.notes);
    }

    #[test]
    fn a_header_with_some_of_the_names_is_refused_with_those_it_lacks() {
        let names = strings(&["a", "b", "c"]);
        let message = refusal(&["a", "b", "d"], &wanted(Some(&names), 3, None));
        assert!(message.contains("\"c\"") && message.contains("3 columns"), "{message}");
        let message = refusal(&["x", "y"], &wanted(Some(&names), 3, None));
        assert!(message.contains("2 columns") && message.contains("3 features"), "{message}");
    }

    #[test]
    fn without_names_the_count_decides() {
        assert_eq!(by_name(&strings(&["x", "target", "y"]), &wanted(None, 2, None)).unwrap().columns, [0, 2]);
        let message = refusal(&["x", "y", "target"], &wanted(None, 3, None));
        assert!(
            message.contains("2 columns beside the target \"target\"") && message.contains("wants 3"),
            "{message}"
        );
    }

    #[test]
    fn a_named_target_is_set_aside_by_name_or_index_and_must_be_there() {
        let header = strings(&["x", "label", "target"]);
        assert_eq!(by_name(&header, &wanted(None, 2, Some("label"))).unwrap().columns, [0, 2]);
        assert_eq!(by_name(&header, &wanted(None, 2, Some("0"))).unwrap().columns, [1, 2]);
        assert!(refusal(&["x", "y"], &wanted(None, 2, Some("label"))).contains("\"label\" is not a column"));
        let optional = Wanted { target_required: false, ..wanted(None, 2, Some("label")) };
        assert_eq!(by_name(&strings(&["x", "y"]), &optional).unwrap().columns, [0, 1]);
    }

    #[test]
    fn a_matrix_is_taken_by_position() {
        assert_eq!(by_position(3, &wanted(None, 3, None)).unwrap().columns, [0, 1, 2]);
        assert_eq!(by_position(4, &wanted(None, 3, Some("1"))).unwrap().columns, [0, 2, 3]);
        assert!(by_position(4, &wanted(None, 3, None)).unwrap_err().to_string().contains("4 columns"));
        assert!(
            by_position(4, &wanted(None, 3, Some("y"))).unwrap_err().to_string().contains("index below 4")
        );
    }
}
