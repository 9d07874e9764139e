//! Which columns of a file are the features, and in which order.
//!
//! Where the names of the features are known and the file has all of them, columns are chosen by name: their order in the file does not
//! matter, and other columns are left out. Where they are not known, or the file has none (`.npy`), or either has names that are only
//! numbered, the columns are taken as they stand, and their count must be that of the features. A file with other names, or with some
//! but not all, is refused: that is a slip, and guessing would give wrong results quietly.

use std::collections::{HashMap, HashSet};

use crate::cells::Feature;
use crate::error::{Result, RowsError};
use crate::nearest::{list, nearest};
use crate::table::{Block, Read};
use crate::wanted::Wanted;

/// Maximum number of columns of a table.
pub(crate) const MAX_COLUMNS: usize = 1 << 20;

/// The column that is set aside where none is named.
const DEFAULT_TARGET: &str = "target";

/// The columns that were chosen.
#[derive(Debug, PartialEq)]
pub(crate) struct Chosen {
    /// Index in the file of each feature.
    pub(crate) columns: Vec<usize>,
    /// Index in the file of the column that says which row it is.
    pub(crate) id: Option<usize>,
    /// Index in the file of the column of weights.
    pub(crate) weight: Option<usize>,
    /// Which of the columns that were named the file does not have.
    pub(crate) absent: Vec<String>,
    /// What the reader of the results should know.
    pub(crate) notes: Vec<String>,
}

impl Chosen {
    /// An empty block of these columns, of a file whose columns have these `names`.
    pub(crate) fn block(&self, names: Option<&[String]>) -> Block {
        let named = |names: &[String]| self.columns.iter().map(|&column| names[column].clone()).collect();
        Block { names: names.map(named), columns: self.columns.len(), ..Block::default() }
    }

    /// What is to be told of all rows, where the columns of these `names` held the `features`.
    pub(crate) fn told(self, names: &[String], features: &[Feature<'_>]) -> Read {
        let name = |column: usize| names[column].clone();
        let notes = self.notes.into_iter().chain(features.iter().filter_map(Feature::note)).collect();
        Read {
            names: Some(self.columns.iter().map(|&column| name(column)).collect()),
            id: self.id.map(name),
            columns: features.len(),
            absent: self.absent,
            notes,
        }
    }
}

/// Chooses among the columns of a header.
pub(crate) fn by_name(header: &[String], wanted: &Wanted<'_>) -> Result<Chosen> {
    check_names(header)?;
    let is_feature = |column: usize| wanted.names.is_some_and(|names| names.contains(&header[column]));
    // A file that is no background need not have weights.
    let weight = wanted.weight.map(|given| find("--weights", given, header, false)).transpose()?.flatten();
    let find = |option: &str, given: &str| find(option, given, header, wanted.named_columns_required);
    let target = match wanted.target {
        Some(given) => find("--target", given)?,
        None => header.iter().position(|name| name == DEFAULT_TARGET).filter(|&column| !is_feature(column)),
    };
    let id = wanted.id.map(|given| find("--id", given)).transpose()?.flatten();
    let mut aside: HashSet<usize> = target.into_iter().collect();
    aside.extend(id.into_iter().chain(weight).filter(|&column| !is_feature(column)));
    for given in &wanted.ignored {
        let column = find("--ignore", given)?;
        if let Some(column) = column.filter(|&column| is_feature(column)) {
            return Err(RowsError::columns(format!(
                "--ignore {:?}: that is a feature of {}, which cannot do without it",
                header[column], wanted.named_by
            )));
        }
        aside.extend(column);
    }
    aside.extend((0..header.len()).filter(|&column| is_index(&header[column]) && !is_feature(column)));
    let rest: Vec<usize> = (0..header.len()).filter(|column| !aside.contains(column)).collect();
    let header = Header { names: header, target };
    let (columns, note) = match wanted.names {
        Some(names) => header.by_known_names(rest, names, wanted)?,
        None => (header.all(rest, wanted)?, None),
    };
    let absent = wanted.named_columns().filter(|given| position(given, header.names).is_none());
    let absent = absent.map(str::to_owned).collect();
    Ok(Chosen { columns, id, weight, absent, notes: note.into_iter().collect() })
}

/// Whether pandas put the index of a data frame into a column of this name, where the format has no place for one.
fn is_index(name: &str) -> bool {
    let level = name.strip_prefix("__index_level_").and_then(|rest| rest.strip_suffix("__"));
    level.is_some_and(|level| level.parse::<u32>().is_ok())
}

/// Where a column is, by name, else by index.
fn position(given: &str, header: &[String]) -> Option<usize> {
    let named = header.iter().position(|name| name == given);
    named.or_else(|| given.parse().ok().filter(|&index: &usize| index < header.len()))
}

/// A column by name, else by index; none where there is none and none must be.
fn find(option: &str, given: &str, header: &[String], required: bool) -> Result<Option<usize>> {
    let column = position(given, header);
    if column.is_none() && required {
        let names = || header.iter().map(String::as_str);
        let meant =
            nearest(given, names()).map_or_else(String::new, |name| format!("the nearest is {name:?}; "));
        let names: Vec<&str> = names().collect();
        return Err(RowsError::columns(format!(
            "{option} {given:?} is not a column; {meant}there are {}",
            list(&names)
        )));
    }
    Ok(column)
}

/// Refuses a name that two columns have.
fn check_names(header: &[String]) -> Result<()> {
    let mut seen = HashSet::new();
    match header.iter().position(|name| !seen.insert(name)) {
        Some(column) => Err(RowsError::columns(format!(
            "column {column} has the name {:?}, as a column before it; give each its own",
            header[column]
        ))),
        None => Ok(()),
    }
}

/// The names of the columns of a file, and which of them was set aside.
struct Header<'a> {
    names: &'a [String],
    target: Option<usize>,
}

