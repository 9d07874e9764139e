//! The source files and the Markdown pages of the repository.

use std::path::Path;

use anyhow::{Context, Result};

/// File name extensions of the files that are read.
const ENDINGS: [&str; 5] = [".rs", ".py", ".pyi", ".js", ".md"];

/// A text file.
#[derive(Debug, Clone)]
pub(crate) struct File {
    /// Path relative to the root of the repository, with `/` as separator.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl File {
    #[cfg(test)]
    pub(crate) fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }

    /// Returns the directory of the file; empty at the root.
    pub(crate) fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }
}

/// Returns the text of the file at `path`, if it exists.
pub(crate) fn text_of<'a>(files: &'a [File], path: &str) -> Option<&'a str> {
    files.iter().find(|file| file.path == path).map(|file| file.text.as_str())
}

/// Returns all Rust, Python, JavaScript and Markdown files below `root`, sorted by path.
///
/// Skips build output (`target`), npm packages (`node_modules`), hidden directories, and the datasets at the
/// root (`data`), which are not part of the repository.
///
/// # Errors
///
/// If a directory or file cannot be read.
pub(crate) fn files_under(root: &Path) -> Result<Vec<File>> {
    let mut files = Vec::new();
    collect(root, "", &mut files)?;
    files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(files)
}

fn collect(folder: &Path, prefix: &str, files: &mut Vec<File>) -> Result<()> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    for entry in entries {
        let entry = entry.with_context(|| format!("cannot read {}", folder.display()))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        // Symbolic links are not followed, so the recursion terminates.
        let kind = entry.file_type().with_context(|| format!("cannot read {path}"))?;
        if kind.is_dir() {
            if !name.starts_with('.')
                && !["target", "node_modules"].contains(&name.as_str())
                && path != "data"
            {
                collect(&entry.path(), &format!("{path}/"), files)?;
            }
        } else if kind.is_file() && ENDINGS.iter().any(|ending| name.ends_with(ending)) {
            let text =
                std::fs::read_to_string(entry.path()).with_context(|| format!("cannot read {path}"))?;
            files.push(File { path, text });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_and_pages_are_read_and_what_cargo_builds_is_not() {
        let folder = tempfile::tempdir().unwrap();
        for path in [
            "b.md",
            "a/c.rs",
            "a/d.txt",
            "a/i.py",
            "a/j.pyi",
            "a/k.js",
            "target/e.rs",
            "b/node_modules/c.md",
            ".git/f.md",
            "data/g.md",
            "a/data/h.md",
        ] {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "text").unwrap();
        }
        let files = files_under(folder.path()).unwrap();
        let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["a/c.rs", "a/data/h.md", "a/i.py", "a/j.pyi", "a/k.js", "b.md"]);
        assert_eq!(files[0].folder(), "a");
        assert_eq!(files[5].folder(), "");
        assert_eq!(text_of(&files, "b.md"), Some("text"));
    }
}
