//! Command line of `cargo xtask reproduce`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Regenerate figures and tables of the papers, with a verdict on each claim
#[derive(Debug, Args)]
pub(crate) struct Reproduce {
    /// What to regenerate: `fig2` or `table1` (of every paper), `leverage-shap/fig2`, `leverage-shap` (all of
    /// that paper), `all`
    #[arg(required_unless_present_any = ["list", "check", "record"])]
    pub(crate) what: Vec<String>,
    /// List what can be regenerated, and exit
    #[arg(long)]
    pub(crate) list: bool,
    /// Compare the verdicts with those recorded in xtask/lab/verdicts.json, and fail on any change. Uses the
    /// quick preset, seed 0 and only the embedded datasets; covers all artefacts unless some are named
    #[arg(long, conflicts_with_all = ["record", "preset", "runs", "seed", "data"])]
    pub(crate) check: bool,
    /// Record the verdicts of the check in xtask/lab/verdicts.json, and rewrite the tables of docs/claims.md
    /// with the current rules and reasons
    #[arg(long, conflicts_with_all = ["preset", "runs", "seed", "data"])]
    pub(crate) record: bool,
    /// Store the claims of the preset paper, with the evidence for their verdicts, in
    /// xtask/lab/claims.json.gz, and write them to docs/claims.md
    #[arg(long, conflicts_with_all = ["check", "record", "runs", "seed", "data"])]
    pub(crate) keep: bool,
    /// Number of runs: reduced (quick), or as in the papers (paper)
    #[arg(long, value_enum, default_value_t = Preset::Quick)]
    pub(crate) preset: Preset,
    /// Number of runs per setting (default: from the preset)
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) runs: Option<u16>,
    /// Random seed
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Threads, at most 1024 (default: all cores); does not affect the results
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Directory of datasets that are not embedded (default: $APPORTION_DATA, or data and ../shared)
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Directory for the results (default: target/reproduce, followed by preset, seed and runs if they are
    /// not the defaults; target/check for a check)
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Discard the checkpoints of earlier runs
    #[arg(long)]
    pub(crate) fresh: bool,
    #[command(
        flatten,
        next_help_heading = "Figures of error over budget, on datasets of your own (docs/laboratory.md)"
    )]
    pub(crate) own: Own,
}

/// Options that replace the contents of a figure. They are parsed by the laboratory, which has further
/// options.
#[derive(Debug, Default, Args)]
#[group(multiple = true, conflicts_with_all = ["list", "check", "record", "keep", "data"])]
pub(crate) struct Own {
    /// Dataset: a name, a file of rows with a header, and a tree model file
    #[arg(long = "dataset", value_name = "NAME=ROWS,MODEL")]
    pub(crate) datasets: Vec<String>,
    /// Estimators, by the method names of the library (default: those of the figure)
    #[arg(long, value_name = "NAME,…", requires = "datasets")]
    pub(crate) estimators: Option<String>,
    /// Additional external estimator: a name and a shell command
    #[arg(long = "estimator-program", value_name = "NAME=COMMAND", requires = "datasets")]
    pub(crate) programs: Vec<String>,
    /// Budgets: evaluations (2000), or multiples of the number of players (10n) (default: those of the
    /// figure)
    #[arg(long, value_name = "M,…", requires = "datasets")]
    pub(crate) budgets: Option<String>,
    /// Index of the output to explain, from 0, for models with several outputs
    #[arg(long, value_name = "K", requires = "datasets")]
    pub(crate) output: Option<String>,
    /// Column that the model predicts, which is not a feature (default: the column named target, if any)
    #[arg(long, value_name = "COLUMN", requires = "datasets")]
    pub(crate) target: Option<String>,
    /// Columns that are not features
    #[arg(long, value_name = "COLUMN,…", requires = "datasets")]
    pub(crate) ignore: Option<String>,
    /// Additional numbers or strings that mark missing values, besides empty cells and NA, NaN, null, None,
    /// ?, …
    #[arg(long, value_name = "VALUE,…", requires = "datasets", allow_hyphen_values = true)]
    pub(crate) missing: Option<String>,
    /// Delimiter (default: detected from the header)
    #[arg(long, value_name = "C", requires = "datasets")]
    pub(crate) separator: Option<String>,
    /// Numbers use a decimal comma, as in 1,5
    #[arg(long, requires = "datasets")]
    pub(crate) decimal_comma: bool,
    /// Background for absent players: the column means (mean), the rows of a file, or a number of rows of the
    /// dataset
    #[arg(long, value_name = "mean|FILE|COUNT", requires = "datasets")]
    pub(crate) background: Option<String>,
    /// Prefix of the names of the result directories, before the name of the figure
    #[arg(long, requires = "datasets")]
    pub(crate) label: Option<String>,
}

impl Reproduce {
    /// Returns whether figures are computed on datasets other than those of the papers.
    pub(crate) fn is_of_own_datasets(&self) -> bool {
        !self.own.datasets.is_empty()
    }

    /// Returns whether verdicts are checked or recorded; such runs use the embedded datasets only.
    pub(crate) fn is_gate(&self) -> bool {
        self.check || self.record
    }
}

/// Preset for the number of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Preset {
    /// One or two minutes per paper on two cores
    Quick,
    /// As many runs as in the paper
    Paper,
}

impl Preset {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Paper => "paper",
        }
    }

    /// Returns the number of runs, given the paper's number and the reduced number.
    pub(crate) fn runs(self, of_paper: usize, quick: usize) -> usize {
        match self {
            Self::Quick => quick,
            Self::Paper => of_paper,
        }
    }
}
