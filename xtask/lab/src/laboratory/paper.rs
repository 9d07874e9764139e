//! `cargo xtask paper`: a paper in its own directory, whose `paper.toml` specifies runs and claims.
//!
//! Every figure or table of such a paper is a run of the laboratory. The keys of a figure or table are the
//! options of `cargo xtask laboratory`, with the same names and the same parser. Paths and program commands
//! are relative to the directory. Claims are judged with the same tests as in `cargo xtask reproduce`.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::checkpoints::Checkpoints;
use super::claims::StatedClaim;
use super::cli::{DatasetFiles, Laboratory, PaperFolder, label};
use super::options;
use super::record::Record;
use super::runs::{Finished, Prepared, refuse_repeated, start};
use super::{folder, interrupt, summary};
use crate::reproduce::report::{Report, Skipped, UsedDataset, write_summary};
use crate::reproduce::verdict::{RULES, Verdict};
use xtask::Usage;
use xtask::{aside, say};

/// Name of the file that describes a paper.
pub(crate) const FILE: &str = "paper.toml";

/// A paper, as described in its file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PaperFile {
    /// Prefix of the name of the result directory.
    name: String,
    citation: String,
    pub(crate) bibtex: String,
    #[serde(default, rename = "artefact")]
    artefacts: Vec<Artefact>,
}

/// A figure or table.
#[derive(Debug, Deserialize)]
struct Artefact {
    name: String,
    shows: String,
    #[serde(default)]
    claims: Vec<StatedClaim>,
    /// Names of datasets that are skipped if one of their files does not exist.
    #[serde(default, rename = "dataset-if-there")]
    datasets_if_there: Vec<String>,
    /// Notes for the reader.
    #[serde(default)]
    notes: Vec<String>,
    /// Options of `cargo xtask laboratory`.
    #[serde(flatten)]
    options: toml::Table,
}

/// A run requested for an artefact.
struct RequestedRun<'a> {
    artefact: &'a Artefact,
    prepared: Prepared,
    /// Missing datasets, with the missing file of each.
    absent: Vec<Skipped>,
}

/// Reads the paper in this directory.
///
/// # Errors
///
/// If it does not exist or is invalid.
pub(crate) fn read(folder: &Path) -> Result<PaperFile> {
    let path = folder.join(FILE);
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("cannot read {}; expected the directory of a paper", path.display()))?;
    let paper: PaperFile = toml::from_str(&text).with_context(|| {
        format!(
            "{} is not a valid description of a paper; see the example in docs/laboratory.md",
            path.display()
        )
    })?;
    Ok(paper)
}

/// Creates the requested artefacts of a paper, with a directory in `out` for each run.
pub(super) fn run(arguments: &PaperFolder, out: &Path) -> Result<()> {
    start(arguments.threads)?;
    let out = std::path::absolute(out)?;
    let paper = read(&arguments.folder)?;
    // Paths and commands are relative to the directory.
    std::env::set_current_dir(&arguments.folder)
        .with_context(|| format!("cannot enter {}", arguments.folder.display()))?;
    // Validate everything before running anything.
    let wanted: Vec<RequestedRun<'_>> = selected(&paper, &arguments.only)?
        .into_iter()
        .map(|artefact| {
            requested_run(&paper, artefact, arguments)
                .with_context(|| format!("cannot prepare the artefact {:?} of {FILE}", artefact.name))
        })
        .collect::<Result<_>>()?;
    let whole = folder::make(&out, &paper.name)?;
    interrupt::begin(&whole);
    let (mut reports, mut ended) = (Vec::new(), Vec::new());
    for RequestedRun { artefact, prepared, absent } in wanted {
        let cannot = || format!("cannot create {}", artefact.name);
        let checkpoints = prepared
            .checkpoints(&out, &format!("{}-{}", paper.name, artefact.name), arguments.fresh)
            .with_context(cannot)?;
        let named = |_: &Record| Ok(artefact.name.clone());
        let finished = prepared.perform(&whole, named, &checkpoints).with_context(cannot)?;
        ended.push(checkpoints);
        let report = report(&paper, artefact, &finished, absent)?;
        let has_figure = !finished.outcome.runs.is_empty();
        report.write_beside("`runs.csv` and `estimates.csv`", &finished.folder, has_figure)?;
        for skipped in &report.skipped {
            aside!("{}: skipped; {}", skipped.name, skipped.how_to_get_it);
        }
        say!("{}/{}:", paper.name, artefact.name);
        for claim in &report.claims {
            say!("  {}: {} ({})", claim.claim, claim.verdict.words(), claim.evidence);
        }
        reports.push(report);
    }
    write_summary(&reports, &paper.citation, &whole)?;
    interrupt::finish(&whole);
    ended.into_iter().for_each(Checkpoints::forget);
    let counts = Verdict::count(reports.iter().flat_map(|report| &report.claims));
    say!("\n{counts}: {}", whole.join("summary.md").display());
    Ok(())
}

