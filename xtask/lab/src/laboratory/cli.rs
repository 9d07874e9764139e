//! The command lines of `cargo xtask laboratory`, `compare` and `cite`.

use std::path::PathBuf;
use std::str::FromStr;

use apportion::estimators::methods;
use apportion::{Budget, ExplainError};
use apportion_rows::Sentinel;
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};

/// Runs estimators on datasets of your own against exact values, and keeps every number.
#[derive(Debug, Args)]
pub(crate) struct Laboratory {
    /// A dataset: its name, a file of rows with a header, a file with a tree model
    #[arg(long = "dataset", value_name = "NAME=ROWS,MODEL", required = true)]
    pub(crate) datasets: Vec<DatasetFiles>,
    /// Estimators by the names of the library's methods (docs/methods.md)
    #[arg(long, value_delimiter = ',', value_name = "NAME,…", value_parser = methods(), hide_possible_values = true)]
    #[arg(required_unless_present = "programs")]
    pub(crate) estimators: Vec<String>,
    /// An estimator that is a program: its name and the command, which the shell runs once for every run (docs/laboratory.md)
    #[arg(long = "estimator-program", value_name = "NAME=COMMAND")]
    pub(crate) programs: Vec<NamedCommand>,
    /// Budgets: evaluations of the game (2000), or a multiple of the number of players (10n)
    #[arg(long, value_delimiter = ',', value_name = "M,…", default_values = ["5n", "10n", "20n"], value_parser = budget)]
    pub(crate) budgets: Vec<Budget>,
    /// Runs per dataset, estimator and budget: each has a seed and an explicand of its own
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) runs: u16,
    /// Seed of the first run; every further run has the next one
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// What stands in for absent players: the column means (mean), the rows of a file, or so many rows of the dataset
    #[arg(long, value_name = "mean|FILE|COUNT", default_value = "mean")]
    pub(crate) background: BackgroundChoice,
    /// Whether there are more datasets, whose files are not there: a column or an output that is named may be of one of them
    #[arg(skip)]
    pub(crate) some_are_missing: bool,
    /// Which output is explained of models that have several, from 0
    #[arg(long, value_name = "K")]
    pub(crate) output: Option<usize>,
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// What is estimated
    #[arg(long, value_enum, default_value_t = Valued::Shapley)]
    pub(crate) value: Valued,
    /// The beginning of the name of the folder for the results: letters, digits, dots, hyphens and underscores
    #[arg(long, value_parser = label)]
    pub(crate) label: String,
    /// The folder that folders of results are made in; target/laboratory by default
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Seconds that a program may be silent
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) time_limit: u32,
    /// Threads, at most 1024; all cores by default. Only the times depend on it
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Forget the runs that the same command has left where it was interrupted
    #[arg(long)]
    pub(crate) fresh: bool,
}

/// How files of rows are read.
#[derive(Debug, Args)]
pub(crate) struct Reading {
    /// The column that the model predicts, which is no feature; the one named target, if there is one, by default
    #[arg(long, value_name = "COLUMN")]
    pub(crate) target: Option<String>,
    /// Columns that are no features
    #[arg(long, value_delimiter = ',', value_name = "COLUMN,…")]
    pub(crate) ignore: Vec<String>,
    /// Numbers or words that stand for a missing value, beside an empty cell and the usual words
    #[arg(long, value_delimiter = ',', value_name = "VALUE,…", allow_negative_numbers = true)]
    pub(crate) missing: Vec<Sentinel>,
    /// What separates cells; found from the header by default
    #[arg(long, value_name = "C", value_parser = separator)]
    pub(crate) separator: Option<u8>,
    /// Numbers in text are written with a comma, as in 1,5
    #[arg(long)]
    pub(crate) decimal_comma: bool,
}

