//! Codes of the categories of a feature, for columns of strings or numbers.

use apportion::trees::{Categories, Category, UnknownCategory};
use pyo3::prelude::*;
use pyo3::types::PyList;

/// Returns the code of an unknown category; `None` if the model's library rejects unknown categories.
fn code_of_unknown(words: &Categories) -> Option<f64> {
    match words.unknown() {
        UnknownCategory::Missing => Some(f64::NAN),
        UnknownCategory::NoCategory => Some(Categories::NO_CATEGORY),
        // Reject variants added later, rather than guess a code.
        _ => None,
    }
}

/// Returns the codes of strings, NaN for `None`.
///
/// # Errors
///
/// The position of the first string that is not a category, if the model rejects unknown categories.
pub(crate) fn of_texts(words: &Categories, texts: &[Option<String>]) -> Result<Vec<f64>, usize> {
    let code = |(place, text): (usize, &Option<String>)| {
        let Some(text) = text else { return Ok(f64::NAN) };
        let number = || words.code_of_number(text.trim().parse().ok()?);
        let known = words.code_of_text(text).or_else(|| words.code_of_text(text.trim())).or_else(number);
        known.or_else(|| code_of_unknown(words)).ok_or(place)
    };
    texts.iter().enumerate().map(code).collect()
}

/// Returns the codes of numbers, NaN for NaN.
///
/// # Errors
///
/// The position of the first number that is not a category, if the model rejects unknown categories.
pub(crate) fn of_numbers(words: &Categories, numbers: &[f64]) -> Result<Vec<f64>, usize> {
    let code = |(place, &number): (usize, &f64)| {
        if number.is_nan() {
            return Ok(f64::NAN);
        }
        let text = format!("{number}");
        // Python writes integral floats with ".0".
        let by_text = || words.code_of_text(&text).or_else(|| words.code_of_text(&format!("{text}.0")));
        let known = words.code_of_number(number).or_else(by_text);
        known.or_else(|| code_of_unknown(words)).ok_or(place)
    };
    numbers.iter().enumerate().map(code).collect()
}

/// Returns the categories in the order of their codes, if these are 0, 1, …; an empty list if the codes are
/// hashes.
pub(crate) fn listed<'py>(py: Python<'py>, words: &Categories) -> PyResult<Bound<'py, PyList>> {
    let code = |category: &Category| match category {
        Category::Text(text) => words.code_of_text(text),
        Category::Number(number) => words.code_of_number(*number),
    };
    let list = PyList::empty(py);
    let in_order = words.list().iter().enumerate().all(|(place, word)| code(word) == Some(place as f64));
    for category in words.list().iter().filter(|_| in_order) {
        match category {
            Category::Text(text) => list.append(text)?,
            Category::Number(number) => list.append(number)?,
        }
    }
    Ok(list)
}