impl Header<'_> {
    /// All columns of `rest`, which must be as many as are wanted.
    fn all(&self, rest: Vec<usize>, wanted: &Wanted<'_>) -> Result<Vec<usize>> {
        match wanted.feature_count() {
            Some(count) if count != rest.len() => {
                let names: Vec<&str> = rest.iter().map(|&column| self.names[column].as_str()).collect();
                Err(RowsError::columns(format!(
                    "there are {} columns{} ({}), and {} wants {count}, one per feature{}",
                    rest.len(),
                    self.beside(),
                    list(&names),
                    wanted.named_by,
                    if rest.len() > count { "; leave others out by --ignore COLUMN" } else { "" }
                )))
            }
            _ => Ok(rest),
        }
    }

    /// Those columns of `rest` that have the `names`; all in order, where none has one.
    fn by_known_names(
        &self,
        rest: Vec<usize>,
        names: &[String],
        wanted: &Wanted<'_>,
    ) -> Result<(Vec<usize>, Option<String>)> {
        let named_by = wanted.named_by;
        let columns: Vec<String> = rest.iter().map(|&column| self.names[column].clone()).collect();
        let found = match_names(&columns, names, wanted.names_are_rewritten);
        let found: Vec<Option<usize>> = found.into_iter().map(|place| Some(rest[place?])).collect();
        let lacking: Vec<&str> = names
            .iter()
            .zip(&found)
            .filter(|(_, found)| found.is_none())
            .map(|(name, _)| name.as_str())
            .collect();
        let columns: Vec<usize> = found.iter().copied().flatten().collect();
        let chosen: HashSet<usize> = columns.iter().copied().collect();
        let others: Vec<&str> = rest
            .iter()
            .filter(|column| !chosen.contains(column))
            .map(|&column| self.names[column].as_str())
            .collect();
        if lacking.is_empty() {
            let left_out = (!others.is_empty()).then(|| {
                format!("columns that are not features of {named_by} are left out: {}", list(&others))
            });
            return Ok((columns, left_out));
        }
        if !columns.is_empty() || rest.len() != names.len() {
            let slip = lacking.iter().find_map(|&name| Some((name, nearest(name, others.iter().copied())?)));
            let remedy = match slip {
                Some((name, other)) => format!("; if the column {other:?} is meant, name it {name:?}"),
                None if columns.is_empty() && rest.len() > names.len() => {
                    "; name the columns as the features, or leave others out by --ignore COLUMN".to_owned()
                }
                None => String::new(),
            };
            return Err(RowsError::columns(format!(
                "there are {} columns{}, and {named_by} has {} features, of which the header lacks {}: {}{remedy}",
                rest.len(),
                self.beside(),
                names.len(),
                lacking.len(),
                list(&lacking)
            )));
        }
        let (first, of_first) = (&self.names[rest[0]], &names[0]);
        if are_numbered(names.iter().map(String::as_str)) || are_numbered(others.iter().copied()) {
            let note = format!(
                "no column has the name of a feature of {named_by}; columns are taken in order, {first:?} as {of_first:?} and so on"
            );
            return Ok((rest, Some(note)));
        }
        Err(RowsError::columns(format!(
            "no column has the name of a feature of {named_by}: there is {first:?} where {of_first:?} is wanted, and so on; name the \
             columns as the features, or give a .npy matrix, whose columns are taken in order"
        )))
    }

    /// Says which column was set aside.
    fn beside(&self) -> String {
        self.target.map_or_else(String::new, |column| format!(" beside the target {:?}", self.names[column]))
    }
}

