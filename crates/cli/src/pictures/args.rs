//! The command-line arguments of `plot` and `report`.

use std::path::PathBuf;

use apportion::plots::Kind;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::command_line::CommandLine;

#[derive(Debug, Args)]
pub(crate) struct Plot {
    /// The figure: of one row waterfall and force; of all rows bar, beeswarm, heatmap, decision, cohorts; of one feature scatter; of pairs
    /// interactions and network (results of `explain --interactions`); of runs until an accuracy convergence; of features in groups
    /// groups; of a text or an image text and image
    #[arg(value_name = "KIND", value_parser = kind())]
    pub(crate) kind: Kind,

    /// Results of `explain` in JSON or JSON lines, or what `Explanation.save` wrote in Python; plain or gzipped; - is standard input
    #[arg(long = "in", value_name = "RESULT")]
    pub(crate) input: PathBuf,

    /// Where the figure goes, by its ending: .svg, .png, or .csv, the numbers behind it [default: SVG to standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,

    /// The row of a figure of one row, by its number in the file of rows [default: the first]
    #[arg(long, value_name = "ROW")]
    pub(crate) row: Option<u64>,

    /// The output that is shown, by the name of a class or by number [default: the first]
    #[arg(long, value_name = "NAME|K", allow_negative_numbers = true)]
    pub(crate) class: Option<String>,

    /// The feature of a scatter, by name or number [default: the one that matters most]
    #[arg(long, value_name = "FEATURE")]
    pub(crate) feature: Option<String>,

    /// The feature whose inputs give a scatter its colours, by name or number [default: the one that interacts most]
    #[arg(long, value_name = "FEATURE")]
    pub(crate) with: Option<String>,

    /// Features that are shown one by one; the others are summed [default: 20]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) top: Option<u16>,

    /// A condition that divides rows into cohorts, such as "age >= 40", "city = Paris" or "prediction > 0.5", names in quotes or without;
    /// any number of them
    #[arg(long = "where", value_name = "CONDITION")]
    pub(crate) cohorts: Vec<String>,

    /// The width in pixels of a page; the height follows
    #[arg(long, value_name = "PIXELS", default_value_t = 720, value_parser = clap::value_parser!(u16).range(280..=4000))]
    pub(crate) width: u16,

    /// Pixels of a PNG to a pixel of a page
    #[arg(long, value_name = "TIMES", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=8))]
    pub(crate) scale: u8,

    /// Seed of the sample of rows whose dots are drawn, where there are many
    #[arg(long, default_value_t = 0, value_name = "U64")]
    pub(crate) seed: u64,
}

#[derive(Debug, Args)]
pub(crate) struct Report {
    /// Results of `explain` in JSON or JSON lines, or what `Explanation.save` wrote in Python; plain or gzipped; - is standard input. Given twice, the other is
    /// of `explain --interactions`, of the same model and features
    #[arg(long = "in", value_name = "RESULT", required = true)]
    pub(crate) input: Vec<PathBuf>,

    /// Where the page goes; it appears whole or not at all
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,

    /// The title of the page
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,

    /// Seed of the sample of rows that the page holds, where there are many
    #[arg(long, default_value_t = 0, value_name = "U64")]
    pub(crate) seed: u64,

    /// The command as it was typed.
    #[arg(skip)]
    pub(crate) command: CommandLine,
}

/// Returns a parser for the name of a figure.
pub(crate) fn kind() -> impl TypedValueParser<Value = Kind> {
    PossibleValuesParser::new(Kind::ALL.map(Kind::name)).try_map(|name| name.parse::<Kind>())
}
