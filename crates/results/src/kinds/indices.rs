//! Nonzero interaction indices of coalitions: the results of `explain --interactions=INDEX`.

use std::io;
use std::ops::Range;

use serde::Serialize;
use serde_json::{Value, json};

use super::{Cells, Column, Results, classes, names_of_outputs};
use crate::batch::Batch;
use crate::heading::Heading;
use crate::json::{Outputs, to_json};

/// Interaction indices: rows × coalitions × outputs.
#[derive(Debug, Clone, Default)]
pub struct Indices {
    /// The heading for all rows. The field `value` is the name of the interaction index. The field `method`
    /// is set if the indices are estimates.
    pub heading: Heading,
    /// Maximum number of players of a coalition.
    pub order: usize,
    /// Whether rows have IDs.
    pub has_ids: bool,
    /// Whether rows have standard errors.
    pub has_errors: bool,
    /// Maximum number of coalitions to write per row: the coalitions with the largest absolute indices.
    /// `None` writes all coalitions.
    pub top: Option<usize>,
}

impl Indices {
    /// Returns the names of the outputs, if there are several.
    pub fn names_of_outputs(&self) -> Option<Vec<String>> {
        names_of_outputs(&self.heading.outputs)
    }

    fn outputs(&self) -> usize {
        self.heading.outputs.len()
    }

    /// Returns the names of the members of a coalition.
    pub fn coalition_names(&self, members: &[usize]) -> Vec<&str> {
        members.iter().map(|&member| self.heading.players[member].as_str()).collect()
    }

    /// Returns the coalitions with a nonzero index in a row, by position in the batch's list of coalitions.
    /// If `top` is set, returns only this number of them, in descending order of the largest absolute index
    /// over the outputs.
    pub fn largest(&self, batch: &Batch, row: usize, top: Option<usize>) -> Vec<usize> {
        let values = batch.of_row(&batch.values, row);
        let outputs = self.outputs();
        let size = |place: usize| {
            values[place * outputs..][..outputs].iter().fold(0.0f64, |size, value| size.max(value.abs()))
        };
        let mut largest: Vec<usize> =
            (0..batch.coalitions.len()).filter(|&place| size(place) != 0.0).collect();
        if let Some(top) = top {
            largest.sort_by(|&a, &b| size(b).total_cmp(&size(a)));
            largest.truncate(top);
        }
        largest
    }
}

impl Results for Indices {
    fn head(&self) -> Vec<(&str, Value)> {
        let heading = &self.heading;
        let mut head = vec![
            ("interactions", json!(heading.value)),
            ("order", json!(self.order)),
            ("game", json!(heading.game)),
        ];
        head.extend(heading.facts.iter().map(|(name, value)| (name.as_str(), value.clone())));
        head.extend(classes(&heading.outputs));
        head.extend((!heading.method.is_empty()).then(|| ("method", json!(heading.method))));
        head.push(("features", json!(heading.players)));
        head
    }

    fn list(&self) -> &'static str {
        "explanations"
    }

    fn object(&self, batch: &Batch, row: usize, out: &mut Vec<u8>) -> io::Result<()> {
        #[derive(Serialize)]
        struct Object<'a> {
            row: u64,
            #[serde(skip_serializing_if = "Option::is_none")]
            id: Option<&'a str>,
            base: Outputs<'a>,
            prediction: Outputs<'a>,
            coalitions: Vec<Index<'a>>,
        }
        #[derive(Serialize)]
        struct Index<'a> {
            features: Vec<&'a str>,
            value: Outputs<'a>,
            #[serde(skip_serializing_if = "Option::is_none")]
            std_error: Option<Outputs<'a>>,
        }
        let outputs = self.outputs();
        let values = batch.of_row(&batch.values, row);
        let errors = self.has_errors.then(|| batch.of_row(&batch.std_errors, row));
        let largest = self.largest(batch, row, self.top).into_iter().map(|place| Index {
            features: self.coalition_names(&batch.coalitions[place]),
            value: Outputs(&values[place * outputs..][..outputs]),
            std_error: errors.map(|errors| Outputs(&errors[place * outputs..][..outputs])),
        });
        let object = Object {
            row: batch.rows[row],
            id: batch.ids.as_ref().map(|ids| ids[row].as_str()),
            base: Outputs(batch.of_row(&batch.base, row)),
            prediction: Outputs(batch.of_row(&batch.predictions, row)),
            coalitions: largest.collect(),
        };
        to_json(out, &object)
    }

    /// Returns the columns. A table has one line per row, coalition and output.
    fn columns(&self) -> Vec<Column> {
        let mut columns = Vec::from_iter(self.has_ids.then(|| Column::texts("id")));
        columns.push(Column::counts("row"));
        columns.extend((self.outputs() > 1).then(|| Column::texts("output")));
        columns.extend([Column::numbers("base"), Column::numbers("prediction")]);
        columns.extend([Column::texts("features"), Column::counts("size"), Column::numbers("value")]);
        columns.extend(self.has_errors.then(|| Column::numbers("std_error")));
        columns
    }

    fn cells(&self, batch: &Batch, rows: Range<usize>) -> Vec<Cells> {
        let outputs = self.outputs();
        let names = self.names_of_outputs();
        let of_row = |row: usize| {
            let largest = self.largest(batch, row, self.top).into_iter();
            largest.flat_map(move |place| (0..outputs).map(move |output| (row, place, output)))
        };
        let lines: Vec<(usize, usize, usize)> = rows.flat_map(of_row).collect();
        let texts = |of: &dyn Fn(&(usize, usize, usize)) -> String| {
            Cells::Texts(lines.iter().map(|line| Some(of(line))).collect())
        };
        let numbers =
            |of: &dyn Fn(&(usize, usize, usize)) -> f64| Cells::Numbers(lines.iter().map(of).collect());
        let counts =
            |of: &dyn Fn(&(usize, usize, usize)) -> u64| Cells::Counts(lines.iter().map(of).collect());
        let mut cells = Vec::new();
        if let Some(ids) = batch.ids.as_ref().filter(|_| self.has_ids) {
            cells.push(texts(&|&(row, ..)| ids[row].clone()));
        }
        cells.push(counts(&|&(row, ..)| batch.rows[row]));
        if let Some(names) = &names {
            cells.push(texts(&|&(.., output)| names[output].clone()));
        }
        cells.push(numbers(&|&(row, _, output)| batch.base[row * outputs + output]));
        cells.push(numbers(&|&(row, _, output)| batch.predictions[row * outputs + output]));
        cells.push(texts(&|&(_, place, _)| self.coalition_names(&batch.coalitions[place]).join(",")));
        cells.push(counts(&|&(_, place, _)| batch.coalitions[place].len() as u64));
        cells.push(numbers(&|&(row, place, output)| {
            batch.of_row(&batch.values, row)[place * outputs + output]
        }));
        if self.has_errors {
            cells.push(numbers(&|&(row, place, output)| {
                batch.of_row(&batch.std_errors, row)[place * outputs + output]
            }));
        }
        cells
    }

    /// Returns an empty list, because coalitions cannot be an axis of an array.
    fn arrays(&self) -> Vec<(&'static str, Vec<usize>)> {
        Vec::new()
    }

    fn numbers<'b>(&self, _: &'b Batch) -> Vec<&'b [f64]> {
        Vec::new()
    }

    fn names(&self) -> Vec<(&'static str, Vec<String>)> {
        Vec::new()
    }
}
