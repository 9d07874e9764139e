//! Automation of the workspace. `cargo xtask check` checks its rules. `cargo xtask reproduce fig2` reproduces
//! figure 2 of every paper with the laboratory (`xtask/lab`), which this program builds and runs.

mod check;
mod forward;
mod instructions;
mod mutants;
mod release;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use forward::Forwarded;
use xtask::{Usage, aside};

/// Automation of the workspace
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", subcommand_required = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Reproduce figures and tables of the papers, with a verdict on each claim
    #[command(disable_help_flag = true)]
    Reproduce(Forwarded),
    /// Compare estimators on custom datasets
    #[command(disable_help_flag = true)]
    Laboratory(Forwarded),
    /// Create the figures and verdicts of a paper that is defined in a directory
    #[command(disable_help_flag = true)]
    Paper(Forwarded),
    /// Compare two runs of the laboratory
    #[command(disable_help_flag = true)]
    Compare(Forwarded),
    /// Print BibTeX entries for the papers
    #[command(disable_help_flag = true)]
    Cite(Forwarded),
    /// Measure the errors of estimators on games with known values
    #[command(disable_help_flag = true)]
    Measure(Forwarded),
    Mutants(mutants::Mutants),
    /// Train the networks for the papers; the first call builds the trainer, which takes minutes
    #[command(disable_help_flag = true)]
    Train(Forwarded),
    Check(check::Check),
    Instructions(instructions::Instructions),
    Release(release::Release),
}

/// Exits with status 0, 1 (failed) or 2 (invalid arguments); forwarded commands keep the status of the
/// program they run.
fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Reproduce(arguments) => return forward::laboratory("reproduce", &arguments),
        Command::Laboratory(arguments) => return forward::laboratory("laboratory", &arguments),
        Command::Paper(arguments) => return forward::laboratory("paper", &arguments),
        Command::Compare(arguments) => return forward::laboratory("compare", &arguments),
        Command::Cite(arguments) => return forward::laboratory("cite", &arguments),
        Command::Measure(arguments) => return forward::laboratory("measure", &arguments),
        Command::Train(arguments) => return forward::trainer(&arguments),
        Command::Mutants(arguments) => mutants::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Instructions(arguments) => instructions::run(&arguments),
        Command::Release(arguments) => release::run(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            aside!("error: {error:#}");
            if error.is::<Usage>() { ExitCode::from(2) } else { ExitCode::FAILURE }
        }
    }
}