/// Returns the named artefacts, or all artefacts if no name is given.
fn selected<'a>(paper: &'a PaperFile, only: &[String]) -> Result<Vec<&'a Artefact>> {
    let names: Vec<&str> = paper.artefacts.iter().map(|artefact| artefact.name.as_str()).collect();
    // The names are used as directory names.
    label(&paper.name).map_err(|error| Usage(format!("invalid name in {FILE}: {error}")))?;
    names.iter().try_for_each(|name| label(name).map(drop)).map_err(Usage)?;
    refuse_repeated("artefact", names.iter().map(|&name| name.to_owned()))?;
    if names.is_empty() {
        bail!(Usage(format!("{FILE} does not contain any [[artefact]]; add at least one")));
    }
    if let Some(unknown) = only.iter().find(|name| !names.contains(&name.as_str())) {
        bail!(Usage(format!("unknown artefact {unknown:?}; {FILE} contains {}", names.join(", "))));
    }
    Ok(paper.artefacts.iter().filter(|artefact| only.is_empty() || only.contains(&artefact.name)).collect())
}

/// Returns the validated run of the laboratory for an artefact.
fn requested_run<'a>(
    paper: &PaperFile,
    artefact: &'a Artefact,
    arguments: &PaperFolder,
) -> Result<RequestedRun<'a>> {
    let mut options = artefact.options.clone();
    if let Some(of_command) =
        ["label", "out", "threads", "fresh"].iter().find(|name| options.contains_key(**name))
    {
        bail!(Usage(format!(
            "invalid key {of_command:?} in {FILE}; remove it: the key \"name\" is the label, and --out, \
             --threads and --fresh are options of cargo xtask paper"
        )));
    }
    let given = [("runs", arguments.runs.map(u64::from)), ("seed", arguments.seed)];
    for (name, given) in given.into_iter().filter_map(|(name, given)| Some((name, given?))) {
        options.insert(name.to_owned(), given.to_string().into());
    }
    let mut line = vec!["--label".to_owned(), paper.name.clone()];
    for (name, value) in &options {
        match value {
            toml::Value::Boolean(true) => line.push(format!("--{name}")),
            toml::Value::Boolean(false) => {}
            value => line.extend(texts(name, value)?.into_iter().map(|text| format!("--{name}={text}"))),
        }
    }
    let mut absent = Vec::new();
    for dataset in &artefact.datasets_if_there {
        let files: DatasetFiles = dataset.parse().map_err(Usage)?;
        match [&files.rows, &files.model].into_iter().find(|file| !file.is_file()) {
            None => line.push(format!("--dataset={dataset}")),
            Some(file) => absent.push(Skipped {
                name: files.name,
                how_to_get_it: format!("{} is not in the directory of the paper", file.display()),
            }),
        }
    }
    let laboratory = Laboratory { some_are_missing: !absent.is_empty(), ..options::read(line)? };
    let estimators: Vec<String> = laboratory
        .estimators
        .iter()
        .cloned()
        .chain(laboratory.programs.iter().map(|program| program.name.clone()))
        .collect();
    let datasets: Vec<String> = laboratory
        .datasets
        .iter()
        .map(|dataset| dataset.name.clone())
        .chain(absent.iter().map(|absent| absent.name.clone()))
        .collect();
    let budgets: Vec<String> = laboratory.budgets.iter().map(ToString::to_string).collect();
    for claim in &artefact.claims {
        claim.check(&estimators, &datasets, &budgets)?;
    }
    Ok(RequestedRun { artefact, prepared: Prepared::from_arguments(&laboratory)?, absent })
}

/// Returns the values of an option: a single value, or the elements of a list.
fn texts(name: &str, value: &toml::Value) -> Result<Vec<String>> {
    match value {
        toml::Value::String(text) => Ok(vec![text.clone()]),
        toml::Value::Integer(number) => Ok(vec![number.to_string()]),
        toml::Value::Array(all) => {
            let all = all.iter().map(|one| texts(name, one)).collect::<Result<Vec<_>>>()?;
            Ok(all.into_iter().flatten().collect())
        }
        other => bail!(Usage(format!(
            "invalid value of type {} for {name}; expected a string, an integer, a list of these, or true; \
             keys that are not options of cargo xtask laboratory are name, shows, claims, notes and \
             dataset-if-there",
            other.type_str()
        ))),
    }
}

fn report(
    paper: &PaperFile,
    artefact: &Artefact,
    finished: &Finished,
    absent: Vec<Skipped>,
) -> Result<Report> {
    let record = &finished.record;
    let datasets = record.datasets.iter().map(|dataset| UsedDataset {
        name: dataset.name.clone(),
        players: dataset.players,
        rows: dataset.rows,
        sha256: dataset.rows_sha256.clone(),
        model_sha256: dataset.model_sha256.clone(),
    });
    let of_datasets = record
        .datasets
        .iter()
        .flat_map(|dataset| dataset.notes.iter().map(|note| format!("{}: {note}", dataset.name)));
    let of_skipped = record.skipped.iter().map(|skipped| format!("skipped: {skipped}"));
    let judged = artefact.claims.iter().map(|claim| claim.judge(finished));
    Ok(Report {
        paper: format!("{} ({})", paper.name, paper.citation),
        artefact: artefact.name.clone(),
        shows: artefact.shows.clone(),
        preset: FILE.to_owned(),
        seed: record.seeds.first().copied().unwrap_or_default(),
        runs: record.runs,
        rules: RULES,
        datasets: datasets.collect(),
        skipped: absent,
        notes: artefact
            .notes
            .iter()
            .cloned()
            .chain(of_datasets)
            .chain(of_skipped)
            .chain(record.biased.iter().cloned())
            .collect(),
        claims: judged.collect::<Result<_>>()?,
        tables: match finished.outcome.runs.is_empty() {
            true => Vec::new(),
            false => vec![summary::table(record, &finished.outcome.runs)],
        },
    })
}