/// The place of each name among `columns`: of the column that has it; else of the only other one that has it but for blanks around it, or,
/// where names are `rewritten`, whose name [becomes](lightgbm_name) it.
///
/// ```
/// let columns = ["size ", "an age"].map(String::from);
/// let names = ["an_age", "size", "sex"].map(String::from);
/// assert_eq!(apportion_rows::match_names(&columns, &names, true), [Some(1), Some(0), None]);
/// ```
pub fn match_names(columns: &[String], names: &[String], rewritten: bool) -> Vec<Option<usize>> {
    let place_of: HashMap<&str, usize> =
        columns.iter().enumerate().map(|(place, column)| (column.as_str(), place)).collect();
    let mut found: Vec<Option<usize>> =
        names.iter().map(|name| place_of.get(name.as_str()).copied()).collect();
    if found.iter().all(Option::is_some) {
        return found;
    }
    let taken: HashSet<usize> = found.iter().copied().flatten().collect();
    let mut becomes: HashMap<String, Vec<usize>> = HashMap::new();
    for (place, column) in columns.iter().enumerate().filter(|(place, _)| !taken.contains(place)) {
        let mut spellings = vec![column.trim().to_owned()];
        spellings.extend(rewritten.then(|| lightgbm_name(column)).filter(|stored| *stored != spellings[0]));
        spellings.into_iter().for_each(|spelling| becomes.entry(spelling).or_default().push(place));
    }
    for (found, name) in found.iter_mut().zip(names).filter(|(found, _)| found.is_none()) {
        if let Some(&[place]) = becomes.get(name.trim()).map(Vec::as_slice) {
            *found = Some(place);
        }
    }
    found
}

/// Whether names only number the columns, as libraries and readers of tables make them up where there are none: `f0`, `f1`, …;
/// `Column_0`; `0`; `x1`, `x2`, …
pub fn are_numbered<'n>(names: impl Iterator<Item = &'n str> + Clone) -> bool {
    let begin_with = |prefix: &str, first: usize| {
        names.clone().enumerate().all(|(place, name)| {
            name.strip_prefix(prefix).is_some_and(|number| number == (first + place).to_string())
        })
    };
    let Some(name) = names.clone().next() else { return false };
    [0, 1]
        .iter()
        .any(|first| name.strip_suffix(&first.to_string()).is_some_and(|prefix| begin_with(prefix, *first)))
}

