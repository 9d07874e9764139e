//! What a run of the laboratory was made of, as `run.json` keeps it.

use serde::{Deserialize, Serialize};

use crate::reproduce::provenance::Provenance;

/// The number of the form of the files. A folder of another form is refused by its number.
pub(crate) const FORMAT: u32 = 2;

/// `run.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) format: u32,
    #[serde(flatten)]
    pub(crate) made: Provenance,
    pub(crate) label: String,
    /// `shapley` or `banzhaf`.
    pub(crate) value: String,
    /// `mean`, a number of rows, or a file.
    pub(crate) background: String,
    /// The options that say how files of rows are read, as they were given.
    pub(crate) reading: Vec<String>,
    pub(crate) runs: usize,
    /// One for each run.
    pub(crate) seeds: Vec<u64>,
    pub(crate) budgets: Vec<String>,
    pub(crate) datasets: Vec<DatasetRecord>,
    pub(crate) estimators: Vec<EstimatorRecord>,
    /// How many runs were made before, by the same command, which was interrupted.
    #[serde(default)]
    pub(crate) earlier_runs: usize,
    pub(crate) skipped: Vec<Skipped>,
    /// A line for each estimator, dataset and budget where the estimates are biased beyond doubt.
    #[serde(default)]
    pub(crate) biased: Vec<String>,
    /// The files of numbers, each with its SHA-256.
    pub(crate) results: Vec<(String, String)>,
}

/// A dataset by what its files hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DatasetRecord {
    pub(crate) name: String,
    pub(crate) rows_file: String,
    pub(crate) rows_sha256: String,
    /// Of its rows as they were read, as numbers that lie in memory, least significant byte first.
    pub(crate) numbers_sha256: String,
    pub(crate) model_file: String,
    pub(crate) model_sha256: String,
    /// Which output of the model is explained, from 0.
    pub(crate) output: usize,
    pub(crate) background_rows: usize,
    /// In the same way.
    pub(crate) background_sha256: String,
    pub(crate) players: usize,
    pub(crate) rows: usize,
    /// What a reader of the results should know.
    pub(crate) notes: Vec<String>,
}

impl DatasetRecord {
    /// Whether the other one is the same game in every run: same rows as numbers, same model and output, same background.
    pub(crate) fn is_same_game(&self, other: &Self) -> bool {
        self.output == other.output
            && self.numbers_sha256 == other.numbers_sha256
            && self.model_sha256 == other.model_sha256
            && self.background_sha256 == other.background_sha256
    }
}

/// An estimator: a method of the library, or a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EstimatorRecord {
    pub(crate) name: String,
    /// The command, where it is a program.
    pub(crate) program: Option<String>,
    /// The files that the command names, each with its SHA-256.
    #[serde(default)]
    pub(crate) files: Vec<(String, String)>,
}

/// What was left out, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Skipped {
    pub(crate) estimator: String,
    /// On which dataset; on all of them where it is not said.
    pub(crate) dataset: Option<String>,
    /// At which budget; at all of them where it is not said.
    pub(crate) budget: Option<String>,
    pub(crate) reason: String,
}

/// `leverage-shap on iris at 3: …`; a reason that holds everywhere says itself where it was found.
impl std::fmt::Display for Skipped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.estimator)?;
        if let Some(dataset) = &self.dataset {
            write!(f, " on {dataset}")?;
        }
        if let Some(budget) = &self.budget {
            write!(f, " at {budget}")?;
        }
        write!(f, ": {}", self.reason)
    }
}

/// A line of `runs.csv`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunLine {
    pub(crate) dataset: String,
    pub(crate) estimator: String,
    pub(crate) budget: String,
    pub(crate) run: usize,
    pub(crate) seed: u64,
    pub(crate) explicand_row: usize,
    pub(crate) evaluations: usize,
    /// `‖φ̃ − φ‖²`.
    pub(crate) squared_error: f64,
    /// `‖φ̃ − φ‖² / ‖φ‖²`; empty where all true values are 0.
    pub(crate) relative_squared_error: Option<f64>,
    pub(crate) seconds: f64,
}

impl RunLine {
    /// The names of its cells.
    pub(crate) const COLUMNS: &[&str] = &[
        "dataset",
        "estimator",
        "budget",
        "run",
        "seed",
        "explicand_row",
        "evaluations",
        "squared_error",
        "relative_squared_error",
        "seconds",
    ];
}

/// A line of `estimates.csv`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct EstimateLine {
    pub(crate) dataset: String,
    pub(crate) estimator: String,
    pub(crate) budget: String,
    pub(crate) run: usize,
    /// Its column.
    pub(crate) player: usize,
    pub(crate) estimate: f64,
    pub(crate) truth: f64,
}

impl EstimateLine {
    /// The names of its cells.
    pub(crate) const COLUMNS: &[&str] =
        &["dataset", "estimator", "budget", "run", "player", "estimate", "truth"];
}
