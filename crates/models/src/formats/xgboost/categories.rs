//! The categories of features by name, which files of XGBoost 3.1 and later contain.
//!
//! `cats.enc` has one element per feature. For a numeric feature, the element contains empty lists. For text,
//! it contains `offsets` and `values`, the UTF-8 bytes of all categories. For integers, it contains `values`
//! and their `type`. The code of a category is its index.
//!
//! For models trained on a pandas data frame, XGBoost before 3.4 writes the offsets in characters instead of
//! bytes, so that strings after a non-ASCII character are split at the wrong bytes. For models trained on
//! Arrow or polars, the offsets are correct. The file does not store the kind of the training data.

use super::version::Version;
use crate::ensemble::{Categories, Category, Ensemble, UnknownCategory};
use crate::error::ModelError;
use crate::formats::document::Field;

/// The first version that stores the correct offsets for pandas data frames.
const RIGHT: Version = Version([3, 4, 0]);

/// Returns the categories of each feature, or an empty list if the file does not contain categories.
pub(super) fn read(model: &Field<'_>, features: usize) -> Result<Vec<Option<Categories>>, ModelError> {
    let Some(field) = model.find("cats")? else { return Ok(Vec::new()) };
    let Some(field) = field.find("enc")? else { return Ok(Vec::new()) };
    let encodings = field.elements()?;
    if encodings.is_empty() {
        return Ok(Vec::new());
    }
    if encodings.len() != features {
        return Err(
            field.error(format!("expected categories for {features} features, got {}", encodings.len()))
        );
    }
    encodings.iter().map(of_feature).collect()
}

fn of_feature(encoding: &Field<'_>) -> Result<Option<Categories>, ModelError> {
    let values = encoding.get("values")?;
    let list = match encoding.find("offsets")? {
        Some(offsets) => texts(&offsets, &values)?,
        None => values.numbers()?.iter().map(|&number| Category::Number(number)).collect(),
    };
    Ok((!list.is_empty()).then(|| Categories::new(list, UnknownCategory::Refused)))
}

/// Returns the strings between the offsets.
fn texts(offsets: &Field<'_>, values: &Field<'_>) -> Result<Vec<Category>, ModelError> {
    // Bytes of 128 or more are written as negative numbers.
    let bytes = values.integers()?.into_iter().map(|value| {
        let byte = i8::try_from(value).map(|byte| byte as u8).or_else(|_| u8::try_from(value));
        byte.map_err(|_| values.error(format!("invalid byte {value}")))
    });
    let bytes = bytes.collect::<Result<Vec<u8>, ModelError>>()?;
    let between = |pair: &[i64]| {
        let [start, end] = [pair[0], pair[1]].map(|place| usize::try_from(place).ok());
        let word = bytes.get(start?..end?)?;
        Some(Category::Text(std::str::from_utf8(word).ok()?.to_owned()))
    };
    let places = offsets.integers()?;
    let wrong = |pair: &[i64]| {
        offsets.error(format!(
            "invalid UTF-8 in the category at bytes {}..{} of {}: XGBoost before 3.4 truncates non-ASCII \
             categories of pandas data frames; train with a newer version, or use ASCII names",
            pair[0],
            pair[1],
            bytes.len()
        ))
    };
    places.windows(2).map(|pair| between(pair).ok_or_else(|| wrong(pair))).collect()
}

/// Returns the note for users if the categories in a file of this version may be wrong.
pub(super) fn note(ensemble: &Ensemble, version: Version) -> Option<String> {
    let is_beyond_ascii = |category: &Category| matches!(category, Category::Text(text) if !text.is_ascii());
    // Iterates over features with categories only, because a corrupt file can declare any number of features.
    let doubtful =
        ensemble.features_with_categories().filter(|(_, words)| words.list().iter().any(is_beyond_ascii));
    let doubtful: Vec<String> = doubtful.map(|(feature, _)| feature.to_string()).collect();
    (version < RIGHT && !doubtful.is_empty()).then(|| {
        format!(
            "non-ASCII categories (features {}, counted from 0): if the model was trained on a pandas data \
             frame, XGBoost {version} truncated these categories, so rows with later categories get the \
             predictions of other categories; compare the predictions with those of XGBoost, or train with a \
             newer version",
            doubtful.join(", ")
        )
    })
}
