//! Tables with the data of a figure.

use crate::shown::shown;

/// A table with named columns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The lines, with a cell for each column.
    pub lines: Vec<Vec<Cell>>,
}

/// A cell of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// A string.
    Text(String),
    /// A number; NaN if it is missing.
    Number(f64),
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl Table {
    pub(crate) fn new<const N: usize>(columns: [&str; N]) -> Self {
        Self { columns: columns.map(str::to_owned).into(), lines: Vec::new() }
    }

    pub(crate) fn push<const N: usize>(&mut self, cells: [Cell; N]) {
        self.lines.push(cells.into());
    }

    /// Returns the table as CSV with a header. Numbers have the fewest digits that identify them exactly;
    /// missing numbers are empty cells. A string that a spreadsheet would interpret as a formula is prefixed
    /// with `'`.
    ///
    /// ```
    /// use apportion_plots::{Cell, Table};
    ///
    /// let table = Table {
    ///     columns: vec!["feature".into(), "value".into()],
    ///     lines: vec![vec![Cell::Text("=a,b".into()), Cell::Number(0.1)]],
    /// };
    /// assert_eq!(table.to_csv(), "feature,value\n\"'=a,b\",0.1\n");
    /// ```
    pub fn to_csv(&self) -> String {
        let header = self.columns.iter().map(|name| cell_of_text(name)).collect::<Vec<_>>().join(",");
        let mut text = header + "\n";
        for line in &self.lines {
            let cells = line.iter().map(|cell| match cell {
                Cell::Number(number) if number.is_nan() => String::new(),
                Cell::Number(number) => format!("{number:?}").trim_end_matches(".0").to_owned(),
                Cell::Text(text) => cell_of_text(text),
            });
            text.push_str(&cells.collect::<Vec<_>>().join(","));
            text.push('\n');
        }
        text
    }
}

fn cell_of_text(text: &str) -> String {
    let shown = shown(text);
    let begins_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠']);
    let is_number = text.parse::<f64>().is_ok();
    let text = if begins_formula && !is_number { format!("'{shown}") } else { shown.into_owned() };
    if text.contains(['"', ',', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}
