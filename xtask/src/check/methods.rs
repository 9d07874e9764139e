//! The README of the command names every method.

use apportion::Method;

use super::files::{File, text_of};
use super::finding::Finding;

const README: &str = "crates/cli/README.md";

/// The methods that the README does not name.
pub(crate) fn findings(files: &[File]) -> Vec<Finding> {
    let readme = text_of(files, README).unwrap_or_default();
    let missing = Method::all().map(Method::name).filter(|name| !names(readme, name));
    missing
        .map(|name| Finding::new(README, format!("no word of the method `{name}`"), "add it to a table"))
        .collect()
}

/// Whether a text has the name, whole, or its end (`-balanced`) in a line with its beginning.
fn names(readme: &str, name: &str) -> bool {
    readme.contains(&format!("`{name}`"))
        || name.match_indices('-').any(|(at, _)| {
            let (start, end) = name.split_at(at);
            readme
                .lines()
                .any(|line| line.contains(&format!("`{start}`")) && line.contains(&format!("`{end}`")))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_whole_or_in_two_parts_of_a_line() {
        let readme = "| `monte-carlo` | `-balanced` all rotations |\n| `msr` | plain |\n| `-adjusted` |\n";
        assert!(names(readme, "monte-carlo"));
        assert!(names(readme, "monte-carlo-balanced"));
        assert!(!names(readme, "msr-adjusted"));
        assert!(!names(readme, "carlo"));
    }

    #[test]
    fn a_readme_without_methods_has_a_finding_for_each() {
        assert_eq!(findings(&[File::new(README, "")]).len(), Method::all().count());
    }
}
