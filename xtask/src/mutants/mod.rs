//! `cargo xtask mutants`: small faults (mutants) that a test of the laboratory or the check of recorded
//! verdicts must catch.
//!
//! | file | contents |
//! |---|---|
//! | [`mutant`] | a mutant, as stored in `xtask/mutants` |
//! | [`tree`] | the copy of the repository that mutants are applied to |
//!
//! The repository itself is not changed. Mutants are built in `target/mutants`, in a separate build directory
//! that later runs reuse.

mod mutant;
mod tree;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};
use clap::Args;

use mutant::{Catcher, Mutant};
use tree::Tree;
use xtask::{Usage, workspace};

/// Apply mutants to a copy of the repository, and report which are caught
#[derive(Debug, Args)]
pub(crate) struct Mutants {
    /// Names of mutants in xtask/mutants (default: all)
    pub(crate) names: Vec<String>,
    /// Print the mutants and the tests that should catch them, and exit
    #[arg(long)]
    pub(crate) list: bool,
    /// Only check whether each mutant still applies
    #[arg(long, conflicts_with = "list")]
    pub(crate) apply_only: bool,
}

/// Runs the command.
///
/// # Errors
///
/// If a mutant no longer applies, or a test or check that should catch it does not.
pub(crate) fn run(arguments: &Mutants) -> Result<()> {
    let workspace = workspace();
    let mutants = selected(&workspace.join("xtask/mutants"), &arguments.names)?;
    if arguments.list {
        for mutant in &mutants {
            println!("{:<24} {}", mutant.name, mutant.what);
            mutant.catchers.iter().for_each(|catcher| println!("{:<24}   {catcher}", ""));
        }
        return Ok(());
    }
    let misfits: Vec<String> = mutants
        .iter()
        .filter_map(|mutant| mutant.applied(&workspace).err())
        .map(|error| format!("{error:#}"))
        .collect();
    if !misfits.is_empty() {
        bail!(
            "mutants that no longer apply: {} of {}; update the text that they replace:\n  {}",
            misfits.len(),
            mutants.len(),
            misfits.join("\n  ")
        );
    }
    if arguments.apply_only {
        println!("all {} mutants apply", mutants.len());
        return Ok(());
    }
    let tree = Tree::copy_of(&workspace)?;
    if !compiles(&tree)? {
        bail!("the repository does not compile without a mutant");
    }
    // A test that already fails without a mutant cannot show that it catches mutants.
    let catchers = mutants.iter().flat_map(|mutant| &mutant.catchers).collect::<BTreeSet<_>>();
    for catcher in catchers {
        if !outcome(catcher, &tree)?.status.success() {
            bail!("{catcher} already fails on the unchanged code; fix it before testing mutants");
        }
    }
    let mut survivors = Vec::new();
    for mutant in &mutants {
        if !is_caught(mutant, &tree)? {
            survivors.push(mutant.name.as_str());
        }
    }
    if !survivors.is_empty() {
        bail!(
            "mutants that are not caught: {} of {} ({}); extend the tests that should catch these mutants",
            survivors.len(),
            mutants.len(),
            survivors.join(", ")
        );
    }
    println!("all {} mutants are caught", mutants.len());
    Ok(())
}

/// Returns the mutants in a directory that have one of `names`, sorted by name; without names, all mutants.
fn selected(folder: &Path, names: &[String]) -> Result<Vec<Mutant>> {
    let mut all = Vec::new();
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "mutant") {
            all.push(Mutant::read(&path)?);
        }
    }
    all.sort_by(|one, other| one.name.cmp(&other.name));
    if let Some(unknown) = names.iter().find(|name| all.iter().all(|mutant| mutant.name != **name)) {
        let known: Vec<&str> = all.iter().map(|mutant| mutant.name.as_str()).collect();
        bail!(Usage(format!("unknown mutant {unknown:?}; expected one of: {}", known.join(", "))));
    }
    all.retain(|mutant| names.is_empty() || names.contains(&mutant.name));
    Ok(all)
}

/// Returns whether a mutant is caught by all tests and checks that should catch it.
fn is_caught(mutant: &Mutant, tree: &Tree) -> Result<bool> {
    println!("{}: {}", mutant.name, mutant.what);
    let original = mutant.apply(&tree.path())?;
    let caught = judged(mutant, tree);
    std::fs::write(tree.path().join(&mutant.file), original)?;
    caught
}

fn judged(mutant: &Mutant, tree: &Tree) -> Result<bool> {
    if !compiles(tree)? {
        bail!("mutant {} does not compile; correct its replacement", mutant.name);
    }
    let mut is_caught = true;
    for catcher in &mutant.catchers {
        let done = outcome(catcher, tree)?;
        let survives = done.status.success();
        println!("  {}: {catcher}", if survives { "NOT CAUGHT" } else { "caught" });
        for change in
            String::from_utf8_lossy(&done.stderr).lines().filter(|line| line.contains(": recorded "))
        {
            println!("    {change}");
        }
        is_caught &= !survives;
    }
    Ok(is_caught)
}

/// Runs a test or check that should catch a mutant.
fn outcome(catcher: &Catcher, tree: &Tree) -> Result<Output> {
    command(catcher, tree).output().with_context(|| format!("cannot start {catcher}"))
}

/// Builds the program and its tests, so that later failures cannot be compiler errors. Returns whether this
/// succeeds.
fn compiles(tree: &Tree) -> Result<bool> {
    let mut build = cargo(tree);
    build.args(["--test", "reproduce", "--no-run"]);
    Ok(build.status().context("cannot start cargo")?.success())
}

fn cargo(tree: &Tree) -> Command {
    let mut command = Command::new("cargo");
    command.args(["test", "--release", "--quiet", "--package", "lab"]);
    command.current_dir(tree.path()).env("CARGO_TARGET_DIR", tree.builds()).env("INSTA_UPDATE", "no");
    // A mutant changes little code, so incremental compilation is faster.
    command.env("CARGO_INCREMENTAL", "1");
    command.stdin(Stdio::null());
    command
}

fn command(catcher: &Catcher, tree: &Tree) -> Command {
    match catcher {
        Catcher::Unit(name) => {
            let mut test = cargo(tree);
            test.args(["--bin", "lab", name]);
            test
        }
        Catcher::Test(name) => {
            let mut test = cargo(tree);
            test.args(["--test", "reproduce", name]);
            test
        }
        Catcher::Check(artefact) => {
            let mut check = Command::new(tree.builds().join("release/lab"));
            check.args(["reproduce", "--check", artefact, "--fresh", "--out"]);
            check.arg(tree.builds().join("check")).current_dir(tree.path());
            check
        }
    }
}
