//! The result of `apportion explain`, and of a text or an image.

use std::borrow::Cow;
use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

use anyhow::Result;
use apportion::estimators::{Guarantee, Look, StopRule};
use apportion::games::Member;
use apportion_rows::Texts;
use serde::Serialize;
use serde_json::{Value, json};

use super::INFINITE;
use super::block::{Block, Run};
use super::json::{Outputs, Players};
use super::json_text;
use super::results::{Cells, Column, Results};
use super::table::{self, Bars, LastColumn, digits};
use crate::groups;

/// Players that a table shows of a row where no other number is asked for.
const SHOWN: usize = 20;

/// What holds for the values of all rows: those of a block are rows × players × k.
#[derive(Debug)]
pub(crate) struct Attributions {
    pub(crate) value: String,
    pub(crate) game: &'static str,
    /// The method that was used, also where the method asked for was `auto`.
    pub(crate) method: String,
    /// Evaluations per row that the method was allowed; none for methods that take no budget.
    pub(crate) budget: Option<usize>,
    /// The accuracy that was asked for, in words.
    pub(crate) accuracy: Option<String>,
    pub(crate) seed: u64,
    /// Names of the n features.
    pub(crate) features: Vec<String>,
    /// The categories of each feature by their codes, as far as the model names them.
    pub(crate) categories: Vec<Vec<String>>,
    /// The texts that numbers stand for, those of rows read later included, where a program reads the rows.
    pub(crate) texts: Option<Arc<Texts>>,
    /// The features of each player: one, or those of a group.
    pub(crate) players: Vec<Vec<usize>>,
    /// The groups, where there are some, each with its features and the groups in it.
    pub(crate) groups: Option<Vec<Member>>,
    /// What else is to be known of what was explained, by name.
    pub(crate) about: Vec<(&'static str, Value)>,
    /// Number of outputs k.
    pub(crate) outputs: usize,
    /// What the outputs are called, where that is known.
    pub(crate) classes: Option<Vec<String>>,
    pub(crate) has_ids: bool,
    /// Whether the rows come with their inputs.
    pub(crate) has_inputs: bool,
    /// Whether the values are estimates, with errors worth a column: so are all of a run, also those that came out exact.
    pub(crate) are_estimates: bool,
    /// How many players are told of each row, where not all are.
    pub(crate) top: Option<usize>,
}

/// A row of a block, and one of its outputs.
type Line = (usize, usize);

impl Attributions {
    /// The name of each player: of a group the names of its features, as they are typed.
    pub(crate) fn player_names(&self) -> Vec<String> {
        self.players.iter().map(|features| self.names_of(features).join(",")).collect()
    }

    /// The names of features.
    fn names_of(&self, features: &[usize]) -> Vec<&str> {
        features.iter().map(|&feature| self.features[feature].as_str()).collect()
    }

    /// The names of the outputs, where there are several.
    pub(super) fn names_of_outputs(&self) -> Option<Vec<String>> {
        table::names_of_outputs(self.outputs, self.classes.as_deref())
    }

    /// The category that a feature's number is the code of, where the model names it.
    fn category(&self, feature: usize, code: f64) -> Option<Cow<'_, str>> {
        let is_code = code >= 0.0 && code.fract() == 0.0;
        let categories = self.categories.get(feature).filter(|_| is_code)?;
        if let Some(category) = categories.get(code as usize) {
            return Some(category.into());
        }
        let texts = self.texts.as_ref().filter(|texts| texts.is_text(feature))?;
        let mut found = None;
        texts.with_text(feature, code, &mut |text| found = Some(text.to_owned()));
        found.map(Cow::Owned)
    }

    /// Whether a feature's inputs are words.
    fn is_of_words(&self, feature: usize) -> bool {
        self.categories.get(feature).is_some_and(|categories| !categories.is_empty())
    }

    /// An input of a row as JSON has it.
    fn input(&self, block: &Block, row: usize, feature: usize) -> Value {
        match block.of_row(&block.inputs, row)[feature] {
            input if input.is_nan() => Value::Null,
            // JSON has no such number.
            f64::INFINITY => INFINITE[0].into(),
            f64::NEG_INFINITY => INFINITE[1].into(),
            input => self.category(feature, input).map_or_else(|| json!(input), Value::from),
        }
    }

