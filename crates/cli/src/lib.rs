//! The `apportion` command: explains, predicts and inspects saved models.
//!
//! | module | holds |
//! |---|---|
//! | `commands`, `args`, `select`, `options`, `help` | what may be written on the command line |
//! | `explain`, `interactions`, `indices`, `compile`, `find_groups`, `predict` | the commands on rows |
//! | `inspect`, `contents` | what files of any kind hold |
//! | `pictures` | results to look at: figures, and a report |
//! | `methods`, `manual`, `version` | what it says of itself |
//! | `media` | `explain-text` and `explain-image`, with the feature `networks`; `without_networks` says how to get it |
//! | `input`, `feed`, `model`, `program`, `rows`, `background`, `groups`, `groups_file`, `graph`, `explainer` | what they read, and make of it |
//! | `plan` | the budget beside what would be done |
//! | `stream`, `class` | from rows to results, batch by batch |
//! | `checkpoint`, `interrupt`, `warnings`, `threads`, `timings`, `failure`, `messages` | how they run, stop, go on, for how long, and how they fail |
//! | `output` | what they write, and where |
//!
//! Exit status 0 where all went well, 1 where something failed or not all could be written, 2 where the request makes no sense.
//!
//! The program is [`run`], so that others can have the command in them: the Python package does.
//!
//! ```
//! assert_eq!(apportion_cli::run(["apportion", "--version"]), 0);
//! assert_eq!(apportion_cli::run(["apportion", "no-such-command"]), 2);
//! ```

mod about;
mod args;
mod background;
mod checkpoint;
mod class;
mod commands;
mod compile;
mod contents;
mod explain;
mod explainer;
mod failure;
mod feed;
mod find_groups;
mod game;
mod graph;
mod groups;
mod groups_file;
mod help;
mod indices;
mod input;
mod inspect;
mod inspect_model;
mod interactions;
mod interrupt;
mod law_options;
mod manual;
#[cfg(feature = "networks")]
mod media;
mod messages;
mod methods;
mod model;
mod option_error;
mod options;
mod output;
mod panics;
mod pictures;
mod plan;
mod predict;
mod program;
mod rounds;
mod rows;
mod select;
mod stream;
mod threads;
mod timings;
mod version;
mod warnings;
#[cfg(not(feature = "networks"))]
mod without_networks;

use std::ffi::OsString;
use std::io::{self, Write};

use args::Explain;
use clap::{CommandFactory, FromArgMatches};
use commands::{Cli, Command};
use help::Extent;
use pictures::Report;
#[cfg(not(feature = "networks"))]
use without_networks as media;

/// Runs the command with these arguments, the name of the program first, and tells its exit status. What it says goes to standard output and
/// standard error; an interrupt ends the process where it has nothing to keep.
pub fn run(arguments: impl IntoIterator<Item = impl Into<OsString>>) -> u8 {
    panics::leave_out_guarded();
    let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
    let extent = if arguments.iter().any(|argument| argument == "-h") { Extent::Short } else { Extent::Long };
    let parsed = help::arrange(Cli::command(), extent)
        .try_get_matches_from(&arguments)
        .and_then(|matches| Cli::from_arg_matches(&matches));
    let command = match parsed {
        Ok(cli) => match cli.command {
            Command::Explain(args) => {
                Command::Explain(Box::new(Explain { command: pictures::as_typed(&arguments), ..*args }))
            }
            Command::Report(args) => {
                Command::Report(Report { command: pictures::as_typed(&arguments), ..args })
            }
            command => command,
        },
        // Help is a result, too: where it cannot be written, that is no success.
        Err(error) => {
            let is_written = error.print().and_then(|()| io::stdout().flush()).is_ok();
            let status = u8::try_from(error.exit_code()).unwrap_or(1);
            return if is_written { status } else { status.max(1) };
        }
    };
    let result =
        output::check_open().and_then(|()| threads::check_environment()).and_then(|()| run_command(command));
    let Err(error) = result else { return 0 };
    if let Some(status) = interrupt::status() {
        return status;
    }
    // Whoever closed standard output has seen enough, but not all.
    if !apportion_files::is_closed_pipe(error.as_ref()) {
        messages::error(failure::line(&error));
    }
    failure::exit_status(&error)
}

fn run_command(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Explain(args) => explain::run(&args),
        Command::ExplainText(args) => media::explain_text(&args),
        Command::ExplainImage(args) => media::explain_image(&args),
        Command::CompileBackground(args) => compile::run(&args),
        Command::Groups(args) => find_groups::run(&args),
        Command::Predict(args) => predict::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Plot(args) => pictures::plot(&args),
        Command::Report(args) => pictures::report(&args),
        Command::Methods(args) => methods::run(&args),
        Command::Completions(args) => manual::completions(&args, help::arrange(Cli::command(), Extent::Long)),
        Command::Man(args) => manual::man(&args, help::arrange(Cli::command(), Extent::Long)),
    }
}

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
