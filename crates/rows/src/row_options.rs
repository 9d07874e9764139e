//! Options for reading a file of rows.

use std::convert::Infallible;
use std::str::FromStr;

use apportion_models::Categories;

use crate::texts::Texts;

/// Options for reading a file of rows. By default, all columns are features, except a column named `target`
/// and the index of a pandas data frame.
#[derive(Debug, Clone, Default)]
pub struct RowOptions<'a> {
    /// The names of the features, if known.
    pub names: Option<&'a [String]>,
    /// The source of the names, for messages: `the model`, or `the rows file` for a background.
    pub named_by: &'a str,
    /// Whether `names` may contain underscores for characters that the library of the model does not store
    /// (LightGBM: whitespace and the punctuation of JSON).
    pub names_are_rewritten: bool,
    /// The number of features. Defaults to the number of `names`; without names, any number is accepted.
    pub count: Option<usize>,
    /// The categories of each categorical feature, `None` for other features. The list may be shorter than
    /// the list of features.
    pub categories: Vec<Option<&'a Categories>>,
    /// The store for strings that are not numbers, for features without categories. Without it, such strings
    /// are errors.
    pub texts: Option<&'a Texts>,
    /// The target, by name or index, which is excluded from the features. Defaults to the column named
    /// `target`, if there is one.
    pub target: Option<&'a str>,
    /// Whether to keep columns that are excluded by default because of their names: `target`, and the index
    /// of a pandas data frame.
    pub keeps_all: bool,
    /// The column that identifies the rows, by name or index. It is excluded from the features unless it is a
    /// feature of the model, too. IDs are returned as text: decimals with all of their digits, dates and
    /// times in ISO 8601.
    pub id: Option<&'a str>,
    /// The column of row weights, by name or index. It is excluded from the features unless it is a feature
    /// of the model, too. Weights are returned as numbers.
    pub weight: Option<&'a str>,
    /// Columns to ignore, by name or index.
    pub ignored: Vec<&'a str>,
    /// Whether the columns specified by `target`, `id` and `ignored` must exist. The weight column is always
    /// optional.
    pub named_columns_required: bool,
    /// Cell values that represent a missing value, in addition to empty cells and the usual markers.
    pub missing: &'a [Sentinel],
    /// Whether numbers in text have a decimal comma, as in 1,5. A decimal point is then an error, because it
    /// may separate thousands.
    pub decimal_comma: bool,
    /// The delimiter of text files. Detected by default.
    pub separator: Option<u8>,
    /// Whether a file without rows is accepted. By default it is an error.
    pub may_be_empty: bool,
    /// The maximum number of decompressed bytes. Defaults to 200 times the number of compressed bytes, but at
    /// least 256 MiB.
    pub unpacked_limit: Option<u64>,
}

impl<'a> RowOptions<'a> {
    /// Returns the number of features from `count` or `names`; `None` if neither is set.
    pub(crate) fn feature_count(&self) -> Option<usize> {
        self.count.or(self.names.map(<[String]>::len))
    }

    /// Returns the columns specified for uses other than as features, except for the weight column.
    pub(crate) fn named_columns(&self) -> impl Iterator<Item = &'a str> {
        self.target.into_iter().chain(self.id).chain(self.ignored.iter().copied())
    }

    /// Returns the categories of a feature.
    pub(crate) fn categories_of(&self, feature: usize) -> Option<&'a Categories> {
        self.categories.get(feature).copied().flatten()
    }
}

/// A cell value that represents a missing value. Numbers are compared as numbers (−999 equals −999.0), other
/// values as text.
#[derive(Debug, Clone, PartialEq)]
pub enum Sentinel {
    /// A number.
    Number(f64),
    /// A string.
    Text(String),
}

impl FromStr for Sentinel {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let text = text.trim();
        Ok(text.parse().map_or_else(|_| Self::Text(text.to_owned()), Self::Number))
    }
}
