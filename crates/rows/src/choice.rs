//! Chooses the columns of a table that are the features, and their order.
//!
//! If the names of the features are known and the table has all of them, columns are chosen by name: their
//! order does not matter, and other columns are ignored. Columns are used in order if the names of the
//! features are unknown, if the table does not have names, or if the names of the features or of the columns
//! are just numbers. The number of columns must then equal the number of features. A table with other names,
//! or with only some of them, is an error, because guessing could silently yield wrong results.

use std::collections::{HashMap, HashSet};

use crate::choice_error::{ChoiceError, ColumnUse};
use crate::nearest::nearest;
use crate::row_options::RowOptions;

/// The default name of the target column.
const DEFAULT_TARGET: &str = "target";

/// The columns of a table, from which features are chosen.
#[derive(Debug, Clone, Copy)]
pub enum Header<'a> {
    /// The names of the columns.
    Names(&'a [String]),
    /// For each column, its name, followed by other names by which the model's library may refer to it.
    Spellings(&'a [Vec<String>]),
    /// The number of columns, without names.
    Count(usize),
}

/// The columns chosen for each use, by index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Choice {
    /// For each feature, the index of its column.
    pub features: Vec<usize>,
    /// The column that identifies the rows.
    pub id: Option<usize>,
    /// The column of weights.
    pub weight: Option<usize>,
    /// The columns that are not features and are not specified for another use.
    pub left_out: Vec<usize>,
    /// Specified columns (target, ID, ignored) that do not exist, if they are optional.
    pub absent: Vec<String>,
    /// Whether columns are used in order although the features have names, because the names of the features
    /// or of the columns are just numbers.
    pub in_order: bool,
}

/// Chooses the features among the columns of a table.
///
/// ```
/// use apportion_rows::{Header, RowOptions, choose};
///
/// let header = ["id", "income ", "age"].map(String::from);
/// let features = ["age", "income"].map(String::from);
/// let options = RowOptions { names: Some(&features), named_by: "the model", ..RowOptions::default() };
/// let choice = choose(Header::Names(&header), &options)?;
/// assert_eq!((choice.features, choice.left_out), (vec![2, 1], vec![0]));
/// # Ok::<(), apportion_rows::ChoiceError>(())
/// ```
///
/// # Errors
///
/// See [`ChoiceError`].
pub fn choose(header: Header<'_>, options: &RowOptions<'_>) -> Result<Choice, ChoiceError> {
    match header {
        Header::Names(names) => by_name(&names.iter().map(String::as_str).collect::<Vec<_>>(), &[], options),
        Header::Spellings(spellings) => {
            let names = spellings.iter().map(|all| all.first().map_or("", String::as_str));
            by_name(&names.collect::<Vec<_>>(), spellings, options)
        }
        Header::Count(count) => by_position(count, options),
    }
}

