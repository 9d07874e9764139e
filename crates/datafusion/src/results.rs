//! Conversion of results to Arrow arrays.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion_common::arrow::array::{
    Array, ArrayRef, Float64Array, Int64Array, ListArray, StringArray, StructArray,
};
use datafusion_common::arrow::buffer::OffsetBuffer;
use datafusion_common::arrow::datatypes::{DataType, Field, FieldRef, Fields};

use apportion::results::Batch;

use crate::error::BatchError;

/// The number of outputs, and the optional parts that results have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) outputs: usize,
    pub(crate) is_estimate: bool,
    pub(crate) has_accuracy: bool,
}

/// The layout of the results of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// One column for each player, and one result row for each row and output.
    #[default]
    Columns,
    /// One result row for each row, with its values as a list.
    Lists,
}

impl Layout {
    /// Returns the name in the metadata of results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Columns => "columns",
            Self::Lists => "lists",
        }
    }

    /// Returns the fields of results, except the kept columns.
    pub(crate) fn fields(self, players: &[String], shape: Shape) -> Vec<Field> {
        let mut fields = Vec::new();
        match self {
            Self::Columns => {
                if shape.outputs > 1 {
                    fields.push(Field::new("output", DataType::Utf8, true));
                }
                fields.extend([number("base"), number("prediction")]);
                fields.extend(players.iter().map(number));
                if shape.is_estimate {
                    fields.extend(players.iter().map(|name| number(format!("std error of {name}"))));
                }
            }
            Self::Lists => {
                let per_row = shape.per_row();
                fields.extend(["base", "prediction"].map(|name| Field::new(name, per_row.clone(), true)));
                fields.push(Field::new("values", list(per_row.clone()), true));
                if shape.is_estimate {
                    fields.push(Field::new("std_errors", list(per_row), true));
                }
            }
        }
        fields.extend(shape.ends());
        fields
    }

    /// Returns an array for each of the columns that `fields` describes.
    pub(crate) fn arrays(
        self,
        found: &Batch,
        players: usize,
        output_names: &[String],
        shape: Shape,
    ) -> Result<Vec<ArrayRef>, BatchError> {
        match self {
            Self::Columns => Ok(in_columns(found, players, output_names, shape)),
            Self::Lists => in_lists(found, shape),
        }
    }
}

impl Shape {
    /// Returns the type of the base value and the prediction of a row: a list if there are several outputs.
    fn per_row(self) -> DataType {
        if self.outputs > 1 { list(DataType::Float64) } else { DataType::Float64 }
    }

    /// Returns the fields that follow the values and standard errors.
    fn ends(self) -> Vec<Field> {
        let mut fields = Vec::new();
        if self.is_estimate {
            fields.push(Field::new("evaluations", DataType::Int64, true));
        }
        if self.has_accuracy {
            fields.push(Field::new("stopped_by", DataType::Utf8, true));
        }
        fields
    }

    /// Returns an array for each of the columns that `ends` describes, with `each` result rows for each row.
    fn end_arrays(self, found: &Batch, each: usize) -> Vec<ArrayRef> {
        let mut arrays: Vec<ArrayRef> = Vec::new();
        if self.is_estimate {
            let evaluations =
                found.evaluations.iter().flat_map(|&count| std::iter::repeat_n(count as i64, each));
            arrays.push(Arc::new(Int64Array::from_iter_values(evaluations)));
        }
        if self.has_accuracy {
            let stopped = found.certificates.iter().flat_map(|certified| {
                let rule = certified.as_ref().map(|certified| certified.stopped_by.as_str());
                std::iter::repeat_n(rule, each)
            });
            arrays.push(Arc::new(StringArray::from_iter(stopped)));
        }
        arrays
    }

    /// Returns the fields of the struct for a row: `base`, `prediction`, and `values` with a field for each
    /// player.
    pub(crate) fn struct_fields(self, players: &[String]) -> Fields {
        let per_row = self.per_row();
        let each: Fields = players.iter().map(|name| Field::new(name, per_row.clone(), true)).collect();
        let mut fields = vec![
            Field::new("base", per_row.clone(), true),
            Field::new("prediction", per_row, true),
            Field::new("values", DataType::Struct(each.clone()), true),
        ];
        if self.is_estimate {
            fields.push(Field::new("std_errors", DataType::Struct(each), true));
        }
        fields.extend(self.ends());
        fields.into()
    }

