//! The layout of `-h` and `--help`: options under headings. `-h` fits on a screen and shows the most common
//! options on one line each.
//!
//! The full description of an option is at its declaration.

use clap::{Arg, Command};

/// The commands whose options do not fit on a screen.
pub(crate) const LONG: [&str; 5] = ["explain", "explain-text", "explain-image", "groups", "predict"];

/// The id of an option, and its line in `-h`.
pub(crate) type Entry = (&'static str, Option<&'static str>);

/// The headings with their options, in the order of help. For the commands in [`LONG`], `-h` shows only the
/// options that have a text here, each on one line with its values. `--help` shows all options.
#[rustfmt::skip]
pub(crate) const HEADINGS: &[(&str, &[Entry])] = &[
    ("Input", &[
        ("path", Some("Model file, or a neural network")),
        ("model", Some("Model file, or a neural network")),
        ("predict", Some("Program to explain instead, e.g. 'python3 server.py'")),
        ("predict_format", None),
        ("predict_batch", None),
        ("predict_timeout", None),
        ("predict_restarts", None),
        ("predict_workers", None),
        ("trees", None),
        ("most_features", None),
        ("model_output", None),
        ("row_shape", None),
        ("rows", Some("Rows file: CSV, npy, Parquet or Arrow; - is standard input")),
        ("select", Some("Rows to use, e.g. 3,17 or 5-9")),
        ("target", None),
        ("id", Some("Column of row identifiers")),
        ("ignore", Some("Columns to ignore, e.g. \"unnamed,notes\"")),
        ("missing", None),
        ("separator", None),
        ("decimal_comma", None),
        ("unpacked_limit", None),
        ("vocab", Some("Vocabulary of the network, one token per line")),
        ("text", Some("Text to explain")),
        ("text_file", Some("File with the text to explain")),
        ("split", None),
        ("keep_case", None),
        ("players", None),
        ("padding", None),
        ("unknown", None),
        ("truncate", None),
        ("image", Some("Image to explain: a PNG of the size of the network's input")),
        ("patch", Some("Use patches of P × P pixels as players")),
        ("superpixels", Some("Use the regions of one colour of this PNG as players")),
        ("neighbours", None),
        ("reference", Some("Values of absent pixels: mean, a number or a PNG")),
        ("pixels", None),
    ]),
    ("Values", &[
        ("value", Some("shapley, banzhaf, owen, l-shapley=K, …")),
        ("groups", Some("Feature groups: \"age,sex;bmi\", auto")),
        ("graph", Some("Feature graph: line, grid=RxC, edges")),
        ("dependence", None),
        ("linkage", None),
        ("interactions", Some("Pairs: index, remainder; higher orders: an index by name")),
        ("order", None),
        ("space", Some("margin, or probability (after the link)")),
        ("score", None),
        ("outputs", None),
        ("class", Some("Only this output, by class name or index")),
    ]),
    ("Game", &[
        ("game", Some("marginal, path-dependent, gaussian, copula, empirical, …")),
        ("background", Some("Rows that replace absent features")),
        ("background_select", None),
        ("background_compiled", Some("Background that was compiled with compile-background")),
        ("weights", None),
        ("draws", None),
        ("bandwidth", None),
        ("share", None),
        ("variant", None),
        ("fallback", None),
    ]),
    ("Method", &[
        ("method", Some("tree, exact, leverage-shap, …: see apportion methods")),
        ("budget", Some("Evaluations per row: 2000, or 10n for n features")),
        ("until", Some("Tolerance instead of a budget, e.g. 0.01")),
        ("confidence", None),
        ("relative_to", None),
        ("error", None),
        ("range", None),
        ("seed", Some("Random seed")),
        ("kernel", None),
        ("precision", None),
    ]),
    ("Run", &[
        ("checkpoint", Some("Save progress to a file, to continue with --resume")),
        ("checkpoint_every", None),
        ("resume", Some("Continue from a checkpoint")),
        ("threads", Some("Number of threads [default: all cores]")),
        ("timings", None),
    ]),
    ("Output", &[
        ("format", Some("json, jsonl, csv, npy, npz, parquet, arrow, feather, table")),
        ("out", Some("Write to a file instead of standard output")),
        ("top", Some("Only the K largest attributions per row")),
        ("summary", Some("Write feature importance over all rows")),
        ("plot", Some("Draw a figure instead: waterfall, bar, …")),
        ("report", Some("Create an HTML report")),
        ("show_command", None),
        ("figure", None),
        ("overlay", None),
    ]),
];

/// The extent of the help that is shown.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Extent {
    /// `-h`, in which the text of an option includes its values.
    Short,
    /// `--help` and all other uses, such as completions and manual pages.
    Long,
}

/// Arranges the options of all subcommands under [`HEADINGS`], for help of this extent.
pub(crate) fn arrange(whole: Command, extent: Extent) -> Command {
    let names: Vec<String> = whole.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    names.into_iter().fold(whole, |command, name| {
        let is_long = LONG.contains(&name.as_str());
        command.mut_subcommand(name, |command| {
            let command = command.mut_args(|option| arranged(option, is_long, extent));
            match is_long {
                true => command.after_help("Use --help for all options and details").after_long_help(""),
                false => command,
            }
        })
    })
}

/// Puts an option under its heading. If the command is in [`LONG`], `-h` shows the short line of the option.
fn arranged(option: Arg, is_long: bool, extent: Extent) -> Arg {
    let of = |(heading, options): &(&'static str, &'static [Entry])| {
        let place = options.iter().position(|(id, _)| *id == option.get_id().as_str())?;
        Some((*heading, place, options[place].1))
    };
    let found =
        HEADINGS.iter().enumerate().find_map(|(section, entry)| of(entry).map(|found| (section, found)));
    let Some((section, (heading, place, short))) = found else {
        let is_help = option.get_id() == "help";
        return if is_help { option } else { option.hide_short_help(is_long) };
    };
    let option = if option.is_positional() {
        option
    } else {
        option.help_heading(heading).display_order(100 * section + place)
    };
    match (is_long, short) {
        (false, _) => option,
        (true, None) => option.hide_short_help(true),
        (true, Some(short)) => {
            let full = option.get_long_help().or(option.get_help()).cloned().unwrap_or_default();
            let are_listed = extent == Extent::Short && option.get_action().takes_values();
            let option = option.help(short).long_help(full);
            if are_listed { option.hide_possible_values(true) } else { option }
        }
    }
}
