//! The result of `apportion explain --interactions`.

use std::io::Write;
use std::ops::Range;

use anyhow::Result;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::block::Block;
use super::json::{Outputs, Players};
use super::json_text;
use super::results::{Cells, Column, Results};
use super::table::{self, Bars, LastColumn, digits};

/// Pairs that are shown of a row, those that matter most.
const PAIRS: usize = 20;

/// What holds for the interactions of all rows: values of a block are rows × n × n × k.
#[derive(Debug)]
pub(crate) struct Interactions {
    pub(crate) value: String,
    pub(crate) game: &'static str,
    /// What else is to be known of what was explained, by name.
    pub(crate) about: Vec<(&'static str, Value)>,
    /// What stands on the diagonal and beside it.
    pub(crate) form: &'static str,
    /// Names of the n players: features, or groups of them.
    pub(crate) players: Vec<String>,
    /// Number of outputs k of the model.
    pub(crate) outputs: usize,
    /// What the outputs are called, where that is known.
    pub(crate) classes: Option<Vec<String>>,
    pub(crate) has_ids: bool,
}

impl Interactions {
    /// The names of the outputs, where there are several.
    fn names_of_outputs(&self) -> Option<Vec<String>> {
        table::names_of_outputs(self.outputs, self.classes.as_deref())
    }
}

impl Results for Interactions {
    fn head(&self, _: &Block) -> Vec<(&'static str, Value)> {
        let asked =
            [("value", json!(self.value)), ("game", json!(self.game)), ("interactions", json!(self.form))];
        let classes = self.classes.as_ref().map(|classes| ("classes", json!(classes)));
        let about = self.about.iter().cloned().chain(classes);
        asked.into_iter().chain(about).chain([("features", json!(self.players))]).collect()
    }

    fn list(&self) -> &'static str {
        "explanations"
    }

    fn object(&self, block: &Block, row: usize, out: &mut Vec<u8>) -> Result<()> {
        #[derive(Serialize)]
        struct Object<'a> {
            row: usize,
            #[serde(skip_serializing_if = "Option::is_none")]
            id: Option<&'a str>,
            base: Outputs<'a>,
            prediction: Outputs<'a>,
            values: Matrix<'a>,
        }
        let outputs = self.outputs;
        let object = Object {
            row: block.rows[row],
            id: block.ids.as_ref().map(|ids| ids[row].as_str()),
            base: Outputs(block.of_row(&block.base, row)),
            prediction: Outputs(block.of_row(&block.predictions, row)),
            values: Matrix {
                line: self.players.len() * outputs,
                outputs,
                numbers: block.of_row(&block.values, row),
            },
        };
        Ok(json_text::write(out, &object)?)
    }

    /// A line per row, output and player, with the player's line of the matrix.
    fn columns(&self) -> Vec<Column> {
        let mut columns = Vec::from_iter(self.has_ids.then(|| Column::texts("id")));
        columns.push(Column::counts("row"));
        columns.extend((self.outputs > 1).then(|| Column::texts("output")));
        columns.extend([Column::numbers("base"), Column::numbers("prediction"), Column::texts("of")]);
        columns.extend(self.players.iter().map(Column::numbers));
        columns
    }

    fn cells(&self, block: &Block, rows: Range<usize>) -> Vec<Cells> {
        let (players, outputs) = (self.players.len(), self.outputs);
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
        if let Some(ids) = block.ids.as_ref().filter(|_| self.has_ids) {
            cells.push(texts(&|(row, ..)| ids[row].clone()));
        }
        cells.push(Cells::Counts(lines.clone().map(|(row, ..)| block.rows[row]).collect()));
        if let Some(names) = &names {
            cells.push(texts(&|(_, output, _)| names[output].clone()));
        }
        cells.push(numbers(&|(row, output, _)| block.base[row * outputs + output]));
        cells.push(numbers(&|(row, output, _)| block.predictions[row * outputs + output]));
        cells.push(texts(&|(.., player)| self.players[player].clone()));
        for with in 0..players {
            cells.push(numbers(&|(row, output, player)| {
                block.values[((row * players + player) * players + with) * outputs + output]
            }));
        }
        cells
    }

    fn arrays(&self) -> Vec<(&'static str, Vec<usize>)> {
        let (players, outputs) = (self.players.len(), || table::several(self.outputs));
        vec![
            ("values", [players, players].into_iter().chain(outputs()).collect()),
            ("base_values", outputs().collect()),
            ("predictions", outputs().collect()),
        ]
    }

    fn numbers<'b>(&self, block: &'b Block) -> Vec<&'b [f64]> {
        vec![&block.values, &block.base, &block.predictions]
    }

    fn names(&self) -> Vec<(&'static str, Vec<String>)> {
        let classes = self.classes.iter().map(|classes| ("output_names", classes.clone()));
        [("feature_names", self.players.clone())].into_iter().chain(classes).collect()
    }

    fn title(&self) -> String {
        format!("interactions ({}) of {} values, {} game\n", self.form, self.value, self.game)
    }

    fn text(&self, block: &Block, out: &mut dyn Write) -> Result<()> {
        let (players, outputs) = (self.players.len(), self.outputs);
        let names = self.names_of_outputs();
        for row in 0..block.len() {
            let matrix = block.of_row(&block.values, row);
            for output in 0..outputs {
                table::heading(block, row, output, names.as_deref(), out)?;
                let at = |i: usize, j: usize| matrix[(i * players + j) * outputs + output];
                let mut pairs: Vec<(usize, usize)> =
                    (0..players).flat_map(|i| (i..players).map(move |j| (i, j))).collect();
                pairs.retain(|&(i, j)| i == j || at(i, j) != 0.0);
                pairs.sort_by(|&(a, b), &(c, d)| at(c, d).abs().total_cmp(&at(a, b).abs()));
                let singles = pairs.iter().filter(|(i, j)| i == j);
                let couples = pairs.iter().filter(|(i, j)| i != j);
                let hidden = couples.clone().count().saturating_sub(PAIRS);
                let bars = Bars::of(pairs.iter().map(|&(i, j)| at(i, j)));
                let mut lines =
                    vec![vec!["feature".to_owned(), "with".to_owned(), self.form.to_owned(), String::new()]];
                for &(i, j) in singles.chain(couples.take(PAIRS)) {
                    let with = if i == j { "itself" } else { &self.players[j] };
                    let line = [&self.players[i], with].map(str::to_owned);
                    lines.push(line.into_iter().chain([digits(at(i, j)), bars.bar(at(i, j))]).collect());
                }
                table::aligned(&lines, LastColumn::Bars, out)?;
                if hidden > 0 {
                    writeln!(out, "  and {hidden} pairs that interact less")?;
                }
            }
        }
        Ok(())
    }
}

/// Players × players × outputs.
struct Matrix<'a> {
    /// Numbers of a line: players × outputs.
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
