//! Runs of the laboratory: validation of the request, execution, and storage in a directory.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use apportion::{Budget, Semivalue, Value};

use super::checkpoints::Checkpoints;
use super::cli::{Laboratory, Valued};
use super::contestant::Contestant;
use super::dataset::OwnDataset;
use super::experiment::{self, Outcome, Plan};
use super::folder::{self, Unfinished};
use super::record::{FORMAT, Record, RunLine};
use super::{interrupt, styles, summary};
use crate::reproduce::figure;
use crate::reproduce::provenance::Provenance;
use crate::reproduce::report::in_runs;
use crate::reproduce::store::key;
use xtask::files::write_atomically;
use xtask::{Usage, aside, say, workspace};

/// A finished run: its settings, its results, and the directory that contains both.
pub(super) struct Finished {
    pub(super) record: Record,
    pub(super) outcome: Outcome,
    pub(super) folder: PathBuf,
}

impl Finished {
    /// Prints the table of results, and the path of the result directory.
    ///
    /// # Errors
    ///
    /// If no estimator could be run.
    pub(super) fn tell(&self) -> Result<()> {
        let Self { record, outcome, folder } = self;
        ensure!(
            !outcome.runs.is_empty(),
            "no estimator could be run; see {} for the reasons",
            folder.join("run.json").display()
        );
        say!("{}", summary::table(record, &outcome.runs).markdown().trim_end());
        say!("\n{}: {}", in_runs(outcome.runs.len()), folder.display());
        Ok(())
    }
}

/// Starts the given number of threads, or one per core, and installs the handler of interrupts.
pub(crate) fn start(threads: Option<u16>) -> Result<()> {
    interrupt::listen()?;
    let Some(threads) = threads else { return Ok(()) };
    rayon::ThreadPoolBuilder::new()
        .num_threads(usize::from(threads))
        .build_global()
        .context("cannot start the threads")
}

/// A validated request for runs, with everything they need.
pub(super) struct Prepared {
    contestants: Vec<Contestant>,
    datasets: Vec<OwnDataset>,
    budgets: Vec<Budget>,
    value: Semivalue,
    record: Record,
}

impl Prepared {
    /// Reads and validates the request.
    ///
    /// # Errors
    ///
    /// For every problem that can be detected before computing anything.
    pub(super) fn from_arguments(arguments: &Laboratory) -> Result<Self> {
        let contestants = contestants(arguments)?;
        refuse_repeated("dataset", arguments.datasets.iter().map(|dataset| dataset.name.clone()))?;
        refuse_repeated("budget", arguments.budgets.iter().map(ToString::to_string))?;
        let seeds = seeds(arguments)?;
        let read = |files| OwnDataset::read(files, arguments);
        let datasets: Vec<OwnDataset> = arguments.datasets.iter().map(read).collect::<Result<_>>()?;
        if !arguments.some_are_missing {
            refuse_unknown_output(arguments.output, &datasets)?;
            refuse_unknown_columns(&datasets)?;
        }
        let (concept, value) = match arguments.value {
            Valued::Shapley => ("shapley", Semivalue::Shapley),
            Valued::Banzhaf => ("banzhaf", Semivalue::Banzhaf),
        };
        let record = record(arguments, concept, &seeds, &datasets, &contestants)?;
        Ok(Self { contestants, datasets, budgets: arguments.budgets.clone(), value, record })
    }

    /// Opens the checkpoints that an interrupted command with this name left in `out`; `fresh` discards them.
    /// The caller must remove the checkpoints after everything is written.
    ///
    /// # Errors
    ///
    /// If the checkpoints cannot be read or written.
    pub(super) fn checkpoints(&self, out: &Path, name: &str, fresh: bool) -> Result<Checkpoints> {
        Checkpoints::open(out, name, &self.record, &digest(&self.record)?, fresh)
    }

    /// Performs the unfinished runs, and creates a directory in `out` with all results; `name` returns the
    /// name of this directory.
    ///
    /// # Errors
    ///
    /// If exact values are not available, or the directory cannot be created or written.
    pub(super) fn perform(
        self,
        out: &Path,
        name: impl Fn(&Record) -> Result<String>,
        checkpoints: &Checkpoints,
    ) -> Result<Finished> {
        let Self { contestants, datasets, budgets, value, mut record } = self;
        // Create the directory before computing anything, to detect problems early.
        let folder = Unfinished::new(out, name(&record)?)?;
        let value = Value::from(value);
        let plan = Plan { datasets: &datasets, budgets: &budgets, seeds: &record.seeds, value: &value };
        let outcome = experiment::run(&plan, &contestants, checkpoints)?;
        record.earlier_runs = checkpoints.earlier();
        record.skipped.clone_from(&outcome.skipped);
        record.biased = summary::biases(&record, &outcome.estimates);
        // Write the numbers before the figure, which is less important.
        folder::write(&folder.path, &mut record, &outcome.runs, &outcome.estimates)?;
        let drawn = draw(&record, &outcome.runs, &folder.path);
        let folder = folder.finish()?;
        drawn.with_context(|| {
            format!("cannot write the figure or the table; all numbers are stored in {}", folder.display())
        })?;
        for dataset in &record.datasets {
            dataset.notes.iter().for_each(|note| aside!("{}: {note}", dataset.name));
        }
        for skipped in &record.skipped {
            aside!("skipped: {skipped}");
        }
        remarks(&record, &outcome.runs).iter().for_each(|line| aside!("{line}"));
        Ok(Finished { record, outcome, folder })
    }
}