    /// An input of a row as people read it.
    fn input_shown(&self, block: &Block, row: usize, feature: usize) -> String {
        match block.of_row(&block.inputs, row)[feature] {
            input if input.is_nan() => "missing".to_owned(),
            input => self.category(feature, input).map_or_else(|| digits(input), Cow::into_owned),
        }
    }

    /// The value of a player.
    fn value_of(&self, block: &Block, (row, output): Line, player: usize) -> f64 {
        block.values[(row * self.players.len() + player) * self.outputs + output]
    }

    /// The standard error of a player's value; missing where there is none.
    fn error_of(&self, block: &Block, (row, output): Line, player: usize) -> f64 {
        let at = (row * self.players.len() + player) * self.outputs + output;
        block.std_errors.get(at).copied().unwrap_or(f64::NAN)
    }

    /// The players of a row, those that matter most first, and equal ones in their order.
    fn by_size(&self, block: &Block, line: Line) -> Vec<usize> {
        let size = |&player: &usize| self.value_of(block, line, player).abs();
        let mut players: Vec<usize> = (0..self.players.len()).collect();
        players.sort_by(|a, b| size(b).total_cmp(&size(a)));
        players
    }

    /// The sum of the values of some players.
    fn sum_of(&self, block: &Block, line: Line, players: &[usize]) -> f64 {
        players.iter().map(|&player| self.value_of(block, line, player)).sum()
    }

    /// The players that are told of a row where not all are, and the sum of the rest.
    fn told<'a>(
        &'a self,
        block: &'a Block,
        line: Line,
        top: usize,
        names: &'a [String],
    ) -> (Vec<Told<'a>>, f64) {
        let players = self.by_size(block, line);
        let (first, rest) = players.split_at(top.min(players.len()));
        let told = |&player: &usize| {
            let error = self.are_estimates.then(|| self.error_of(block, line, player));
            let inputs = || match self.players[player][..] {
                [feature] => self.input(block, line.0, feature),
                ref group => {
                    group.iter().map(|&feature| self.input(block, line.0, feature)).collect::<Vec<_>>().into()
                }
            };
            Told {
                feature: &names[player],
                value: self.value_of(block, line, player),
                std_error: error.filter(|error| !error.is_nan()),
                input: self.has_inputs.then(inputs),
            }
        };
        (first.iter().map(told).collect(), self.sum_of(block, line, rest))
    }
}

/// A player of those that matter most.
#[derive(Serialize)]
struct Told<'a> {
    feature: &'a str,
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    std_error: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<Value>,
}

/// Of each output, or of the only one.
#[derive(Serialize)]
#[serde(untagged)]
enum Each<T> {
    One(T),
    Several(Vec<T>),
}

impl<T> Each<T> {
    fn of(mut all: Vec<T>) -> Self {
        match (all.len(), all.pop()) {
            (1, Some(one)) => Self::One(one),
            (_, last) => Self::Several(all.into_iter().chain(last).collect()),
        }
    }
}

/// A certificate: the interval of a value is the value ± its half width.
#[derive(Serialize)]
struct Certified<'a> {
    stopped_by: StopRule,
    guarantee: Guarantee,
    confidence: f64,
    error_bound: Option<Outputs<'a>>,
    tolerance: Outputs<'a>,
    half_widths: Option<Players<'a>>,
    looks: &'a [Look],
    says: &'a str,
}

