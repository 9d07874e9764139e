//! The laboratory: compares estimators of the library and external ones on any dataset, and stores every
//! number.
//!
//! | file | contents |
//! |---|---|
//! | [`cli`], [`options`] | the command lines, and parsing of the options of a run for other commands |
//! | [`dataset`] | rows, a tree model and a background, with validation |
//! | [`contestant`] | the estimators: methods of the library, and programs |
//! | [`program`], [`process`], [`interrupt`] | the protocol of programs, their processes, and early termination |
//! | [`checkpoints`] | finished runs, for resuming a command |
//! | [`experiment`], [`one_output`] | explicands, exact values, runs; the game of one output |
//! | [`runs`] | validation, execution and storage of runs |
//! | [`mod@record`], [`folder`] | the stored data, and its directory |
//! | [`summary`], [`styles`] | the figure and the table of a run |
//! | [`mod@compare`], [`differences`], [`paired`], [`latex`] | comparison of two runs |
//! | [`mod@figures`] | figures of the papers for other datasets |
//! | [`mod@paper`], [`claims`] | a paper in its own directory, and its claims |
//! | [`mod@cite`] | BibTeX |
//!
//! The user documentation is `docs/laboratory.md`.

mod checkpoints;
mod cite;
mod claims;
pub(crate) mod cli;
mod compare;
mod contestant;
mod dataset;
mod differences;
mod experiment;
mod figures;
mod folder;
mod interrupt;
mod latex;
mod one_output;
mod options;
mod paired;
mod paper;
mod process;
pub(crate) mod program;
mod record;
mod runs;
mod styles;
mod summary;

use std::path::PathBuf;

use anyhow::Result;

use crate::reproduce::catalogue::Paper;
use crate::reproduce::cli::Reproduce;
use cli::{Cite, Compare, Laboratory, PaperFolder};
pub(crate) use runs::start;
use runs::{Prepared, folder_name};
use xtask::workspace;

/// Runs `cargo xtask laboratory`.
pub(crate) fn run(arguments: &Laboratory) -> Result<()> {
    start(arguments.threads)?;
    let out = out(arguments.out.as_ref());
    let prepared = Prepared::from_arguments(arguments)?;
    let checkpoints = prepared.checkpoints(&out, &arguments.label, arguments.fresh)?;
    let finished = prepared.perform(&out, folder_name, &checkpoints)?;
    checkpoints.forget();
    finished.tell()
}

/// Runs `cargo xtask reproduce … --dataset …` on `papers`, the full catalogue.
pub(crate) fn figures(arguments: &Reproduce, papers: &'static [Paper]) -> Result<()> {
    figures::run(arguments, papers, &out(arguments.out.as_ref()))
}

/// Runs `cargo xtask paper`.
pub(crate) fn paper(arguments: &PaperFolder) -> Result<()> {
    paper::run(arguments, &out(arguments.out.as_ref()))
}

/// Runs `cargo xtask compare`.
pub(crate) fn compare(arguments: &Compare) -> Result<()> {
    compare::run(arguments, &out(arguments.out.as_ref()))
}

/// Runs `cargo xtask cite` on `papers`, the full catalogue.
pub(crate) fn cite(arguments: &Cite, papers: &'static [Paper]) -> Result<()> {
    cite::run(arguments, papers)
}

/// Returns the directory in which result directories are created.
fn out(given: Option<&PathBuf>) -> PathBuf {
    given.cloned().unwrap_or_else(|| workspace().join("target/laboratory"))
}