/// Chooses among columns with names.
fn by_name(
    header: &[&str],
    spellings: &[Vec<String>],
    options: &RowOptions<'_>,
) -> Result<Choice, ChoiceError> {
    check_names(header)?;
    let is_feature =
        |column: usize| options.names.is_some_and(|names| names.iter().any(|name| name == header[column]));
    let find = |used_as: ColumnUse, given: &str| {
        let column = position(given, header);
        match column.is_none() && options.named_columns_required {
            true => Err(ChoiceError::UnknownColumn {
                used_as,
                name: given.to_owned(),
                nearest: nearest(given, header.iter().copied()).map(str::to_owned),
                columns: owned(header.iter()),
            }),
            false => Ok(column),
        }
    };
    // Weights are optional: only background files need them.
    let weight = options.weight.and_then(|given| position(given, header));
    let target = match options.target {
        Some(given) => find(ColumnUse::Target, given)?,
        None if options.keeps_all => None,
        None => header.iter().position(|&name| name == DEFAULT_TARGET).filter(|&column| !is_feature(column)),
    };
    let id = options.id.map(|given| find(ColumnUse::Id, given)).transpose()?.flatten();
    let mut aside: HashSet<usize> = target.into_iter().collect();
    aside.extend(id.into_iter().chain(weight).filter(|&column| !is_feature(column)));
    for given in &options.ignored {
        let column = find(ColumnUse::Ignored, given)?;
        if let Some(column) = column.filter(|&column| is_feature(column)) {
            let (name, named_by) = (header[column].to_owned(), options.named_by.to_owned());
            return Err(ChoiceError::IgnoredFeature { name, named_by });
        }
        aside.extend(column);
    }
    let is_aside = |&column: &usize| !options.keeps_all && is_index(header[column]) && !is_feature(column);
    aside.extend((0..header.len()).filter(is_aside));
    let rest: Vec<usize> = (0..header.len()).filter(|column| !aside.contains(column)).collect();
    let columns = Columns { header, spellings, rest, target };
    let mut choice = match options.names {
        Some(names) => columns.by_known_names(names, options)?,
        None => columns.all(options)?,
    };
    let absent = options.named_columns().filter(|given| position(given, header).is_none());
    choice.absent = absent.map(str::to_owned).collect();
    Ok(Choice { id, weight, ..choice })
}

/// Chooses among columns without names.
fn by_position(count: usize, options: &RowOptions<'_>) -> Result<Choice, ChoiceError> {
    let position = |given: &str| given.parse().ok().filter(|&index: &usize| index < count);
    let find = |used_as: ColumnUse, given: &str| match position(given) {
        None if options.named_columns_required => {
            Err(ChoiceError::InvalidIndex { used_as, index: given.to_owned(), columns: count })
        }
        index => Ok(index),
    };
    let target = options.target.map(|given| find(ColumnUse::Target, given)).transpose()?.flatten();
    let id = options.id.map(|given| find(ColumnUse::Id, given)).transpose()?.flatten();
    let weight = options.weight.and_then(position);
    let mut aside: HashSet<usize> = target.into_iter().chain(id).chain(weight).collect();
    for given in &options.ignored {
        aside.extend(find(ColumnUse::Ignored, given)?);
    }
    let features: Vec<usize> = (0..count).filter(|column| !aside.contains(column)).collect();
    if let Some(expected) = options.feature_count().filter(|&expected| features.len() != expected) {
        let target = target.map(|_| None);
        return Err(ChoiceError::Count { expected, found: features.len(), names: Vec::new(), target });
    }
    let absent = options.named_columns().filter(|given| position(given).is_none());
    let absent = absent.map(str::to_owned).collect();
    Ok(Choice { features, id, weight, absent, ..Choice::default() })
}

/// Returns whether this is the name under which pandas stores the index of a data frame in formats without an
/// index.
fn is_index(name: &str) -> bool {
    let level = name.strip_prefix("__index_level_").and_then(|rest| rest.strip_suffix("__"));
    level.is_some_and(|level| level.parse::<u32>().is_ok())
}

/// Returns the index of the column that `given` specifies, by name or, if there is no such name, by index.
fn position(given: &str, header: &[&str]) -> Option<usize> {
    let named = header.iter().position(|&name| name == given);
    named.or_else(|| given.parse().ok().filter(|&index: &usize| index < header.len()))
}

/// Returns an error if two columns have the same name.
fn check_names(header: &[&str]) -> Result<(), ChoiceError> {
    let mut first = HashMap::new();
    for (column, &name) in header.iter().enumerate() {
        if let Some(first) = first.insert(name, column) {
            return Err(ChoiceError::DuplicateName { columns: [first, column], name: name.to_owned() });
        }
    }
    Ok(())
}

fn owned<'n>(names: impl Iterator<Item = &'n &'n str>) -> Vec<String> {
    names.map(|&name| name.to_owned()).collect()
}