/// Returns the remarks below the table.
fn remarks(record: &Record, runs: &[RunLine]) -> Vec<String> {
    record.biased.iter().cloned().chain(summary::without_relative_errors(record, runs)).collect()
}

/// Writes the figure and the table of the runs, if there are any.
fn draw(record: &Record, runs: &[RunLine], folder: &Path) -> Result<()> {
    if runs.is_empty() {
        return Ok(());
    }
    let table = summary::table(record, runs).markdown();
    let below: String = remarks(record, runs).iter().map(|line| format!("\n{line}.\n")).collect();
    write_atomically(&folder.join("table.md"), (table + &below).as_bytes())?;
    figure::write(&summary::figure(record, runs), folder)
}

/// Returns an error if no model has the requested output. Models with a single output may be combined with
/// models with several.
fn refuse_unknown_output(asked: Option<usize>, datasets: &[OwnDataset]) -> Result<()> {
    match asked {
        Some(output) if datasets.iter().all(|dataset| dataset.output != output) => bail!(Usage(format!(
            "invalid value {output} for --output: the models have a single output, 0; remove --output"
        ))),
        _ => Ok(()),
    }
}

/// Returns an error if an option names a column that no dataset has. With several datasets, a column may
/// exist in only some of them.
fn refuse_unknown_columns(datasets: &[OwnDataset]) -> Result<()> {
    let mut absent = datasets.iter().flat_map(|dataset| &dataset.table.absent);
    match absent.find(|&name| datasets.iter().all(|dataset| dataset.table.absent.contains(name))) {
        Some(name) => bail!(Usage(format!(
            "unknown column {name:?} in --target or --ignore: no dataset contains it; correct or remove it"
        ))),
        None => Ok(()),
    }
}

fn contestants(arguments: &Laboratory) -> Result<Vec<Contestant>> {
    let limit = Duration::from_secs(arguments.time_limit.into());
    let methods = arguments.estimators.iter().map(|name| Contestant::of_method(name));
    let programs = arguments.programs.iter().map(|named| Ok(Contestant::of_program(named, limit)));
    let contestants: Vec<Contestant> = methods.chain(programs).collect::<Result<_>>()?;
    refuse_repeated("estimator", contestants.iter().map(|contestant| contestant.name.clone()))?;
    if contestants.len() > styles::MAX_ESTIMATORS {
        let given = contestants.len();
        bail!(Usage(format!(
            "{given} estimators are too many for a figure, which distinguishes {}; split them into two runs",
            styles::MAX_ESTIMATORS
        )));
    }
    Ok(contestants)
}

/// Returns an error for repeated names, since results are looked up by name.
pub(super) fn refuse_repeated(what: &str, names: impl Iterator<Item = String>) -> Result<()> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name.clone()) {
            bail!(Usage(format!("duplicate {what} {name:?}; names must be unique")));
        }
    }
    Ok(())
}

fn seeds(arguments: &Laboratory) -> Result<Vec<u64>> {
    let seed = |run: u16| arguments.seed.checked_add(run.into());
    let seeds: Option<Vec<u64>> = (0..arguments.runs).map(seed).collect();
    let says = || {
        Usage(format!(
            "--seed {} is too large for {} runs with consecutive seeds; use a smaller --seed",
            arguments.seed, arguments.runs
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
        reading: arguments.reading.options(),
        runs: seeds.len(),
        seeds: seeds.to_vec(),
        budgets: arguments.budgets.iter().map(ToString::to_string).collect(),
        datasets: datasets.iter().map(|dataset| dataset.record.clone()).collect(),
        estimators: contestants.iter().map(Contestant::record).collect(),
        earlier_runs: 0,
        skipped: Vec::new(),
        biased: Vec::new(),
        results: Vec::new(),
    })
}

/// Returns the directory name of a run: its label and a digest, so that the same run has the same name on
/// every machine.
pub(super) fn folder_name(record: &Record) -> Result<String> {
    Ok(format!("{}-{}", record.label, &digest(record)?[..8]))
}

/// Returns a digest of everything that the numbers depend on.
fn digest(record: &Record) -> Result<String> {
    let made = &record.made;
    let source = (&made.version, &made.commit, made.has_changes);
    let games: Vec<_> = record
        .datasets
        .iter()
        .map(|dataset| {
            let files = (&dataset.numbers_sha256, &dataset.model_sha256, &dataset.background_sha256);
            (&dataset.name, files, dataset.output)
        })
        .collect();
    let estimators: Vec<_> = record
        .estimators
        .iter()
        .map(|estimator| (&estimator.name, &estimator.program, &estimator.files))
        .collect();
    key(&(source, games, estimators, &record.value, &record.seeds, &record.budgets))
}
