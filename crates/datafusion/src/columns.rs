//! Selection of the feature columns, and their conversion to numbers.

use apportion::Ensemble;
use apportion::trees::Categories;
use apportion_rows::{CellError, Feature as Cells, Header, RowOptions, choose};
use datafusion_common::arrow::array::{Array, ArrayRef, AsArray};
use datafusion_common::arrow::compute::cast;
use datafusion_common::arrow::datatypes::{DataType, Float64Type, Int64Type, Schema, UInt64Type};

use crate::error::BatchError;

/// Returns the positions of the feature columns in a schema: the columns with the names of the features, or,
/// if these are unknown, all columns that are not copied to the results, in order.
pub(crate) fn chosen(
    schema: &Schema,
    names: Option<&[String]>,
    count: usize,
    kept: &[String],
    names_are_rewritten: bool,
) -> Result<Vec<usize>, BatchError> {
    let columns: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    let all = RowOptions {
        names,
        named_by: "the model",
        names_are_rewritten,
        count: Some(count),
        keeps_all: true,
        ..RowOptions::default()
    };
    // A feature column may be copied to the results, too.
    if let (Some(_), Ok(choice)) = (names, choose(Header::Names(&columns), &all))
        && !choice.in_order
    {
        return Ok(choice.features);
    }
    let is_feature = |name: &&String| names.is_some_and(|names| names.contains(name));
    let ignored = kept.iter().filter(|name| !is_feature(name)).map(String::as_str).collect();
    let choice = choose(Header::Names(&columns), &RowOptions { ignored, ..all });
    Ok(choice.map_err(BatchError::Columns)?.features)
}

/// A feature: the column or argument that contains it, and its categories in the model.
pub(crate) struct Feature<'a> {
    pub(crate) place: String,
    pub(crate) words: Option<&'a Categories>,
}

impl<'a> Feature<'a> {
    pub(crate) fn new(place: String, ensemble: Option<&'a Ensemble>, feature: usize) -> Self {
        Self { place, words: ensemble.and_then(|ensemble| ensemble.categories(feature)) }
    }

    /// Returns an error for a type that contains neither numbers nor strings.
    pub(crate) fn check(&self, given: &DataType) -> Result<(), BatchError> {
        if is_number(given) || is_text(given) {
            return Ok(());
        }
        Err(BatchError::Type {
            place: self.place.clone(),
            actual: given.clone(),
            has_categories: self.words.is_some(),
        })
    }

    /// Writes the numbers of a column to every `step`th element of `out`, NaN for missing values.
    pub(crate) fn write(&self, column: &ArrayRef, out: &mut [f64], step: usize) -> Result<(), BatchError> {
        let given = column.data_type();
        self.check(given)?;
        let mut cells = Cells::new(self.place.clone(), self.words);
        let out = out.iter_mut().step_by(step);
        if is_text(given) {
            let column = cast(column, &DataType::Utf8)?;
            return self.fill(column.as_string::<i32>().iter(), out, |text| cells.text(text));
        }
        match values_of(given) {
            DataType::Null => out.for_each(|out| *out = f64::NAN),
            DataType::Boolean => {
                let column = cast(column, &DataType::Boolean)?;
                self.fill(column.as_boolean().iter(), out, |value| cells.boolean(value))?;
            }
            DataType::UInt64 => {
                let column = cast(column, &DataType::UInt64)?;
                self.fill(column.as_primitive::<UInt64Type>().iter(), out, |value| {
                    cells.whole(value.into())
                })?;
            }
            whole if whole.is_integer() => {
                let column = cast(column, &DataType::Int64)?;
                self.fill(column.as_primitive::<Int64Type>().iter(), out, |value| cells.whole(value.into()))?;
            }
            _ => {
                let column = cast(column, &DataType::Float64)?;
                self.fill(column.as_primitive::<Float64Type>().iter(), out, |value| cells.number(value))?;
            }
        }
        Ok(())
    }

    /// Writes a number for each cell of a column.
    fn fill<'o, T>(
        &self,
        column: impl Iterator<Item = Option<T>>,
        out: impl Iterator<Item = &'o mut f64>,
        mut number: impl FnMut(T) -> Result<f64, Box<CellError>>,
    ) -> Result<(), BatchError> {
        for (cell, out) in column.zip(out) {
            *out = cell.map_or(Ok(f64::NAN), &mut number).map_err(|error| self.refused(*error))?;
        }
        Ok(())
    }

    fn refused(&self, error: CellError) -> BatchError {
        let place = self.place.clone();
        match error {
            CellError::UnknownCategory { word, categories, .. } => {
                BatchError::Category { place, actual: word, known: categories }
            }
            problem => BatchError::Cell { place, problem },
        }
    }
}

/// Returns the type of a column's values: for a dictionary, the type of its entries.
fn values_of(given: &DataType) -> &DataType {
    match given {
        DataType::Dictionary(_, values) => values_of(values),
        other => other,
    }
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
