//! Interactions of pairs as text for a terminal: first the diagonal, then the pairs, both by descending
//! absolute value.

use std::io::{self, Write};

use apportion_results::{Batch, Form, Interactions};

use super::Text;
use crate::messages::counted;
use crate::write::table::{self, Bars, LastColumn, digits};

/// The maximum number of pairs shown per row.
const PAIRS: usize = 20;

impl Text for Interactions {
    fn title(&self) -> String {
        let form = self.heading.interactions.map_or("", Form::name);
        format!("interactions ({form}) of {} values, {} game\n", self.heading.value, self.heading.game)
    }

    fn text(&self, batch: &Batch, out: &mut dyn Write) -> io::Result<()> {
        let (players, outputs) = (self.heading.players.len(), self.heading.outputs.len());
        let names = self.names_of_outputs();
        let form = self.heading.interactions.map_or("", Form::name);
        for row in 0..batch.len() {
            let matrix = batch.of_row(&batch.values, row);
            for output in 0..outputs {
                table::heading(batch, row, output, names.as_deref(), out)?;
                let at = |i: usize, j: usize| matrix[(i * players + j) * outputs + output];
                let mut pairs: Vec<(usize, usize)> =
                    (0..players).flat_map(|i| (i..players).map(move |j| (i, j))).collect();
                pairs.retain(|&(i, j)| i == j || at(i, j) != 0.0);
                pairs.sort_by(|&(a, b), &(c, d)| at(c, d).abs().total_cmp(&at(a, b).abs()));
                let singles = pairs.iter().filter(|(i, j)| i == j);
                let couples = pairs.iter().filter(|(i, j)| i != j);
                let hidden = couples.clone().count().saturating_sub(PAIRS);
                let bars = Bars::new(pairs.iter().map(|&(i, j)| at(i, j)));
                let mut lines =
                    vec![vec!["feature".to_owned(), "with".to_owned(), form.to_owned(), String::new()]];
                for &(i, j) in singles.chain(couples.take(PAIRS)) {
                    let with = if i == j { "itself" } else { &self.heading.players[j] };
                    let line = [&self.heading.players[i], with].map(str::to_owned);
                    lines.push(line.into_iter().chain([digits(at(i, j)), bars.bar(at(i, j))]).collect());
                }
                table::aligned(&lines, LastColumn::Bars, out)?;
                if hidden > 0 {
                    let hidden = counted(hidden, "pair");
                    writeln!(out, "  and {hidden} with weaker interactions")?;
                }
            }
        }
        Ok(())
    }
}
