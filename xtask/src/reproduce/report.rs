//! What an artefact leaves: data, figure, report.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use serde::Serialize;

use super::files::write_atomically;
use super::verdict::{Claim, Reading};

/// One entry of a table.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub(crate) enum Entry {
    Text(String),
    Number(f64),
    Count(usize),
    /// No such number.
    Absent(Option<()>),
}

impl Entry {
    pub(crate) const ABSENT: Self = Self::Absent(None);

    /// Full precision, for CSV.
    fn exact(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) if number.abs() < 1e-4 || number.abs() >= 1e15 => format!("{number:e}"),
            Self::Number(number) => number.to_string(),
            Self::Count(count) => count.to_string(),
            Self::Absent(_) => String::new(),
        }
    }

    /// Three significant digits, for people.
    pub(crate) fn short(&self) -> String {
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
    /// What is not a number is absent, such as the standard error of a single run.
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

/// Three significant digits: `0.00234`, `1.20`, `4.84e-9`.
pub(crate) fn significant(number: f64) -> String {
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

/// `1 run`, `2 runs`.
pub(crate) fn in_runs(count: usize) -> String {
    format!("{count} run{}", if count == 1 { "" } else { "s" })
}

/// A table with named columns.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Table {
    pub(crate) caption: String,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<Entry>>,
}

impl Table {
    pub(crate) fn new<C: Into<String>>(
        caption: impl Into<String>,
        columns: impl IntoIterator<Item = C>,
    ) -> Self {
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
    /// If it has another length than there are columns.
    pub(crate) fn push(&mut self, row: Vec<Entry>) {
        assert_eq!(row.len(), self.columns.len(), "a row of another table: {:?}", self.columns);
        self.rows.push(row);
    }

    pub(crate) fn csv(&self) -> Result<Vec<u8>> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(&self.columns)?;
        for row in &self.rows {
            writer.write_record(row.iter().map(Entry::exact))?;
        }
        Ok(writer.into_inner()?)
    }

    pub(crate) fn markdown(&self) -> String {
        let mut text = format!("**{}**\n\n", self.caption);
        text.push_str(&line(&self.columns));
        text.push_str(&line(vec!["---"; self.columns.len()]));
        for row in &self.rows {
            text.push_str(&line(row.iter().map(Entry::short)));
        }
        text
    }
}

/// A table: its caption, the loops over what it holds, and for each column its name and what each round has there.
///
/// ```text
/// table!("data", [for one in series; for &draws in &one.draws; let mean = one.mean(draws);]
///     "p" => one.predictors,
///     "mise" => mean.value,
/// )
/// ```
macro_rules! table {
    ($caption:expr, [$($rounds:tt)+] $($column:expr => $cell:expr),+ $(,)?) => {{
        let mut table = $crate::reproduce::report::Table::new($caption, [$($column),+]);
        $crate::reproduce::report::rows!(table, [$($rounds)+] $($cell),+);
        table
    }};
}
pub(crate) use table;

/// A row of a table.
macro_rules! row {
    ($($cell:expr),+ $(,)?) => {
        vec![$($crate::reproduce::report::Entry::from($cell)),+]
    };
}
pub(crate) use row;

/// The rows of a [`table`](table!).
macro_rules! rows {
    ($table:ident, [] $($cell:expr),+) => {
        $table.push($crate::reproduce::report::row![$($cell),+]);
    };
    ($table:ident, [for $one:pat in $all:expr; $($rounds:tt)*] $($cell:expr),+) => {
        for $one in $all {
            $crate::reproduce::report::rows!($table, [$($rounds)*] $($cell),+);
        }
    };
    ($table:ident, [let $name:pat = $value:expr; $($rounds:tt)*] $($cell:expr),+) => {
        let $name = $value;
        $crate::reproduce::report::rows!($table, [$($rounds)*] $($cell),+);
    };
}
pub(crate) use rows;

/// Notes of a report, from texts of any kind.
macro_rules! notes {
    ($($note:expr),+ $(,)?) => {
        vec![$(String::from($note)),+]
    };
}
pub(crate) use notes;

/// A line of a table in Markdown; bars within cells are escaped, so that they part no cells.
pub(super) fn line(cells: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let cells: Vec<String> = cells.into_iter().map(|cell| cell.as_ref().replace('|', "\\|")).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// A dataset that an artefact used.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Used {
    pub(crate) name: String,
    pub(crate) players: usize,
    pub(crate) rows: usize,
    pub(crate) sha256: String,
    pub(crate) model_sha256: String,
}

/// A dataset that is not there.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Skipped {
    pub(crate) name: String,
    pub(crate) how_to_get_it: String,
}

/// The report of one artefact.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Report {
    pub(crate) paper: String,
    pub(crate) artefact: String,
    pub(crate) shows: String,
    pub(crate) preset: String,
    pub(crate) seed: u64,
    pub(crate) runs: usize,
    /// The version of the rules of the verdicts.
    pub(crate) rules: u32,
    pub(crate) datasets: Vec<Used>,
    pub(crate) skipped: Vec<Skipped>,
    pub(crate) notes: Vec<String>,
    pub(crate) claims: Vec<Claim>,
    pub(crate) tables: Vec<Table>,
}

