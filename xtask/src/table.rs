//! Tables of numbers and text, written as CSV or Markdown.

use anyhow::Result;
use serde::Serialize;

/// One entry of a table.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Entry {
    /// Text.
    Text(String),
    /// A number.
    Number(f64),
    /// A count.
    Count(usize),
    /// A missing number.
    Absent(Option<()>),
}

impl Entry {
    /// A missing number.
    pub const ABSENT: Self = Self::Absent(None);

    /// Formats the entry in full precision, for CSV.
    fn exact(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) if number.abs() < 1e-4 || number.abs() >= 1e15 => format!("{number:e}"),
            Self::Number(number) => number.to_string(),
            Self::Count(count) => count.to_string(),
            Self::Absent(_) => String::new(),
        }
    }

    /// Formats the entry with three significant digits, for display.
    pub fn short(&self) -> String {
        match self {
            Self::Number(number) => significant(*number),
            Self::Absent(_) => "–".to_owned(),
            other => other.exact(),
        }
    }
}

impl From<&str> for Entry {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}
impl From<String> for Entry {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}
impl From<f64> for Entry {
    /// Converts a number to an entry. NaN, such as the standard error of a single run, becomes an absent
    /// entry.
    fn from(number: f64) -> Self {
        if number.is_nan() { Self::ABSENT } else { Self::Number(number) }
    }
}
impl From<usize> for Entry {
    fn from(count: usize) -> Self {
        Self::Count(count)
    }
}
impl From<Option<f64>> for Entry {
    fn from(number: Option<f64>) -> Self {
        number.map_or(Self::ABSENT, Self::from)
    }
}

/// Formats a number with three significant digits, e.g. `0.00234`, `1.20`, `4.84e-9`.
pub fn significant(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let exponent = number.abs().log10().floor();
    if (-4.0..6.0).contains(&exponent) {
        let decimals = (2.0 - exponent).max(0.0) as usize;
        format!("{number:.decimals$}")
    } else {
        format!("{number:.2e}")
    }
}

/// Formats a number of runs: `1 run`, `2 runs`.
pub fn in_runs(count: usize) -> String {
    format!("{count} run{}", if count == 1 { "" } else { "s" })
}

/// A table with named columns.
#[derive(Debug, Clone, Serialize)]
pub struct Table {
    /// Caption.
    pub caption: String,
    /// Column names.
    pub columns: Vec<String>,
    /// Rows, each with one entry per column.
    pub rows: Vec<Vec<Entry>>,
}

impl Table {
    /// Creates a table without rows.
    pub fn new<C: Into<String>>(caption: impl Into<String>, columns: impl IntoIterator<Item = C>) -> Self {
        Self {
            caption: caption.into(),
            columns: columns.into_iter().map(Into::into).collect(),
            rows: Vec::new(),
        }
    }

    /// Appends a row.
    ///
    /// # Panics
    ///
    /// If the number of entries differs from the number of columns.
    pub fn push(&mut self, row: Vec<Entry>) {
        assert_eq!(
            row.len(),
            self.columns.len(),
            "wrong number of entries for the columns {:?}",
            self.columns
        );
        self.rows.push(row);
    }

    /// Returns the table as CSV, in full precision.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn csv(&self) -> Result<Vec<u8>> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(&self.columns)?;
        for row in &self.rows {
            writer.write_record(row.iter().map(Entry::exact))?;
        }
        Ok(writer.into_inner()?)
    }

    /// Returns the table in Markdown, with three significant digits.
    pub fn markdown(&self) -> String {
        let mut text = format!("**{}**\n\n", self.caption);
        text.push_str(&line(&self.columns));
        text.push_str(&line(vec!["---"; self.columns.len()]));
        for row in &self.rows {
            text.push_str(&line(row.iter().map(Entry::short)));
        }
        text
    }
}

/// Builds a table from a caption, the loops over the data, and the name and expression of each column.
///
/// ```text
/// table!("data", [for one in series; for &draws in &one.draws; let mean = one.mean(draws);]
///     "p" => one.predictors,
///     "mise" => mean.value,
/// )
/// ```
#[macro_export]
macro_rules! table {
    ($caption:expr, [$($rounds:tt)+] $($column:expr => $cell:expr),+ $(,)?) => {{
        let mut table = $crate::table::Table::new($caption, [$($column),+]);
        $crate::rows!(table, [$($rounds)+] $($cell),+);
        table
    }};
}
/// Builds the row of a table from values that convert to [`Entry`].
#[macro_export]
macro_rules! row {
    ($($cell:expr),+ $(,)?) => {
        vec![$($crate::table::Entry::from($cell)),+]
    };
}
/// Pushes the rows of a [`table`](table!).
#[macro_export]
macro_rules! rows {
    ($table:ident, [] $($cell:expr),+) => {
        $table.push($crate::row![$($cell),+]);
    };
    ($table:ident, [for $one:pat in $all:expr; $($rounds:tt)*] $($cell:expr),+) => {
        for $one in $all {
            $crate::rows!($table, [$($rounds)*] $($cell),+);
        }
    };
    ($table:ident, [let $name:pat = $value:expr; $($rounds:tt)*] $($cell:expr),+) => {
        let $name = $value;
        $crate::rows!($table, [$($rounds)*] $($cell),+);
    };
}
/// Formats a row of a Markdown table; vertical bars in cells are escaped.
pub fn line(cells: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let cells: Vec<String> = cells.into_iter().map(|cell| cell.as_ref().replace('|', "\\|")).collect();
    format!("| {} |\n", cells.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people_have_three_significant_digits() {
        for (number, text) in [
            (0.0, "0"),
            (0.0023456, "0.00235"),
            (1.2, "1.20"),
            (4.84e-9, "4.84e-9"),
            (12345.6, "12346"),
            (-0.5, "-0.500"),
        ] {
            assert_eq!(significant(number), text);
        }
    }

    #[test]
    fn a_bar_in_a_cell_parts_no_cells() {
        assert_eq!(line(["a", "|S| = 2", ""]), "| a | \\|S\\| = 2 |  |\n");
    }

    #[test]
    fn csv_keeps_every_digit() {
        let mut table = Table::new("t", ["a", "b"]);
        table.push(vec![Entry::from(1.0 / 3.0), Entry::from(1.25e-31)]);
        assert_eq!(String::from_utf8(table.csv().unwrap()).unwrap(), "a,b\n0.3333333333333333,1.25e-31\n");
    }
}
