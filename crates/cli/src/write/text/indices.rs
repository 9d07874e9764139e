//! Interaction indices as text for a terminal, the largest absolute values first.

use std::io::{self, Write};

use apportion_results::{Batch, Indices};

use super::Text;
use crate::messages::counted;
use crate::write::table::{self, Bars, LastColumn, digits};

/// The maximum number of coalitions shown per row.
const COALITIONS: usize = 30;

impl Text for Indices {
    fn title(&self) -> String {
        format!(
            "{} interactions of up to {} features, {} game\n",
            self.heading.value, self.order, self.heading.game
        )
    }

    fn text(&self, batch: &Batch, out: &mut dyn Write) -> io::Result<()> {
        let outputs = self.heading.outputs.len();
        let names = self.names_of_outputs();
        for row in 0..batch.len() {
            let values = batch.of_row(&batch.values, row);
            let largest = self.largest(batch, row, Some(self.top.unwrap_or(COALITIONS)));
            let hidden = match self.top {
                Some(_) => 0,
                None => self.largest(batch, row, None).len() - largest.len(),
            };
            for output in 0..outputs {
                table::heading(batch, row, output, names.as_deref(), out)?;
                let at = |place: usize| values[place * outputs + output];
                let bars = Bars::new(largest.iter().map(|&place| at(place)));
                let error = self.has_errors.then_some("std error");
                let head = ["features", self.heading.value.as_str()].into_iter().chain(error).chain([""]);
                let mut lines = vec![head.map(str::to_owned).collect::<Vec<_>>()];
                lines.extend(largest.iter().map(|&place| {
                    let members = self.coalition_names(&batch.coalitions[place]).join(" + ");
                    let mut line = vec![members, digits(at(place))];
                    if self.has_errors {
                        line.push(digits(batch.of_row(&batch.std_errors, row)[place * outputs + output]));
                    }
                    line.push(bars.bar(at(place)));
                    line
                }));
                table::aligned(&lines, LastColumn::Bars, out)?;
                if hidden > 0 {
                    let hidden = counted(hidden, "coalition");
                    writeln!(out, "  and {hidden} with weaker interactions")?;
                }
            }
        }
        Ok(())
    }
}
