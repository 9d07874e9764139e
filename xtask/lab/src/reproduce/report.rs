//! Output of an artefact: data, figure and report, written as files.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use serde::Serialize;
use xtask::files::write_atomically;
pub(crate) use xtask::table::{Entry, Table, in_runs, line, significant};
pub(crate) use xtask::{row, table};

use super::verdict::{Claim, Reading};

/// Collects notes of different string types into the `Vec<String>` of a report.
macro_rules! notes {
    ($($note:expr),+ $(,)?) => {
        vec![$(String::from($note)),+]
    };
}
pub(crate) use notes;

/// A dataset that an artefact used, as listed in its report.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct UsedDataset {
    pub(crate) name: String,
    pub(crate) players: usize,
    pub(crate) rows: usize,
    pub(crate) sha256: String,
    pub(crate) model_sha256: String,
}

/// A dataset that was skipped because it is not available.
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
    /// Version of the verdict rules.
    pub(crate) rules: u32,
    pub(crate) datasets: Vec<UsedDataset>,
    pub(crate) skipped: Vec<Skipped>,
    pub(crate) notes: Vec<String>,
    pub(crate) claims: Vec<Claim>,
    pub(crate) tables: Vec<Table>,
}

impl Report {
    /// Writes `report.json`, `report.md` and, from `data`, `data.csv`. The Markdown includes the figure if
    /// `figure` is true.
    pub(crate) fn write(&self, folder: &Path, data: &Table, figure: bool) -> Result<()> {
        write_atomically(&folder.join("data.csv"), &data.csv()?)?;
        self.write_beside("`data.csv`", folder, figure)
    }

    /// Writes `report.json` and `report.md` next to the data; `numbers` is a Markdown list of the data files.
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
                text.push_str(
                    "| claim | source | verdict | our numbers | the paper's | judged by |\n| --- | \
                    --- | --- | --- | --- | --- |\n",
                );
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
        let _ = writeln!(text, "- all numbers of this artefact are in {numbers}");
        text
    }
}

/// Writes `summary.md`: all claims of a paper with their verdicts, by artefact.
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
