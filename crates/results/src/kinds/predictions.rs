//! Predictions: the results of `predict`.

use std::io;
use std::ops::Range;

use serde::Serialize;
use serde_json::{Value, json};

use super::{Cells, Column, Results, several};
use crate::batch::Batch;
use crate::json::{Outputs, to_json};

/// Predictions: rows × outputs. Batches contain only predictions and IDs.
#[derive(Debug, Clone, Default)]
pub struct Predictions {
    /// Number of outputs k of the model.
    pub outputs: usize,
    /// The names of the outputs, if known.
    pub classes: Option<Vec<String>>,
    /// Whether rows have IDs.
    pub has_ids: bool,
}

impl Predictions {
    /// Returns the names of the numeric columns, one per output.
    pub fn names_of_outputs(&self) -> Vec<String> {
        match (&self.classes, self.outputs) {
            (Some(classes), _) => classes.iter().map(|class| format!("prediction {class}")).collect(),
            (None, 1) => vec!["prediction".to_owned()],
            (None, outputs) => (0..outputs).map(|output| format!("prediction {output}")).collect(),
        }
    }
}

impl Results for Predictions {
    fn head(&self) -> Vec<(&str, Value)> {
        let classes = self.classes.as_ref().map(|classes| ("classes", json!(classes)));
        [("outputs", json!(self.outputs))].into_iter().chain(classes).collect()
    }

    fn list(&self) -> &'static str {
        "predictions"
    }

    fn object(&self, batch: &Batch, row: usize, out: &mut Vec<u8>) -> io::Result<()> {
        #[derive(Serialize)]
        struct Object<'a> {
            row: u64,
            #[serde(skip_serializing_if = "Option::is_none")]
            id: Option<&'a str>,
            prediction: Outputs<'a>,
        }
        let id = batch.ids.as_ref().map(|ids| ids[row].as_str());
        let prediction = Outputs(batch.of_row(&batch.predictions, row));
        to_json(out, &Object { row: batch.rows[row], id, prediction })
    }

    fn columns(&self) -> Vec<Column> {
        let id = self.has_ids.then(|| Column::texts("id"));
        let outputs = self.names_of_outputs().into_iter().map(Column::numbers);
        id.into_iter().chain([Column::counts("row")]).chain(outputs).collect()
    }

    fn cells(&self, batch: &Batch, rows: Range<usize>) -> Vec<Cells> {
        let ids = batch.ids.as_ref().filter(|_| self.has_ids);
        let ids = ids.map(|ids| Cells::Texts(ids[rows.clone()].iter().cloned().map(Some).collect()));
        let numbers = &batch.predictions[rows.start * self.outputs..rows.end * self.outputs];
        let outputs = (0..self.outputs).map(|output| {
            Cells::Numbers(numbers.iter().skip(output).step_by(self.outputs).copied().collect())
        });
        ids.into_iter().chain([Cells::Counts(batch.rows[rows.clone()].to_vec())]).chain(outputs).collect()
    }

    fn arrays(&self) -> Vec<(&'static str, Vec<usize>)> {
        vec![("predictions", several(self.outputs).collect())]
    }

    fn numbers<'b>(&self, batch: &'b Batch) -> Vec<&'b [f64]> {
        vec![&batch.predictions]
    }

    fn names(&self) -> Vec<(&'static str, Vec<String>)> {
        self.classes.iter().map(|classes| ("classes", classes.clone())).collect()
    }
}
