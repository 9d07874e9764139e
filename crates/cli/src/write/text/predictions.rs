//! Predictions as text for a terminal.

use std::io::{self, Write};

use apportion_results::{Batch, Predictions};

use super::Text;
use crate::write::table;

impl Text for Predictions {
    fn title(&self) -> String {
        String::new()
    }

    fn text(&self, batch: &Batch, out: &mut dyn Write) -> io::Result<()> {
        let id = self.has_ids.then(|| "id".to_owned());
        let header = id.into_iter().chain(["row".to_owned()]).chain(self.names_of_outputs()).collect();
        let line = |row: usize| {
            let id = batch.ids.as_ref().map(|ids| ids[row].clone());
            let numbers = batch.of_row(&batch.predictions, row).iter().copied().map(table::digits);
            id.into_iter().chain([batch.rows[row].to_string()]).chain(numbers).collect()
        };
        let lines: Vec<Vec<String>> = std::iter::once(header).chain((0..batch.len()).map(line)).collect();
        table::aligned(&lines, table::LastColumn::Numbers, out)
    }
}