/// A name as LightGBM stores it: white space and the signs of JSON become underscores.
///
/// ```
/// assert_eq!(apportion_rows::lightgbm_name("Annual Income, k$"), "Annual_Income__k$");
/// ```
pub fn lightgbm_name(name: &str) -> String {
    let stored = |letter: char| match letter {
        '"' | ',' | ':' | '[' | ']' | '{' | '}' => '_',
        letter if letter.is_whitespace() => '_',
        letter => letter,
    };
    name.chars().map(stored).collect()
}

/// Chooses among columns without names.
pub(crate) fn by_position(count: usize, wanted: &Wanted<'_>) -> Result<Chosen> {
    let position = |given: &str| given.parse().ok().filter(|&index: &usize| index < count);
    let find = |option: &str, given: &str| {
        let index = position(given);
        if index.is_none() && wanted.named_columns_required {
            return Err(RowsError::columns(format!(
                "the matrix has no names and {count} columns; give {option} as an index below {count}, not {given:?}"
            )));
        }
        Ok(index)
    };
    let target = wanted.target.map(|given| find("--target", given)).transpose()?.flatten();
    let id = wanted.id.map(|given| find("--id", given)).transpose()?.flatten();
    let weight = wanted.weight.and_then(|given| given.parse().ok()).filter(|&index: &usize| index < count);
    let mut aside: HashSet<usize> = target.into_iter().chain(id).chain(weight).collect();
    for given in &wanted.ignored {
        aside.extend(find("--ignore", given)?);
    }
    let columns: Vec<usize> = (0..count).filter(|column| !aside.contains(column)).collect();
    if let Some(wants) = wanted.feature_count().filter(|&wants| columns.len() != wants) {
        let beside = if target.is_some() { " beside the target" } else { "" };
        return Err(RowsError::columns(format!(
            "there are {} columns{beside}, and {} wants {wants}, one per feature",
            columns.len(),
            wanted.named_by
        )));
    }
    let absent =
        wanted.named_columns().filter(|given| position(given).is_none()).map(str::to_owned).collect();
    Ok(Chosen { columns, id, weight, absent, notes: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    fn wanted<'a>(names: Option<&'a [String]>, count: usize, target: Option<&'a str>) -> Wanted<'a> {
        Wanted {
            names,
            named_by: "the model",
            count: Some(count),
            target,
            named_columns_required: true,
            ..Wanted::default()
        }
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
        assert_eq!(
            chosen,
            Chosen { columns: vec![1, 0], id: None, weight: None, absent: vec![], notes: vec![] }
        );
    }

    #[test]
    fn names_that_number_the_columns_are_none() {
        let are_numbered = |names: &[&str]| are_numbered(names.iter().copied());
        for names in [&["f0", "f1", "f2"][..], &["0", "1"], &["Column_0", "Column_1"], &["V1", "V2"], &["x0"]]
        {
            assert!(are_numbered(names), "{names:?}");
        }
        for names in [&["age", "bmi"][..], &["f0", "f2"], &["f1", "f0"], &["f0", "g1"], &["s2"], &[]] {
            assert!(!are_numbered(names), "{names:?}");
        }
        let names = strings(&["age", "bmi"]);
        let message = refusal(&["height", "weight"], &wanted(Some(&names), 2, None));
        assert!(
            message.contains("\"height\" where \"age\" is wanted") && message.contains(".npy"),
            "{message}"
        );
        let chosen = by_name(&strings(&["0", "1"]), &wanted(Some(&names), 2, None)).unwrap();
        assert_eq!((chosen.columns, chosen.notes.len()), (vec![0, 1], 1));
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
        let ignored = vec!["1", "z"];
        let optional = Wanted { named_columns_required: false, ignored, ..wanted(None, 1, Some("label")) };
        let chosen = by_name(&strings(&["x", "y"]), &optional).unwrap();
        assert_eq!((chosen.columns, chosen.absent), (vec![0], strings(&["label", "z"])));
        let chosen = by_position(2, &optional).unwrap();
        assert_eq!((chosen.columns, chosen.absent), (vec![0], strings(&["label", "z"])));
    }

    #[test]
    fn names_that_are_wanted_tell_how_many_columns_there_must_be() {
        let names = strings(&["a", "b"]);
        let named = Wanted { count: None, ..wanted(Some(&names), 2, None) };
        assert_eq!(by_position(2, &named).unwrap().columns, [0, 1]);
        assert!(by_position(3, &named).unwrap_err().to_string().contains("3 columns, and the model wants 2"));
        assert_eq!(by_name(&strings(&["0", "1"]), &named).unwrap().columns, [0, 1]);
        assert!(refusal(&["0", "1", "2"], &named).contains("\"a\""));
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

    #[test]
    fn ids_and_ignored_columns_are_set_aside_unless_the_id_is_a_feature() {
        let header = strings(&["", "a", "b", "who", "__index_level_0__"]);
        let names = strings(&["b", "a"]);
        let ignored = vec!["who"];
        let both = Wanted { id: Some(""), ignored, ..wanted(Some(&names), 2, None) };
        let chosen = by_name(&header, &both).unwrap();
        assert_eq!(
            chosen,
            Chosen { columns: vec![2, 1], id: Some(0), weight: None, absent: vec![], notes: vec![] }
        );
        let feature = Wanted { id: Some("a"), ..both.clone() };
        let chosen = by_name(&header, &feature).unwrap();
        assert_eq!((chosen.columns, chosen.id), (vec![2, 1], Some(1)));
        let nameless = Wanted { names: None, ..both.clone() };
        assert_eq!(by_name(&header, &nameless).unwrap().columns, [1, 2]);
        let message =
            by_name(&header, &Wanted { ignored: vec!["hwo"], ..both.clone() }).unwrap_err().to_string();
        assert!(message.contains("--ignore \"hwo\" is not a column"), "{message}");
        let message = by_name(&header, &Wanted { ignored: vec!["a"], ..both }).unwrap_err().to_string();
        assert!(message.contains("is a feature of the model"), "{message}");
        let matrix = Wanted { id: Some("0"), ignored: vec!["3"], ..wanted(None, 2, None) };
        assert_eq!(by_position(4, &matrix).unwrap().columns, [1, 2]);
    }

    #[test]
    fn names_as_lightgbm_rewrites_them_are_found_where_one_column_fits() {
        let names = strings(&["Annual_Income_(k$)", "a_b"]);
        let rewritten = Wanted { names_are_rewritten: true, ..wanted(Some(&names), 2, None) };
        let header = strings(&["a:b", "Annual Income (k$)", "rest"]);
        assert_eq!(by_name(&header, &rewritten).unwrap().columns, [1, 0]);
        let exact = strings(&["a:b", "a_b", "Annual Income (k$)"]);
        assert_eq!(by_name(&exact, &rewritten).unwrap().columns, [2, 1]);
        let two = strings(&["a:b", "a b", "Annual Income (k$)"]);
        assert!(by_name(&two, &rewritten).unwrap_err().to_string().contains("lacks 1: \"a_b\""));
        let as_written = wanted(Some(&names), 2, None);
        assert!(by_name(&header, &as_written).is_err());
    }

    #[test]
    fn blanks_around_names_do_not_matter_where_one_column_fits() {
        let names = strings(&["age", "size "]);
        let wanted = wanted(Some(&names), 2, None);
        assert_eq!(by_name(&strings(&["size", " age"]), &wanted).unwrap().columns, [1, 0]);
        assert_eq!(by_name(&strings(&["size", " age", "age"]), &wanted).unwrap().columns, [2, 0]);
        assert!(by_name(&strings(&["size", " age", "age "]), &wanted).is_err());
    }

    #[test]
    fn a_slip_is_refused_with_the_name_that_was_meant() {
        let names = strings(&["age", "blood pressure"]);
        let message = refusal(&["age", "Blood presure", "x"], &wanted(Some(&names), 2, None));
        assert!(
            message.contains("if the column \"Blood presure\" is meant, name it \"blood pressure\""),
            "{message}"
        );
        let message = refusal(&["x", "y", "z"], &wanted(Some(&names), 2, None));
        assert!(message.contains("--ignore COLUMN"), "{message}");
    }
}
