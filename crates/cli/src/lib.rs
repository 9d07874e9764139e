//! The `apportion` command: explains, predicts and inspects saved models.
//!
//! | module | content |
//! |---|---|
//! | `commands`, `args`, `distribution_options`, `select`, `options`, `help` | the command line |
//! | `explain`, `interactions`, `indices`, `compile`, `find_groups`, `predict` | the commands on rows |
//! | `inspect`, `inspect_model`, `contents` | the contents of files of any kind |
//! | `pictures` | figures and reports |
//! | `methods`, `manual`, `version` | information about the command |
//! | `media` | `explain-text` and `explain-image`, with the feature `networks` |
//! | `without_networks` | the error of these commands without that feature |
//! | `input`, `feed`, `model`, `program`, `rows`, `background` | the model and the rows |
//! | `groups`, `groups_file`, `graph` | groups and graphs of features |
//! | `explainer`, `game`, `plan` | the choice of game, method and budget |
//! | `stream`, `class`, `about` | from rows to results, batch by batch |
//! | `checkpoint`, `interrupt`, `warnings`, `threads`, `timings` | the run |
//! | `failure`, `messages`, `option_error`, `panics` | errors, warnings and notes |
//! | `output` | the formats of results |
//!
//! The exit status is 0 for success, 1 if something failed or not everything could be written, and 2 for an
//! invalid request.
//!
//! The command is the function [`run`], so that other programs can contain it; the Python package does.
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
mod distribution_options;
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

/// Runs the command with these arguments, starting with the name of the program, and returns its exit status.
/// Results go to standard output, messages to standard error. An interrupt ends the process, unless a
/// checkpoint must be written first.
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
        // Help is a result, too, so a failure to write it is an error.
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
    // A closed standard output, as after `| head`, needs no message, but is not a success.
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

/// Tests the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
