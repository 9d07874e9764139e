//! Check that every source file starts with a module doc that describes its contents.

use super::files::File;
use super::finding::Finding;

/// Returns findings for the files in `src` directories that do not start with a module doc.
pub(crate) fn findings(files: &[File]) -> Vec<Finding> {
    let sources =
        files.iter().filter(|file| file.path.ends_with(".rs") && format!("/{}", file.path).contains("/src/"));
    let undocumented = sources.filter(|file| !has_module_doc(&file.text));
    undocumented
        .map(|file| {
            Finding::new(
                &file.path,
                "missing module documentation",
                "start the file with a line `//! …` that describes its contents",
            )
        })
        .collect()
}

/// Returns whether the file starts with a module doc, possibly after inner attributes and ordinary comments.
fn has_module_doc(text: &str) -> bool {
    let is_before = |line: &&str| {
        line.is_empty() || line.starts_with("#!") || (line.starts_with("//") && !line.starts_with("//!"))
    };
    text.lines().map(str::trim).find(|line| !is_before(line)).is_some_and(|line| line.starts_with("//!"))
}

#[cfg(test)]
mod tests {
    use super::super::finding::assert_found;
    use super::*;

    #[test]
    fn files_without_a_module_doc_are_found() {
        let files = [
            File::new("crates/a/src/lib.rs", "//! What it is.\n\nfn f() {}\n"),
            File::new("crates/a/src/allowed.rs", "#![allow(dead_code)]\n\n//! What it is.\n"),
            File::new("crates/a/src/late.rs", "use std::fmt;\n//! Too late.\n"),
            File::new("crates/a/src/note.rs", "// A note is no doc.\nfn f() {}\n"),
            File::new("xtask/src/empty.rs", ""),
            File::new("crates/a/examples/no_source.rs", "fn main() {}\n"),
            File::new("crates/a/src/notes.md", "text"),
        ];
        let wanted = [
            "crates/a/src/late.rs: missing module documentation; ",
            "crates/a/src/note.rs: missing module documentation; ",
            "xtask/src/empty.rs: missing module documentation; ",
        ];
        assert_found(&findings(&files), &wanted);
    }
}
