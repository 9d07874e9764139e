//! Trains the networks of the papers on the available data: `cargo xtask train`.
//!
//! | file | contents |
//! |---|---|
//! | [`plans`] | list of the networks |
//! | [`data`], [`folders`], [`files`] | training data and its location |
//! | [`network`], [`layer`], [`lstm`], [`windows`] | networks, computed with candle |
//! | [`training`] | training and scoring |
//! | [`onnx`] | networks as files |
//! | [`trained_network`] | from a plan to a file that was read back and tested |
//! | [`record`] | `index.json` |

mod data;
mod files;
mod folders;
mod layer;
mod lstm;
mod network;
mod onnx;
mod plans;
mod record;
mod trained_network;
mod training;
mod windows;

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::Parser;

use files::write_atomically;
use folders::Folders;
use plans::{PLANS, Plan};
use record::Index;

/// Train the networks of the papers, and write them as ONNX files
#[derive(Debug, Parser)]
#[command(name = "cargo xtask train", bin_name = "cargo xtask train")]
struct Arguments {
    /// Names of networks (default: all)
    names: Vec<String>,
    /// List the networks, and exit
    #[arg(long)]
    list: bool,
    /// Seed of initial weights, shuffling and dropout
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Directory of the data files (default: $APPORTION_DATA, or data and ../shared)
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Directory for the networks (default: networks in the data directory if given, else data/networks)
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Score on a held-out eighth of the training part, and write nothing; for choosing training parameters
    #[arg(long)]
    validate: bool,
}

/// Runs the command; exits with status 0, or 1 if anything failed.
fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    if arguments.list {
        for plan in &PLANS {
            println!("{:<22} {}: {}", plan.name, plan.dataset, plan.architecture);
        }
        return Ok(());
    }
    let plans = selected(&arguments.names)?;
    let folders = Folders::new(arguments.data.clone(), arguments.out.clone())?;
    let mut skipped = Vec::new();
    for plan in plans {
        if let Err(error) = train(plan, &folders, arguments) {
            eprintln!("{}: skipped: {error:#}", plan.name);
            skipped.push(plan.name);
        }
    }
    if !skipped.is_empty() {
        bail!("not trained: {}", skipped.join(", "));
    }
    Ok(())
}

/// Returns the plans with these names, or all if there are no names.
fn selected(names: &[String]) -> Result<Vec<&'static Plan>> {
    if names.is_empty() {
        return Ok(PLANS.iter().collect());
    }
    let plan = |name: &String| {
        let known = || PLANS.iter().map(|plan| plan.name).collect::<Vec<_>>().join(", ");
        PLANS
            .iter()
            .find(|plan| plan.name == name)
            .with_context(|| format!("unknown network {name:?}; expected one of: {}", known()))
    };
    names.iter().map(plan).collect()
}

fn train(plan: &Plan, folders: &Folders, arguments: &Arguments) -> Result<()> {
    let mut data = (plan.data)(folders)?;
    if arguments.validate {
        data = data.for_validation();
    }
    let (began, watched) = (Instant::now(), std::io::stderr().is_terminal());
    let made = trained_network::make(plan, &data, arguments.seed, |epoch, loss| {
        if watched {
            eprint!("\r{}: epoch {epoch} of {}, loss {loss:.4} ", plan.name, plan.training.epochs);
            // Ignore errors of the flush: they only delay the line.
            let _ = std::io::stderr().flush();
        }
    })?;
    if watched {
        eprintln!();
    }
    let entry = &made.entry;
    println!(
        "{}: {} {:.3} on {} {}samples, trained on {}; {}; {:.0} s",
        entry.name,
        entry.measure,
        entry.score,
        entry.tested_on,
        if arguments.validate { "held-out training " } else { "test " },
        entry.trained_on,
        plan.printed,
        began.elapsed().as_secs_f64(),
    );
    if arguments.validate {
        return Ok(());
    }
    let mut index = Index::read(&folders.out)?;
    write_atomically(&folders.out.join(&entry.file.file), &made.file)?;
    index.put(entry.clone());
    index.write(&folders.out)
}
