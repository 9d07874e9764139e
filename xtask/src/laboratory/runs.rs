//! The runs of the laboratory: what was asked for is checked, run, and kept in a folder.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use apportion::{Semivalue, Value};

use super::cli::{Laboratory, Valued};
use super::contestant::Contestant;
use super::dataset::OwnDataset;
use super::experiment::{self, Outcome, Plan};
use super::record::{FORMAT, Record};
use super::{folder, looks, summary};
use crate::reproduce::files::write_atomically;
use crate::reproduce::provenance::Provenance;
use crate::reproduce::report::in_runs;
use crate::reproduce::store::key;
use crate::reproduce::{Usage, figure, workspace};

/// What a run was made of, what came of it, and the folder that holds all of it.
pub(super) struct Finished {
    pub(super) record: Record,
    pub(super) outcome: Outcome,
    pub(super) folder: PathBuf,
}

impl Finished {
    /// Prints the table, and where the numbers are.
    ///
    /// # Errors
    ///
    /// If no estimator could be run.
    pub(super) fn tell(&self) -> Result<()> {
        let Self { record, outcome, folder } = self;
        ensure!(
            !outcome.runs.is_empty(),
            "no estimator could be run; {} says why",
            folder.join("run.json").display()
        );
        print!("{}", summary::table(record, &outcome.runs).markdown());
        println!("\n{}: {}", in_runs(outcome.runs.len()), folder.display());
        Ok(())
    }
}

/// Starts so many threads, or as many as there are cores.
pub(super) fn start(threads: Option<u16>) -> Result<()> {
    let Some(threads) = threads else { return Ok(()) };
    rayon::ThreadPoolBuilder::new()
        .num_threads(usize::from(threads))
        .build_global()
        .context("cannot start the threads")
}

/// Makes the runs that were asked for, and a folder in `out` with all that came of them, by the name that their record has.
pub(super) fn perform(
    arguments: &Laboratory,
    out: &Path,
    name: impl Fn(&Record) -> Result<String>,
) -> Result<Finished> {
    let contestants = contestants(arguments)?;
    refuse_repeated("dataset", arguments.datasets.iter().map(|dataset| dataset.name.clone()))?;
    refuse_repeated("budget", arguments.budgets.iter().map(ToString::to_string))?;
    let seeds = seeds(arguments)?;
    let read = |files| OwnDataset::read(files, arguments);
    let datasets: Vec<OwnDataset> = arguments.datasets.iter().map(read).collect::<Result<_>>()?;
    let (concept, value) = match arguments.value {
        Valued::Shapley => ("shapley", Semivalue::Shapley),
        Valued::Banzhaf => ("banzhaf", Semivalue::Banzhaf),
    };
    let mut record = record(arguments, concept, &seeds, &datasets, &contestants)?;
    // Before anything is computed: a run that cannot be kept is found out at once.
    let folder = folder::make(out, &name(&record)?)?;
    let value = Value::from(value);
    let plan = Plan { datasets: &datasets, budgets: &arguments.budgets, seeds: &seeds, value: &value };
    let outcome = experiment::run(&plan, &contestants).inspect_err(|_| {
        // There is nothing in it, and where it stays that is no harm.
        let _ = std::fs::remove_dir(&folder);
    })?;
    record.skipped.clone_from(&outcome.skipped);
    record.biased = summary::biases(&record, &outcome.estimates);
    if !outcome.runs.is_empty() {
        figure::write(&summary::figure(&record, &outcome.runs), &folder)?;
        let table = summary::table(&record, &outcome.runs);
        let biased: String = record.biased.iter().map(|line| format!("\n{line}.\n")).collect();
        write_atomically(&folder.join("table.md"), (table.markdown() + &biased).as_bytes())?;
    }
    folder::write(&folder, &record, &outcome.runs, &outcome.estimates)?;
    for dataset in &record.datasets {
        dataset.notes.iter().for_each(|note| eprintln!("{}: {note}", dataset.name));
    }
    for skipped in &record.skipped {
        eprintln!("skipped: {skipped}");
    }
    record.biased.iter().for_each(|line| eprintln!("{line}"));
    Ok(Finished { record, outcome, folder })
}

fn contestants(arguments: &Laboratory) -> Result<Vec<Contestant>> {
    let limit = Duration::from_secs(arguments.time_limit.into());
    let methods = arguments.estimators.iter().map(|name| Contestant::of_method(name));
    let programs = arguments.programs.iter().map(|named| Ok(Contestant::of_program(named, limit)));
    let contestants: Vec<Contestant> = methods.chain(programs).collect::<Result<_>>()?;
    refuse_repeated("estimator", contestants.iter().map(|contestant| contestant.name.clone()))?;
    if contestants.len() > looks::MOST {
        let given = contestants.len();
        bail!(Usage(format!(
            "{given} estimators were given, and a figure tells {} apart; make two runs",
            looks::MOST
        )));
    }
    Ok(contestants)
}

/// Numbers are found by their names.
pub(super) fn refuse_repeated(what: &str, names: impl Iterator<Item = String>) -> Result<()> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name.clone()) {
            bail!(Usage(format!(
                "the {what} {name:?} was given twice; give each once, by a name of its own"
            )));
        }
    }
    Ok(())
}

fn seeds(arguments: &Laboratory) -> Result<Vec<u64>> {
    let seed = |run: u16| arguments.seed.checked_add(run.into());
    let seeds: Option<Vec<u64>> = (0..arguments.runs).map(seed).collect();
    let says = || {
        Usage(format!(
            "there are no {} seeds from {} on; give a smaller --seed",
            arguments.runs, arguments.seed
        ))
    };
    Ok(seeds.ok_or_else(says)?)
}

fn record(
    arguments: &Laboratory,
    value: &str,
    seeds: &[u64],
    datasets: &[OwnDataset],
    contestants: &[Contestant],
) -> Result<Record> {
    Ok(Record {
        format: FORMAT,
        made: Provenance::of_this_run(&workspace())?,
        label: arguments.label.clone(),
        value: value.to_owned(),
        background: arguments.background.to_string(),
        runs: seeds.len(),
        seeds: seeds.to_vec(),
        budgets: arguments.budgets.iter().map(ToString::to_string).collect(),
        datasets: datasets.iter().map(|dataset| dataset.record.clone()).collect(),
        estimators: contestants.iter().map(Contestant::record).collect(),
        skipped: Vec::new(),
        biased: Vec::new(),
    })
}

/// The label and a digest of all that the numbers are made of: the same run has the same name wherever it is made.
pub(super) fn folder_name(record: &Record) -> Result<String> {
    let made = &record.made;
    let source = (&made.version, &made.commit, made.has_changes);
    let games: Vec<_> = record
        .datasets
        .iter()
        .map(|dataset| {
            (&dataset.name, &dataset.rows_sha256, &dataset.model_sha256, &dataset.background_sha256)
        })
        .collect();
    let estimators: Vec<_> = record
        .estimators
        .iter()
        .map(|estimator| (&estimator.name, &estimator.program, &estimator.files))
        .collect();
    let digest = key(&(source, games, estimators, &record.value, &record.seeds, &record.budgets))?;
    Ok(format!("{}-{}", record.label, &digest[..8]))
}
