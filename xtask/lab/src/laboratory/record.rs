//! The settings of a run of the laboratory, as stored in `run.json`.

use serde::{Deserialize, Serialize};

use crate::reproduce::provenance::Provenance;

/// Format version of the files. Directories with another version are rejected.
pub(crate) const FORMAT: u32 = 2;

/// Contents of `run.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) format: u32,
    #[serde(flatten)]
    pub(crate) made: Provenance,
    pub(crate) label: String,
    /// The estimated value: `shapley` or `banzhaf`.
    pub(crate) value: String,
    /// The background as requested: `mean`, a number of rows, or a file.
    pub(crate) background: String,
    /// Options for reading files of rows, as given.
    pub(crate) reading: Vec<String>,
    pub(crate) runs: usize,
    /// Seed of each run.
    pub(crate) seeds: Vec<u64>,
    pub(crate) budgets: Vec<String>,
    pub(crate) datasets: Vec<DatasetRecord>,
    pub(crate) estimators: Vec<EstimatorRecord>,
    /// Number of runs that were reused from the same command when it was interrupted.
    #[serde(default)]
    pub(crate) earlier_runs: usize,
    pub(crate) skipped: Vec<Skipped>,
    /// A message for each estimator, dataset and budget with clearly biased estimates.
    #[serde(default)]
    pub(crate) biased: Vec<String>,
    /// Data files, each with its SHA-256.
    pub(crate) results: Vec<(String, String)>,
}

/// A dataset, identified by the contents of its files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DatasetRecord {
    pub(crate) name: String,
    pub(crate) rows_file: String,
    pub(crate) rows_sha256: String,
    /// SHA-256 of the parsed rows, as 64-bit floats in little-endian order.
    pub(crate) numbers_sha256: String,
    pub(crate) model_file: String,
    pub(crate) model_sha256: String,
    /// Index of the explained output of the model, from 0.
    pub(crate) output: usize,
    pub(crate) background_rows: usize,
    /// SHA-256 of the background, computed in the same way as `numbers_sha256`.
    pub(crate) background_sha256: String,
    pub(crate) players: usize,
    pub(crate) rows: usize,
    /// Notes for readers of the results.
    pub(crate) notes: Vec<String>,
}

impl DatasetRecord {
    /// Returns whether the other dataset defines the same game in every run: whether the parsed rows, the
    /// model, the output and the background are the same.
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
    /// Shell command of a program; `None` for a method of the library.
    pub(crate) program: Option<String>,
    /// Files named in the command, each with its SHA-256.
    #[serde(default)]
    pub(crate) files: Vec<(String, String)>,
}

/// A skipped combination, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Skipped {
    pub(crate) estimator: String,
    /// The skipped dataset; `None` for all datasets.
    pub(crate) dataset: Option<String>,
    /// The skipped budget; `None` for all budgets.
    pub(crate) budget: Option<String>,
    pub(crate) reason: String,
}

/// Formats a line such as `leverage-shap on iris at 3: …`. If all datasets and budgets are skipped, the
/// reason itself states where the problem was found.
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
    /// Squared error, `‖φ̃ − φ‖²`.
    pub(crate) squared_error: f64,
    /// `‖φ̃ − φ‖² / ‖φ‖²`; empty if all true values are 0.
    pub(crate) relative_squared_error: Option<f64>,
    pub(crate) seconds: f64,
}

impl RunLine {
    /// Column names.
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
    /// Index of the column that is the player.
    pub(crate) player: usize,
    pub(crate) estimate: f64,
    pub(crate) truth: f64,
}

impl EstimateLine {
    /// Column names.
    pub(crate) const COLUMNS: &[&str] =
        &["dataset", "estimator", "budget", "run", "player", "estimate", "truth"];
}
