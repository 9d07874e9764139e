//! `cargo xtask release`: checks everything that a release needs. Without `--dry-run`, it also writes the
//! version and the change log, commits, and creates the tag.
//!
//! | file | contents |
//! |---|---|
//! | [`steps`] | the checks, one after the other |
//! | [`changes`] | the change log: checks of its parts, and the heading for a release |
//! | [`number`] | version numbers, and the files that state our version |
//!
//! Nothing is published or pushed; the remaining steps are printed.

mod changes;
mod number;
mod steps;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

use number::Number;
use steps::{Planned, STEPS, Step};
use xtask::command::{self, git};
use xtask::files::write_atomically;
use xtask::row;
use xtask::table::Table;
use xtask::{Usage, workspace};

/// Check everything that a release needs; without --dry-run, also write the version and change log, commit
/// and tag
#[derive(Debug, Args)]
pub(crate) struct Release {
    /// Version to release (default: the version in Cargo.toml)
    version: Option<Number>,
    /// Only check; do not change files or commit
    #[arg(long)]
    dry_run: bool,
    /// Only run these steps: tree, versions, changes, house, locks, deny, semver, verdicts, pages, packages,
    /// engine, instructions, wheels, book
    #[arg(long, value_delimiter = ',', value_name = "STEP,…", requires = "dry_run")]
    only: Vec<String>,
}

/// Runs the command.
///
/// # Errors
///
/// If a step fails. All files are unchanged in that case.
pub(crate) fn run(arguments: &Release) -> Result<()> {
    let root = workspace();
    let current = number::of_workspace(&root)?;
    let planned = Planned { version: arguments.version.clone().unwrap_or_else(|| current.clone()), root };
    let wanted = selected_steps(&arguments.only)?;
    if arguments.dry_run {
        return all(&planned, &wanted);
    }
    steps::tree(&planned)?;
    ensure!(
        planned.version >= current,
        "version {} is lower than {current} in Cargo.toml; use a later version",
        planned.version
    );
    let written = Written::make(&planned, &current)?;
    // Skip this step now: the working tree contains the changes of the release, and the first run of the step
    // has shown that there were no other changes.
    let rest: Vec<Step> = wanted.into_iter().filter(|step| step.name != "tree").collect();
    if let Err(error) = commit(&planned).and_then(|()| all(&planned, &rest)) {
        written.undo(&planned)?;
        return Err(error);
    }
    git(&planned.root, &["tag", "--annotate", &planned.version.tag(), "--message", &message(&planned)])?;
    println!(
        "\nThe commit and the tag {} are created. The remaining steps cannot be undone:\n  git push \
         --follow-tags\n  cargo publish --workspace\n  upload the wheel in target/release-wheels to the \
         Python package index",
        planned.version.tag()
    );
    Ok(())
}

fn selected_steps(only: &[String]) -> Result<Vec<Step>> {
    let names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
    if let Some(unknown) = only.iter().find(|name| !names.contains(&name.as_str())) {
        bail!(Usage(format!("unknown step {unknown:?}; expected one of: {}", names.join(", "))));
    }
    let is_wanted = |step: &&Step| only.is_empty() || only.iter().any(|name| name == step.name);
    Ok(STEPS.iter().filter(is_wanted).copied().collect())
}

/// Runs all steps, even after one fails, and prints their results.
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
    ensure!(failed == 0, "failed steps: {failed}; see their errors above");
    Ok(())
}

fn message(planned: &Planned) -> String {
    format!("Release {}", planned.version)
}

/// The previous contents of the files written for the release, and the commit that they belong to; used to
/// undo the release.
struct Written {
    before: String,
    files: Vec<(PathBuf, Vec<u8>)>,
}

impl Written {
    /// Writes the new version and the heading of the change log; on failure, restores all files.
    fn make(planned: &Planned, current: &Number) -> Result<Self> {
        let today = command::line("date", &["+%Y-%m-%d"])?;
        let mut new = Vec::new();
        for path in number::files(&planned.root)? {
            let bytes = number::with_version(&path, current, &planned.version)?;
            new.push((path, bytes));
        }
        let log = planned.root.join(changes::FILE);
        let text = std::fs::read_to_string(&log).with_context(|| format!("cannot read {}", log.display()))?;
        new.push((log, changes::released(&text, &planned.version, &today)?.into_bytes()));
        let before = command::line_in(&planned.root, "git", &["rev-parse", "HEAD"])?;
        let mut written = Self { before, files: Vec::new() };
        for (path, bytes) in new {
            let old = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()));
            let done = old.and_then(|old| {
                written.files.push((path.clone(), old));
                write_atomically(&path, &bytes)
            });
            if let Err(error) = done {
                written.undo(planned)?;
                return Err(error);
            }
        }
        Ok(written)
    }

    /// Undoes the commit, if there is one, and restores every file.
    fn undo(self, planned: &Planned) -> Result<()> {
        self.files.iter().try_for_each(|(path, old)| write_atomically(path, old))?;
        git(&planned.root, &["reset", "--quiet", &self.before])
    }
}

fn commit(planned: &Planned) -> Result<()> {
    git(&planned.root, &["commit", "--quiet", "--all", "--message", &message(planned)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_that_fails_leaves_files_and_commits_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_owned();
        let manifest = "[workspace.package]\nversion = \"0.1.0\"\n";
        let log = "# Changes\n\n## Unreleased\n\n### New\n\n- A thing.\n\n### Values that change\n\nNone.\n";
        std::fs::write(root.join("Cargo.toml"), manifest).unwrap();
        std::fs::write(root.join(changes::FILE), log).unwrap();
        git(&root, &["init", "--quiet"]).unwrap();
        for (key, value) in [("user.name", "n"), ("user.email", "e"), ("commit.gpgsign", "false")] {
            git(&root, &["config", key, value]).unwrap();
        }
        git(&root, &["add", "."]).unwrap();
        // `undo` must not identify the commit of the release by its message.
        git(&root, &["commit", "--quiet", "--message", "Release 0.2.0"]).unwrap();
        let head = || command::line_in(&root, "git", &["rev-parse", "HEAD"]).unwrap();
        let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
        let (first, planned) = (head(), Planned { root: root.clone(), version: "0.2.0".parse().unwrap() });
        for is_committed in [false, true] {
            let written = Written::make(&planned, &"0.1.0".parse().unwrap()).unwrap();
            assert!(read("Cargo.toml").contains("0.2.0") && read(changes::FILE).contains("## 0.2.0, "));
            if is_committed {
                commit(&planned).unwrap();
                assert_ne!(head(), first);
            }
            written.undo(&planned).unwrap();
            assert_eq!((read("Cargo.toml").as_str(), read(changes::FILE).as_str()), (manifest, log));
            assert_eq!(head(), first);
            assert_eq!(command::line_in(&root, "git", &["status", "--porcelain"]).unwrap(), "");
        }
    }
}
