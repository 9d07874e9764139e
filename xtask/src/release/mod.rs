//! `cargo xtask release`: all that a release needs is checked; without `--dry-run` its version, change log, commit and tag are made, too.
//!
//! | file | holds |
//! |---|---|
//! | [`steps`] | what is checked, one after the other |
//! | [`changes`] | the change log: what is in it, and its heading at a release |
//! | [`number`] | version numbers, and the files that state ours |
//!
//! Nothing is published and nothing pushed: what is left to do is printed.

mod changes;
mod number;
mod steps;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

use crate::reproduce::files::write_atomically;
use crate::reproduce::report::{Table, row};
use crate::reproduce::{Usage, workspace};
use crate::told::{self, git};
use number::Number;
use steps::{Planned, STEPS, Step};

/// Checks all that a release needs; without --dry-run writes its version and change log, commits and tags.
#[derive(Debug, Args)]
pub(crate) struct Release {
    /// The version to release; that of Cargo.toml by default
    version: Option<Number>,
    /// Checks only: no file is changed, nothing is committed
    #[arg(long)]
    dry_run: bool,
    /// Only these steps, by name: tree, versions, changes, house, deny, semver, packages, instructions, wheels, book
    #[arg(long, value_delimiter = ',', value_name = "STEP,…", requires = "dry_run")]
    only: Vec<String>,
}

/// Runs the command.
///
/// # Errors
///
/// If a step fails. No file has changed then.
pub(crate) fn run(arguments: &Release) -> Result<()> {
    let root = workspace();
    let current = number::of_workspace(&root)?;
    let planned = Planned { version: arguments.version.clone().unwrap_or_else(|| current.clone()), root };
    let wanted = wanted(&arguments.only)?;
    if arguments.dry_run {
        return all(&planned, &wanted);
    }
    steps::tree(&planned)?;
    ensure!(
        planned.version >= current,
        "the version {} is below {current}, which Cargo.toml has; give a later one",
        planned.version
    );
    let written = Written::make(&planned, &current)?;
    // The tree has the changes of the release now, and is known to have had no others.
    let rest: Vec<Step> = wanted.into_iter().filter(|step| step.name != "tree").collect();
    if let Err(error) = commit(&planned).and_then(|()| all(&planned, &rest)) {
        written.undo(&planned)?;
        return Err(error);
    }
    git(&planned.root, &["tag", "--annotate", &planned.version.tag(), "--message", &message(&planned)])?;
    println!(
        "\nThe commit and the tag {} are made. What is left, which cannot be taken back:\n  git push --follow-tags\n  cargo publish --workspace\n  \
         the wheel in target/release-wheels, to where Python packages are",
        planned.version.tag()
    );
    Ok(())
}

fn wanted(only: &[String]) -> Result<Vec<Step>> {
    let names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
    if let Some(unknown) = only.iter().find(|name| !names.contains(&name.as_str())) {
        bail!(Usage(format!("there is no step {unknown:?}; there is {}", names.join(", "))));
    }
    let is_wanted = |step: &&Step| only.is_empty() || only.iter().any(|name| name == step.name);
    Ok(STEPS.iter().filter(is_wanted).copied().collect())
}

/// Takes all steps, whatever became of those before, and prints what became of them.
fn all(planned: &Planned, steps: &[Step]) -> Result<()> {
    let mut table =
        Table::new(format!("Release {}", planned.version), ["step", "checks", "result", "seconds"]);
    let mut failed = 0;
    for step in steps {
        println!("== {}: {}", step.name, step.checks);
        let started = Instant::now();
        let result = match (step.take)(planned) {
            Ok(said) => said,
            Err(error) => {
                failed += 1;
                eprintln!("{}: {error:#}", step.name);
                "**failed**".to_owned()
            }
        };
        table.push(row![step.name, step.checks, result, started.elapsed().as_secs_f64()]);
    }
    println!("\n{}", table.markdown());
    ensure!(failed == 0, "steps that failed: {failed}; each has said what to do");
    Ok(())
}

fn message(planned: &Planned) -> String {
    format!("Release {}", planned.version)
}

/// Files that were written for the release, as they were before.
struct Written(Vec<(PathBuf, Vec<u8>)>);

impl Written {
    /// Writes the version and the heading of the change log.
    fn make(planned: &Planned, current: &Number) -> Result<Self> {
        let mut before = Vec::new();
        let today = told::line("date", &["+%Y-%m-%d"])?;
        for path in number::files(&planned.root)? {
            before.push((path.clone(), number::with_version(&path, current, &planned.version)?));
        }
        let log = planned.root.join(changes::FILE);
        let text = std::fs::read_to_string(&log).with_context(|| format!("cannot read {}", log.display()))?;
        before.push((log, changes::released(&text, &planned.version, &today)?.into_bytes()));
        let before = before.into_iter().map(|(path, new)| {
            let old = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
            write_atomically(&path, &new)?;
            Ok((path, old))
        });
        Ok(Self(before.collect::<Result<_>>()?))
    }

    /// Takes the commit back, and puts every file as it was.
    fn undo(self, planned: &Planned) -> Result<()> {
        let is_committed =
            told::line_in(&planned.root, "git", &["log", "-1", "--format=%s"])? == message(planned);
        if is_committed {
            git(&planned.root, &["reset", "--quiet", "--soft", "HEAD~1"])?;
            git(&planned.root, &["reset", "--quiet"])?;
        }
        self.0.iter().try_for_each(|(path, old)| write_atomically(path, old))
    }
}

fn commit(planned: &Planned) -> Result<()> {
    git(&planned.root, &["commit", "--quiet", "--all", "--message", &message(planned)])
}
