//! The result of `apportion predict`.

use std::io::Write;
use std::ops::Range;

use anyhow::Result;
use serde::Serialize;
use serde_json::{Value, json};

use super::block::Block;
use super::json::Outputs;
use super::json_text;
use super::results::{Cells, Column, Results};
use super::table;

/// What holds for all predictions. Those of a block are rows × outputs; nothing else is in it but ids.
#[derive(Debug)]
pub(crate) struct Predictions {
    /// Number of outputs k of the model.
    pub(crate) outputs: usize,
    /// What the outputs are called, where the model says it.
    pub(crate) classes: Option<Vec<String>>,
    pub(crate) has_ids: bool,
}

impl Predictions {
    /// The names of the columns of numbers.
    fn names_of_outputs(&self) -> Vec<String> {
        match (&self.classes, self.outputs) {
            (Some(classes), _) => classes.iter().map(|class| format!("prediction {class}")).collect(),
            (None, 1) => vec!["prediction".to_owned()],
            (None, outputs) => (0..outputs).map(|output| format!("prediction {output}")).collect(),
        }
    }
}

impl Results for Predictions {
    fn head(&self, _: &Block) -> Vec<(&'static str, Value)> {
        let classes = self.classes.as_ref().map(|classes| ("classes", json!(classes)));
        [("outputs", json!(self.outputs))].into_iter().chain(classes).collect()
    }

    fn list(&self) -> &'static str {
        "predictions"
    }

    fn object(&self, block: &Block, row: usize, out: &mut Vec<u8>) -> Result<()> {
        #[derive(Serialize)]
        struct Object<'a> {
            row: usize,
            #[serde(skip_serializing_if = "Option::is_none")]
            id: Option<&'a str>,
            prediction: Outputs<'a>,
        }
        let id = block.ids.as_ref().map(|ids| ids[row].as_str());
        let prediction = Outputs(block.of_row(&block.predictions, row));
        Ok(json_text::write(out, &Object { row: block.rows[row], id, prediction })?)
    }

    fn columns(&self) -> Vec<Column> {
        let id = self.has_ids.then(|| Column::texts("id"));
        let outputs = self.names_of_outputs().into_iter().map(Column::numbers);
        id.into_iter().chain([Column::counts("row")]).chain(outputs).collect()
    }

    fn cells(&self, block: &Block, rows: Range<usize>) -> Vec<Cells> {
        let ids = block.ids.as_ref().filter(|_| self.has_ids);
        let ids = ids.map(|ids| Cells::Texts(ids[rows.clone()].iter().cloned().map(Some).collect()));
        let numbers = &block.predictions[rows.start * self.outputs..rows.end * self.outputs];
        let outputs = (0..self.outputs).map(|output| {
            Cells::Numbers(numbers.iter().skip(output).step_by(self.outputs).copied().collect())
        });
        ids.into_iter().chain([Cells::Counts(block.rows[rows.clone()].to_vec())]).chain(outputs).collect()
    }

    fn arrays(&self) -> Vec<(&'static str, Vec<usize>)> {
        vec![("predictions", table::several(self.outputs).collect())]
    }

    fn numbers<'b>(&self, block: &'b Block) -> Vec<&'b [f64]> {
        vec![&block.predictions]
    }

    fn names(&self) -> Vec<(&'static str, Vec<String>)> {
        self.classes.iter().map(|classes| ("classes", classes.clone())).collect()
    }

    fn title(&self) -> String {
        String::new()
    }

    fn text(&self, block: &Block, out: &mut dyn Write) -> Result<()> {
        let id = self.has_ids.then(|| "id".to_owned());
        let header = id.into_iter().chain(["row".to_owned()]).chain(self.names_of_outputs()).collect();
        let line = |row: usize| {
            let id = block.ids.as_ref().map(|ids| ids[row].clone());
            let numbers = block.of_row(&block.predictions, row).iter().copied().map(table::digits);
            id.into_iter().chain([block.rows[row].to_string()]).chain(numbers).collect()
        };
        let lines: Vec<Vec<String>> = std::iter::once(header).chain((0..block.len()).map(line)).collect();
        table::aligned(&lines, table::LastColumn::Numbers, out)
    }
}
