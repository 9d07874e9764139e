//! Values of players as text for a terminal: the largest first, with a bar each.

use std::borrow::Cow;
use std::io::{self, Write};

use apportion_results::{Batch, Certified, Values};

use super::Text;
use crate::write::table::{self, Bars, LastColumn, digits};

/// The default number of players shown per row.
const SHOWN: usize = 20;

impl Text for Values {
    fn title(&self) -> String {
        let heading = &self.heading;
        let mut title = format!("{} values, {} game, method {}", heading.value, heading.game, heading.method);
        if let Some(budget) = heading.fact("budget") {
            title.push_str(&format!(", budget {budget}"));
            title.extend(heading.fact("seed").map(|seed| format!(", seed {seed}")));
        }
        title.push('\n');
        title.extend(heading.fact("accuracy").map(|accuracy| format!("until: {accuracy}\n")));
        title
    }

    fn text(&self, batch: &Batch, out: &mut dyn Write) -> io::Result<()> {
        let names = &self.heading.players;
        let outputs = self.names_of_outputs();
        let what =
            if self.heading.members.iter().all(|features| features.len() == 1) { "feature" } else { "group" };
        for row in 0..batch.len() {
            for output in 0..self.heading.outputs.len() {
                let line = (row, output);
                table::heading(batch, row, output, outputs.as_deref(), out)?;
                if let Some(certified) = batch.certificates.get(row).and_then(Option::as_ref) {
                    certificate(certified, batch.evaluations.get(row).copied().unwrap_or(0), output, out)?;
                }
                let mut header = vec![what.to_owned()];
                header.extend(self.has_inputs.then(|| "input".to_owned()));
                header.push(self.heading.value.clone());
                header.extend(self.has_errors.then(|| "std error".to_owned()));
                header.push(String::new());
                let mut lines = vec![header];
                let players = self.by_size(batch, line);
                let bars = Bars::new(players.iter().map(|&player| self.value(batch, line, player)));
                let shown = self.top.unwrap_or(SHOWN);
                // A line about a single hidden player would take as much space as the player itself.
                let shown =
                    if players.len() <= shown + 1 && self.top.is_none() { players.len() } else { shown };
                let (players, rest) = players.split_at(shown.min(players.len()));
                for &player in players {
                    let value = self.value(batch, line, player);
                    let mut cells = vec![names[player].clone()];
                    let inputs = || {
                        let of = |&feature: &usize| input_shown(self, batch, row, feature);
                        self.heading.members[player].iter().map(of).collect::<Vec<_>>().join(", ")
                    };
                    cells.extend(self.has_inputs.then(inputs));
                    cells.push(digits(value));
                    cells.extend(self.has_errors.then(|| match self.error(batch, line, player) {
                        error if error.is_nan() => String::new(),
                        error => digits(error),
                    }));
                    cells.push(bars.bar(value));
                    lines.push(cells);
                }
                table::aligned(&lines, LastColumn::Bars, out)?;
                if !rest.is_empty() {
                    let sum = digits(self.sum(batch, line, rest));
                    let more = if rest.len() == 1 { "more, which adds" } else { "more, which add" };
                    writeln!(out, "  and {} {more} {sum}", rest.len())?;
                }
            }
        }
        Ok(())
    }
}

/// Formats an input of a row.
fn input_shown(values: &Values, batch: &Batch, row: usize, feature: usize) -> String {
    match batch.of_row(&batch.inputs, row)[feature] {
        input if input.is_nan() => "missing".to_owned(),
        input => values.category(feature, input).map_or_else(|| digits(input), Cow::into_owned),
    }
}

/// Writes the certificate of a row for one output, with the number of evaluations.
fn certificate(
    certified: &Certified,
    evaluations: u64,
    output: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let tolerance = digits(certified.tolerances[output]);
    let bound = certified
        .error_bounds
        .get(output)
        .map_or_else(|| "error unknown".to_owned(), |&bound| format!("error at most {}", digits(bound)));
    writeln!(
        out,
        "  {bound} ({}), tolerance {tolerance}; {evaluations} evaluations, stopped by: {}",
        certified.guarantee, certified.stopped_by
    )?;
    writeln!(out, "  {}", certified.says)
}
