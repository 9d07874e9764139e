//! Check for import cycles: files of a crate that import each other, so that none can be understood or moved
//! without the others.
//!
//! | file | contents |
//! |---|---|
//! | [`imports`] | imports of a file, parsed from its text |
//! | [`tokens`] | tokenizer for that text |
//! | [`graph`] | resolution of imports to files, and the cycles |
//! | [`floors`] | the order of modules in a crate |
//!
//! Imports are parsed from the text, ignoring macros and conditional compilation, so a cycle may be missed. A
//! re-export (`pub use`) does not count as an import: a file that uses the re-exported name imports the file
//! that defines it.

mod floors;
mod graph;
mod imports;
mod tokens;

use std::collections::BTreeMap;

use super::files::File;
use super::finding::Finding;

/// Returns a finding for each import cycle of a crate.
pub(crate) fn findings(files: &[File]) -> Vec<Finding> {
    let found = |(source, files): (&str, Vec<(&str, &str)>)| {
        let finding = |circle: Vec<String>| {
            let wrong = format!("these files import each other: {}", circle.join(" "));
            Finding::new(source, wrong, "move the code that two of them share into a third file")
        };
        graph::circles(&files).into_iter().map(finding).collect::<Vec<_>>()
    };
    crates(files).into_iter().flat_map(found).collect()
}

/// Returns findings for imports that violate the order of modules, for crates whose `lib.rs` lists the
/// modules in order.
pub(crate) fn against_floors(files: &[File]) -> Vec<Finding> {
    crates(files).into_iter().flat_map(|(source, files)| floors::findings(source, &files)).collect()
}

/// Returns the source files of each crate, with paths relative to the crate's `src` directory. The keys are
/// the paths of these directories.
fn crates(files: &[File]) -> BTreeMap<&str, Vec<(&str, &str)>> {
    let mut crates: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for file in files.iter().filter(|file| file.path.ends_with(".rs")) {
        if let Some(at) = file.path.find("/src/") {
            let (source, rest) = file.path.split_at(at + "/src".len());
            crates.entry(source).or_default().push((rest.trim_start_matches('/'), &file.text));
        }
    }
    crates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_import_each_other_are_found() {
        let files = [
            File::new("crates/a/src/lib.rs", "mod one;\nmod two;\n"),
            File::new("crates/a/src/one.rs", "use crate::two::Two;\npub struct One;\n"),
            File::new("crates/a/src/two.rs", "use crate::one::One;\npub struct Two;\n"),
        ];
        let said: Vec<String> = findings(&files).iter().map(Finding::to_string).collect();
        let wanted = "crates/a/src: these files import each other: one.rs two.rs; move the code that \
            two of them share into a third file";
        assert_eq!(said, [wanted]);
        assert_eq!(findings(&files[..2]), []);
    }
}
