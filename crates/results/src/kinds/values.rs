//! Attributions of players, with their standard errors and certificates: the results of `explain`.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};

use super::{Cells, Column, Results, classes, names_of_outputs, several};
use crate::batch::Batch;
use crate::heading::Heading;
use crate::json::{Certificate, INFINITE, Outputs, Players, to_json};

/// A lookup of categories that are only known while rows are read.
pub trait CategoryNames: fmt::Debug + Send + Sync {
    /// Returns the category of a feature with this code.
    fn category(&self, feature: usize, code: f64) -> Option<String>;
}

/// Attributions: rows × players × outputs.
#[derive(Debug, Clone, Default)]
pub struct Values {
    /// The heading for all rows.
    pub heading: Heading,
    /// A lookup of the categories of inputs that the heading does not contain.
    pub category_names: Option<Arc<dyn CategoryNames>>,
    /// Whether rows have IDs.
    pub has_ids: bool,
    /// Whether rows have inputs.
    pub has_inputs: bool,
    /// Whether rows have standard errors. In a run with estimates, all rows have them, including rows whose
    /// values are exact.
    pub has_errors: bool,
    /// Whether rows have certificates. They do in a run with a tolerance.
    pub has_certificates: bool,
    /// Maximum number of players to write per row: the players with the largest absolute values. `None`
    /// writes all players.
    pub top: Option<usize>,
}

/// A line of the results: the index of a row in a batch, and of an output.
type Line = (usize, usize);

impl Values {
    /// Returns the names of the outputs, if there are several.
    pub fn names_of_outputs(&self) -> Option<Vec<String>> {
        names_of_outputs(&self.heading.outputs)
    }

    fn outputs(&self) -> usize {
        self.heading.outputs.len()
    }

    /// Returns the category of a feature with this code, if known.
    pub fn category(&self, feature: usize, code: f64) -> Option<Cow<'_, str>> {
        if let Some(word) = self.heading.category(feature, code) {
            return Some(word.into());
        }
        let is_code = code >= 0.0 && code.fract() == 0.0;
        self.category_names.as_ref().filter(|_| is_code)?.category(feature, code).map(Cow::Owned)
    }

    /// Returns an input of a row as JSON.
    fn input(&self, batch: &Batch, row: usize, feature: usize) -> Value {
        match batch.of_row(&batch.inputs, row)[feature] {
            input if input.is_nan() => Value::Null,
            // JSON cannot represent infinite numbers.
            f64::INFINITY => INFINITE[0].into(),
            f64::NEG_INFINITY => INFINITE[1].into(),
            input => self.category(feature, input).map_or_else(|| json!(input), Value::from),
        }
    }

    /// Returns the value of a player for an output of a row.
    pub fn value(&self, batch: &Batch, (row, output): Line, player: usize) -> f64 {
        batch.values[(row * self.heading.players.len() + player) * self.outputs() + output]
    }

    /// Returns the standard error of a player's value, NaN if it is not known.
    pub fn error(&self, batch: &Batch, (row, output): Line, player: usize) -> f64 {
        let at = (row * self.heading.players.len() + player) * self.outputs() + output;
        batch.std_errors.get(at).copied().unwrap_or(f64::NAN)
    }

    /// Returns the players of a row, sorted by absolute value in descending order. Ties keep the order of the
    /// players.
    pub fn by_size(&self, batch: &Batch, line: Line) -> Vec<usize> {
        let size = |&player: &usize| self.value(batch, line, player).abs();
        let mut players: Vec<usize> = (0..self.heading.players.len()).collect();
        players.sort_by(|a, b| size(b).total_cmp(&size(a)));
        players
    }

    /// Returns the sum of the values of some players.
    pub fn sum(&self, batch: &Batch, line: Line, players: &[usize]) -> f64 {
        players.iter().map(|&player| self.value(batch, line, player)).sum()
    }

    /// Returns the players with the `top` largest absolute values in a row, and the sum of the other values.
    fn largest<'a>(&'a self, batch: &'a Batch, line: Line, top: usize) -> (Vec<Largest<'a>>, f64) {
        let players = self.by_size(batch, line);
        let (first, rest) = players.split_at(top.min(players.len()));
        let largest = |&player: &usize| {
            let error = self.has_errors.then(|| self.error(batch, line, player));
            let inputs = || match self.heading.members[player][..] {
                [feature] => self.input(batch, line.0, feature),
                ref group => {
                    let inputs = group.iter().map(|&feature| self.input(batch, line.0, feature));
                    inputs.collect::<Vec<_>>().into()
                }
            };
            Largest {
                feature: &self.heading.players[player],
                value: self.value(batch, line, player),
                std_error: error.filter(|error| !error.is_nan()),
                input: self.has_inputs.then(inputs),
            }
        };
        (first.iter().map(largest).collect(), self.sum(batch, line, rest))
    }
}

