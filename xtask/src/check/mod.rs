//! `cargo xtask check`: automatic checks of the repository rules, in seconds and without building the crates.
//!
//! | file | contents |
//! |---|---|
//! | [`finding`] | a violation: the file, the problem and how to fix it |
//! | [`files`] | the source files and Markdown pages of the repository |
//! | [`metadata`] | the packages and their dependencies, from `cargo metadata` |
//! | [`version`] | versions of Rust |
//! | [`module_docs`] | every source file starts with a module doc |
//! | [`rooms`] | the table of crates in `docs/architecture.md`, and the direction of dependencies |
//! | [`circles`] | files of a crate that import each other, and the order of its modules |
//! | [`front_pages`] | the examples of a crate use no other crate of the workspace |
//! | [`readmes`] | the examples in READMEs are tests |
//! | [`lines`] | lines are not too long |
//! | [`links`] | relative links point to existing files |
//! | [`phrases`] | no turns of phrase listed in `xtask/phrases.txt` |
//! | [`rust_versions`] | the Rust versions in manifests and READMEs are sufficient |
//! | [`duplicates`] | each package is built in one version |
//! | [`licences`] | dependencies built by users have compatible licences |
//! | [`policy`] | allowed licences, and packages allowed in several versions |
//! | [`tools`] | with `--tools`: findings of `cargo deny` and `cargo semver-checks` |
//!
//! Each check is a function from file contents to findings, so it can be tested on small examples.

mod circles;
mod duplicates;
mod files;
mod finding;
mod front_pages;
mod licences;
mod lines;
mod links;
mod metadata;
mod module_docs;
mod phrases;
mod policy;
mod readmes;
mod rooms;
mod rust_versions;
mod tools;
mod version;

use anyhow::{Context, Result, bail};
use clap::Args;

use files::files_under;
use metadata::Metadata;
use policy::Policy;
pub(crate) use tools::{deny, semver};
use xtask::workspace;

/// Check the rules of the repository
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Also run cargo-deny and cargo-semver-checks, which must be installed separately.
    #[arg(long)]
    tools: bool,
}

/// Runs the command.
///
/// # Errors
///
/// If a rule is broken, a file cannot be read, `cargo metadata` fails, or a required tool is not installed.
pub(crate) fn run(args: &Check) -> Result<()> {
    rules()?;
    if args.tools {
        let root = workspace();
        deny(&root)?;
        if semver(&root)?.is_none() {
            println!("semver-checks  skipped: no release tag (v…) to compare with");
        }
    }
    Ok(())
}

/// Checks the rules, and prints one line for each.
///
/// # Errors
///
/// If a rule is broken, a file cannot be read, or `cargo metadata` fails.
pub(crate) fn rules() -> Result<()> {
    let root = workspace();
    let files = files_under(&root)?;
    let metadata = Metadata::read(&root)?;
    let policy = Policy::read(&root)?;
    let list = root.join(phrases::LIST);
    let phrases =
        std::fs::read_to_string(&list).with_context(|| format!("cannot read {}", list.display()))?;
    let checks = [
        ("module docs", module_docs::findings(&files)),
        ("rooms", rooms::findings(&files, &metadata.members())),
        ("circles", circles::findings(&files)),
        ("floors", circles::against_floors(&files)),
        ("front pages", front_pages::findings(&files, &metadata.members())),
        ("READMEs", readmes::findings(&files, &metadata.members())),
        ("links", links::findings(&files, |path| root.join(path).exists())),
        ("Rust versions", rust_versions::findings(&files, &metadata)),
        ("duplicates", duplicates::findings(&metadata.shipped(), &policy)),
        ("licences", licences::findings(&metadata.shipped(), &policy)),
        ("lines", lines::findings(&files)),
        ("phrases", phrases::findings(&files, &phrases)),
    ];
    let mut broken = 0;
    for (name, findings) in &checks {
        let said = match findings.len() {
            0 => "ok".to_owned(),
            1 => "1 finding".to_owned(),
            several => format!("{several} findings"),
        };
        println!("{name:<14} {said}");
        findings.iter().for_each(|finding| println!("  {finding}"));
        broken += findings.len();
    }
    if broken > 0 {
        bail!("{broken} findings");
    }
    Ok(())
}