impl Reading {
    /// The options as they were given, each with its name.
    pub(crate) fn options(&self) -> Vec<String> {
        let target = self.target.iter().map(|column| format!("--target={column}"));
        let ignore = self.ignore.iter().map(|column| format!("--ignore={column}"));
        let missing = self.missing.iter().map(|value| match value {
            Sentinel::Number(number) => format!("--missing={number}"),
            Sentinel::Text(text) => format!("--missing={text}"),
        });
        let separator = self.separator.iter().map(|&byte| match byte {
            b'\t' => "--separator=tab".to_owned(),
            byte => format!("--separator={}", char::from(byte)),
        });
        let decimal_comma = self.decimal_comma.then(|| "--decimal-comma".to_owned());
        target.chain(ignore).chain(missing).chain(separator).chain(decimal_comma).collect()
    }
}

/// Compares two folders that `laboratory` made, run by run.
#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// The folder whose squared errors are divided by
    pub(crate) a: PathBuf,
    /// The folder whose squared errors are divided
    pub(crate) b: PathBuf,
    /// An estimator of A beside another one of B, in place of all that have the same name in both
    #[arg(long = "pair", value_name = "OF_A=OF_B")]
    pub(crate) pairs: Vec<Rivals>,
    /// The folder that the folder of the comparison is made in; target/laboratory by default
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// Makes the figures and verdicts of a paper that is in a folder of its own, by its paper.toml (docs/laboratory.md).
#[derive(Debug, Args)]
pub(crate) struct PaperFolder {
    /// The folder with paper.toml, and with what the paper needs beside it
    pub(crate) folder: PathBuf,
    /// Figures and tables by their names; all of them by default
    #[arg(long = "only", value_delimiter = ',', value_name = "NAME,…")]
    pub(crate) only: Vec<String>,
    /// Runs per dataset, estimator and budget, in place of those of paper.toml
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) runs: Option<u16>,
    /// Seed of the first run, in place of that of paper.toml
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// The folder that the folder of the results is made in; target/laboratory by default
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Threads, at most 1024; all cores by default. Only the times depend on it
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Forget the runs that the same command has left where it was interrupted
    #[arg(long)]
    pub(crate) fresh: bool,
}

/// Prints BibTeX: of the papers behind what is named as for `reproduce`, and of this library.
#[derive(Debug, Args)]
pub(crate) struct Cite {
    /// What to cite: `fig2`, `leverage-shap/fig2`, `leverage-shap`, the folder of a paper; the library alone by default
    pub(crate) what: Vec<String>,
    /// The folder of a run of the laboratory: the library is cited as it was then
    #[arg(long, value_name = "FOLDER")]
    pub(crate) run: Option<PathBuf>,
}

/// The files of a dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DatasetFiles {
    pub(crate) name: String,
    pub(crate) rows: PathBuf,
    pub(crate) model: PathBuf,
}

impl FromStr for DatasetFiles {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted =
            || format!("{text:?} is no dataset; write NAME=ROWS,MODEL, such as iris=iris.csv,iris_xgb.json");
        let (name, files) = text.split_once('=').ok_or_else(wanted)?;
        // A name of a model file seldom has a comma; one of rows may.
        let (rows, model) = files.rsplit_once(',').ok_or_else(wanted)?;
        if [name, rows, model].iter().any(|part| part.is_empty()) {
            return Err(wanted());
        }
        Ok(Self { name: shown_name(name)?, rows: rows.into(), model: model.into() })
    }
}

/// What stands before the first `=`, and what behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedCommand {
    pub(crate) name: String,
    pub(crate) command: String,
}

impl FromStr for NamedCommand {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((name, command)) if !name.is_empty() && !command.trim().is_empty() => {
                Ok(Self { name: shown_name(name)?, command: command.to_owned() })
            }
            _ => Err(format!(
                "{text:?} has no name before a = and something behind it; write mine='python3 mine.py'"
            )),
        }
    }
}

/// An estimator of A and one of B.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rivals {
    pub(crate) a: String,
    pub(crate) b: String,
}

