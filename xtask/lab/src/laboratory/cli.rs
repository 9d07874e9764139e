//! Command lines of `cargo xtask laboratory`, `compare` and `cite`.

use std::path::PathBuf;
use std::str::FromStr;

use apportion::estimators::methods;
use apportion::{Budget, ExplainError};
use apportion_rows::Sentinel;
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};

/// Compare estimators with exact values on your own datasets, and store every number
#[derive(Debug, Args)]
pub(crate) struct Laboratory {
    /// Dataset: a name, a file of rows with a header, and a tree model file
    #[arg(long = "dataset", value_name = "NAME=ROWS,MODEL", required = true)]
    pub(crate) datasets: Vec<DatasetFiles>,
    /// Estimators, by the method names of the library (docs/methods.md)
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "NAME,…",
        value_parser = methods(),
        hide_possible_values = true
    )]
    #[arg(required_unless_present = "programs")]
    pub(crate) estimators: Vec<String>,
    /// External estimator: a name, and a shell command that is started for every run (docs/laboratory.md)
    #[arg(long = "estimator-program", value_name = "NAME=COMMAND")]
    pub(crate) programs: Vec<NamedCommand>,
    /// Budgets: evaluations of the game (2000), or multiples of the number of players (10n)
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "M,…",
        default_values = ["5n", "10n", "20n"],
        value_parser = budget
    )]
    pub(crate) budgets: Vec<Budget>,
    /// Runs per dataset, estimator and budget, each with a separate seed and explicand
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) runs: u16,
    /// Seed of the first run; further runs use consecutive seeds
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Background for absent players: the column means (mean), the rows of a file, or a number of rows of the
    /// dataset
    #[arg(long, value_name = "mean|FILE|COUNT", default_value = "mean")]
    pub(crate) background: BackgroundChoice,
    /// Whether there are more datasets with missing files, which may contain a named column or output
    #[arg(skip)]
    pub(crate) some_are_missing: bool,
    /// Index of the output to explain, from 0, for models with several outputs
    #[arg(long, value_name = "K")]
    pub(crate) output: Option<usize>,
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// Value to estimate
    #[arg(long, value_enum, default_value_t = Valued::Shapley)]
    pub(crate) value: Valued,
    /// Prefix of the name of the result directory: letters, digits, dots, hyphens and underscores
    #[arg(long, value_parser = label)]
    pub(crate) label: String,
    /// Directory in which result directories are created (default: target/laboratory)
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Maximum number of seconds to wait for an output line of a program
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 60,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(crate) time_limit: u32,
    /// Threads, at most 1024 (default: all cores); affects the times only
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Discard the runs left by the same command when it was interrupted
    #[arg(long)]
    pub(crate) fresh: bool,
}

/// Options for reading files of rows.
#[derive(Debug, Args)]
pub(crate) struct Reading {
    /// Column that the model predicts, which is not a feature (default: the column named target, if any)
    #[arg(long, value_name = "COLUMN")]
    pub(crate) target: Option<String>,
    /// Columns that are not features
    #[arg(long, value_delimiter = ',', value_name = "COLUMN,…")]
    pub(crate) ignore: Vec<String>,
    /// Additional numbers or strings that mark missing values, besides empty cells and NA, NaN, null, None,
    /// ?, …
    #[arg(long, value_delimiter = ',', value_name = "VALUE,…", allow_negative_numbers = true)]
    pub(crate) missing: Vec<Sentinel>,
    /// Delimiter (default: detected from the header)
    #[arg(long, value_name = "C", value_parser = separator)]
    pub(crate) separator: Option<u8>,
    /// Numbers use a decimal comma, as in 1,5
    #[arg(long)]
    pub(crate) decimal_comma: bool,
}

impl Reading {
    /// Returns the given options in the syntax of the command line, e.g. `--target=price`.
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

/// Compare two result directories of `laboratory`, run by run
#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// Directory A, whose squared errors are the denominators of the ratios
    pub(crate) a: PathBuf,
    /// Directory B, whose squared errors are the numerators of the ratios
    pub(crate) b: PathBuf,
    /// Compare an estimator of A with a different one of B, instead of all estimators with the same name in
    /// both
    #[arg(long = "pair", value_name = "OF_A=OF_B")]
    pub(crate) pairs: Vec<Rivals>,
    /// Directory in which the result directory is created (default: target/laboratory)
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// Create the figures and verdicts of a paper in its own directory, from its paper.toml (docs/laboratory.md)
#[derive(Debug, Args)]
pub(crate) struct PaperFolder {
    /// Directory with paper.toml and the files that it refers to
    pub(crate) folder: PathBuf,
    /// Names of figures and tables (default: all)
    #[arg(long = "only", value_delimiter = ',', value_name = "NAME,…")]
    pub(crate) only: Vec<String>,
    /// Runs per dataset, estimator and budget (default: from paper.toml)
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) runs: Option<u16>,
    /// Seed of the first run (default: from paper.toml)
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Directory in which the result directory is created (default: target/laboratory)
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Threads, at most 1024 (default: all cores); affects the times only
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Discard the runs left by the same command when it was interrupted
    #[arg(long)]
    pub(crate) fresh: bool,
}

