//! Codes of the categories of a feature, for columns that hold words or numbers.

use apportion::trees::{Category, UnknownWord, Words};
use pyo3::prelude::*;
use pyo3::types::PyList;

/// What stands for a category that the model does not know; none where the model's library refuses it.
fn code_of_unknown(words: &Words) -> Option<f64> {
    match words.unknown() {
        UnknownWord::Missing => Some(f64::NAN),
        UnknownWord::NoCategory => Some(Words::NO_CATEGORY),
        // What is not known here may not be guessed.
        _ => None,
    }
}

/// The codes of texts, missing ones being none; or the place of the first that the model does not know and may not be guessed.
pub(crate) fn of_texts(words: &Words, texts: &[Option<String>]) -> Result<Vec<f64>, usize> {
    let code = |(place, text): (usize, &Option<String>)| {
        let Some(text) = text else { return Ok(f64::NAN) };
        let number = || words.code_of_number(text.trim().parse().ok()?);
        let known = words.code_of_text(text).or_else(|| words.code_of_text(text.trim())).or_else(number);
        known.or_else(|| code_of_unknown(words)).ok_or(place)
    };
    texts.iter().enumerate().map(code).collect()
}

/// The codes of numbers, missing ones being not a number.
pub(crate) fn of_numbers(words: &Words, numbers: &[f64]) -> Result<Vec<f64>, usize> {
    let code = |(place, &number): (usize, &f64)| {
        if number.is_nan() {
            return Ok(f64::NAN);
        }
        let text = format!("{number}");
        // As Python writes a whole number that is a float.
        let by_text = || words.code_of_text(&text).or_else(|| words.code_of_text(&format!("{text}.0")));
        let known = words.code_of_number(number).or_else(by_text);
        known.or_else(|| code_of_unknown(words)).ok_or(place)
    };
    numbers.iter().enumerate().map(code).collect()
}

/// The categories in the order of their codes, where these count them; empty where they are hashed.
pub(crate) fn listed<'py>(py: Python<'py>, words: &Words) -> PyResult<Bound<'py, PyList>> {
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
