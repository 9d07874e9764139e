//! A laboratory: estimators of the library and of others, on anybody's datasets, with every number kept.
//!
//! | file | holds |
//! |---|---|
//! | [`cli`] | the command lines |
//! | [`dataset`] | rows, a tree model and a background, and what is wrong with them |
//! | [`contestant`] | the estimators: methods of the library, and programs |
//! | [`program`], [`process`] | the protocol of programs, and their processes |
//! | [`experiment`], [`one_output`] | explicands, exact values, runs; the game of one output |
//! | [`mod@record`], [`folder`] | what is kept, and where |
//! | [`machine`] | which source ran, and on what |
//! | [`summary`], [`looks`] | the figure and the table of a run |
//! | [`mod@compare`], [`differences`], [`paired`], [`latex`] | two runs side by side |
//! | [`mod@cite`] | BibTeX |
//!
//! The page for those who use it is `docs/laboratory.md`.

mod cite;
pub(crate) mod cli;
mod compare;
mod contestant;
mod dataset;
mod differences;
mod experiment;
mod folder;
mod latex;
mod looks;
mod machine;
mod one_output;
mod paired;
mod process;
mod program;
mod record;
mod summary;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail, ensure};
use apportion::{Semivalue, Value};

use crate::reproduce::catalogue::Paper;
use crate::reproduce::figure;
use crate::reproduce::files::write_atomically;
use crate::reproduce::store::key;
use crate::reproduce::{Usage, workspace};
use cli::{Cite, Compare, Laboratory, Valued};
use contestant::Contestant;
use dataset::OwnDataset;
use experiment::Plan;
use record::{FORMAT, Record};

/// Runs `cargo xtask laboratory`.
pub(crate) fn run(arguments: &Laboratory) -> Result<()> {
    let contestants = contestants(arguments)?;
    refuse_repeated("dataset", arguments.datasets.iter().map(|dataset| dataset.name.clone()))?;
    refuse_repeated("budget", arguments.budgets.iter().map(ToString::to_string))?;
    if let Some(threads) = arguments.threads {
        rayon::ThreadPoolBuilder::new()
            .num_threads(usize::from(threads))
            .build_global()
            .context("cannot start the threads")?;
    }
    let seeds = seeds(arguments)?;
    let read = |files| OwnDataset::read(files, arguments);
    let datasets: Vec<OwnDataset> = arguments.datasets.iter().map(read).collect::<Result<_>>()?;
    let (name, value) = match arguments.value {
        Valued::Shapley => ("shapley", Semivalue::Shapley),
        Valued::Banzhaf => ("banzhaf", Semivalue::Banzhaf),
    };
    let mut record = record(arguments, name, &seeds, &datasets, &contestants)?;
    // Before anything is computed: a run that cannot be kept is found out at once.
    let folder = folder::make(&out(arguments.out.as_ref()), &folder_name(&record)?)?;
    let value = Value::from(value);
    let plan = Plan { datasets: &datasets, budgets: &arguments.budgets, seeds: &seeds, value: &value };
    let outcome = experiment::run(&plan, &contestants).inspect_err(|_| {
        // There is nothing in it, and where it stays that is no harm.
        let _ = std::fs::remove_dir(&folder);
    })?;
    record.skipped = outcome.skipped;
    let table = summary::table(&record, &outcome.runs);
    if !outcome.runs.is_empty() {
        figure::write(&summary::figure(&record, &outcome.runs), &folder)?;
        write_atomically(&folder.join("table.md"), table.markdown().as_bytes())?;
    }
    folder::write(&folder, &record, &outcome.runs, &outcome.estimates)?;
    for dataset in &record.datasets {
        dataset.notes.iter().for_each(|note| eprintln!("{}: {note}", dataset.name));
    }
    for skipped in &record.skipped {
        eprintln!("skipped: {skipped}");
    }
    ensure!(
        !outcome.runs.is_empty(),
        "no estimator could be run; {} says why",
        folder.join("run.json").display()
    );
    print!("{}", table.markdown());
    println!("\n{} runs: {}", outcome.runs.len(), folder.display());
    Ok(())
}

/// Runs `cargo xtask compare`.
pub(crate) fn compare(arguments: &Compare) -> Result<()> {
    compare::run(arguments, &out(arguments.out.as_ref()))
}

/// Runs `cargo xtask cite` on `papers`, which are all that there is.
pub(crate) fn cite(arguments: &Cite, papers: &'static [Paper]) -> Result<()> {
    cite::run(arguments, papers)
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
fn refuse_repeated(what: &str, names: impl Iterator<Item = String>) -> Result<()> {
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
    let (commit, has_changes) = machine::commit(&workspace()).unzip();
    Ok(Record {
        format: FORMAT,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit,
        has_changes,
        command: std::env::args().skip(1).collect(),
        made_at: SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .context("the clock stands before 1970")?
            .as_secs(),
        machine: machine::machine(),
        label: arguments.label.clone(),
        value: value.to_owned(),
        background: arguments.background.to_string(),
        runs: seeds.len(),
        seeds: seeds.to_vec(),
        budgets: arguments.budgets.iter().map(ToString::to_string).collect(),
        datasets: datasets.iter().map(|dataset| dataset.record.clone()).collect(),
        estimators: contestants.iter().map(Contestant::record).collect(),
        skipped: Vec::new(),
    })
}

/// The label and a digest of all that the numbers are made of: the same run has the same name wherever it is made.
fn folder_name(record: &Record) -> Result<String> {
    let source = (&record.version, &record.commit, record.has_changes);
    let games: Vec<_> = record
        .datasets
        .iter()
        .map(|dataset| {
            (&dataset.name, &dataset.rows_sha256, &dataset.model_sha256, &dataset.background_sha256)
        })
        .collect();
    let estimators: Vec<_> =
        record.estimators.iter().map(|estimator| (&estimator.name, &estimator.program)).collect();
    let digest = key(&(source, games, estimators, &record.value, &record.seeds, &record.budgets))?;
    Ok(format!("{}-{}", record.label, &digest[..8]))
}

/// Where folders of results are made.
fn out(given: Option<&PathBuf>) -> PathBuf {
    given.cloned().unwrap_or_else(|| workspace().join("target/laboratory"))
}
