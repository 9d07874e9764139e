//! The `apportion` command: explains saved models, predicts with them, and inspects files.
//!
//! | module | content |
//! |---|---|
//! | `failure`, `interrupt`, `messages`, `panics`, `version` | errors, warnings and notes, interrupts, the version |
//! | `option_error` | errors of options, with the names of the command line |
//! | `parse` | the command line: the arguments of all commands, their values, and their help |
//! | `read`, `write` | the input: models, rows, groups, results; the output: results, figures, reports, warnings |
//! | `run` | the commands |
//!
//! A module imports only modules above it in this table.
//!
//! The exit status is 0 for success, 1 if something failed or not everything could be written, 2 for an
//! invalid request, and 130 if an interrupt ended a run without a checkpoint.
//!
//! The command is the function [`run()`], so that other programs, such as the Python package, can call it.
//!
//! ```
//! assert_eq!(apportion_cli::run(["apportion", "--version"]), 0);
//! assert_eq!(apportion_cli::run(["apportion", "no-such-command"]), 2);
//! ```

mod failure;
mod interrupt;
mod messages;
mod option_error;
mod panics;
mod parse;
mod read;
mod run;
mod version;
mod write;

use std::ffi::OsString;
use std::io::{self, Write};

use clap::{CommandFactory, FromArgMatches};
use parse::args::Explain;
use parse::command_line;
use parse::commands::{Cli, Command};
use parse::help::{self, Extent};
use parse::pictures::Report;
#[cfg(feature = "networks")]
use run::media;
#[cfg(not(feature = "networks"))]
use run::without_networks as media;
use run::{compile, explain, find_groups, inspect, manual, methods, plot, predict, report, threads};

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
                Command::Explain(Box::new(Explain { command: command_line::as_typed(&arguments), ..*args }))
            }
            Command::Report(args) => {
                Command::Report(Report { command: command_line::as_typed(&arguments), ..args })
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
        write::check_open().and_then(|()| threads::check_environment()).and_then(|()| run_command(command));
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
        Command::Plot(args) => plot::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Methods(args) => methods::run(&args),
        Command::Completions(args) => manual::completions(&args, help::arrange(Cli::command(), Extent::Long)),
        Command::Man(args) => manual::man(&args, help::arrange(Cli::command(), Extent::Long)),
    }
}

/// Tests the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
