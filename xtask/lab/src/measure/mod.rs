//! Errors of estimators on games with known values: games × contenders × budgets × seeds.
//!
//! | file | contents |
//! |---|---|
//! | [`cli`] | the command line, and what each section measures unless stated otherwise |
//! | [`games`] | the games, with their exact values |
//! | [`harness`] | the settings of a measurement |
//! | [`estimates`] | the contenders, and their estimates |
//! | [`tables`] | errors, coverage and certificates |
//!
//! The user documentation is in `docs/laboratory.md`.

pub(crate) mod cli;
mod estimates;
mod games;
mod harness;
mod tables;

use anyhow::Result;
use apportion::SolutionConcept;
use xtask::files::write_atomically;
use xtask::{Usage, say};

use cli::{Measure, Section};
use games::Request;
use harness::Harness;

/// Runs `cargo xtask measure`.
pub(crate) fn run(arguments: &Measure) -> Result<()> {
    crate::laboratory::start(arguments.threads)?;
    let harness = Harness::new(arguments)?;
    let section = arguments.section;
    let concepts: Vec<SolutionConcept> = match arguments.values.is_empty() {
        true => section.values().iter().map(|name| name.parse()).collect::<Result<_, _>>()?,
        false => arguments.values.clone(),
    };
    harness.check(&concepts, !arguments.estimators.is_empty())?;
    let players = if arguments.players.is_empty() { section.players() } else { arguments.players.as_slice() };
    let seeds = arguments.seeds.unwrap_or(section.seeds()).into();
    let mut problems = Vec::new();
    for concept in &concepts {
        let request = Request { section, concept, players, seeds, names: &arguments.games };
        problems.extend(request.problems()?);
    }
    if problems.is_empty() {
        let says =
            "no game with known values matches --games, --players and --value; change one of these options";
        return Err(Usage(says.to_owned()).into());
    }
    let tables = match section {
        Section::Frontier | Section::MonteCarlo => vec![tables::errors(&harness, &problems)?],
        Section::Intervals => tables::intervals(&harness, &problems)?.into(),
        Section::Bounds => vec![tables::bounds(&harness, &problems)?],
        Section::Certificates => tables::certificates(&harness, &problems)?.into(),
    };
    if tables.iter().all(|table| table.rows.is_empty()) {
        let says = "nothing to measure: every budget is below the minimum of the estimators, or covers \
                    nearly all coalitions; change --budgets or --players";
        return Err(Usage(says.to_owned()).into());
    }
    if let (Some(path), Some(table)) = (&arguments.csv, tables.first()) {
        write_atomically(path, &table.csv()?)?;
    }
    for table in tables.iter().filter(|table| !table.rows.is_empty()) {
        say!("{}", table.markdown());
    }
    Ok(())
}