    /// Returns the structs of all rows.
    pub(crate) fn structs(self, found: &Batch, players: &[String]) -> Result<StructArray, BatchError> {
        let fields = self.struct_fields(players);
        let each = |numbers: &[f64], holed: bool| -> Result<ArrayRef, BatchError> {
            let arrays = (0..players.len()).map(|player| {
                let of_player = numbers.chunks_exact(self.outputs).skip(player).step_by(players.len());
                self.lines(of_player.flatten().copied().collect(), found.len(), holed)
            });
            let arrays = arrays.collect::<Result<Vec<_>, _>>()?;
            let per_row = self.per_row();
            let names: Fields = players.iter().map(|name| Field::new(name, per_row.clone(), true)).collect();
            Ok(Arc::new(StructArray::try_new(names, arrays, None)?))
        };
        let mut arrays = vec![
            self.lines(found.base.clone(), found.len(), false)?,
            self.lines(found.predictions.clone(), found.len(), false)?,
            each(&found.values, false)?,
        ];
        if self.is_estimate {
            arrays.push(each(&found.std_errors, true)?);
        }
        arrays.extend(self.end_arrays(found, 1));
        Ok(StructArray::try_new(fields, arrays, None)?)
    }

    /// Returns an array of `numbers` (rows × outputs), or an array of lists if there are several outputs.
    fn lines(self, numbers: Vec<f64>, rows: usize, holed: bool) -> Result<ArrayRef, BatchError> {
        let count = numbers.len();
        let leaves = leaves(numbers, holed);
        if self.outputs == 1 { Ok(leaves) } else { lists(leaves, count / self.outputs, rows) }
    }
}

/// Returns the metadata of results, which contains the description of the request.
pub(crate) fn metadata(about: String) -> HashMap<String, String> {
    HashMap::from([("apportion".to_owned(), about)])
}

fn in_columns(found: &Batch, players: usize, output_names: &[String], shape: Shape) -> Vec<ArrayRef> {
    let outputs = shape.outputs;
    let mut arrays: Vec<ArrayRef> = Vec::new();
    if outputs > 1 {
        let names = std::iter::repeat_n(output_names, found.len()).flatten();
        arrays.push(Arc::new(StringArray::from_iter(names.map(Some))));
    }
    arrays.extend([&found.base, &found.predictions].map(|numbers| leaves(numbers.clone(), false)));
    let mut add = |numbers: &[f64], holed: bool| {
        for player in 0..players {
            let of_player = numbers.chunks_exact(outputs).skip(player).step_by(players);
            arrays.push(leaves(of_player.flatten().copied().collect(), holed));
        }
    };
    add(&found.values, false);
    if shape.is_estimate {
        add(&found.std_errors, true);
    }
    arrays.extend(shape.end_arrays(found, outputs));
    arrays
}

fn in_lists(found: &Batch, shape: Shape) -> Result<Vec<ArrayRef>, BatchError> {
    let rows = found.len();
    let per_player =
        |numbers: &Vec<f64>, holed: bool| lists(shape.lines(numbers.clone(), rows, holed)?, rows, rows);
    let mut arrays = vec![
        shape.lines(found.base.clone(), rows, false)?,
        shape.lines(found.predictions.clone(), rows, false)?,
        per_player(&found.values, false)?,
    ];
    if shape.is_estimate {
        arrays.push(per_player(&found.std_errors, true)?);
    }
    arrays.extend(shape.end_arrays(found, 1));
    Ok(arrays)
}

/// Returns an array of numbers, with nulls for NaN if `holed`.
fn leaves(numbers: Vec<f64>, holed: bool) -> ArrayRef {
    if holed {
        let known = numbers.into_iter().map(|number| Some(number).filter(|number| !number.is_nan()));
        return Arc::new(Float64Array::from_iter(known));
    }
    Arc::new(Float64Array::from(numbers))
}

/// Returns `count` lists with an equal number of `leaves` each.
fn lists(leaves: ArrayRef, count: usize, rows: usize) -> Result<ArrayRef, BatchError> {
    // Offsets of lists are 32-bit numbers.
    if i32::try_from(leaves.len()).is_err() {
        return Err(BatchError::TooLong { rows });
    }
    let length = leaves.len().checked_div(count).unwrap_or(0);
    let offsets = OffsetBuffer::from_lengths(std::iter::repeat_n(length, count));
    Ok(Arc::new(ListArray::try_new(item(leaves.data_type().clone()), offsets, leaves, None)?))
}

fn list(of: DataType) -> DataType {
    DataType::List(item(of))
}

fn item(of: DataType) -> FieldRef {
    Arc::new(Field::new("item", of, true))
}

fn number(name: impl Into<String>) -> Field {
    Field::new(name, DataType::Float64, true)
}
