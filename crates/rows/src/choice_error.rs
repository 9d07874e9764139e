//! Errors when choosing the features among the columns of a table.

use std::fmt;

use crate::nearest::list;

/// A use of a column other than as a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnUse {
    /// The target of the model.
    Target,
    /// The identifiers of rows.
    Id,
    /// Columns to ignore.
    Ignored,
}

impl fmt::Display for ColumnUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Target => "the target",
            Self::Id => "the ID",
            Self::Ignored => "the ignored columns",
        })
    }
}

/// The error if the features cannot be chosen among the columns.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChoiceError {
    /// Two columns have the same name.
    DuplicateName {
        /// Indices of the columns.
        columns: [usize; 2],
        /// The name that both columns have.
        name: String,
    },
    /// A column specified for a use other than as a feature does not exist.
    UnknownColumn {
        /// The use of the column.
        used_as: ColumnUse,
        /// The name that the user specified.
        name: String,
        /// The name of the most similar column, if there is a similar one.
        nearest: Option<String>,
        /// The names of all columns.
        columns: Vec<String>,
    },
    /// The table does not have column names, and the specified index is out of range.
    InvalidIndex {
        /// The use of the column.
        used_as: ColumnUse,
        /// The index that the user specified.
        index: String,
        /// The number of columns.
        columns: usize,
    },
    /// A column that should be ignored is a feature.
    IgnoredFeature {
        /// The name of the column.
        name: String,
        /// The source of the feature names (see [`RowOptions::named_by`](crate::RowOptions::named_by)).
        named_by: String,
    },
    /// The number of columns differs from the number of features.
    Count {
        /// The number of features.
        expected: usize,
        /// The number of columns that can be features.
        found: usize,
        /// The names of these columns; empty if columns do not have names.
        names: Vec<String>,
        /// The target that was excluded, with its name if columns have names.
        target: Option<Option<String>>,
    },
    /// Some features do not have a column of the same name.
    MissingFeatures {
        /// The number of features.
        expected: usize,
        /// The number of columns that can be features.
        found: usize,
        /// The number of columns that have the name of a feature.
        matched: usize,
        /// The names of the features without a column.
        missing: Vec<String>,
        /// The name of a missing feature, and of the most similar column.
        misspelt: Option<(String, String)>,
        /// The target that was excluded.
        target: Option<String>,
        /// The source of the feature names.
        named_by: String,
    },
    /// The number of columns matches the number of features, but no column has the name of a feature.
    OtherNames {
        /// The name of the first column.
        column: String,
        /// The name of the first feature.
        feature: String,
        /// The source of the feature names.
        named_by: String,
    },
}

impl ChoiceError {
    /// Formats the message for users who specify the uses of columns by options. `option` returns the name of
    /// the option for a use, or `None` if no option exists.
    ///
    /// ```
    /// use apportion_rows::{ColumnUse, Header, RowOptions, choose};
    ///
    /// let header = ["age", "income", "notes"].map(String::from);
    /// let options = RowOptions { count: Some(2), ..RowOptions::default() };
    /// let error = choose(Header::Names(&header), &options).unwrap_err();
    /// let says = "expected 2 feature columns, found 3 (\"age\", \"income\", \"notes\")";
    /// assert_eq!(error.to_string(), format!("{says}; pass one column for each feature"));
    /// let message = error.in_words(|of| (of == ColumnUse::Ignored).then_some("--ignore"));
    /// assert!(message.ends_with("; list the others in --ignore"));
    /// ```
    pub fn in_words(&self, option: impl Fn(ColumnUse) -> Option<&'static str>) -> String {
        let name = |of: ColumnUse| option(of).map_or_else(|| of.to_string(), str::to_owned);
        match self {
            Self::DuplicateName { columns: [first, second], name } => {
                format!(
                    "duplicate column name {name:?} (columns {first} and {second}); give each column a \
                     unique name"
                )
            }
            Self::UnknownColumn { used_as, name: column, nearest, columns } => {
                let hint = match nearest {
                    Some(nearest) => format!("did you mean {nearest:?}?"),
                    None => format!("available columns: {}", listed(columns)),
                };
                format!("unknown column {column:?} in {}; {hint}", name(*used_as))
            }
            Self::InvalidIndex { used_as, index, columns } => {
                format!(
                    "unknown column {index:?} in {}; the columns have no names, expected an index below \
                     {columns}",
                    name(*used_as)
                )
            }
            Self::IgnoredFeature { name: column, named_by } => {
                format!(
                    "invalid column {column:?} in {}: it is a feature of {named_by}; do not list it",
                    name(ColumnUse::Ignored)
                )
            }
            Self::Count { expected, found, names, target } => {
                let columns = if *expected == 1 { "column" } else { "columns" };
                let names = if names.is_empty() { String::new() } else { format!(" ({})", listed(names)) };
                let target = match target {
                    Some(Some(name)) => format!(" besides the target {name:?}"),
                    Some(None) => " besides the target".to_owned(),
                    None => String::new(),
                };
                let remedy = match option(ColumnUse::Ignored).filter(|_| found > expected) {
                    Some(ignored) => format!("; list the others in {ignored}"),
                    None => "; pass one column for each feature".to_owned(),
                };
                format!("expected {expected} feature {columns}, found {found}{target}{names}{remedy}")
            }
            Self::MissingFeatures { expected, found, matched, missing, misspelt, target, named_by } => {
                let columns = if *found == 1 { "column" } else { "columns" };
                let are = if missing.len() == 1 { "is" } else { "are" };
                let target =
                    target.as_ref().map_or_else(String::new, |name| format!(" besides the target {name:?}"));
                let remedy = match (misspelt, option(ColumnUse::Ignored)) {
                    (Some((feature, column)), _) => {
                        format!("; rename the column {column:?} if it is the feature {feature:?}")
                    }
                    (None, Some(ignored)) if *matched == 0 && found > expected => {
                        format!("; rename the columns to the features, or list the others in {ignored}")
                    }
                    (None, None) if *matched == 0 && found > expected => {
                        "; rename the columns to the features".to_owned()
                    }
                    _ => "; add the missing columns".to_owned(),
                };
                format!(
                    "{} of the {expected} features of {named_by} {are} missing from the {found} \
                     {columns}{target}: {}{remedy}",
                    missing.len(),
                    listed(missing)
                )
            }
            Self::OtherNames { column, feature, named_by } => format!(
                "no column has the name of a feature of {named_by}: found {column:?}, expected {feature:?}, \
                 and so on; rename the columns, or pass a matrix without names to use its columns in order"
            ),
        }
    }
}

impl fmt::Display for ChoiceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_words(|_| None))
    }
}

impl std::error::Error for ChoiceError {}

fn listed(names: &[String]) -> String {
    list(&names.iter().map(String::as_str).collect::<Vec<_>>())
}
