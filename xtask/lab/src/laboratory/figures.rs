//! Figures of the papers for other datasets: `cargo xtask reproduce fig2 --dataset NAME=ROWS,MODEL`.
//!
//! For figures of error over budget, the catalogue contains the estimators and budgets. These become a run of
//! the laboratory. The paper's claims are about its own datasets, so they are not judged here.

use std::path::Path;

use anyhow::{Context, Result, bail};

use super::cli::Laboratory;
use super::options;
use super::runs::{Prepared, folder_name, start};
use crate::reproduce::catalogue::{Contest, Paper, select};
use crate::reproduce::cli::Reproduce;
use xtask::Usage;
use xtask::{aside, say};

/// Creates the requested figures, with a directory in `out` for each.
pub(super) fn run(arguments: &Reproduce, papers: &'static [Paper], out: &Path) -> Result<()> {
    start(arguments.threads)?;
    // Validate everything before running anything.
    let mut wanted = Vec::new();
    for (paper, artefacts) in select(papers, &arguments.what)? {
        let runs = arguments.runs.map_or(arguments.preset.runs(paper.runs, paper.quick_runs), usize::from);
        for artefact in artefacts {
            let name = format!("{}/{}", paper.name, artefact.name);
            match &artefact.contest {
                Some(contest) => {
                    let asked = laboratory(arguments, contest, &name, runs)?;
                    wanted.push((Prepared::from_arguments(&asked)?, name));
                }
                None => aside!("{name}: omitted; it does not compare estimators by budget"),
            }
        }
    }
    if wanted.is_empty() {
        bail!(Usage(format!(
            "none of the selected figures supports --dataset; supported: {}",
            all_with_a_contest(papers).join(", ")
        )));
    }
    for (prepared, name) in wanted {
        say!("{name}, without verdicts, which only apply to the paper's own datasets:\n");
        let cannot = || format!("cannot create {name}");
        let checkpoints =
            prepared.checkpoints(out, &name.replace('/', "-"), arguments.fresh).with_context(cannot)?;
        let finished = prepared.perform(out, folder_name, &checkpoints).with_context(cannot)?;
        checkpoints.forget();
        finished.tell().with_context(cannot)?;
    }
    Ok(())
}

/// Returns the options of the run that creates a figure for the requested datasets.
fn laboratory(arguments: &Reproduce, contest: &Contest, name: &str, runs: usize) -> Result<Laboratory> {
    let own = &arguments.own;
    let label = own.label.iter().cloned().chain([name.replace('/', "-")]).collect::<Vec<_>>().join("-");
    let mut line: Vec<String> = Vec::new();
    let mut give = |option: &str, value: &str| line.push(format!("--{option}={value}"));
    give("label", &label);
    give("value", contest.value);
    give("runs", &runs.to_string());
    give("seed", &arguments.seed.to_string());
    give("estimators", own.estimators.as_deref().unwrap_or(contest.estimators));
    give("budgets", own.budgets.as_deref().unwrap_or(contest.budgets));
    own.datasets.iter().for_each(|dataset| give("dataset", dataset));
    own.programs.iter().for_each(|program| give("estimator-program", program));
    let reading = [
        ("output", &own.output),
        ("target", &own.target),
        ("ignore", &own.ignore),
        ("missing", &own.missing),
        ("separator", &own.separator),
        ("background", &own.background),
    ];
    for (option, value) in reading {
        value.iter().for_each(|value| give(option, value));
    }
    if own.decimal_comma {
        line.push("--decimal-comma".to_owned());
    }
    options::read(line)
}

/// Returns the names of the figures that can be created for other datasets.
fn all_with_a_contest(papers: &[Paper]) -> Vec<String> {
    let names = papers.iter().flat_map(|paper| {
        let with = paper.artefacts.iter().filter(|artefact| artefact.contest.is_some());
        with.map(move |artefact| format!("{}/{}", paper.name, artefact.name))
    });
    names.collect()
}
