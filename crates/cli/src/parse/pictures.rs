//! The command-line arguments of `plot` and `report`.

use std::path::PathBuf;

use apportion::plots::Kind;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::command_line::CommandLine;

#[derive(Debug, Args)]
pub(crate) struct Plot {
    /// Kind of figure
    ///
    /// One row: waterfall, force. All rows: bar, beeswarm, heatmap, decision, cohorts. One feature: scatter.
    /// Pairs: interactions, network (results of `explain --interactions`). Runs with a tolerance:
    /// convergence. Features in groups: groups. Texts and images: text, image.
    #[arg(value_name = "KIND", value_parser = kind())]
    pub(crate) kind: Kind,

    /// Results of `explain` in JSON or JSON lines, or of `Explanation.save` in Python; - is standard input
    ///
    /// Files may be gzipped.
    #[arg(long = "in", value_name = "RESULT")]
    pub(crate) input: PathBuf,

    /// Output file; its extension sets the format: .svg, .png or .csv [default: SVG to standard output]
    ///
    /// .csv contains the data of the figure.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,

    /// Row to show in figures of one row, by its number in the rows file [default: the first]
    #[arg(long, value_name = "ROW")]
    pub(crate) row: Option<u64>,

    /// Output to show, by class name or index [default: the first]
    #[arg(long, value_name = "NAME|K", allow_negative_numbers = true)]
    pub(crate) class: Option<String>,

    /// Feature of a scatter plot, by name or index [default: the most important]
    #[arg(long, value_name = "FEATURE")]
    pub(crate) feature: Option<String>,

    /// Feature whose inputs colour a scatter plot, by name or index [default: the strongest partner]
    #[arg(long, value_name = "FEATURE")]
    pub(crate) with: Option<String>,

    /// Number of features to show; the others are summed [default: 20]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) top: Option<u16>,

    /// Condition that divides rows into cohorts, e.g. "age >= 40", "city = Paris" or "prediction > 0.5"
    ///
    /// Names may be quoted. Can be repeated.
    #[arg(long = "where", value_name = "CONDITION")]
    pub(crate) cohorts: Vec<String>,

    /// Width in pixels; the height follows
    #[arg(
        long,
        value_name = "PIXELS",
        default_value_t = 720,
        value_parser = clap::value_parser!(u16).range(280..=4000)
    )]
    pub(crate) width: u16,

    /// Scale of a PNG: its pixels per pixel of the figure
    #[arg(
        long,
        value_name = "TIMES",
        default_value_t = 2,
        value_parser = clap::value_parser!(u8).range(1..=8)
    )]
    pub(crate) scale: u8,

    /// Seed of the sample of rows that is drawn if there are many
    #[arg(long, default_value_t = 0, value_name = "U64")]
    pub(crate) seed: u64,
}

#[derive(Debug, Args)]
pub(crate) struct Report {
    /// Results of `explain` in JSON or JSON lines, or of `Explanation.save` in Python; - is standard input
    ///
    /// Files may be gzipped. A second file may contain results of `explain --interactions` for the same model
    /// and features.
    #[arg(long = "in", value_name = "RESULT", required = true)]
    pub(crate) input: Vec<PathBuf>,

    /// Output file, written completely or not at all
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,

    /// Title of the report
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,

    /// Seed of the sample of rows that the report contains if there are many
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
