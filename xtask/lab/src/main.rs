//! The laboratory. `cargo xtask reproduce fig2` regenerates Figure 2 of every paper; `cargo xtask laboratory`
//! compares estimators on your own datasets.

mod benchmark;
mod comparison;
mod laboratory;
mod measure;
mod papers;
mod reproduce;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use reproduce::catalogue::Paper;
use xtask::{Usage, aside};

/// Everything that can be reproduced: the papers, and the benchmark of the estimators.
static CATALOGUE: [Paper; 6] = [
    papers::leverage_shap::PAPER,
    papers::kernel_banzhaf::PAPER,
    papers::group_explainers::PAPER,
    papers::projected_sgd::PAPER,
    papers::l_c_shapley::PAPER,
    benchmark::PAPER,
];

/// Reproduce papers and compare estimators
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", subcommand_required = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Reproduce(reproduce::cli::Reproduce),
    Laboratory(laboratory::cli::Laboratory),
    Paper(laboratory::cli::PaperFolder),
    Compare(laboratory::cli::Compare),
    Cite(laboratory::cli::Cite),
    Measure(measure::cli::Measure),
}

/// Exits with status 0, 1 (failed) or 2 (invalid arguments).
fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Reproduce(arguments) if arguments.is_of_own_datasets() => {
            laboratory::figures(&arguments, &CATALOGUE)
        }
        Command::Reproduce(arguments) => reproduce::run(&arguments, &CATALOGUE),
        Command::Laboratory(arguments) => laboratory::run(&arguments),
        Command::Paper(arguments) => laboratory::paper(&arguments),
        Command::Compare(arguments) => laboratory::compare(&arguments),
        Command::Cite(arguments) => laboratory::cite(&arguments, &CATALOGUE),
        Command::Measure(arguments) => measure::run(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            aside!("error: {error:#}");
            if error.is::<Usage>() { ExitCode::from(2) } else { ExitCode::FAILURE }
        }
    }
}