impl FromStr for Rivals {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((a, b)) if !a.is_empty() && !b.is_empty() => Ok(Self { a: a.to_owned(), b: b.to_owned() }),
            _ => Err(format!(
                "{text:?} is no pair of estimators; write one of A, = and one of B, such as kernel-shap=leverage-shap"
            )),
        }
    }
}

/// What stands in for absent players.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BackgroundChoice {
    /// The means of the columns.
    Mean,
    /// So many rows of the dataset, drawn by its name.
    Count(usize),
    /// The rows of a file.
    File(PathBuf),
}

impl FromStr for BackgroundChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.parse()) {
            ("", _) => {
                Err("an empty text is no background; write mean, a file, or a number of rows".to_owned())
            }
            ("mean", _) => Ok(Self::Mean),
            (_, Ok(0)) => {
                Err("a background has at least 1 row; write mean, a file, or a number of rows".to_owned())
            }
            (_, Ok(count)) => Ok(Self::Count(count)),
            (_, Err(_)) => Ok(Self::File(text.into())),
        }
    }
}

impl std::fmt::Display for BackgroundChoice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Mean => f.write_str("mean"),
            Self::Count(count) => write!(f, "{count}"),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}

/// Values that are estimated here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Valued {
    Shapley,
    Banzhaf,
}

/// All estimators that have a name, variants that are there to compare with too; a slip is told the nearest name.
fn methods() -> PossibleValuesParser {
    PossibleValuesParser::new(methods::ALL.iter().map(|method| method.name()))
}

fn budget(text: &str) -> Result<Budget, ExplainError> {
    match text.parse()? {
        Budget::Evaluations(0) | Budget::PerPlayer(0) => Err(ExplainError::Budget { given: text.to_owned() }),
        budget => Ok(budget),
    }
}

fn separator(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" => Ok(b'\t'),
        &[byte] if byte.is_ascii() && byte != b'"' => Ok(byte),
        _ => Err(format!("{text:?} separates no cells; write one character, or tab")),
    }
}

/// A name that stands in tables and figures, in one line.
fn shown_name(text: &str) -> Result<String, String> {
    match text.trim() == text && !text.is_empty() && !text.contains(char::is_control) {
        true => Ok(text.to_owned()),
        false => Err(format!(
            "{text:?} is no name; write one line, with no space before and behind it, such as iris or \"iris, scaled\""
        )),
    }
}

/// The label is a part of a folder's name, so it may not lead elsewhere.
pub(crate) fn label(text: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    match text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(fits) {
        true => Ok(text.to_owned()),
        false => Err(format!(
            "{text:?} is no label; write letters, digits, dots, hyphens and underscores, a letter or digit first"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dataset_is_a_name_and_two_files() {
        let dataset: DatasetFiles = "a=b,c.csv,d.json".parse().unwrap();
        assert_eq!(
            (dataset.name.as_str(), dataset.rows, dataset.model),
            ("a", "b,c.csv".into(), "d.json".into())
        );
        for text in ["a", "a=b", "=b,c", "a=,c", "a=b,", " =b,c", "a\n=b,c", "a =b,c"] {
            assert!(text.parse::<DatasetFiles>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_background_is_the_mean_a_number_or_a_file() {
        let read = |text: &str| text.parse::<BackgroundChoice>();
        assert_eq!(read("mean"), Ok(BackgroundChoice::Mean));
        assert_eq!(read("50"), Ok(BackgroundChoice::Count(50)));
        assert_eq!(read("rows.csv"), Ok(BackgroundChoice::File("rows.csv".into())));
        assert!(read("0").is_err() && read("").is_err());
    }

    #[test]
    fn a_label_leads_to_no_other_folder() {
        assert!(label("a-1.b_c").is_ok());
        for text in ["", "../a", ".a", "a/b", "a b", "-a"] {
            assert!(label(text).is_err(), "{text}");
        }
    }
}
