//! Interactions between pairs of players: the results of `explain --interactions`.

use std::io;
use std::ops::Range;

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::{Cells, Column, Results, classes, names_of_outputs, several};
use crate::batch::Batch;
use crate::heading::Heading;
use crate::json::{Outputs, Players, to_json};

/// Interactions: rows × players × players × outputs.
#[derive(Debug, Clone, Default)]
pub struct Interactions {
    /// The heading for all rows, including the form of interactions.
    pub heading: Heading,
    /// Whether rows have IDs.
    pub has_ids: bool,
}

impl Interactions {
    /// Returns the names of the outputs, if there are several.
    pub fn names_of_outputs(&self) -> Option<Vec<String>> {
        names_of_outputs(&self.heading.outputs)
    }

    fn outputs(&self) -> usize {
        self.heading.outputs.len()
    }
}

impl Results for Interactions {
    fn head(&self) -> Vec<(&str, Value)> {
        let heading = &self.heading;
        let mut head = vec![("value", json!(heading.value)), ("game", json!(heading.game))];
        head.extend(heading.interactions.map(|form| ("interactions", json!(form.name()))));
        head.extend(heading.facts.iter().map(|(name, value)| (name.as_str(), value.clone())));
        head.extend(classes(&heading.outputs));
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
            values: Matrix<'a>,
        }
        let outputs = self.outputs();
        let object = Object {
            row: batch.rows[row],
            id: batch.ids.as_ref().map(|ids| ids[row].as_str()),
            base: Outputs(batch.of_row(&batch.base, row)),
            prediction: Outputs(batch.of_row(&batch.predictions, row)),
            values: Matrix {
                line: self.heading.players.len() * outputs,
                outputs,
                numbers: batch.of_row(&batch.values, row),
            },
        };
        to_json(out, &object)
    }

    /// Returns the columns. A table has one line per row, output and player. The line contains the player's
    /// row of the interaction matrix.
    fn columns(&self) -> Vec<Column> {
        let mut columns = Vec::from_iter(self.has_ids.then(|| Column::texts("id")));
        columns.push(Column::counts("row"));
        columns.extend((self.outputs() > 1).then(|| Column::texts("output")));
        columns.extend([Column::numbers("base"), Column::numbers("prediction"), Column::texts("of")]);
        columns.extend(self.heading.players.iter().map(Column::numbers));
        columns
    }

    fn cells(&self, batch: &Batch, rows: Range<usize>) -> Vec<Cells> {
        let (players, outputs) = (self.heading.players.len(), self.outputs());
        let names = self.names_of_outputs();
        let lines = rows.clone().flat_map(|row| {
            (0..outputs).flat_map(move |output| (0..players).map(move |player| (row, output, player)))
        });
        let texts = |of: &dyn Fn((usize, usize, usize)) -> String| {
            Cells::Texts(lines.clone().map(|line| Some(of(line))).collect())
        };
        let numbers =
            |of: &dyn Fn((usize, usize, usize)) -> f64| Cells::Numbers(lines.clone().map(of).collect());
        let mut cells = Vec::new();
        if let Some(ids) = batch.ids.as_ref().filter(|_| self.has_ids) {
            cells.push(texts(&|(row, ..)| ids[row].clone()));
        }
        cells.push(Cells::Counts(lines.clone().map(|(row, ..)| batch.rows[row]).collect()));
        if let Some(names) = &names {
            cells.push(texts(&|(_, output, _)| names[output].clone()));
        }
        cells.push(numbers(&|(row, output, _)| batch.base[row * outputs + output]));
        cells.push(numbers(&|(row, output, _)| batch.predictions[row * outputs + output]));
        cells.push(texts(&|(.., player)| self.heading.players[player].clone()));
        for with in 0..players {
            cells.push(numbers(&|(row, output, player)| {
                batch.values[((row * players + player) * players + with) * outputs + output]
            }));
        }
        cells
    }

    fn arrays(&self) -> Vec<(&'static str, Vec<usize>)> {
        let (players, outputs) = (self.heading.players.len(), || several(self.outputs()));
        vec![
            ("values", [players, players].into_iter().chain(outputs()).collect()),
            ("base_values", outputs().collect()),
            ("predictions", outputs().collect()),
        ]
    }

    fn numbers<'b>(&self, batch: &'b Batch) -> Vec<&'b [f64]> {
        vec![&batch.values, &batch.base, &batch.predictions]
    }

    fn names(&self) -> Vec<(&'static str, Vec<String>)> {
        let are_named = self.heading.outputs.iter().any(|name| !name.is_empty());
        let classes = are_named.then(|| ("output_names", self.heading.outputs.clone()));
        [("feature_names", self.heading.players.clone())].into_iter().chain(classes).collect()
    }
}

/// The interactions in one row of the results: players × players × outputs.
struct Matrix<'a> {
    /// Number of values in one row of the matrix: players × outputs.
    line: usize,
    outputs: usize,
    numbers: &'a [f64],
}

impl Serialize for Matrix<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let outputs = self.outputs;
        serializer.collect_seq(
            self.numbers.chunks_exact(self.line.max(1)).map(|numbers| Players { outputs, numbers }),
        )
    }
}
