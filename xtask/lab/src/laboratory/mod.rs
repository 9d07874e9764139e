//! A laboratory: estimators of the library and of others, on anybody's datasets, with every number kept.
//!
//! | file | holds |
//! |---|---|
//! | [`cli`], [`options`] | the command lines; that of a run, made elsewhere |
//! | [`dataset`] | rows, a tree model and a background, and what is wrong with them |
//! | [`contestant`] | the estimators: methods of the library, and programs |
//! | [`program`], [`process`], [`interrupt`] | the protocol of programs, their processes, and what ends them early |
//! | [`checkpoints`] | the runs that have ended, for a command that goes on |
//! | [`experiment`], [`one_output`] | explicands, exact values, runs; the game of one output |
//! | [`runs`] | what was asked for, checked, run and kept |
//! | [`mod@record`], [`folder`] | what is kept, and where |
//! | [`summary`], [`looks`] | the figure and the table of a run |
//! | [`mod@compare`], [`differences`], [`paired`], [`latex`] | two runs side by side |
//! | [`mod@figures`] | figures of the papers, made of datasets of one's own |
//! | [`mod@paper`], [`claims`] | a paper in a folder of its own, and what is claimed there |
//! | [`mod@cite`] | BibTeX |
//!
//! The page for those who use it is `docs/laboratory.md`.

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
mod looks;
mod one_output;
mod options;
mod paired;
mod paper;
mod process;
mod program;
mod record;
mod runs;
mod summary;

use std::path::PathBuf;

use anyhow::Result;

use crate::reproduce::catalogue::Paper;
use crate::reproduce::cli::Reproduce;
use cli::{Cite, Compare, Laboratory, PaperFolder};
use runs::{Prepared, folder_name, start};
use xtask::workspace;

/// Runs `cargo xtask laboratory`.
pub(crate) fn run(arguments: &Laboratory) -> Result<()> {
    start(arguments.threads)?;
    let out = out(arguments.out.as_ref());
    let prepared = Prepared::of(arguments)?;
    let checkpoints = prepared.checkpoints(&out, &arguments.label, arguments.fresh)?;
    let finished = prepared.perform(&out, folder_name, &checkpoints)?;
    checkpoints.forget();
    finished.tell()
}

/// Runs `cargo xtask reproduce … --dataset …` on `papers`, which are all that there is.
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

/// Runs `cargo xtask cite` on `papers`, which are all that there is.
pub(crate) fn cite(arguments: &Cite, papers: &'static [Paper]) -> Result<()> {
    cite::run(arguments, papers)
}

/// Where folders of results are made.
fn out(given: Option<&PathBuf>) -> PathBuf {
    given.cloned().unwrap_or_else(|| workspace().join("target/laboratory"))
}