/// The columns that can be features.
struct Columns<'a> {
    /// Names of all columns.
    header: &'a [&'a str],
    /// Other names of each column, following its own name; empty if there are none.
    spellings: &'a [Vec<String>],
    /// Indices of the columns that are available as features.
    rest: Vec<usize>,
    /// The index of the target.
    target: Option<usize>,
}

impl Columns<'_> {
    /// Chooses all available columns. Returns an error if their number differs from the number of features.
    fn all(self, options: &RowOptions<'_>) -> Result<Choice, ChoiceError> {
        match options.feature_count() {
            Some(expected) if expected != self.rest.len() => Err(ChoiceError::Count {
                expected,
                found: self.rest.len(),
                names: owned(self.rest.iter().map(|&column| &self.header[column])),
                target: self.target().map(Some),
            }),
            _ => Ok(Choice { features: self.rest, ..Choice::default() }),
        }
    }

    /// Chooses the columns with the names of the features. Uses all columns in order if no column has such a
    /// name and the names of the features or of the columns are just numbers.
    fn by_known_names(self, names: &[String], options: &RowOptions<'_>) -> Result<Choice, ChoiceError> {
        let columns: Vec<&str> = self.rest.iter().map(|&column| self.header[column]).collect();
        let others = |place: usize| {
            self.spellings.get(self.rest[place]).and_then(|all| all.get(1..)).unwrap_or_default()
        };
        let found = match_names(&columns, others, names, options.names_are_rewritten);
        let chosen: HashSet<usize> = found.iter().copied().flatten().collect();
        let left_out: Vec<usize> = (0..columns.len()).filter(|place| !chosen.contains(place)).collect();
        let other_names = || left_out.iter().map(|&place| columns[place]);
        let missing: Vec<&str> = names
            .iter()
            .zip(&found)
            .filter(|(_, found)| found.is_none())
            .map(|(name, _)| name.as_str())
            .collect();
        if missing.is_empty() {
            let at = |places: Vec<usize>| places.into_iter().map(|place| self.rest[place]).collect();
            let features = at(found.into_iter().flatten().collect());
            return Ok(Choice { features, left_out: at(left_out), ..Choice::default() });
        }
        let named_by = options.named_by.to_owned();
        if !chosen.is_empty() || columns.len() != names.len() {
            let misspelt = missing
                .iter()
                .find_map(|&name| Some((name.to_owned(), nearest(name, other_names())?.to_owned())));
            return Err(ChoiceError::MissingFeatures {
                expected: names.len(),
                found: columns.len(),
                matched: chosen.len(),
                missing: owned(missing.iter()),
                misspelt,
                target: self.target(),
                named_by,
            });
        }
        if are_numbered(names.iter().map(String::as_str)) || are_numbered(other_names()) {
            return Ok(Choice { features: self.rest, in_order: true, ..Choice::default() });
        }
        Err(ChoiceError::OtherNames { column: columns[0].to_owned(), feature: names[0].clone(), named_by })
    }

    fn target(&self) -> Option<String> {
        self.target.map(|column| self.header[column].to_owned())
    }
}

