//! Checks that the README of the command names every method.

use apportion::Method;

/// Returns whether a text contains the whole name, or its last part (`-balanced`) on the same line as its
/// first part.
fn names(readme: &str, name: &str) -> bool {
    readme.contains(&format!("`{name}`"))
        || name.match_indices('-').any(|(at, _)| {
            let (start, end) = name.split_at(at);
            readme
                .lines()
                .any(|line| line.contains(&format!("`{start}`")) && line.contains(&format!("`{end}`")))
        })
}

#[test]
fn the_readme_names_every_method() {
    let missing: Vec<&str> = Method::all()
        .map(Method::name)
        .filter(|name| !names(include_str!("../../README.md"), name))
        .collect();
    assert!(missing.is_empty(), "add to a table of crates/cli/README.md: {missing:?}");
}

#[test]
fn names_are_whole_or_in_two_parts_of_a_line() {
    let readme = "| `monte-carlo` | `-balanced` all rotations |\n| `msr` | plain |\n| `-adjusted` |\n";
    assert!(names(readme, "monte-carlo"));
    assert!(names(readme, "monte-carlo-balanced"));
    assert!(!names(readme, "msr-adjusted"));
    assert!(!names(readme, "carlo"));
}
