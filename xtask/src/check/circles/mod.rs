//! Circles: files of a crate that import each other, so that none can be understood or moved without the others.
//!
//! | file | holds |
//! |---|---|
//! | [`imports`] | what a file imports, from its text |
//! | [`tokens`] | the words of that text |
//! | [`graph`] | which file that is in, and the circles |
//!
//! Imports are read from the text, without macros and conditions, so a circle may be missed. What a parent merely exports again is no import of
//! the parent, and whoever takes it from there imports the file that defines it.

mod graph;
mod imports;
mod tokens;

use std::collections::BTreeMap;
use std::fmt::Write;

use super::files::File;
use super::finding::Finding;

/// How many circles a crate has, and how many files stand in them: two circles that grow together are one circle, of more files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Count {
    circles: usize,
    files: usize,
}

/// The circles of today, in November 2026. Lower the numbers when a circle is cut; a crate that is not listed has none.
const RECORDED: [(&str, Count); 1] = [("crates/trees/src", Count { circles: 2, files: 28 })];

/// The crates with more circles, or more files in them, than are recorded.
pub(crate) fn findings(files: &[File]) -> Vec<Finding> {
    judged(files, &RECORDED)
}

/// The circles of each crate, in words.
pub(crate) fn listed(files: &[File]) -> String {
    let mut words = String::new();
    for (source, circles) in by_crate(files) {
        let (now, then) = (counted(&circles), recorded(&RECORDED, source));
        // Writing to a string does not fail.
        let _ = writeln!(words, "{source}: {}; the record is {}", in_words(now), in_words(then));
        for circle in circles {
            let _ = writeln!(words, "  {}", circle.join(" "));
        }
    }
    words
}

fn judged(files: &[File], record: &[(&str, Count)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (source, circles) in by_crate(files) {
        let (now, then) = (counted(&circles), recorded(record, source));
        if now.circles > then.circles || now.files > then.files {
            let wrong = format!("{}, where the record is {}", in_words(now), in_words(then));
            let remedy =
                "find them by cargo xtask check --circles, and move what two files share into a third";
            findings.push(Finding::new(source, wrong, remedy));
        }
    }
    findings
}

/// The circles of each crate that has any, by its folder of sources.
fn by_crate(files: &[File]) -> BTreeMap<&str, Vec<Vec<String>>> {
    let mut crates: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for file in files.iter().filter(|file| file.path.ends_with(".rs")) {
        if let Some(at) = file.path.find("/src/") {
            let (source, rest) = file.path.split_at(at + "/src".len());
            crates.entry(source).or_default().push((rest.trim_start_matches('/'), &file.text));
        }
    }
    let circles = crates.into_iter().map(|(source, files)| (source, graph::circles(&files)));
    circles.filter(|(_, circles)| !circles.is_empty()).collect()
}

fn counted(circles: &[Vec<String>]) -> Count {
    Count { circles: circles.len(), files: circles.iter().map(Vec::len).sum() }
}

fn recorded(record: &[(&str, Count)], source: &str) -> Count {
    let found = record.iter().find(|(of, _)| *of == source);
    found.map_or(Count { circles: 0, files: 0 }, |(_, count)| *count)
}

fn in_words(count: Count) -> String {
    let Count { circles, files } = count;
    format!("{circles} circle{} of {files} files", if circles == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> [File; 3] {
        [
            File::new("crates/a/src/lib.rs", "mod one;\nmod two;\n"),
            File::new("crates/a/src/one.rs", "use crate::two::Two;\npub struct One;\n"),
            File::new("crates/a/src/two.rs", "use crate::one::One;\npub struct Two;\n"),
        ]
    }

    #[test]
    fn more_circles_than_recorded_are_found() {
        let found = judged(&pair(), &[]);
        assert_eq!(found.len(), 1, "{found:?}");
        let said = found[0].to_string();
        assert!(
            said.starts_with("crates/a/src: 1 circle of 2 files, where the record is 0 circles of 0 files; "),
            "{said}"
        );
        assert_eq!(judged(&pair(), &[("crates/a/src", Count { circles: 1, files: 2 })]), []);
        assert_eq!(judged(&pair(), &[("crates/a/src", Count { circles: 2, files: 5 })]), []);
    }

    #[test]
    fn circles_are_listed_with_their_files() {
        assert!(listed(&pair()).contains("\n  one.rs two.rs\n"), "{}", listed(&pair()));
    }
}
