//! Errors of estimators on games with known values: games × contenders × budgets × seeds.
//!
//! | file | contents |
//! |---|---|
//! | [`cli`] | the command line, and what each section measures unless stated otherwise |
//! | [`games`] | the games, with their exact values |
//! | [`estimates`] | the contenders, and their estimates |
//! | [`tables`] | errors, coverage and certificates |
//!
//! The user documentation is in `docs/laboratory.md`.

pub(crate) mod cli;
mod estimates;
mod games;
mod tables;

use std::time::Duration;

use anyhow::Result;
use apportion::{Budget, Method, SolutionConcept};
use xtask::files::write_atomically;
use xtask::table::Table;
use xtask::{Usage, say};

use cli::{Measure, Section};
use estimates::Contender;
use games::{Problem, Wanted, value_of};

/// The settings of a measurement.
struct Harness {
    section: Section,
    contenders: Vec<Contender>,
    reference: Method,
    growing: bool,
    /// Requested budgets; those of the section if empty.
    budgets: Vec<Budget>,
    tolerances: Vec<f64>,
    pool: bool,
}

impl Harness {
    fn new(arguments: &Measure) -> Result<Self> {
        let section = arguments.section;
        let has_errors_only = matches!(section, Section::Frontier | Section::MonteCarlo);
        if !has_errors_only && !arguments.programs.is_empty() {
            let says = "--estimator-program requires frontier or monte-carlo: programs return values only";
            return Err(Usage(says.to_owned()).into());
        }
        let limit = Duration::from_secs(arguments.time_limit.into());
        let mut contenders: Vec<Contender> =
            arguments.estimators.iter().copied().map(Contender::Method).collect();
        contenders.extend(arguments.programs.iter().map(|named| Contender::of_program(named, limit)));
        if contenders.is_empty() {
            let methods = section.estimators().iter();
            contenders = methods.map(|&method| Contender::Method(Method::By(method))).collect();
        }
        Ok(Self {
            section,
            contenders,
            reference: arguments.reference.unwrap_or(Method::By(section.reference())),
            growing: arguments.growing,
            budgets: arguments.budgets.clone(),
            tolerances: arguments.tolerances.clone(),
            pool: arguments.pool,
        })
    }

    /// Returns the budgets for `players` players, each with its name.
    fn budgets(&self, players: usize) -> Vec<(String, usize)> {
        match self.budgets.is_empty() {
            true => self.section.budgets(players),
            false => self.budgets.iter().map(|one| (one.to_string(), one.evaluations(players))).collect(),
        }
    }

    /// Returns an error if a contender supports none of the values. The contenders of the section are only
    /// compared for the values that they support.
    fn check(&self, concepts: &[SolutionConcept], are_requested: bool) -> Result<()> {
        // Any number of players will do.
        let values = concepts.iter().map(|concept| value_of(concept, 8)).collect::<Result<Vec<_>>>()?;
        let reference = Contender::Method(self.reference);
        let reference = self.has_reference().then_some(&reference);
        let requested = self.contenders.iter().filter(|_| are_requested);
        for contender in requested.chain(reference) {
            if values.iter().all(|value| contender.runner(value, false).is_none()) {
                let name = contender.name();
                let says = format!("{name} does not estimate the requested values; see docs/methods.md");
                return Err(Usage(says).into());
            }
        }
        Ok(())
    }

    fn has_reference(&self) -> bool {
        matches!(self.section, Section::Frontier | Section::MonteCarlo)
    }

    fn tables(&self, problems: &[Problem]) -> Result<Vec<Table>> {
        Ok(match self.section {
            Section::Frontier | Section::MonteCarlo => vec![tables::errors(self, problems)?],
            Section::Intervals => tables::intervals(self, problems)?.into(),
            Section::Bounds => vec![tables::bounds(self, problems)?],
            Section::Certificates => tables::certificates(self, problems)?.into(),
        })
    }
}

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
        let wanted = Wanted { section, concept, players, seeds, names: &arguments.games };
        problems.extend(wanted.problems()?);
    }
    if problems.is_empty() {
        return Err(Usage(format!("no game matches --games {}", arguments.games.join(","))).into());
    }
    let tables = harness.tables(&problems)?;
    if tables.iter().all(|table| table.rows.is_empty()) {
        let says = "nothing to measure: every budget is below the minimum of the estimators, or covers nearly \
                    all coalitions; see --budgets and --players";
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