/// Returns the position of each name among `columns`. A name belongs to the column with exactly this name, or
/// otherwise to the only column with this spelling. The spellings of a column are its `others`, its name
/// without surrounding whitespace and, if names are `rewritten`, its name as stored by
/// [LightGBM](lightgbm_name).
fn match_names<'n>(
    columns: &[&'n str],
    others: impl Fn(usize) -> &'n [String],
    names: &[String],
    rewritten: bool,
) -> Vec<Option<usize>> {
    let place_of: HashMap<&str, usize> =
        columns.iter().enumerate().map(|(place, &column)| (column, place)).collect();
    let mut found: Vec<Option<usize>> =
        names.iter().map(|name| place_of.get(name.as_str()).copied()).collect();
    if found.iter().all(Option::is_some) {
        return found;
    }
    let taken: HashSet<usize> = found.iter().copied().flatten().collect();
    // A spelling shared by two columns is ambiguous.
    let mut owner: HashMap<String, Option<usize>> = HashMap::new();
    for (place, &column) in columns.iter().enumerate().filter(|(place, _)| !taken.contains(place)) {
        let mut spellings = vec![column.to_owned(), column.trim().to_owned()];
        spellings.extend(others(place).iter().cloned());
        spellings.extend(rewritten.then(|| lightgbm_name(column)));
        for spelling in spellings {
            owner
                .entry(spelling)
                .and_modify(|owner| *owner = owner.filter(|&other| other == place))
                .or_insert(Some(place));
        }
    }
    for (found, name) in found.iter_mut().zip(names).filter(|(found, _)| found.is_none()) {
        *found = owner.get(name.as_str()).or_else(|| owner.get(name.trim())).copied().flatten();
    }
    found
}

/// Returns whether names are just numbers, as generated by libraries and readers for tables without names:
/// `f0`, `f1`, …; `Column_0`; `0`; `x1`, `x2`, …
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

