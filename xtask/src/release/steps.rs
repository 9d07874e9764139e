//! The steps of a release: each is checked by a function that returns a one-line summary.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::number::Number;
use super::{changes, number};
use crate::{check, instructions};
use xtask::command::{is_there, line_in, run};

/// Input of the steps.
pub(super) struct Planned {
    pub(super) root: PathBuf,
    pub(super) version: Number,
}

/// A named step.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub(super) name: &'static str,
    pub(super) checks: &'static str,
    pub(super) take: fn(&Planned) -> Result<String>,
}

/// All steps, quick ones first.
pub(super) const STEPS: [Step; 14] = [
    Step { name: "tree", checks: "everything is committed", take: tree },
    Step {
        name: "versions",
        checks: "all files state the same version, which is not released yet",
        take: versions,
    },
    Step { name: "changes", checks: "the change log describes the changes", take: changed },
    Step { name: "house", checks: "the rules of the repository are kept", take: house },
    Step { name: "locks", checks: "lock files outside the workspace are up to date", take: locks },
    Step { name: "deny", checks: "dependencies are allowed by deny.toml", take: deny },
    Step { name: "semver", checks: "the public API is compatible with the last release", take: semver },
    Step { name: "verdicts", checks: "the claims of the papers have the recorded verdicts", take: verdicts },
    Step { name: "pages", checks: "the reports work in a browser", take: pages },
    Step { name: "packages", checks: "each crate builds from its package", take: packages },
    Step { name: "engine", checks: "the SQL functions work in DataFusion", take: engine },
    Step { name: "instructions", checks: "no kernel needs over 3% more instructions", take: counted },
    Step { name: "wheels", checks: "the Python package can be installed and used", take: wheels },
    Step { name: "book", checks: "the book builds", take: book },
];

/// Checks that everything is committed, on a branch.
pub(super) fn tree(planned: &Planned) -> Result<String> {
    let changes = line_in(&planned.root, "git", &["status", "--porcelain"])?;
    ensure!(changes.is_empty(), "uncommitted changes:\n{changes}\ncommit or stash them");
    let branch = line_in(&planned.root, "git", &["branch", "--show-current"])?;
    ensure!(!branch.is_empty(), "no branch is checked out; check out the branch to release");
    Ok(format!("branch {branch}"))
}

fn versions(planned: &Planned) -> Result<String> {
    let current = number::of_workspace(&planned.root)?;
    let stated = number::agree(&planned.root, &current)?;
    let tag = planned.version.tag();
    let tags = line_in(&planned.root, "git", &["tag", "--list", "v*"])?;
    ensure!(!tags.lines().any(|other| other == tag), "tag {tag} already exists; use a later version");
    Ok(format!("{current} in {stated} places"))
}

fn changed(planned: &Planned) -> Result<String> {
    let text = std::fs::read_to_string(planned.root.join(changes::FILE))
        .with_context(|| format!("cannot read {}", changes::FILE))?;
    let is_written = text.contains(&format!("\n## {},", planned.version));
    if is_written { Ok(format!("has a heading for {}", planned.version)) } else { changes::unreleased(&text) }
}

fn house(_: &Planned) -> Result<String> {
    check::rules()?;
    Ok("ok".to_owned())
}

/// Checks the packages outside the workspace, which workspace builds skip: their lock files must match their
/// own manifests and the manifests of our crates.
fn locks(planned: &Planned) -> Result<String> {
    let listed = line_in(&planned.root, "git", &["ls-files", "*/Cargo.lock"])?;
    for lock in listed.lines() {
        let manifest = planned.root.join(lock).with_file_name("Cargo.toml");
        run(Command::new(cargo())
            .args(["update", "--workspace", "--locked", "--quiet", "--manifest-path"])
            .arg(&manifest))
        .with_context(|| {
            format!("{lock} is out of date; run cargo metadata --manifest-path {}", manifest.display())
        })?;
    }
    Ok(format!("{} files", listed.lines().count()))
}

fn deny(planned: &Planned) -> Result<String> {
    check::deny(&planned.root)?;
    Ok("ok".to_owned())
}

fn semver(planned: &Planned) -> Result<String> {
    Ok(match check::semver(&planned.root)? {
        Some(tag) => format!("compatible with {tag}"),
        None => "the first release: nothing to compare with".to_owned(),
    })
}

/// Checks the verdicts of all artefacts, including artefacts that are too slow for the checks of every
/// change.
fn verdicts(planned: &Planned) -> Result<String> {
    let out = planned.root.join("target/release-verdicts");
    // Records of an earlier run may belong to a different version of the code.
    if out.exists() {
        std::fs::remove_dir_all(&out).context("cannot remove the verdicts of an earlier run")?;
    }
    let said = line_in(
        &planned.root,
        "cargo",
        &[
            "run",
            "--release",
            "--package",
            "lab",
            "--",
            "reproduce",
            "--check",
            "--out",
            &out.to_string_lossy(),
        ],
    )?;
    Ok(said.lines().last().unwrap_or_default().to_owned())
}

