//! The columns of a row, as the member `features_info` lists them by kind.

use std::collections::HashMap;

use crate::error::ModelError;
use crate::formats::document::Field;

/// Columns come as bare numbers, so a short file could ask for any memory.
const MOST_COLUMNS: usize = 1 << 20;

/// A column of numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Number {
    pub(super) column: usize,
    /// Whether a missing value is above every border; if not, it is above none.
    pub(super) missing_is_above: bool,
}

pub(super) struct Features {
    /// Number of columns. Columns that the file leaves out are of no use to the model.
    pub(super) count: usize,
    /// `None` where no column has a name.
    pub(super) names: Option<Vec<String>>,
    /// By `feature_index`, which counts the numbers only.
    numbers: HashMap<usize, Number>,
    /// By `feature_index`, which counts the categories only: the column.
    categories: HashMap<usize, usize>,
}

impl Features {
    pub(super) fn read(field: &Field<'_>) -> Result<Self, ModelError> {
        let mut features =
            Self { count: 0, names: None, numbers: HashMap::new(), categories: HashMap::new() };
        let mut named: HashMap<usize, String> = HashMap::new();
        for kind in ["float_features", "categorical_features", "text_features", "embedding_features"] {
            let Some(list) = field.find(kind)?.filter(|list| !list.is_null()) else { continue };
            for feature in list.elements()? {
                let index = feature.get("feature_index")?;
                let place = feature.get("flat_feature_index")?;
                let column = place.count()?;
                if column >= MOST_COLUMNS {
                    return Err(place.error(format!("{column}, where {MOST_COLUMNS} features are the most")));
                }
                let name = match feature.find("feature_id")? {
                    Some(name) => name.text()?.to_owned(),
                    None => String::new(),
                };
                if named.insert(column, name).is_some() {
                    return Err(place.error(format!("{column} is the place of two features")));
                }
                let twice = match kind {
                    "float_features" => {
                        let missing_is_above = missing_is_above(&feature)?;
                        features.numbers.insert(index.count()?, Number { column, missing_is_above }).is_some()
                    }
                    "categorical_features" => features.categories.insert(index.count()?, column).is_some(),
                    _ => false,
                };
                if twice {
                    return Err(index.error("the index of two features"));
                }
                features.count = features.count.max(column + 1);
            }
        }
        if features.count == 0 {
            return Err(field.error("a model without features"));
        }
        if named.values().any(|name| !name.is_empty()) {
            // As CatBoost names columns without a name.
            let name = |column| match named.remove(&column) {
                Some(name) if !name.is_empty() => name,
                _ => column.to_string(),
            };
            features.names = Some((0..features.count).map(name).collect());
        }
        Ok(features)
    }

    /// The column of numbers that a split names.
    pub(super) fn number(&self, index: &Field<'_>) -> Result<Number, ModelError> {
        let known = self.numbers.get(&index.count()?).copied();
        known.ok_or_else(|| unknown(index, "numbers", self.numbers.len()))
    }

    /// The column of categories that a split names.
    pub(super) fn category(&self, index: &Field<'_>) -> Result<usize, ModelError> {
        let known = self.categories.get(&index.count()?).copied();
        known.ok_or_else(|| unknown(index, "categories", self.categories.len()))
    }

    /// The columns of categories, the first few by name, for people.
    pub(super) fn category_names(&self) -> String {
        const NAMED: usize = 8;
        let mut columns: Vec<usize> = self.categories.values().copied().collect();
        columns.sort_unstable();
        let mut names: Vec<String> = columns.iter().take(NAMED).map(|&column| self.name(column)).collect();
        if columns.len() > NAMED {
            names.push(format!("{} more", columns.len() - NAMED));
        }
        names.join(", ")
    }

    /// A column, for people.
    pub(super) fn name(&self, column: usize) -> String {
        match &self.names {
            Some(names) => format!("feature {column} ({:.60?})", names[column]),
            None => format!("feature {column}"),
        }
    }
}

fn unknown(index: &Field<'_>, kind: &str, count: usize) -> ModelError {
    match index.count() {
        Ok(given) => index.error(format!("{given}, but the {count} features of {kind} have other numbers")),
        Err(error) => error,
    }
}

/// `AsFalse` and `AsTrue` say what the answer to `x > border` is for a missing value. `AsIs` is a comparison with NaN, which is false.
fn missing_is_above(feature: &Field<'_>) -> Result<bool, ModelError> {
    let Some(treatment) = feature.find("nan_value_treatment")? else { return Ok(false) };
    match treatment.text()? {
        "AsIs" | "AsFalse" => Ok(false),
        "AsTrue" => Ok(true),
        other => Err(treatment.error(format!("{other:?}, where AsIs, AsFalse or AsTrue is wanted"))),
    }
}
