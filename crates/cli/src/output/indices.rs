//! The result of `apportion explain --interactions=INDEX`: interaction indices of coalitions, those that are not zero.

use std::io::Write;
use std::ops::Range;

use anyhow::Result;
use apportion::estimators::methods;
use serde::Serialize;
use serde_json::{Value, json};

use super::block::Block;
use super::json::Outputs;
use super::json_text;
use super::results::{Cells, Column, Results};
use super::table::{self, Bars, LastColumn, digits};

/// Coalitions that are shown of a row, those that matter most.
const COALITIONS: usize = 30;

/// What holds for the indices of all rows: values of a block are rows × coalitions × k.
#[derive(Debug)]
pub(crate) struct Indices {
    /// The name of the index.
    pub(crate) index: String,
    /// The most players of a coalition.
    pub(crate) order: usize,
    pub(crate) game: &'static str,
    /// What else is to be known of what was explained, by name.
    pub(crate) about: Vec<(&'static str, Value)>,
    /// Names of the players: features, or groups of them.
    pub(crate) players: Vec<String>,
    /// Number of outputs k of the model.
    pub(crate) outputs: usize,
    /// What the outputs are called, where that is known.
    pub(crate) classes: Option<Vec<String>>,
    pub(crate) has_ids: bool,
    /// Whether there are standard errors.
    pub(crate) are_estimates: bool,
    /// How many coalitions are told of each row, those that matter most.
    pub(crate) top: Option<usize>,
}

impl Indices {
    /// The names of the outputs, where there are several.
    fn names_of_outputs(&self) -> Option<Vec<String>> {
        table::names_of_outputs(self.outputs, self.classes.as_deref())
    }

    /// The names of the members.
    fn names_of(&self, members: &[usize]) -> Vec<&str> {
        members.iter().map(|&member| self.players[member].as_str()).collect()
    }