/// A player with one of the largest absolute values in a row.
#[derive(Serialize)]
struct Largest<'a> {
    feature: &'a str,
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    std_error: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<Value>,
}

/// One value per output, serialized as a plain value instead of a list if there is one output.
#[derive(Serialize)]
#[serde(untagged)]
enum OneOrMany<T> {
    One(T),
    Several(Vec<T>),
}

impl<T> OneOrMany<T> {
    fn from_vec(mut all: Vec<T>) -> Self {
        match (all.len(), all.pop()) {
            (1, Some(one)) => Self::One(one),
            (_, last) => Self::Several(all.into_iter().chain(last).collect()),
        }
    }
}

impl Results for Values {
    fn head(&self) -> Vec<(&str, Value)> {
        let heading = &self.heading;
        let mut head = vec![
            ("value", json!(heading.value)),
            ("game", json!(heading.game)),
            ("method", json!(heading.method)),
        ];
        head.extend(heading.facts.iter().map(|(name, value)| (name.as_str(), value.clone())));
        head.extend(classes(&heading.outputs));
        head.push(("features", json!(heading.players)));
        head.extend((!heading.groups.is_empty()).then(|| ("groups", json!(heading.groups))));
        let are_others = heading.players.len() != heading.features.len();
        head.extend((self.has_inputs && are_others).then(|| ("input_names", json!(heading.features))));
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
            #[serde(skip_serializing_if = "Option::is_none")]
            values: Option<Players<'a>>,
            #[serde(skip_serializing_if = "Option::is_none")]
            std_errors: Option<Players<'a>>,
            #[serde(skip_serializing_if = "Option::is_none")]
            top: Option<OneOrMany<Vec<Largest<'a>>>>,
            #[serde(skip_serializing_if = "Option::is_none")]
            rest: Option<OneOrMany<f64>>,
            #[serde(skip_serializing_if = "Option::is_none")]
            input: Option<Vec<Value>>,
            evaluations: u64,
            #[serde(skip_serializing_if = "Option::is_none")]
            draws: Option<u64>,
            #[serde(skip_serializing_if = "Option::is_none")]
            degrees_of_freedom: Option<f64>,
            #[serde(skip_serializing_if = "Option::is_none")]
            certificate: Option<Certificate<'a>>,
        }
        let outputs = self.outputs();
        let players = |numbers| Players { outputs, numbers };
        let largest = |top: usize| -> (Vec<_>, Vec<_>) {
            (0..outputs).map(|output| self.largest(batch, (row, output), top)).unzip()
        };
        let (top, rest) = self.top.map(largest).unzip();
        let features = self.heading.features.len();
        let inputs = || (0..features).map(|feature| self.input(batch, row, feature)).collect();
        let is_whole = self.top.is_none();
        let certificate = batch.certificates.get(row).and_then(Option::as_ref);
        let object = Object {
            row: batch.rows[row],
            id: batch.ids.as_ref().map(|ids| ids[row].as_str()),
            base: Outputs(batch.of_row(&batch.base, row)),
            prediction: Outputs(batch.of_row(&batch.predictions, row)),
            values: is_whole.then(|| players(batch.of_row(&batch.values, row))),
            std_errors: (is_whole && self.has_errors).then(|| players(batch.of_row(&batch.std_errors, row))),
            top: top.map(OneOrMany::from_vec),
            rest: rest.map(OneOrMany::from_vec),
            input: (self.has_inputs && is_whole).then(inputs),
            evaluations: batch.evaluations.get(row).copied().unwrap_or(0),
            draws: batch.draws.get(row).copied().flatten(),
            // Omit infinite degrees of freedom, i.e. the normal distribution.
            degrees_of_freedom: batch
                .degrees_of_freedom
                .get(row)
                .copied()
                .filter(|degrees| degrees.is_finite() && is_whole && self.has_errors),
            certificate: certificate.map(|certified| Certificate::new(certified, outputs)),
        };
        to_json(out, &object)
    }

    /// Returns the columns. A table has one line per row and output.
    fn columns(&self) -> Vec<Column> {
        let mut columns = Vec::from_iter(self.has_ids.then(|| Column::texts("id")));
        columns.push(Column::counts("row"));
        columns.extend((self.outputs() > 1).then(|| Column::texts("output")));
        columns.extend([Column::numbers("base"), Column::numbers("prediction")]);
        match self.top {
            None => {
                let names = &self.heading.players;
                columns.extend(names.iter().map(Column::numbers));
                if self.has_errors {
                    columns.extend(names.iter().map(|name| Column::numbers(format!("std error of {name}"))));
                }
            }
            Some(top) => {
                for place in 1..=top.min(self.heading.players.len()) {
                    columns.push(Column::texts(format!("feature {place}")));
                    columns.push(Column::numbers(format!("value {place}")));
                    if self.has_errors {
                        columns.push(Column::numbers(format!("std error {place}")));
                    }
                }
                columns.push(Column::numbers("rest"));
            }
        }
        if self.has_certificates {
            columns.push(Column::counts("evaluations"));
            columns.extend(["error bound", "tolerance"].map(Column::numbers));
            columns.push(Column::texts("stopped by"));
        }
        if self.has_inputs {
            columns.extend(self.heading.features.iter().enumerate().map(|(feature, name)| {
                let name = format!("input of {name}");
                if self.heading.is_of_words(feature) { Column::texts(name) } else { Column::numbers(name) }
            }));
        }
        columns
    }

    fn cells(&self, batch: &Batch, rows: Range<usize>) -> Vec<Cells> {
        let outputs = self.outputs();
        let names = self.names_of_outputs();
        let lines: Vec<Line> =
            rows.clone().flat_map(|row| (0..outputs).map(move |output| (row, output))).collect();
        let numbers = |of: &dyn Fn(Line) -> f64| Cells::Numbers(lines.iter().map(|&line| of(line)).collect());
        let texts =
            |of: &dyn Fn(Line) -> Option<String>| Cells::Texts(lines.iter().map(|&line| of(line)).collect());
        let counts = |of: &dyn Fn(Line) -> u64| Cells::Counts(lines.iter().map(|&line| of(line)).collect());
        let mut cells = Vec::new();
        if let Some(ids) = batch.ids.as_ref().filter(|_| self.has_ids) {
            cells.push(texts(&|(row, _)| Some(ids[row].clone())));
        }
        cells.push(counts(&|(row, _)| batch.rows[row]));
        if let Some(names) = &names {
            cells.push(texts(&|(_, output)| Some(names[output].clone())));
        }
        cells.push(numbers(&|(row, output)| batch.base[row * outputs + output]));
        cells.push(numbers(&|(row, output)| batch.predictions[row * outputs + output]));
        match self.top {
            None => {
                let players = 0..self.heading.players.len();
                cells.extend(players.clone().map(|player| numbers(&|line| self.value(batch, line, player))));
                if self.has_errors {
                    cells.extend(players.map(|player| numbers(&|line| self.error(batch, line, player))));
                }
            }
            Some(top) => {
                let names = &self.heading.players;
                let orders: Vec<Vec<usize>> = lines.iter().map(|&line| self.by_size(batch, line)).collect();
                for place in 0..top.min(self.heading.players.len()) {
                    let of = |number: &dyn Fn(Line, usize) -> f64| {
                        let players = lines.iter().zip(&orders);
                        Cells::Numbers(players.map(|(&line, order)| number(line, order[place])).collect())
                    };
                    cells.push(Cells::Texts(
                        orders.iter().map(|order| Some(names[order[place]].clone())).collect(),
                    ));
                    cells.push(of(&|line, player| self.value(batch, line, player)));
                    if self.has_errors {
                        cells.push(of(&|line, player| self.error(batch, line, player)));
                    }
                }
                let rest = lines
                    .iter()
                    .zip(&orders)
                    .map(|(&line, order)| self.sum(batch, line, &order[top.min(order.len())..]));
                cells.push(Cells::Numbers(rest.collect()));
            }
        }
        if self.has_certificates {
            let certificate = |row: usize| batch.certificates.get(row).and_then(Option::as_ref);
            cells.push(counts(&|(row, _)| batch.evaluations.get(row).copied().unwrap_or(0)));
            cells.push(numbers(&|(row, output)| {
                let bounds = certificate(row).map(|certificate| &certificate.error_bounds);
                bounds.and_then(|bounds| bounds.get(output).copied()).unwrap_or(f64::NAN)
            }));
            cells.push(numbers(&|(row, output)| {
                certificate(row).map_or(f64::NAN, |certificate| certificate.tolerances[output])
            }));
            cells.push(texts(&|(row, _)| certificate(row).map(|certificate| certificate.stopped_by.clone())));
        }
        if self.has_inputs {
            let features = self.heading.features.len();
            cells.extend((0..features).map(|feature| {
                let input = |(row, _): Line| batch.inputs[row * features + feature];
                if !self.heading.is_of_words(feature) {
                    return numbers(&input);
                }
                texts(&|line| {
                    let input = input(line);
                    let word =
                        || self.category(feature, input).map_or_else(|| input.to_string(), Cow::into_owned);
                    (!input.is_nan()).then(word)
                })
            }));
        }
        cells
    }

    fn arrays(&self) -> Vec<(&'static str, Vec<usize>)> {
        let outputs = || several(self.outputs());
        let values = || [self.heading.players.len()].into_iter().chain(outputs()).collect();
        let mut arrays = vec![
            ("values", values()),
            ("base_values", outputs().collect()),
            ("predictions", outputs().collect()),
        ];
        arrays.extend(self.has_errors.then(|| ("std_errors", values())));
        arrays.extend(self.has_inputs.then(|| ("data", vec![self.heading.features.len()])));
        arrays
    }

    fn numbers<'b>(&self, batch: &'b Batch) -> Vec<&'b [f64]> {
        let mut numbers: Vec<&[f64]> = vec![&batch.values, &batch.base, &batch.predictions];
        numbers.extend(self.has_errors.then_some(&batch.std_errors[..]));
        numbers.extend(self.has_inputs.then_some(&batch.inputs[..]));
        numbers
    }

    fn names(&self) -> Vec<(&'static str, Vec<String>)> {
        let are_named = self.heading.outputs.iter().any(|name| !name.is_empty());
        let classes = are_named.then(|| ("output_names", self.heading.outputs.clone()));
        let are_others = self.heading.players.len() != self.heading.features.len();
        let inputs = (self.has_inputs && are_others).then(|| ("input_names", self.heading.features.clone()));
        [("feature_names", self.heading.players.clone())].into_iter().chain(classes).chain(inputs).collect()
    }
}
