//! `cargo xtask cite`: BibTeX entries for this library, and for the papers whose figures are named.

use std::io::{ErrorKind, Write};
use std::path::Path;

use anyhow::{Context, Result};

use super::cli::Cite;
use super::{folder, paper};
use crate::reproduce::catalogue::{Paper, select};
use crate::reproduce::provenance::commit;
use xtask::workspace;

/// File with the citation of the library.
const CITATION: &str = "CITATION.cff";

/// Prints the requested BibTeX entries.
pub(crate) fn run(arguments: &Cite, papers: &'static [Paper]) -> Result<()> {
    let mut text = String::new();
    // Directories with a `paper.toml` are separate papers; other names are looked up in the catalogue.
    let (folders, what): (Vec<String>, Vec<String>) =
        arguments.what.iter().cloned().partition(|what| Path::new(what).join(paper::FILE).is_file());
    for folder in folders {
        text.push_str(paper::read(Path::new(&folder))?.bibtex.trim());
        text.push_str("\n\n");
    }
    for (paper, _) in select(papers, &what)? {
        // The project's own checks are not from a paper.
        if !paper.bibtex.is_empty() {
            text.push_str(paper.bibtex);
            text.push_str("\n\n");
        }
    }
    let citation = std::fs::read_to_string(workspace().join(CITATION))
        .with_context(|| format!("cannot read {CITATION}"))?;
    let (version, commit) = match &arguments.run {
        Some(run) => {
            let made = folder::record(run)?.made;
            (made.version, made.commit.map(|commit| (commit, made.has_changes == Some(true))))
        }
        None => (field(&citation, "version")?, commit(&workspace())),
    };
    text.push_str(&library(&citation, &version, commit)?);
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error).context("cannot print"),
        _ => Ok(()),
    }
}

/// Returns a single-line text field of the citation file.
fn field(citation: &str, name: &str) -> Result<String> {
    let value = citation.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let value = value
        .with_context(|| format!("{CITATION} does not contain a line with the field {name}; add one"))?;
    Ok(value.trim().trim_matches('"').to_owned())
}

/// Returns the BibTeX entry of the library.
fn library(citation: &str, version: &str, commit: Option<(String, bool)>) -> Result<String> {
    let authors: Vec<String> = citation
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("- name:"))
        .map(|name| format!("{{{}}}", name.trim().trim_matches('"')))
        .collect();
    let note = commit.map(|(commit, has_changes)| {
        let changes = if has_changes { ", with changes" } else { "" };
        format!("  note    = {{Commit {commit}{changes}}},\n")
    });
    Ok(format!(
        "@software{{apportion,\n  title   = {{{{{}}}}},\n  author  = {{{}}},\n  version = \
         {{{version}}},\n{}  url     = {{{}}}\n}}\n",
        field(citation, "title")?,
        authors.join(" and "),
        note.unwrap_or_default(),
        field(citation, "repository-code")?
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_cited_from_its_own_file() {
        let citation = include_str!("../../../../CITATION.cff");
        assert_eq!(field(citation, "version").unwrap(), env!("CARGO_PKG_VERSION"));
        let entry = library(citation, "1.2.3", Some(("abc".to_owned(), true))).unwrap();
        for part in [
            "@software{apportion,",
            "author  = {{The Apportion authors}}",
            "{1.2.3}",
            "{Commit abc, with changes}",
        ] {
            assert!(entry.contains(part), "{entry}");
        }
        assert!(field(citation, "doi").is_err());
    }
}
