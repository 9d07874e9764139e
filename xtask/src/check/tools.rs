//! Checks by tools that are installed separately: `cargo deny` for third-party packages,
//! `cargo semver-checks` for the public API.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// Runs `cargo deny`, which prints its own findings.
///
/// # Errors
///
/// If it is not installed, or finds a package that is not allowed.
pub(crate) fn deny(root: &Path) -> Result<()> {
    // The list of packages in several versions follows `Cargo.lock`, which also contains packages that are
    // never built.
    let listed_only = ["--allow", "unmatched-skip", "--allow", "unnecessary-skip"];
    let checks = ["bans", "licenses", "sources"];
    tool(root, "deny", &[&["--all-features", "check"], &listed_only[..], &checks].concat())
}

/// Compares the public API with the last release, using `cargo semver-checks`. Returns the tag of that
/// release, or `None` if there was no release.
///
/// # Errors
///
/// If it is not installed, or finds an incompatible change.
pub(crate) fn semver(root: &Path) -> Result<Option<String>> {
    let tag = last_release(root)?;
    if let Some(tag) = &tag {
        tool(root, "semver-checks", &["--workspace", "--baseline-rev", tag])?;
    }
    Ok(tag)
}

/// Runs a Cargo subcommand that is installed separately.
fn tool(root: &Path, name: &str, arguments: &[&str]) -> Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let is_there = Command::new(&cargo).args([name, "--version"]).output().context("cannot run cargo")?;
    if !is_there.status.success() {
        bail!("cargo-{name} is not installed; install it with: cargo install --locked cargo-{name}");
    }
    println!("cargo {name} {}", arguments.join(" "));
    let status = Command::new(&cargo).arg(name).args(arguments).current_dir(root).status()?;
    if !status.success() {
        bail!("cargo {name} has findings or failed ({status}); see its output");
    }
    Ok(())
}

/// Returns the latest release tag on the checked-out commit or its ancestors, or `None` if there is none.
fn last_release(root: &Path) -> Result<Option<String>> {
    let said = Command::new("git")
        .args(["describe", "--tags", "--abbrev=0", "--match", "v[0-9]*"])
        .current_dir(root)
        .output()
        .context("cannot run git")?;
    // git fails if there is no release tag.
    Ok(said.status.success().then(|| String::from_utf8_lossy(&said.stdout).trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_release_is_the_newest_tag_of_a_version() {
        let folder = tempfile::tempdir().unwrap();
        let git = |arguments: &[&str]| {
            let identity = ["-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false"];
            let done = Command::new("git").args(identity).args(arguments).current_dir(folder.path()).output();
            assert!(done.unwrap().status.success(), "{arguments:?}");
        };
        git(&["init", "--quiet"]);
        git(&["commit", "--quiet", "--allow-empty", "--message", "one"]);
        assert_eq!(last_release(folder.path()).unwrap(), None);
        git(&["tag", "v0.1.0"]);
        git(&["commit", "--quiet", "--allow-empty", "--message", "two"]);
        git(&["tag", "nightly"]);
        assert_eq!(last_release(folder.path()).unwrap().as_deref(), Some("v0.1.0"));
    }

    #[test]
    fn a_tool_that_is_not_there_is_named_with_how_to_get_it() {
        let error = tool(Path::new("."), "no-such-tool", &[]).unwrap_err().to_string();
        assert!(error.contains("cargo install --locked cargo-no-such-tool"), "{error}");
    }
}
