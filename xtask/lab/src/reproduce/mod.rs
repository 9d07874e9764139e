//! The reproduction harness: papers, datasets, checkpoints, figures, reports, verdicts.
//!
//! | file | contents |
//! |---|---|
//! | [`cli`] | the command line |
//! | [`check`] | comparison of verdicts with the recorded ones |
//! | [`catalogue`] | papers and their artefacts, selected by name |
//! | [`session`] | the input of an artefact: runs, seed, datasets, checkpoints |
//! | [`datasets`], [`source`] | the datasets, embedded or from files; how to get files |
//! | [`trained`] | networks of our own training |
//! | [`explicand`] | choice of the explained row |
//! | [`provenance`] | source version, time, command and machine of a run |
//! | [`store`], [`ingredients`], [`times`] | checkpoints, the parts of their keys, and run times |
//! | [`statistics`], [`report`], [`verdict`] | summaries, reports and verdicts |
//! | [`claims`], [`judged_claim`] | the table of all claims; the claims of `docs/claims.md` with their evidence |
//! | [`figure`] | figures |
//!
//! The papers are in the separate module `papers`, and `main.rs` passes them to [`run`]. To add a paper, add
//! a module to `papers`, a [`catalogue::Paper`], and an entry in the catalogue of `main.rs`.

pub(crate) mod catalogue;
mod check;
pub(crate) mod claims;
pub(crate) mod cli;
pub(crate) mod datasets;
pub(crate) mod explicand;
pub(crate) mod figure;
pub(crate) mod ingredients;
mod judged_claim;
pub(crate) mod provenance;
pub(crate) mod report;
pub(crate) mod session;
pub(crate) mod source;
pub(crate) mod statistics;
pub(crate) mod store;
mod times;
pub(crate) mod trained;
pub(crate) mod verdict;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde::Serialize;

use catalogue::{Artefact, ArtefactOutput, Paper};
use check::Record;
use cli::{Preset, Reproduce};
use datasets::{KnownDataset, known_dataset};
use provenance::Provenance;
use report::{Report, UsedDataset};
use session::Session;
use times::Times;
use verdict::{RULES, Verdict};
use xtask::files::write_atomically;
use xtask::{Usage, say, workspace};

/// Runs the command on `papers`, the full catalogue.
pub(crate) fn run(arguments: &Reproduce, papers: &'static [Paper]) -> Result<()> {
    if arguments.list {
        say!("{}", catalogue::list(papers).trim_end());
        return Ok(());
    }
    if arguments.is_gate() && cfg!(feature = "onnx") {
        bail!(Usage(
            "--check and --record are not supported with the feature onnx; use cargo xtask reproduce"
                .to_owned()
        ));
    }
    if arguments.keep && (arguments.preset != Preset::Paper || cfg!(not(feature = "onnx"))) {
        bail!(Usage(
            "--keep requires --preset paper and a build with networks; use cargo xtask-onnx reproduce"
                .to_owned()
        ));
    }
    let workspace = workspace();
    if arguments.check {
        judged_claim::check(papers, &workspace)?;
    }
    if arguments.record {
        judged_claim::keep(&[], papers, &workspace)?;
    }
    let all = ["all".to_owned()];
    let what = if arguments.what.is_empty() { &all[..] } else { &arguments.what };
    let selected = catalogue::select(papers, what)?;
    if let Some(threads) = arguments.threads {
        rayon::ThreadPoolBuilder::new()
            .num_threads(usize::from(threads))
            .build_global()
            .context("cannot start the threads")?;
    }
    // Results for another preset, seed or number of runs are written to another directory, so that no results
    // are overwritten. All directories share the checkpoints.
    let folders = Folders::from_arguments(arguments, &workspace);
    let out = folders.results.clone();
    let provenance = Provenance::of_this_run(&workspace)?;
    let (mut found, mut made) = (Record::new(), Vec::new());
    let mut times = Times::open(&out, arguments.fresh)?;
    for (paper, artefacts) in selected {
        let session = Session::new(
            arguments,
            paper.name,
            arguments.preset.runs(paper.runs, paper.quick_runs),
            &workspace,
            &folders.remembered,
        )?;
        let mut reports = Vec::new();
        for artefact in &artefacts {
            let started = Instant::now();
            let report = make(paper, artefact, &session, &out)
                .with_context(|| format!("cannot generate {}/{}", paper.name, artefact.name))?;
            let name = format!("{}/{}", paper.name, artefact.name);
            let took = times.add(&name, started.elapsed())?;
            let run = Run { made: &provenance, preset: &report.preset, seed: report.seed, runs: report.runs };
            let mut json = serde_json::to_vec_pretty(&run)?;
            json.push(b'\n');
            write_atomically(&out.join(&name).join("run.json"), &json)?;
            made.push((paper.name, report.clone(), took));
            found.add(name, &report)?;
            reports.push(report);
        }
        if artefacts.len() == paper.artefacts.len() {
            report::write_summary(&reports, paper.citation, &out.join(paper.name))?;
        }
    }
    claims::write(&made, &out)?;
    match arguments {
        Reproduce { record: true, .. } => check::record(found, &workspace),
        Reproduce { check: true, .. } => check::check(&found, &workspace),
        Reproduce { keep: true, .. } => judged_claim::keep(&made, papers, &workspace),
        _ => Ok(()),
    }
}