    /// The places of the coalitions that are told of a row: those with an index that is not zero, or the `top` of them by the largest of
    /// their outputs, the largest first.
    fn told(&self, block: &Block, row: usize, top: Option<usize>) -> Vec<usize> {
        let values = block.of_row(&block.values, row);
        let size = |place: usize| {
            values[place * self.outputs..][..self.outputs]
                .iter()
                .fold(0.0f64, |size, value| size.max(value.abs()))
        };
        let mut told: Vec<usize> = (0..block.coalitions.len()).filter(|&place| size(place) != 0.0).collect();
        if let Some(top) = top {
            told.sort_by(|&a, &b| size(b).total_cmp(&size(a)));
            told.truncate(top);
        }
        told
    }
}

impl Results for Indices {
    fn head(&self, _: &Block) -> Vec<(&'static str, Value)> {
        let asked =
            [("interactions", json!(self.index)), ("order", json!(self.order)), ("game", json!(self.game))];
        let classes = self.classes.as_ref().map(|classes| ("classes", json!(classes)));
        let method = self.are_estimates.then(|| ("method", json!(methods::LEARNED_SPECTRUM.name())));
        let about = self.about.iter().cloned().chain(classes).chain(method);
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
            coalitions: Vec<Told<'a>>,
        }
        #[derive(Serialize)]
        struct Told<'a> {
            features: Vec<&'a str>,
            value: Outputs<'a>,
            #[serde(skip_serializing_if = "Option::is_none")]
            std_error: Option<Outputs<'a>>,
        }
        let values = block.of_row(&block.values, row);
        let errors = self.are_estimates.then(|| block.of_row(&block.std_errors, row));
        let told = self.told(block, row, self.top).into_iter().map(|place| Told {
            features: self.names_of(&block.coalitions[place]),
            value: Outputs(&values[place * self.outputs..][..self.outputs]),
            std_error: errors.map(|errors| Outputs(&errors[place * self.outputs..][..self.outputs])),
        });
        let object = Object {
            row: block.rows[row],
            id: block.ids.as_ref().map(|ids| ids[row].as_str()),
            base: Outputs(block.of_row(&block.base, row)),
            prediction: Outputs(block.of_row(&block.predictions, row)),
            coalitions: told.collect(),
        };
        Ok(json_text::write(out, &object)?)
    }

    /// A line per row, coalition and output.
    fn columns(&self) -> Vec<Column> {
        let mut columns = Vec::from_iter(self.has_ids.then(|| Column::texts("id")));
        columns.push(Column::counts("row"));
        columns.extend((self.outputs > 1).then(|| Column::texts("output")));
        columns.extend([Column::numbers("base"), Column::numbers("prediction")]);
        columns.extend([Column::texts("features"), Column::counts("size"), Column::numbers("value")]);
        columns.extend(self.are_estimates.then(|| Column::numbers("std_error")));
        columns
    }

    fn cells(&self, block: &Block, rows: Range<usize>) -> Vec<Cells> {
        let outputs = self.outputs;
        let names = self.names_of_outputs();
        let of_row = |row: usize| {
            let told = self.told(block, row, self.top).into_iter();
            told.flat_map(move |place| (0..outputs).map(move |output| (row, place, output)))
        };
        let lines: Vec<(usize, usize, usize)> = rows.flat_map(of_row).collect();
        let texts = |of: &dyn Fn(&(usize, usize, usize)) -> String| {
            Cells::Texts(lines.iter().map(|line| Some(of(line))).collect())
        };
        let numbers =
            |of: &dyn Fn(&(usize, usize, usize)) -> f64| Cells::Numbers(lines.iter().map(of).collect());
        let counts =
            |of: &dyn Fn(&(usize, usize, usize)) -> usize| Cells::Counts(lines.iter().map(of).collect());
        let mut cells = Vec::new();
        if let Some(ids) = block.ids.as_ref().filter(|_| self.has_ids) {
            cells.push(texts(&|&(row, ..)| ids[row].clone()));
        }
        cells.push(counts(&|&(row, ..)| block.rows[row]));
        if let Some(names) = &names {
            cells.push(texts(&|&(.., output)| names[output].clone()));
        }
        cells.push(numbers(&|&(row, _, output)| block.base[row * outputs + output]));
        cells.push(numbers(&|&(row, _, output)| block.predictions[row * outputs + output]));
        cells.push(texts(&|&(_, place, _)| self.names_of(&block.coalitions[place]).join(",")));
        cells.push(counts(&|&(_, place, _)| block.coalitions[place].len()));
        cells.push(numbers(&|&(row, place, output)| {
            block.of_row(&block.values, row)[place * outputs + output]
        }));
        if self.are_estimates {
            cells.push(numbers(&|&(row, place, output)| {
                block.of_row(&block.std_errors, row)[place * outputs + output]
            }));
        }
        cells
    }

    /// None: coalitions are no axis of an array.
    fn arrays(&self) -> Vec<(&'static str, Vec<usize>)> {
        Vec::new()
    }

    fn numbers<'b>(&self, _: &'b Block) -> Vec<&'b [f64]> {
        Vec::new()
    }

    fn names(&self) -> Vec<(&'static str, Vec<String>)> {
        Vec::new()
    }

    fn title(&self) -> String {
        format!("{} interactions of up to {} features, {} game\n", self.index, self.order, self.game)
    }

    fn text(&self, block: &Block, out: &mut dyn Write) -> Result<()> {
        let outputs = self.outputs;
        let names = self.names_of_outputs();
        for row in 0..block.len() {
            let values = block.of_row(&block.values, row);
            let told = self.told(block, row, Some(self.top.unwrap_or(COALITIONS)));
            let hidden = match self.top {
                Some(_) => 0,
                None => self.told(block, row, None).len() - told.len(),
            };
            for output in 0..outputs {
                table::heading(block, row, output, names.as_deref(), out)?;
                let at = |place: usize| values[place * outputs + output];
                let bars = Bars::of(told.iter().map(|&place| at(place)));
                let error = self.are_estimates.then_some("std error");
                let head = ["features", self.index.as_str()].into_iter().chain(error).chain([""]);
                let mut lines = vec![head.map(str::to_owned).collect::<Vec<_>>()];
                lines.extend(told.iter().map(|&place| {
                    let members = self.names_of(&block.coalitions[place]).join(" + ");
                    let mut line = vec![members, digits(at(place))];
                    if self.are_estimates {
                        line.push(digits(block.of_row(&block.std_errors, row)[place * outputs + output]));
                    }
                    line.push(bars.bar(at(place)));
                    line
                }));
                table::aligned(&lines, LastColumn::Bars, out)?;
                if hidden > 0 {
                    writeln!(out, "  and {hidden} coalitions that interact less")?;
                }
            }
        }
        Ok(())
    }
}