/// Returns a name as stored by LightGBM: whitespace and the punctuation of JSON become underscores.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn by_name(header: &[String], options: &RowOptions<'_>) -> Result<Choice, ChoiceError> {
        choose(Header::Names(header), options)
    }

    fn by_position(count: usize, options: &RowOptions<'_>) -> Result<Choice, ChoiceError> {
        choose(Header::Count(count), options)
    }

    fn strings(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    fn row_options<'a>(names: Option<&'a [String]>, count: usize, target: Option<&'a str>) -> RowOptions<'a> {
        RowOptions {
            names,
            named_by: "the model",
            count: Some(count),
            target,
            named_columns_required: true,
            ..RowOptions::default()
        }
    }

    fn refusal(header: &[&str], options: &RowOptions<'_>) -> String {
        by_name(&strings(header), options).unwrap_err().to_string()
    }

    #[test]
    fn names_of_the_model_decide_the_order_and_leave_the_rest_out() {
        let names = strings(&["a", "b"]);
        let chosen =
            by_name(&strings(&["id", "b", "target", "a"]), &row_options(Some(&names), 2, None)).unwrap();
        assert_eq!(chosen.features, [3, 1]);
        assert_eq!(chosen.left_out, [0]);
    }

    #[test]
    fn a_feature_called_target_is_not_set_aside() {
        let names = strings(&["a", "target"]);
        let chosen = by_name(&strings(&["target", "a"]), &row_options(Some(&names), 2, None)).unwrap();
        assert_eq!(chosen, Choice { features: vec![1, 0], ..Choice::default() });
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
        let message = refusal(&["height", "weight"], &row_options(Some(&names), 2, None));
        assert!(message.contains("found \"height\", expected \"age\""), "{message}");
        let chosen = by_name(&strings(&["0", "1"]), &row_options(Some(&names), 2, None)).unwrap();
        assert_eq!((chosen.features, chosen.in_order), (vec![0, 1], true));
    }

    #[test]
    fn features_that_are_only_numbered_take_columns_in_order() {
        let names = strings(&["f0", "f1"]);
        let chosen =
            by_name(&strings(&["age", "target", "bmi"]), &row_options(Some(&names), 2, None)).unwrap();
        assert_eq!(chosen.features, [0, 2]);
        assert!(chosen.in_order);
    }

    #[test]
    fn a_header_with_some_of_the_names_is_refused_with_those_it_lacks() {
        let names = strings(&["a", "b", "c"]);
        let message = refusal(&["a", "b", "d"], &row_options(Some(&names), 3, None));
        assert!(message.contains("\"c\"") && message.contains("3 columns"), "{message}");
        let message = refusal(&["x", "y"], &row_options(Some(&names), 3, None));
        assert!(
            message.contains("3 of the 3 features of the model are missing from the 2 columns"),
            "{message}"
        );
    }

    #[test]
    fn without_names_the_count_decides() {
        assert_eq!(
            by_name(&strings(&["x", "target", "y"]), &row_options(None, 2, None)).unwrap().features,
            [0, 2]
        );
        let message = refusal(&["x", "y", "target"], &row_options(None, 3, None));
        let says = "expected 3 feature columns, found 2 besides the target \"target\" (\"x\", \"y\"); \
                    pass one column for each feature";
        assert_eq!(message, says);
    }

    #[test]
    fn a_named_target_is_set_aside_by_name_or_index_and_must_be_there() {
        let header = strings(&["x", "label", "target"]);
        assert_eq!(by_name(&header, &row_options(None, 2, Some("label"))).unwrap().features, [0, 2]);
        assert_eq!(by_name(&header, &row_options(None, 2, Some("0"))).unwrap().features, [1, 2]);
        assert!(
            refusal(&["x", "y"], &row_options(None, 2, Some("label")))
                .starts_with("unknown column \"label\" in the target")
        );
        let kept = RowOptions { keeps_all: true, ..row_options(None, 3, None) };
        assert_eq!(by_name(&header, &kept).unwrap().features, [0, 1, 2]);
        let ignored = vec!["1", "z"];
        let optional =
            RowOptions { named_columns_required: false, ignored, ..row_options(None, 1, Some("label")) };
        let chosen = by_name(&strings(&["x", "y"]), &optional).unwrap();
        assert_eq!((chosen.features, chosen.absent), (vec![0], strings(&["label", "z"])));
        let chosen = by_position(2, &optional).unwrap();
        assert_eq!((chosen.features, chosen.absent), (vec![0], strings(&["label", "z"])));
    }

    #[test]
    fn names_that_are_wanted_tell_how_many_columns_there_must_be() {
        let names = strings(&["a", "b"]);
        let named = RowOptions { count: None, ..row_options(Some(&names), 2, None) };
        assert_eq!(by_position(2, &named).unwrap().features, [0, 1]);
        assert!(
            by_position(3, &named)
                .unwrap_err()
                .to_string()
                .starts_with("expected 2 feature columns, found 3")
        );
        assert_eq!(by_name(&strings(&["0", "1"]), &named).unwrap().features, [0, 1]);
        assert!(refusal(&["0", "1", "2"], &named).contains("\"a\""));
    }

    #[test]
    fn a_matrix_is_taken_by_position() {
        assert_eq!(by_position(3, &row_options(None, 3, None)).unwrap().features, [0, 1, 2]);
        assert_eq!(by_position(4, &row_options(None, 3, Some("1"))).unwrap().features, [0, 2, 3]);
        assert!(by_position(4, &row_options(None, 3, None)).unwrap_err().to_string().contains("found 4"));
        assert!(
            by_position(4, &row_options(None, 3, Some("y")))
                .unwrap_err()
                .to_string()
                .contains("index below 4")
        );
    }

    #[test]
    fn ids_and_ignored_columns_are_set_aside_unless_the_id_is_a_feature() {
        let header = strings(&["", "a", "b", "who", "__index_level_0__"]);
        let names = strings(&["b", "a"]);
        let ignored = vec!["who"];
        let both = RowOptions { id: Some(""), ignored, ..row_options(Some(&names), 2, None) };
        let chosen = by_name(&header, &both).unwrap();
        assert_eq!(chosen, Choice { features: vec![2, 1], id: Some(0), ..Choice::default() });
        let feature = RowOptions { id: Some("a"), ..both.clone() };
        let chosen = by_name(&header, &feature).unwrap();
        assert_eq!((chosen.features, chosen.id), (vec![2, 1], Some(1)));
        let nameless = RowOptions { names: None, ..both.clone() };
        assert_eq!(by_name(&header, &nameless).unwrap().features, [1, 2]);
        let message =
            by_name(&header, &RowOptions { ignored: vec!["hwo"], ..both.clone() }).unwrap_err().to_string();
        assert!(message.starts_with("unknown column \"hwo\" in the ignored columns; available"), "{message}");
        let message = by_name(&header, &RowOptions { ignored: vec!["a"], ..both }).unwrap_err().to_string();
        assert!(message.contains("is a feature of the model"), "{message}");
        let matrix = RowOptions { id: Some("0"), ignored: vec!["3"], ..row_options(None, 2, None) };
        assert_eq!(by_position(4, &matrix).unwrap().features, [1, 2]);
    }

    #[test]
    fn names_as_lightgbm_rewrites_them_are_found_where_one_column_fits() {
        let names = strings(&["Annual_Income_(k$)", "a_b"]);
        let rewritten = RowOptions { names_are_rewritten: true, ..row_options(Some(&names), 2, None) };
        let header = strings(&["a:b", "Annual Income (k$)", "rest"]);
        assert_eq!(by_name(&header, &rewritten).unwrap().features, [1, 0]);
        let exact = strings(&["a:b", "a_b", "Annual Income (k$)"]);
        assert_eq!(by_name(&exact, &rewritten).unwrap().features, [2, 1]);
        let two = strings(&["a:b", "a b", "Annual Income (k$)"]);
        assert!(
            by_name(&two, &rewritten)
                .unwrap_err()
                .to_string()
                .contains("1 of the 2 features of the model is missing from the 3 columns: \"a_b\"")
        );
        let as_written = row_options(Some(&names), 2, None);
        assert!(by_name(&header, &as_written).is_err());
    }

    #[test]
    fn blanks_around_names_do_not_matter_where_one_column_fits() {
        let names = strings(&["age", "size "]);
        let options = row_options(Some(&names), 2, None);
        assert_eq!(by_name(&strings(&["size", " age"]), &options).unwrap().features, [1, 0]);
        assert_eq!(by_name(&strings(&["size", " age", "age"]), &options).unwrap().features, [2, 0]);
        assert!(by_name(&strings(&["size", " age", "age "]), &options).is_err());
    }

    #[test]
    fn a_slip_is_refused_with_the_name_that_was_meant() {
        let names = strings(&["age", "blood pressure"]);
        let message = refusal(&["age", "Blood presure", "x"], &row_options(Some(&names), 2, None));
        assert!(
            message.contains("rename the column \"Blood presure\" if it is the feature \"blood pressure\""),
            "{message}"
        );
        let error = by_name(&strings(&["x", "y", "z"]), &row_options(Some(&names), 2, None)).unwrap_err();
        assert!(!error.to_string().contains("list the others"), "{error}");
        let message = error.in_words(|of| (of == ColumnUse::Ignored).then_some("--ignore"));
        assert!(
            message.ends_with("; rename the columns to the features, or list the others in --ignore"),
            "{message}"
        );
    }

    #[test]
    fn another_spelling_finds_the_only_column_that_has_it() {
        let spellings = |columns: &[&[&str]]| columns.iter().map(|all| strings(all)).collect::<Vec<_>>();
        let names = strings(&["p mean", "3"]);
        let options = row_options(Some(&names), 2, None);
        let columns = spellings(&[&["3"], &["('p', 'mean')", "p mean"], &["rest"]]);
        assert_eq!(choose(Header::Spellings(&columns), &options).unwrap().features, [1, 0]);
        let twice = spellings(&[&["3"], &["('p', 'mean')", "p mean"], &["p_mean", "p mean"]]);
        assert!(choose(Header::Spellings(&twice), &options).is_err());
        let own = spellings(&[&["3"], &["('p', 'mean')", "p mean"], &["p mean"]]);
        assert_eq!(choose(Header::Spellings(&own), &options).unwrap().features, [2, 0]);
    }
}