/// Tests all report pages. The checks of every change test only some of them.
fn pages(planned: &Planned) -> Result<String> {
    let folder = planned.root.join("crates/plots/browser");
    run(Command::new("npm").args(["ci", "--no-audit", "--no-fund"]).current_dir(&folder))?;
    let said =
        run(Command::new("npm").arg("test").env_remove("QUICK").env_remove("PAGES").current_dir(&folder))?;
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    let passed = text.lines().find_map(|line| line.strip_prefix("# pass "));
    Ok(format!(
        "{} tests",
        passed.context("the output of npm test does not contain the number of tests passed")?
    ))
}

/// Packages each crate, and builds it from its package and the packages of the other crates, as if they came
/// from the registry.
fn packages(planned: &Planned) -> Result<String> {
    let target = planned.root.join("target/release-packages");
    let made = target.join("package");
    if made.exists() {
        std::fs::remove_dir_all(&made).context("cannot remove the packages of an earlier run")?;
    }
    run(Command::new(cargo())
        .args(["publish", "--workspace", "--dry-run", "--locked", "--target-dir"])
        .arg(&target)
        .current_dir(&planned.root))?;
    // Cargo may create the same package in several directories.
    let mut sizes = BTreeMap::new();
    for package in files(&made, "crate")? {
        let size = std::fs::metadata(&package)?.len();
        sizes.insert(package.file_name().unwrap_or_default().to_owned(), size);
    }
    ensure!(!sizes.is_empty(), "cargo publish did not create packages in {}", target.display());
    let largest = sizes.values().max().copied().unwrap_or_default();
    Ok(format!("{} packages of up to {} KiB", sizes.len(), largest / 1024))
}

/// Runs queries in DataFusion, which takes too long to build for the checks of every change.
fn engine(planned: &Planned) -> Result<String> {
    let manifest = planned.root.join("crates/datafusion/engine/Cargo.toml");
    let output = run(Command::new(cargo())
        .args(["test", "--locked", "--quiet", "--test", "engine", "--manifest-path"])
        .arg(&manifest))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let passed = text.lines().find_map(|line| line.strip_prefix("test result: ok. "));
    let passed = passed.and_then(|counts| counts.split(';').next());
    passed.map(str::to_owned).context("the output of cargo test does not contain the number of tests passed")
}

fn counted(planned: &Planned) -> Result<String> {
    instructions::check(&planned.root)
}

/// Builds a wheel, installs it in a separate environment, and explains a model with it.
fn wheels(planned: &Planned) -> Result<String> {
    let folder = planned.root.join("target/release-wheels");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).context("cannot remove the wheels of an earlier run")?;
    }
    run(Command::new("python3")
        .args(["-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir"])
        .arg(&folder)
        .arg("./crates/python")
        .current_dir(&planned.root))?;
    let wheel = std::fs::read_dir(&folder)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|extension| extension == "whl"))
        .context("pip did not create a wheel")?;
    let name = wheel.file_name().unwrap_or_default().to_string_lossy().into_owned();
    ensure!(name.contains("-abi3-"), "wheel {name} only supports one version of Python; build it with abi3");
    ensure!(
        name.contains(&planned.version.to_string())
            || number::of_workspace(&planned.root)? != planned.version,
        "wheel {name} has the wrong version; expected {}",
        planned.version
    );
    let environment = folder.join("environment");
    run(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    run(Command::new(environment.join("bin/pip"))
        .args(["install", "--quiet", "--disable-pip-version-check"])
        .arg(&wheel))?;
    let model = planned.root.join("xtask/lab/data/iris_xgb.json.gz");
    let said = line_in(
        &folder,
        &environment.join("bin/python").to_string_lossy(),
        &["-c", SMOKE, &model.to_string_lossy()],
    )?;
    run(Command::new(environment.join("bin/apportion")).arg("--version"))?;
    Ok(format!("{name}; {said}"))
}

/// Smoke test of the wheel: explain a model loaded from a file, and check that the values are finite.
const SMOKE: &str = "
import sys, numpy, apportion
explainer = apportion.TreeExplainer(sys.argv[1])
explanation = explainer([[5.1, 3.5, 1.4, 0.2]])
assert numpy.isfinite(explanation.values).all()
print('version', apportion.__version__, 'explains', explanation.values.shape)
";

fn book(planned: &Planned) -> Result<String> {
    is_there(Command::new("mdbook").arg("--version"), "cargo install --locked mdbook")?;
    run(Command::new("mdbook").args(["build", "docs"]).current_dir(&planned.root))?;
    let pages = files(&planned.root.join("target/book"), "html")?;
    Ok(format!("{} pages", pages.len()))
}

/// Returns the files below a directory with the given extension.
fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path, extension)?);
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
    Ok(found)
}

fn cargo() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}
