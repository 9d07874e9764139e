//! Check that the examples in the README of every library are run as doctests.

use super::files::{File, text_of};
use super::finding::Finding;
use super::metadata::Member;

/// The attribute that adds the README to the doctests of a library.
const INCLUDED: &str = "#[doc = include_str!(\"../README.md\")]";

/// Returns findings for the libraries whose README is missing or not tested. Binary crates are skipped: they
/// have no doctests and no Rust examples in their README.
pub(crate) fn findings(files: &[File], members: &[Member]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for member in members.iter().filter(|member| member.has_library) {
        let readme = format!("{}/README.md", member.folder);
        let library = format!("{}/src/lib.rs", member.folder);
        // Benchmarks and tools that are documented elsewhere need no README.
        if text_of(files, &readme).is_none() {
            if member.folder.starts_with("crates/") {
                findings.push(Finding::new(
                    &readme,
                    "file not found",
                    "add a README, which package registries show",
                ));
            }
            continue;
        }
        let is_tested =
            text_of(files, &library).is_some_and(|text| text.lines().any(|line| line.trim() == INCLUDED));
        if !is_tested {
            let remedy = format!("add `{INCLUDED}` to a struct under #[cfg(doctest)]");
            findings.push(Finding::new(&library, "the examples in the README are not tested", remedy));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::finding::assert_found;
    use super::*;

    fn library(folder: &str) -> Member {
        Member { name: folder.to_owned(), folder: folder.to_owned(), has_library: true, ..Member::default() }
    }

    #[test]
    fn libraries_whose_readme_is_missing_or_not_tested_are_found() {
        let files = [
            File::new("crates/good/README.md", "text"),
            File::new(
                "crates/good/src/lib.rs",
                "#[cfg(doctest)]\n#[doc = include_str!(\"../README.md\")]\nstruct Readme;\n",
            ),
            File::new("crates/untested/README.md", "text"),
            File::new("crates/untested/src/lib.rs", "// #[doc = include_str!(\"../README.md\")]\n"),
        ];
        let program = Member { has_library: false, ..library("crates/program") };
        let members = [
            library("crates/good"),
            library("crates/untested"),
            library("crates/none"),
            library("benches"),
            program,
        ];
        let wanted = ["crates/untested/src/lib.rs: the examples", "crates/none/README.md: file not found"];
        assert_found(&findings(&files, &members), &wanted);
    }
}
