//! The result of `apportion explain --summary`: the importance of each player over all rows.

use std::io::{self, Write};
use std::ops::Range;

use apportion_results::shown::shown;
use apportion_results::{Batch, Cells, Column, Moments, Results, SummaryError, Values, to_json};
use rayon::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};

use super::table::{self, Bars, LastColumn, digits};
use super::text::Text;
use crate::messages::counted;

/// The summary of one player.
#[derive(Debug, Clone, Copy)]
struct FeatureSummary {
    player: usize,
    output: usize,
    /// The mean of |φ| over the rows.
    mean_size: f64,
    /// The standard deviation of |φ|.
    deviation: f64,
    mean: f64,
    min: f64,
    max: f64,
}

/// The summary of all rows. It does not depend on their order.
pub(crate) struct Summary<'a> {
    of: &'a Values,
    rows: usize,
    /// The statistics of each player and output, players × outputs.
    moments: Vec<Moments>,
    /// The lines of the summary, once all rows are known.
    told: Vec<FeatureSummary>,
}

impl<'a> Summary<'a> {
    /// Creates an empty summary.
    pub(crate) fn new(of: &'a Values) -> Self {
        let moments = vec![Moments::default(); of.heading.players.len() * of.heading.outputs.len()];
        Self { of, rows: 0, moments, told: Vec::new() }
    }

    /// Adds rows, on all threads of the current pool. Returns an error for values that are not finite.
    pub(crate) fn add(&mut self, batch: &Batch) -> Result<(), SummaryError> {
        self.rows += batch.len();
        Moments::add_rows_in_parallel(&mut self.moments, &batch.values)
    }

    /// Ends the summary after the last row, and returns the lines of the summary as the rows of a batch. The
    /// statistics are computed on all threads of the current pool.
    pub(crate) fn end(&mut self) -> Batch {
        let outputs = self.of.heading.outputs.len();
        let told = |(at, moments): (usize, &Moments)| FeatureSummary {
            player: at / outputs,
            output: at % outputs,
            mean_size: moments.mean_absolute(),
            deviation: moments.deviation_of_absolute(),
            mean: moments.mean(),
            min: moments.min(),
            max: moments.max(),
        };
        self.told = self.moments.par_iter().enumerate().map(told).collect();
        let most = |a: &FeatureSummary, b: &FeatureSummary| b.mean_size.total_cmp(&a.mean_size);
        let top = self.of.top.unwrap_or(usize::MAX);
        self.told.sort_by(|a, b| a.output.cmp(&b.output).then_with(|| most(a, b)));
        self.told = self
            .told
            .chunk_by(|a, b| a.output == b.output)
            .flat_map(|of| of.iter().take(top))
            .copied()
            .collect();
        Batch { rows: (0..self.told.len() as u64).collect(), ..Batch::default() }
    }

    fn of_output(&self, output: usize) -> Option<String> {
        self.of.names_of_outputs().map(|names| names[output].clone())
    }
}

impl Results for Summary<'_> {
    fn head(&self) -> Vec<(&str, Value)> {
        self.of.head().into_iter().chain([("rows", json!(self.rows))]).collect()
    }

    fn list(&self) -> &'static str {
        "summary"
    }

    fn object(&self, _: &Batch, row: usize, out: &mut Vec<u8>) -> io::Result<()> {
        #[derive(Serialize)]
        struct Object {
            feature: String,
            #[serde(skip_serializing_if = "Option::is_none")]
            output: Option<String>,
            mean_abs: f64,
            std_abs: f64,
            mean: f64,
            min: f64,
            max: f64,
        }
        let told = self.told[row];
        let object = Object {
            feature: self.of.heading.players[told.player].clone(),
            output: self.of_output(told.output),
            mean_abs: told.mean_size,
            std_abs: told.deviation,
            mean: told.mean,
            min: told.min,
            max: told.max,
        };
        to_json(out, &object)
    }

    fn columns(&self) -> Vec<Column> {
        let output = (self.of.heading.outputs.len() > 1).then(|| Column::texts("output"));
        let numbers = ["mean abs", "std abs", "mean", "min", "max"].map(Column::numbers);
        output.into_iter().chain([Column::texts("feature")]).chain(numbers).collect()
    }

    fn cells(&self, _: &Batch, rows: Range<usize>) -> Vec<Cells> {
        let told = &self.told[rows];
        let names = &self.of.heading.players;
        let numbers = |of: fn(&FeatureSummary) -> f64| Cells::Numbers(told.iter().map(of).collect());
        let output = || Cells::Texts(told.iter().map(|told| self.of_output(told.output)).collect());
        let mut cells = Vec::from_iter((self.of.heading.outputs.len() > 1).then(output));
        cells.push(Cells::Texts(told.iter().map(|told| Some(names[told.player].clone())).collect()));
        cells.extend([
            numbers(|told| told.mean_size),
            numbers(|told| told.deviation),
            numbers(|told| told.mean),
            numbers(|told| told.min),
            numbers(|told| told.max),
        ]);
        cells
    }

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

impl Text for Summary<'_> {
    fn title(&self) -> String {
        format!("{}summary of {}\n", self.of.title(), counted(self.rows, "row"))
    }

    fn text(&self, _: &Batch, out: &mut dyn Write) -> io::Result<()> {
        let names = &self.of.heading.players;
        for told in self.told.chunk_by(|a, b| a.output == b.output) {
            let bars = Bars::new(told.iter().map(|told| told.mean_size));
            let output = told.first().and_then(|told| self.of_output(told.output));
            writeln!(
                out,
                "{}",
                output.map_or_else(String::new, |output| format!("\noutput {}", shown(&output)))
            )?;
            let header =
                ["feature", "mean |value|", "std |value|", "mean", "min", "max", ""].map(str::to_owned);
            let line = |told: &FeatureSummary| {
                let numbers = [told.mean_size, told.deviation, told.mean, told.min, told.max].map(digits);
                let name = [names[told.player].clone()].into_iter().chain(numbers);
                name.chain([bars.bar(told.mean_size)]).collect()
            };
            let lines: Vec<Vec<String>> =
                std::iter::once(header.to_vec()).chain(told.iter().map(line)).collect();
            table::aligned(&lines, LastColumn::Bars, out)?;
        }
        Ok(())
    }
}
