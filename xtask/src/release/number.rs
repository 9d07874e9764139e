//! Version numbers, and the files that state the version of the workspace.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, Result, bail, ensure};

use xtask::command;

/// A version number, `MAJOR.MINOR.PATCH`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Number([u64; 3]);

impl Number {
    /// Returns the git tag of this version.
    pub(super) fn tag(&self) -> String {
        format!("v{self}")
    }
}

impl FromStr for Number {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Vec<Option<u64>> = text.split('.').map(|part| part.parse().ok()).collect();
        match parts[..] {
            [Some(major), Some(minor), Some(patch)] => Ok(Self([major, minor, patch])),
            _ => Err(format!("invalid version {text:?}; expected three numbers, such as 0.2.0")),
        }
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self([major, minor, patch]) = self;
        write!(f, "{major}.{minor}.{patch}")
    }
}

/// Returns the version of the workspace.
pub(super) fn of_workspace(root: &Path) -> Result<Number> {
    let manifest = read(&root.join("Cargo.toml"))?;
    let manifest: toml::Table = manifest.parse().context("cannot read Cargo.toml")?;
    let version = manifest
        .get("workspace")
        .and_then(|workspace| workspace.get("package")?.get("version")?.as_str())
        .context("Cargo.toml has no workspace.package.version")?;
    version.parse().map_err(anyhow::Error::msg)
}

/// Returns the tracked files that state our version: manifests, lock files and the citation.
pub(super) fn files(root: &Path) -> Result<Vec<PathBuf>> {
    let listed = command::line_in(root, "git", &["ls-files", "*Cargo.toml", "*Cargo.lock", "CITATION.cff"])?;
    Ok(listed.lines().map(|path| root.join(path)).collect())
}

/// Returns whether a line states the version of one of our packages, or of a dependency on one.
fn is_ours(lines: &[&str], at: usize) -> bool {
    let line = lines[at].trim_start();
    let before = lines[..at].iter().rev().map(|line| line.trim()).find(|line| !line.is_empty());
    let section = lines[..at].iter().rev().map(|line| line.trim()).find(|line| line.starts_with('['));
    let is_package = matches!(section, Some("[package]" | "[workspace.package]"));
    let is_locked = section == Some("[[package]]")
        && before.is_some_and(|line| {
            line.starts_with("name = \"apportion") || line == "name = \"xtask\"" || line == "name = \"lab\""
        });
    let is_needed = line.starts_with("apportion") && line.contains("path = ");
    // A citation file has no sections.
    let is_cited = section.is_none() && line.starts_with("version: ");
    is_needed || is_cited || (line.starts_with("version = ") && (is_package || is_locked))
}

/// Returns the contents of a file with the current version replaced by the next one.
pub(super) fn with_version(path: &Path, current: &Number, next: &Number) -> Result<Vec<u8>> {
    Ok(replaced(&read(path)?, current, next).into_bytes())
}

fn replaced(text: &str, current: &Number, next: &Number) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let (quoted, cited) = (format!("version = \"{current}\""), format!("version: {current}"));
    let mut new: Vec<String> = Vec::with_capacity(lines.len());
    for (at, line) in lines.iter().enumerate() {
        new.push(match is_ours(&lines, at) {
            true => line
                .replace(&quoted, &format!("version = \"{next}\""))
                .replace(&cited, &format!("version: {next}")),
            false => (*line).to_owned(),
        });
    }
    let mut new = new.join("\n");
    if text.ends_with('\n') {
        new.push('\n');
    }
    new
}

/// Checks that every file that states our version agrees with `version`, and returns the number of places
/// that state it.
///
/// # Errors
///
/// If a version differs, or no file states a version.
pub(super) fn agree(root: &Path, version: &Number) -> Result<usize> {
    let mut stated = 0;
    for path in files(root)? {
        let text = read(&path)?;
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate().filter(|(at, _)| is_ours(&lines, *at)) {
            let Some((_, rest)) = line.split_once("version = \"").or_else(|| line.split_once("version: "))
            else {
                continue;
            };
            let found = rest.split('"').next().unwrap_or(rest).trim();
            // Packages that are never released have version 0.0.0.
            if found == "0.0.0" {
                continue;
            }
            ensure!(
                found == version.to_string(),
                "{}, line {}: found version {found}, expected {version} as in Cargo.toml; correct it",
                below(root, &path),
                at + 1
            );
            stated += 1;
        }
    }
    if stated == 0 {
        bail!(
            "version {version} not found in any Cargo.toml, Cargo.lock or CITATION.cff tracked by git; add \
             `version: {version}` to CITATION.cff"
        );
    }
    Ok(stated)
}

/// Returns the path relative to the root, for messages.
fn below<'a>(root: &Path, path: &'a Path) -> std::path::Display<'a> {
    path.strip_prefix(root).unwrap_or(path).display()
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        text.parse().unwrap()
    }

    #[test]
    fn versions_are_three_numbers_in_their_order() {
        assert!(number("0.9.0") < number("0.10.0") && number("1.0.0") > number("0.99.9"));
        assert_eq!(number("1.2.3").tag(), "v1.2.3");
        for text in ["1", "1.2", "1.2.3.4", "1.2.x", "v1.2.3", ""] {
            assert!(text.parse::<Number>().unwrap_err().contains("such as 0.2.0"), "{text}");
        }
    }

    #[test]
    fn a_new_version_stands_where_ours_stood_and_nowhere_else() {
        let manifest = "[workspace.package]\nversion = \"0.1.0\"\n\n[workspace.dependencies]\napportion = \
                        { path = \"crates/apportion\", version = \"0.1.0\" }\nother = \
                        { version = \"0.1.0\" }\n[dependencies.third]\nversion = \"0.1.0\"\n";
        let wanted = manifest.replacen("version = \"0.1.0\"", "version = \"0.2.0\"", 2);
        assert_eq!(replaced(manifest, &number("0.1.0"), &number("0.2.0")), wanted);
        let lock = "version = 4\n\n[[package]]\nname = \"apportion-values\"\nversion \
                    = \"0.1.0\"\n\n[[package]]\nname = \"other\"\nversion = \"0.1.0\"\n";
        let wanted = lock.replacen("\"0.1.0\"", "\"0.2.0\"", 1);
        assert_eq!(replaced(lock, &number("0.1.0"), &number("0.2.0")), wanted);
        let citation = "cff-version: 1.2.0\nversion: 0.1.0\n";
        assert_eq!(
            replaced(citation, &number("0.1.0"), &number("0.2.0")),
            "cff-version: 1.2.0\nversion: 0.2.0\n"
        );
    }

    #[test]
    fn the_files_of_this_repository_agree() {
        let root = xtask::workspace();
        let version = of_workspace(&root).unwrap();
        assert_eq!(version.to_string(), env!("CARGO_PKG_VERSION"));
        // Outside a git repository, the list of files is not available.
        if let Ok(stated) = agree(&root, &version) {
            assert!(stated > 20, "{stated}");
        }
    }
}