/// Print BibTeX entries for this library, and for the papers of the given figures
#[derive(Debug, Args)]
pub(crate) struct Cite {
    /// What to cite, as for `reproduce`: `fig2`, `leverage-shap/fig2`, `leverage-shap`, or the directory of a
    /// paper (default: the library only)
    pub(crate) what: Vec<String>,
    /// Result directory of the laboratory: cite the version of the library that created it
    #[arg(long, value_name = "DIR")]
    pub(crate) run: Option<PathBuf>,
}

/// Files of a dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DatasetFiles {
    pub(crate) name: String,
    pub(crate) rows: PathBuf,
    pub(crate) model: PathBuf,
}

impl FromStr for DatasetFiles {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = || {
            format!("invalid dataset {text:?}; expected NAME=ROWS,MODEL, e.g. iris=iris.csv,iris_xgb.json")
        };
        let (name, files) = text.split_once('=').ok_or_else(wanted)?;
        // Split at the last comma, because names of table files contain commas more often than names of model
        // files.
        let (rows, model) = files.rsplit_once(',').ok_or_else(wanted)?;
        if [name, rows, model].iter().any(|part| part.is_empty()) {
            return Err(wanted());
        }
        Ok(Self { name: shown_name(name)?, rows: rows.into(), model: model.into() })
    }
}

/// A name and a shell command, given as the parts before and after the first `=`.
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
                "invalid estimator program {text:?}; expected NAME=COMMAND, e.g. mine='python3 mine.py'"
            )),
        }
    }
}

/// An estimator of directory A, and the estimator of directory B to compare it with.
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
                "invalid pair {text:?}; expected an estimator of A, =, and one of B, e.g. \
                 kernel-shap=leverage-shap"
            )),
        }
    }
}

/// Background for absent players.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BackgroundChoice {
    /// A single row with the means of the columns.
    Mean,
    /// A number of rows of the dataset, drawn with a seed derived from its name.
    Count(usize),
    /// The rows of a file.
    File(PathBuf),
}

impl FromStr for BackgroundChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.parse()) {
            ("", _) => Err("empty background; expected mean, a file, or a number of rows".to_owned()),
            ("mean", _) => Ok(Self::Mean),
            (_, Ok(0)) => {
                Err("invalid background 0; expected mean, a file, or a number of rows ≥ 1".to_owned())
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

/// A value that can be estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Valued {
    Shapley,
    Banzhaf,
}

/// Returns a parser for all named estimators, including variants for comparison; it suggests the closest name
/// for a misspelled one.
fn methods() -> PossibleValuesParser {
    PossibleValuesParser::new(methods::ALL.iter().map(|method| method.name()))
}

/// Parses a budget of at least one evaluation.
pub(crate) fn budget(text: &str) -> Result<Budget, ExplainError> {
    match text.parse()? {
        Budget::Evaluations(0) | Budget::PerPlayer(0) => {
            Err(ExplainError::Budget { actual: text.to_owned() })
        }
        budget => Ok(budget),
    }
}

fn separator(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" => Ok(b'\t'),
        &[byte] if byte.is_ascii() && byte != b'"' => Ok(byte),
        _ => Err(format!("invalid separator {text:?}; expected a single character or tab")),
    }
}

/// Validates a name for tables and figures, which must be a single line.
fn shown_name(text: &str) -> Result<String, String> {
    match text.trim() == text && !text.is_empty() && !text.contains(char::is_control) {
        true => Ok(text.to_owned()),
        false => Err(format!(
            "invalid name {text:?}; expected a single line without leading or trailing spaces, e.g. iris \
             or \"iris, scaled\""
        )),
    }
}

/// Validates the label, which is part of a directory name and must not contain a path.
pub(crate) fn label(text: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    match text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(fits) {
        true => Ok(text.to_owned()),
        false => Err(format!(
            "invalid label {text:?}; expected letters, digits, dots, hyphens and underscores, starting with \
             a letter or digit"
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