impl Report {
    /// Writes `report.json`, `report.md` and, from `data`, `data.csv`. The Markdown shows the figure where `figure` says there is one.
    pub(crate) fn write(&self, folder: &Path, data: &Table, figure: bool) -> Result<()> {
        write_atomically(&folder.join("data.csv"), &data.csv()?)?;
        self.write_beside("`data.csv`", folder, figure)
    }

    /// Writes `report.json` and `report.md` beside the numbers; `numbers` names their files, in Markdown.
    pub(crate) fn write_beside(&self, numbers: &str, folder: &Path, figure: bool) -> Result<()> {
        let mut json = serde_json::to_vec_pretty(self)?;
        json.push(b'\n');
        write_atomically(&folder.join("report.json"), &json)?;
        write_atomically(&folder.join("report.md"), self.markdown(numbers, figure).as_bytes())
    }

    fn markdown(&self, numbers: &str, figure: bool) -> String {
        let mut text = format!("# {} / {}\n\n{}\n\n", self.paper, self.artefact, self.shows);
        if figure {
            text.push_str("![figure](figure.png)\n\n");
        }
        if !self.claims.is_empty() {
            let (own, papers): (Vec<&Claim>, Vec<&Claim>) =
                self.claims.iter().partition(|claim| claim.is_of_project());
            for (title, claims) in [("Claims", papers), ("Claims of this project, which no paper makes", own)]
            {
                if claims.is_empty() {
                    continue;
                }
                let _ = writeln!(text, "## {title}\n");
                text.push_str("| claim | source | verdict | our numbers | the paper's | judged by |\n| --- | --- | --- | --- | --- | --- |\n");
                for claim in claims {
                    let verdict = claim.verdict.in_bold();
                    text.push_str(&line([
                        claim.claim.as_str(),
                        &claim.source,
                        &verdict,
                        &claim.evidence,
                        claim.in_paper(),
                        &claim.rule,
                    ]));
                }
                text.push('\n');
            }
            let looked_into: Vec<_> =
                self.claims.iter().filter_map(|claim| Some((claim, claim.reason.as_deref()?))).collect();
            if !looked_into.is_empty() {
                text.push_str("## Why\n\n");
                for (claim, reason) in looked_into {
                    let _ = writeln!(text, "- {} ({}): {reason}", claim.claim, claim.verdict.words());
                }
                text.push('\n');
            }
            if self.claims.iter().any(|claim| !claim.readings.is_empty()) {
                text.push_str(
                    "## Readings\n\n| claim | reading | verdict | our numbers |\n| --- | --- | --- | --- |\n",
                );
                for claim in &self.claims {
                    for Reading { reading, verdict, evidence } in &claim.readings {
                        text.push_str(&line([claim.claim.as_str(), reading, &verdict.in_bold(), evidence]));
                    }
                }
                text.push('\n');
            }
        }
        if !self.tables.is_empty() {
            text.push_str("## Numbers\n\n");
            for table in &self.tables {
                text.push_str(&table.markdown());
                text.push('\n');
            }
        }
        text.push_str("## How this was made\n\n");
        let _ = writeln!(text, "- preset {}, {}, seed {}", self.preset, in_runs(self.runs), self.seed);
        let _ = writeln!(text, "- verdicts by version {} of the rules", self.rules);
        for used in &self.datasets {
            let _ = writeln!(text, "- {}: {} players, {} rows", used.name, used.players, used.rows);
        }
        for skipped in &self.skipped {
            let _ = writeln!(text, "- {}: skipped; {}", skipped.name, skipped.how_to_get_it);
        }
        for note in &self.notes {
            let _ = writeln!(text, "- {note}");
        }
        let _ = writeln!(text, "- every number behind the artefact is in {numbers}");
        text
    }
}

/// Writes `summary.md`: all claims about a paper with their verdicts, artefact by artefact.
pub(crate) fn write_summary(reports: &[Report], title: &str, folder: &Path) -> Result<()> {
    let head =
        "| artefact | claim | verdict | our numbers | the paper's |\n| --- | --- | --- | --- | --- |\n";
    let mut text = format!("# {title}\n\n{head}");
    let mut own = String::new();
    for report in reports {
        for claim in &report.claims {
            let artefact = format!("[{0}]({0}/report.md)", report.artefact);
            let table = if claim.is_of_project() { &mut own } else { &mut text };
            table.push_str(&line([
                artefact.as_str(),
                &claim.claim,
                &claim.verdict.in_bold(),
                &claim.evidence,
                claim.in_paper(),
            ]));
        }
    }
    if !own.is_empty() {
        let _ = write!(text, "\n## Claims of this project, which no paper makes\n\n{head}{own}");
    }
    write_atomically(&folder.join("summary.md"), text.as_bytes())
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
