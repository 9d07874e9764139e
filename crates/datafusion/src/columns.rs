//! Columns that are features: which they are, and their numbers.

use std::collections::HashSet;

use apportion::Ensemble;
use apportion::trees::{Category, UnknownWord, Words};
use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type, Schema};

use crate::error::BatchError;

/// The places of the features among the columns of a schema: all that the names tell, else all that are not kept, in their order.
pub(crate) fn chosen(
    schema: &Schema,
    names: Option<&[String]>,
    count: usize,
    kept: &[String],
    names_are_rewritten: bool,
) -> Result<Vec<usize>, BatchError> {
    let columns: Vec<&String> = schema.fields().iter().map(|field| field.name()).collect();
    let mut seen = HashSet::new();
    if let Some(name) = columns.iter().find(|name| !seen.insert(**name)) {
        return Err(BatchError::SameName { name: (*name).clone() });
    }
    let rest: Vec<usize> = (0..columns.len()).filter(|&place| !kept.contains(columns[place])).collect();
    let texts = |places: &[usize]| places.iter().map(|&place| columns[place].clone()).collect::<Vec<_>>();
    if let Some(names) = names {
        let place_of = |name: &String| {
            let as_written = columns.iter().position(|column| *column == name);
            as_written.or_else(|| {
                let is_it =
                    |column: &&String| names_are_rewritten && apportion_rows::lightgbm_name(column) == *name;
                columns.iter().position(is_it)
            })
        };
        let found: Vec<Option<usize>> = names.iter().map(place_of).collect();
        let lacking: Vec<String> = names
            .iter()
            .zip(&found)
            .filter(|(_, place)| place.is_none())
            .map(|(name, _)| name.clone())
            .collect();
        if lacking.is_empty() {
            return Ok(found.into_iter().flatten().collect());
        }
        // Names that only number the columns, on either side, say no more than their order does.
        let in_order = lacking.len() == names.len()
            && rest.len() == count
            && (are_numbered(names) || are_numbered(&texts(&rest)));
        if !in_order {
            let columns = columns.into_iter().cloned().collect();
            return Err(BatchError::Lacking { features: count, lacking, columns });
        }
    }
    if rest.len() != count {
        return Err(BatchError::Count { columns: texts(&rest), wanted: count });
    }
    Ok(rest)
}

/// Whether names only number the columns, as libraries make them up: `f0`, `f1`, …; `Column_0`; `0`; `x1`.
fn are_numbered(names: &[String]) -> bool {
    let Some(name) = names.first() else { return false };
    [0, 1].iter().any(|first| {
        name.strip_suffix(&first.to_string()).is_some_and(|prefix| {
            names.iter().enumerate().all(|(place, name)| {
                name.strip_prefix(prefix).is_some_and(|number| number == (first + place).to_string())
            })
        })
    })
}

/// One feature: the column or argument that holds it, and the categories that the model has for it.
pub(crate) struct Feature<'a> {
    pub(crate) place: String,
    pub(crate) words: Option<&'a Words>,
}

impl<'a> Feature<'a> {
    pub(crate) fn new(place: String, ensemble: Option<&'a Ensemble>, feature: usize) -> Self {
        Self { place, words: ensemble.and_then(|ensemble| ensemble.words(feature)) }
    }

    /// Refuses a type that holds no numbers, nor categories where the model has some.
    pub(crate) fn check(&self, given: &DataType) -> Result<(), BatchError> {
        if is_number(given) || self.words.is_some() && is_text(given) {
            return Ok(());
        }
        Err(BatchError::Type {
            place: self.place.clone(),
            given: given.clone(),
            has_categories: self.words.is_some(),
        })
    }

    /// Writes the numbers of a column to every `step`th place of `out`, NaN where a value is missing.
    pub(crate) fn write(&self, column: &ArrayRef, out: &mut [f64], step: usize) -> Result<(), BatchError> {
        self.check(column.data_type())?;
        let out = out.iter_mut().step_by(step);
        match self.words {
            None => numbers(column, Ok, out),
            Some(words) if is_text(column.data_type()) => {
                let texts = cast(column, &DataType::Utf8)?;
                for (text, out) in texts.as_string::<i32>().iter().zip(out) {
                    *out =
                        text.map_or(Ok(f64::NAN), |text| self.code(words, words_code(words, text), text))?;
                }
                Ok(())
            }
            Some(words) if *column.data_type() == DataType::Boolean => {
                for (value, out) in column.as_boolean().iter().zip(out) {
                    *out = value.map_or(Ok(f64::NAN), |value| {
                        let text = if value { "True" } else { "False" };
                        let number = || words.code_of_number(f64::from(u8::from(value)));
                        let code = words.code_of_text(text).or_else(number);
                        self.code(words, code.or_else(|| words.code_of_text(&text.to_lowercase())), text)
                    })?;
                }
                Ok(())
            }
            Some(words) => numbers(
                column,
                |number| {
                    if number.is_nan() {
                        return Ok(number);
                    }
                    let text = format!("{number}");
                    // As Python writes a whole number that is a float.
                    let by_text =
                        || words.code_of_text(&text).or_else(|| words.code_of_text(&format!("{text}.0")));
                    self.code(words, words.code_of_number(number).or_else(by_text), &text)
                },
                out,
            ),
        }
    }

    /// The code that was found, or what the library of the model takes for a category that it does not know.
    fn code(&self, words: &Words, found: Option<f64>, given: &str) -> Result<f64, BatchError> {
        match (found, words.unknown()) {
            (Some(code), _) => Ok(code),
            (None, UnknownWord::Missing) => Ok(f64::NAN),
            (None, UnknownWord::NoCategory) => Ok(Words::NO_CATEGORY),
            // What is not known here may not be guessed.
            (None, _) => Err(BatchError::Category {
                place: self.place.clone(),
                given: given.to_owned(),
                known: words.list().iter().map(in_words).collect(),
            }),
        }
    }
}

/// The code of a text: by itself, without white space around it, or by the number that it reads as.
fn words_code(words: &Words, text: &str) -> Option<f64> {
    let trimmed = text.trim();
    let known = words.code_of_text(text).or_else(|| words.code_of_text(trimmed));
    known.or_else(|| words.code_of_number(trimmed.parse().ok()?))
}

fn in_words(category: &Category) -> String {
    match category {
        Category::Text(text) => text.clone(),
        Category::Number(number) => number.to_string(),
    }
}

fn numbers<'o>(
    column: &ArrayRef,
    turn: impl Fn(f64) -> Result<f64, BatchError>,
    out: impl Iterator<Item = &'o mut f64>,
) -> Result<(), BatchError> {
    // Whole numbers beyond 2^53 are rounded.
    let column = cast(column, &DataType::Float64)?;
    let column = column.as_primitive::<Float64Type>();
    if column.null_count() == 0 {
        for (&number, out) in column.values().iter().zip(out) {
            *out = turn(number)?;
        }
        return Ok(());
    }
    for (number, out) in column.iter().zip(out) {
        *out = number.map_or(Ok(f64::NAN), &turn)?;
    }
    Ok(())
}

fn is_number(given: &DataType) -> bool {
    match given {
        DataType::Null | DataType::Boolean => true,
        DataType::Dictionary(_, values) => is_number(values),
        other => other.is_numeric(),
    }
}

fn is_text(given: &DataType) -> bool {
    match given {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_text(values),
        _ => false,
    }
}