/// Contents of `run.json` next to a report: the provenance of the report, which the report itself omits so
/// that every run produces the same bytes.
#[derive(Serialize)]
struct Run<'a> {
    #[serde(flatten)]
    made: &'a Provenance,
    preset: &'a str,
    seed: u64,
    runs: usize,
}

/// Directories of the results and of the checkpoints.
struct Folders {
    results: PathBuf,
    remembered: PathBuf,
}

impl Folders {
    /// Returns the requested result directory, or a directory named after preset, seed and runs, e.g.
    /// `target/reproduce`, `target/reproduce-paper-seed-7`.
    fn from_arguments(arguments: &Reproduce, workspace: &Path) -> Self {
        if let Some(out) = &arguments.out {
            return Self { results: out.clone(), remembered: out.clone() };
        }
        let remembered =
            workspace.join(if arguments.is_gate() { "target/check" } else { "target/reproduce" });
        let mut results = remembered.clone().into_os_string();
        if arguments.preset != Preset::Quick {
            results.push(format!("-{}", arguments.preset.name()));
        }
        if arguments.seed != 0 {
            results.push(format!("-seed-{}", arguments.seed));
        }
        if let Some(runs) = arguments.runs {
            results.push(format!("-runs-{runs}"));
        }
        Self { results: results.into(), remembered }
    }
}

/// Generates one artefact, and prints a summary line.
fn make(paper: &Paper, artefact: &Artefact, session: &Session, out: &Path) -> Result<Report> {
    let folder = out.join(paper.name).join(artefact.name);
    let made = (artefact.make)(session)?;
    if let Some(figure) = &made.figure {
        figure::write(figure, &folder)?;
    }
    for (name, bytes) in session.take_left() {
        write_atomically(&folder.join(name), &bytes)?;
    }
    let report = report_of(paper, artefact, session, &made)?;
    report.write(&folder, &made.data, made.figure.is_some())?;
    say!("{}/{}: {}; {}", paper.name, artefact.name, Verdict::count(&report.claims), folder.display());
    Ok(report)
}

fn report_of(paper: &Paper, artefact: &Artefact, session: &Session, made: &ArtefactOutput) -> Result<Report> {
    let known: Vec<&KnownDataset> = made.datasets.iter().map(|name| known_dataset(name)).collect();
    let used = |known: &&KnownDataset| UsedDataset {
        name: known.name.to_owned(),
        players: known.players,
        rows: known.rows(),
        sha256: known.data_sha256().to_owned(),
        model_sha256: known.model_sha256().to_owned(),
    };
    let remarks = known.iter().map(|known| known.remark).filter(|remark| !remark.is_empty());
    let notes = made.notes.iter().cloned().chain(remarks.map(str::to_owned)).collect();
    let name = format!("{}/{}", paper.name, artefact.name);
    Ok(Report {
        paper: format!("{} ({})", paper.name, paper.citation),
        artefact: artefact.name.to_owned(),
        shows: artefact.shows.to_owned(),
        preset: session.preset.name().to_owned(),
        seed: session.seed,
        runs: session.runs,
        rules: RULES,
        datasets: known.iter().map(used).collect(),
        skipped: Vec::new(),
        notes,
        claims: made.claims.iter().cloned().map(|claim| claim.looked_into(&name)).collect(),
        tables: made.tables.clone(),
    })
}