impl Results for Attributions {
    fn head(&self, first: &Block) -> Vec<(&'static str, Value)> {
        let same_as = first.runs.first().and_then(|run| run.same_as.as_ref());
        let mut head =
            vec![("value", json!(self.value)), ("game", json!(self.game)), ("method", json!(self.method))];
        head.extend(same_as.map(|same_as| ("same_as", json!(same_as))));
        head.push(("budget", json!(self.budget)));
        head.extend(self.accuracy.as_ref().map(|accuracy| ("accuracy", json!(accuracy))));
        head.push(("seed", json!(self.seed)));
        head.extend(self.about.iter().cloned());
        head.extend(self.classes.as_ref().map(|classes| ("classes", json!(classes))));
        head.push(("features", json!(self.player_names())));
        let name = |feature: usize| self.features[feature].clone();
        head.extend(self.groups.as_ref().map(|of| ("groups", groups::listed(of, &name))));
        let are_others = self.players.len() != self.features.len();
        head.extend((self.has_inputs && are_others).then(|| ("input_names", json!(self.features))));
        head
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
            #[serde(skip_serializing_if = "Option::is_none")]
            values: Option<Players<'a>>,
            #[serde(skip_serializing_if = "Option::is_none")]
            std_errors: Option<Players<'a>>,
            #[serde(skip_serializing_if = "Option::is_none")]
            top: Option<Each<Vec<Told<'a>>>>,
            #[serde(skip_serializing_if = "Option::is_none")]
            rest: Option<Each<f64>>,
            #[serde(skip_serializing_if = "Option::is_none")]
            input: Option<Vec<Value>>,
            evaluations: usize,
            #[serde(skip_serializing_if = "Option::is_none")]
            draws: Option<usize>,
            #[serde(skip_serializing_if = "Option::is_none")]
            degrees_of_freedom: Option<f64>,
            #[serde(skip_serializing_if = "Option::is_none")]
            certificate: Option<Certified<'a>>,
        }
        let outputs = self.outputs;
        let players = |numbers| Players { outputs, numbers };
        let names = if self.top.is_some() { self.player_names() } else { Vec::new() };
        let told = |top: usize| -> (Vec<_>, Vec<_>) {
            (0..outputs).map(|output| self.told(block, (row, output), top, &names)).unzip()
        };
        let (top, rest) = self.top.map(told).unzip();
        let run = block.runs.get(row);
        let inputs = || (0..self.features.len()).map(|feature| self.input(block, row, feature)).collect();
        let is_whole = self.top.is_none();
        let object = Object {
            row: block.rows[row],
            id: block.ids.as_ref().map(|ids| ids[row].as_str()),
            base: Outputs(block.of_row(&block.base, row)),
            prediction: Outputs(block.of_row(&block.predictions, row)),
            values: is_whole.then(|| players(block.of_row(&block.values, row))),
            std_errors: (is_whole && self.are_estimates)
                .then(|| players(block.of_row(&block.std_errors, row))),
            top: top.map(Each::of),
            rest: rest.map(Each::of),
            input: (self.has_inputs && is_whole).then(inputs),
            evaluations: run.map_or(0, |run| run.evaluations),
            draws: run.and_then(|run| run.draws),
            // The normal law needs none.
            degrees_of_freedom: run
                .map(|run| run.degrees_of_freedom)
                .filter(|degrees| degrees.is_finite() && is_whole && self.are_estimates),
            certificate: run.and_then(|run| run.certificate.as_ref()).map(|certificate| Certified {
                stopped_by: certificate.stopped_by,
                guarantee: certificate.guarantee,
                confidence: certificate.confidence,
                error_bound: certificate.error_bounds.as_deref().map(Outputs),
                tolerance: Outputs(&certificate.tolerances),
                half_widths: certificate.half_widths.as_deref().map(players),
                looks: &certificate.looks,
                says: &certificate.says,
            }),
        };
        Ok(json_text::write(out, &object)?)
    }

    /// A line per row and output.
    fn columns(&self) -> Vec<Column> {
        let mut columns = Vec::from_iter(self.has_ids.then(|| Column::texts("id")));
        columns.push(Column::counts("row"));
        columns.extend((self.outputs > 1).then(|| Column::texts("output")));
        columns.extend([Column::numbers("base"), Column::numbers("prediction")]);
        match self.top {
            None => {
                let names = self.player_names();
                columns.extend(names.iter().map(Column::numbers));
                if self.are_estimates {
                    columns.extend(names.iter().map(|name| Column::numbers(format!("std error of {name}"))));
                }
            }
            Some(top) => {
                for place in 1..=top.min(self.players.len()) {
                    columns.push(Column::texts(format!("feature {place}")));
                    columns.push(Column::numbers(format!("value {place}")));
                    if self.are_estimates {
                        columns.push(Column::numbers(format!("std error {place}")));
                    }
                }
                columns.push(Column::numbers("rest"));
            }
        }
        if self.accuracy.is_some() {
            columns.push(Column::counts("evaluations"));
            columns.extend(["error bound", "tolerance"].map(Column::numbers));
            columns.push(Column::texts("stopped by"));
        }
        if self.has_inputs {
            columns.extend(self.features.iter().enumerate().map(|(feature, name)| {
                let name = format!("input of {name}");
                if self.is_of_words(feature) { Column::texts(name) } else { Column::numbers(name) }
            }));
        }
        columns
    }

    fn cells(&self, block: &Block, rows: Range<usize>) -> Vec<Cells> {
        let outputs = self.outputs;
        let names = self.names_of_outputs();
        let lines: Vec<Line> =
            rows.clone().flat_map(|row| (0..outputs).map(move |output| (row, output))).collect();
        let numbers = |of: &dyn Fn(Line) -> f64| Cells::Numbers(lines.iter().map(|&line| of(line)).collect());
        let texts =
            |of: &dyn Fn(Line) -> Option<String>| Cells::Texts(lines.iter().map(|&line| of(line)).collect());
        let counts = |of: &dyn Fn(Line) -> usize| Cells::Counts(lines.iter().map(|&line| of(line)).collect());
        let mut cells = Vec::new();
        if let Some(ids) = block.ids.as_ref().filter(|_| self.has_ids) {
            cells.push(texts(&|(row, _)| Some(ids[row].clone())));
        }
        cells.push(counts(&|(row, _)| block.rows[row]));
        if let Some(names) = &names {
            cells.push(texts(&|(_, output)| Some(names[output].clone())));
        }
        cells.push(numbers(&|(row, output)| block.base[row * outputs + output]));
        cells.push(numbers(&|(row, output)| block.predictions[row * outputs + output]));
        match self.top {
            None => {
                let players = 0..self.players.len();
                cells.extend(
                    players.clone().map(|player| numbers(&|line| self.value_of(block, line, player))),
                );
                if self.are_estimates {
                    cells.extend(players.map(|player| numbers(&|line| self.error_of(block, line, player))));
                }
            }
            Some(top) => {
                let names = self.player_names();
                let orders: Vec<Vec<usize>> = lines.iter().map(|&line| self.by_size(block, line)).collect();
                for place in 0..top.min(self.players.len()) {
                    let of = |number: &dyn Fn(Line, usize) -> f64| {
                        let players = lines.iter().zip(&orders);
                        Cells::Numbers(players.map(|(&line, order)| number(line, order[place])).collect())
                    };
                    cells.push(Cells::Texts(
                        orders.iter().map(|order| Some(names[order[place]].clone())).collect(),
                    ));
                    cells.push(of(&|line, player| self.value_of(block, line, player)));
                    if self.are_estimates {
                        cells.push(of(&|line, player| self.error_of(block, line, player)));
                    }
                }
                let rest = lines
                    .iter()
                    .zip(&orders)
                    .map(|(&line, order)| self.sum_of(block, line, &order[top.min(order.len())..]));
                cells.push(Cells::Numbers(rest.collect()));
            }
        }
        if self.accuracy.is_some() {
            let certificate = |row: usize| block.runs.get(row).and_then(|run: &Run| run.certificate.as_ref());
            cells.push(counts(&|(row, _)| block.runs.get(row).map_or(0, |run| run.evaluations)));
            cells.push(numbers(&|(row, output)| {
                let bounds = certificate(row).and_then(|certificate| certificate.error_bounds.as_ref());
                bounds.map_or(f64::NAN, |bounds| bounds[output])
            }));
            cells.push(numbers(&|(row, output)| {
                certificate(row).map_or(f64::NAN, |certificate| certificate.tolerances[output])
            }));
            cells.push(texts(&|(row, _)| {
                certificate(row).map(|certificate| certificate.stopped_by.to_string())
            }));
        }
        if self.has_inputs {
            let features = self.features.len();
            cells.extend((0..features).map(|feature| {
                let input = |(row, _): Line| block.inputs[row * features + feature];
                if !self.is_of_words(feature) {
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
        let outputs = || table::several(self.outputs);
        let values = || [self.players.len()].into_iter().chain(outputs()).collect();
        let mut arrays = vec![
            ("values", values()),
            ("base_values", outputs().collect()),
            ("predictions", outputs().collect()),
        ];
        arrays.extend(self.are_estimates.then(|| ("std_errors", values())));
        arrays.extend(self.has_inputs.then(|| ("data", vec![self.features.len()])));
        arrays
    }

    fn numbers<'b>(&self, block: &'b Block) -> Vec<&'b [f64]> {
        let mut numbers: Vec<&[f64]> = vec![&block.values, &block.base, &block.predictions];
        numbers.extend(self.are_estimates.then_some(&block.std_errors[..]));
        numbers.extend(self.has_inputs.then_some(&block.inputs[..]));
        numbers
    }

    fn names(&self) -> Vec<(&'static str, Vec<String>)> {
        let classes = self.classes.iter().map(|classes| ("output_names", classes.clone()));
        let are_others = self.players.len() != self.features.len();
        let inputs = (self.has_inputs && are_others).then(|| ("input_names", self.features.clone()));
        [("feature_names", self.player_names())].into_iter().chain(classes).chain(inputs).collect()
    }

    fn title(&self) -> String {
        let mut title = format!("{} values, {} game, method {}", self.value, self.game, self.method);
        if let Some(budget) = self.budget {
            title.push_str(&format!(", budget {budget}, seed {}", self.seed));
        }
        title.push('\n');
        if let Some(accuracy) = &self.accuracy {
            title.push_str(&format!("until: {accuracy}\n"));
        }
        title
    }

    fn text(&self, block: &Block, out: &mut dyn Write) -> Result<()> {
        let names = self.player_names();
        let outputs = self.names_of_outputs();
        let what = if self.players.iter().all(|features| features.len() == 1) { "feature" } else { "group" };
        for row in 0..block.len() {
            for output in 0..self.outputs {
                let line = (row, output);
                table::heading(block, row, output, outputs.as_deref(), out)?;
                if let Some(run) = block.runs.get(row) {
                    certificate(run, output, out)?;
                }
                let mut header = vec![what.to_owned()];
                header.extend(self.has_inputs.then(|| "input".to_owned()));
                header.push(self.value.clone());
                header.extend(self.are_estimates.then(|| "std error".to_owned()));
                header.push(String::new());
                let mut lines = vec![header];
                let players = self.by_size(block, line);
                let bars = Bars::of(players.iter().map(|&player| self.value_of(block, line, player)));
                let shown = self.top.unwrap_or(SHOWN);
                // A line that says of one player that it is not shown could show it.
                let shown =
                    if players.len() <= shown + 1 && self.top.is_none() { players.len() } else { shown };
                let (players, rest) = players.split_at(shown.min(players.len()));
                for &player in players {
                    let value = self.value_of(block, line, player);
                    let mut cells = vec![names[player].clone()];
                    let inputs = || {
                        let of = |&feature: &usize| self.input_shown(block, row, feature);
                        self.players[player].iter().map(of).collect::<Vec<_>>().join(", ")
                    };
                    cells.extend(self.has_inputs.then(inputs));
                    cells.push(digits(value));
                    cells.extend(self.are_estimates.then(|| match self.error_of(block, line, player) {
                        error if error.is_nan() => String::new(),
                        error => digits(error),
                    }));
                    cells.push(bars.bar(value));
                    lines.push(cells);
                }
                table::aligned(&lines, LastColumn::Bars, out)?;
                if !rest.is_empty() {
                    let sum = digits(self.sum_of(block, line, rest));
                    let more = if rest.len() == 1 { "more, which adds" } else { "more, which add" };
                    writeln!(out, "  and {} {more} {sum}", rest.len())?;
                }
            }
        }
        Ok(())
    }
}

/// What is certified of a row.
fn certificate(run: &Run, output: usize, out: &mut dyn Write) -> Result<()> {
    let Some(certificate) = &run.certificate else { return Ok(()) };
    let tolerance = digits(certificate.tolerances[output]);
    let bound = certificate.error_bounds.as_ref().map_or_else(
        || "error unknown".to_owned(),
        |bounds| format!("error at most {}", digits(bounds[output])),
    );
    writeln!(
        out,
        "  {bound} ({}), tolerance {tolerance}; {} evaluations, stopped by: {}",
        certificate.guarantee, run.evaluations, certificate.stopped_by
    )?;
    Ok(writeln!(out, "  {}", certificate.says)?)
}
