//! What is wanted of a file of rows.

use std::convert::Infallible;
use std::str::FromStr;

use apportion_models::Words;

use crate::texts::Texts;

/// What is wanted of a file of rows. The default wants all columns but one named `target`, and any number of them.
#[derive(Debug, Clone, Default)]
pub struct Wanted<'a> {
    /// The names of the features, where they are known.
    pub names: Option<&'a [String]>,
    /// Whose names they are, for messages: `the model`, or for a background `the rows file`.
    pub named_by: &'a str,
    /// Whether `names` may have underscores where the table has characters that their library does not store (LightGBM: blanks and
    /// those that JSON gives a meaning).
    pub names_are_rewritten: bool,
    /// Number of features. Where it is `None`: as many as there are `names`, or any number without them.
    pub count: Option<usize>,
    /// The categories of each feature, where it has some; may be shorter than the features.
    pub words: Vec<Option<&'a Words>>,
    /// Where texts go that are not numbers, of features without categories. Where it is `None`, they are refused.
    pub texts: Option<&'a Texts>,
    /// The column to set aside, by name or by index; the one named `target`, if there is one, where it is `None`.
    pub target: Option<&'a str>,
    /// Whether columns are kept that are otherwise set aside by their names alone: `target`, and the index of a
    /// data frame of pandas.
    pub keeps_all: bool,
    /// The column that says which row it is, by name or by index: set aside, unless it is a feature as well, and handed over as text.
    /// That of a decimal has all of its digits, that of a day or a time is by ISO 8601.
    pub id: Option<&'a str>,
    /// The column that says how much each row weighs, by name or by index: set aside, unless it is a feature as well, and handed over as
    /// numbers.
    pub weight: Option<&'a str>,
    /// Columns to leave out, by name or by index.
    pub ignored: Vec<&'a str>,
    /// Whether the columns that `target`, `id` and `ignored` name must be there; one of weights need not.
    pub named_columns_required: bool,
    /// What stands for a missing value, beside an empty cell and the usual words.
    pub missing: &'a [Sentinel],
    /// Whether numbers in text are written with a comma, as in 1,5. A point is refused then: it may stand between thousands.
    pub decimal_comma: bool,
    /// What separates the cells of a text; found from the text where it is `None`.
    pub separator: Option<u8>,
    /// Bytes that packed content may unpack to. Where it is `None`: 200 times what is packed, or 256 MiB where that is more.
    pub unpacked_limit: Option<u64>,
}

impl<'a> Wanted<'a> {
    /// How many features there are, by `count` or by `names`; none where neither is known.
    pub(crate) fn feature_count(&self) -> Option<usize> {
        self.count.or(self.names.map(<[String]>::len))
    }

    /// The columns that are named for another use than as features, but that of weights.
    pub(crate) fn named_columns(&self) -> impl Iterator<Item = &'a str> {
        self.target.into_iter().chain(self.id).chain(self.ignored.iter().copied())
    }

    /// The categories of a feature.
    pub(crate) fn words_of(&self, feature: usize) -> Option<&'a Words> {
        self.words.get(feature).copied().flatten()
    }
}

/// A value that stands for a missing one. A number is compared as a number (−999 is −999.0), anything else as text.
#[derive(Debug, Clone, PartialEq)]
pub enum Sentinel {
    /// A number.
    Number(f64),
    /// A word.
    Text(String),
}

impl FromStr for Sentinel {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let text = text.trim();
        Ok(text.parse().map_or_else(|_| Self::Text(text.to_owned()), Self::Number))
    }
}
