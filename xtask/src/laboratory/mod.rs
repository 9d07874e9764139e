//! A laboratory: estimators of the library and of others, on anybody's datasets, with every number kept.
//!
//! | file | holds |
//! |---|---|
//! | [`cli`] | the command lines |
//! | [`dataset`] | rows, a tree model and a background, and what is wrong with them |
//! | [`contestant`] | the estimators: methods of the library, and programs |
//! | [`program`], [`process`] | the protocol of programs, and their processes |
//! | [`experiment`], [`one_output`] | explicands, exact values, runs; the game of one output |
//! | [`runs`] | what was asked for, checked, run and kept |
//! | [`mod@record`], [`folder`] | what is kept, and where |
//! | [`summary`], [`looks`] | the figure and the table of a run |
//! | [`mod@compare`], [`differences`], [`paired`], [`latex`] | two runs side by side |
//! | [`mod@paper`], [`claims`] | a paper in a folder of its own, and what is claimed there |
//! | [`mod@cite`] | BibTeX |
//!
//! The page for those who use it is `docs/laboratory.md`.

mod cite;
mod claims;
pub(crate) mod cli;
mod compare;
mod contestant;
mod dataset;
mod differences;
mod experiment;
mod folder;
mod latex;
mod looks;
mod one_output;
mod paired;
mod paper;
mod process;
mod program;
mod record;
mod runs;
mod summary;

use std::path::PathBuf;

use anyhow::{Result, ensure};

use crate::reproduce::catalogue::Paper;
use crate::reproduce::workspace;
use cli::{Cite, Compare, Laboratory, PaperFolder};
use runs::{folder_name, perform, start};

/// Runs `cargo xtask laboratory`.
pub(crate) fn run(arguments: &Laboratory) -> Result<()> {
    start(arguments.threads)?;
    let finished = perform(arguments, &out(arguments.out.as_ref()), folder_name)?;
    ensure!(
        !finished.outcome.runs.is_empty(),
        "no estimator could be run; {} says why",
        finished.folder.join("run.json").display()
    );
    print!("{}", summary::table(&finished.record, &finished.outcome.runs).markdown());
    println!("\n{} runs: {}", finished.outcome.runs.len(), finished.folder.display());
    Ok(())
}

/// Runs `cargo xtask paper`.
pub(crate) fn paper(arguments: &PaperFolder) -> Result<()> {
    paper::run(arguments, &out(arguments.out.as_ref()))
}

/// Runs `cargo xtask compare`.
pub(crate) fn compare(arguments: &Compare) -> Result<()> {
    compare::run(arguments, &out(arguments.out.as_ref()))
}

/// Runs `cargo xtask cite` on `papers`, which are all that there is.
pub(crate) fn cite(arguments: &Cite, papers: &'static [Paper]) -> Result<()> {
    cite::run(arguments, papers)
}

/// Where folders of results are made.
fn out(given: Option<&PathBuf>) -> PathBuf {
    given.cloned().unwrap_or_else(|| workspace().join("target/laboratory"))
}
