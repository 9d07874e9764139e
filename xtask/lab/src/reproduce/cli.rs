//! The command line of `cargo xtask reproduce`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Regenerates figures and tables of the papers, with a verdict on each claim.
#[derive(Debug, Args)]
pub(crate) struct Reproduce {
    /// What to make: `fig2` or `table1` (of every paper), `leverage-shap/fig2`, `leverage-shap` (all of that paper), `all`
    #[arg(required_unless_present_any = ["list", "check", "record"])]
    pub(crate) what: Vec<String>,
    /// Print what there is, and stop
    #[arg(long)]
    pub(crate) list: bool,
    /// Compare the verdicts with those recorded in xtask/lab/verdicts.json, and fail on any change: quick preset, seed 0, embedded datasets
    /// alone; of all artefacts unless some are named
    #[arg(long, conflicts_with_all = ["record", "preset", "runs", "seed", "data"])]
    pub(crate) check: bool,
    /// Record the verdicts of the check in xtask/lab/verdicts.json, and write the tables of docs/claims.md again, by the rules and reasons of today
    #[arg(long, conflicts_with_all = ["preset", "runs", "seed", "data"])]
    pub(crate) record: bool,
    /// Keep the claims, with what their verdicts rest on, in xtask/lab/claims.json.gz, and write them into docs/claims.md: those of the preset paper
    #[arg(long, conflicts_with_all = ["check", "record", "runs", "seed", "data"])]
    pub(crate) keep: bool,
    /// How many runs: enough to see (quick), or as many as the papers made (paper)
    #[arg(long, value_enum, default_value_t = Preset::Quick)]
    pub(crate) preset: Preset,
    /// Runs per setting, in place of the preset's
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) runs: Option<u16>,
    /// Seed of all draws
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Threads, at most 1024; all cores by default. The results do not depend on it
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Folder of the datasets that are not embedded; $APPORTION_DATA, or data and ../shared, by default
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Folder for the results; target/reproduce by default, with preset, seed and runs behind it where they are others; target/check for a check
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Forget the checkpoints of earlier runs
    #[arg(long)]
    pub(crate) fresh: bool,
    #[command(
        flatten,
        next_help_heading = "Figures of error over budget, on datasets of your own (docs/laboratory.md)"
    )]
    pub(crate) own: Own,
}

/// What a figure is made of in place of what the paper has. The laboratory reads it, and has further options.
#[derive(Debug, Default, Args)]
#[group(multiple = true, conflicts_with_all = ["list", "check", "record", "keep", "data"])]
pub(crate) struct Own {
    /// A dataset: its name, a file of rows with a header, a file with a tree model
    #[arg(long = "dataset", value_name = "NAME=ROWS,MODEL")]
    pub(crate) datasets: Vec<String>,
    /// Estimators by the names of the library's methods, in place of the figure's
    #[arg(long, value_name = "NAME,…", requires = "datasets")]
    pub(crate) estimators: Option<String>,
    /// An estimator that is a program, beside the others
    #[arg(long = "estimator-program", value_name = "NAME=COMMAND", requires = "datasets")]
    pub(crate) programs: Vec<String>,
    /// Budgets in place of the figure's: evaluations (2000), or a multiple of the number of players (10n)
    #[arg(long, value_name = "M,…", requires = "datasets")]
    pub(crate) budgets: Option<String>,
    /// Which output is explained of models that have several, from 0
    #[arg(long, value_name = "K", requires = "datasets")]
    pub(crate) output: Option<String>,
    /// The column that the model predicts, which is no feature; the one named target, if there is one, by default
    #[arg(long, value_name = "COLUMN", requires = "datasets")]
    pub(crate) target: Option<String>,
    /// Columns that are no features
    #[arg(long, value_name = "COLUMN,…", requires = "datasets")]
    pub(crate) ignore: Option<String>,
    /// Numbers or words that stand for a missing value, beside an empty cell and the usual words
    #[arg(long, value_name = "VALUE,…", requires = "datasets", allow_hyphen_values = true)]
    pub(crate) missing: Option<String>,
    /// What separates cells; found from the header by default
    #[arg(long, value_name = "C", requires = "datasets")]
    pub(crate) separator: Option<String>,
    /// Numbers in text are written with a comma, as in 1,5
    #[arg(long, requires = "datasets")]
    pub(crate) decimal_comma: bool,
    /// What stands in for absent players: the column means (mean), the rows of a file, or so many rows of the dataset
    #[arg(long, value_name = "mean|FILE|COUNT", requires = "datasets")]
    pub(crate) background: Option<String>,
    /// The beginning of the names of the folders for the results, before the name of the figure
    #[arg(long, requires = "datasets")]
    pub(crate) label: Option<String>,
}

impl Reproduce {
    /// Whether figures are made of datasets that the papers do not have.
    pub(crate) fn is_of_own_datasets(&self) -> bool {
        !self.own.datasets.is_empty()
    }

    /// Whether verdicts are compared or recorded, which are those of the embedded datasets.
    pub(crate) fn is_gate(&self) -> bool {
        self.check || self.record
    }
}

/// How many runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Preset {
    /// A minute or two per paper on two cores
    Quick,
    /// As many as in the paper
    Paper,
}

impl Preset {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Paper => "paper",
        }
    }

    /// Of the runs of the paper, and those that are enough to see.
    pub(crate) fn runs(self, of_paper: usize, quick: usize) -> usize {
        match self {
            Self::Quick => quick,
            Self::Paper => of_paper,
        }
    }
}
