//! Check that the examples on the front pages of a library (its README and the documentation of its `lib.rs`)
//! use no other crate of the workspace.
//!
//! Crates re-export the types of lower crates that occur in their public signatures, so users only need to
//! depend on one crate.

use super::files::{File, text_of};
use super::finding::Finding;
use super::metadata::Member;

/// Returns findings for the lines of examples that name another crate of the workspace.
pub(crate) fn findings(files: &[File], members: &[Member]) -> Vec<Finding> {
    let crates: Vec<String> = members.iter().map(|member| member.name.replace('-', "_")).collect();
    let mut findings = Vec::new();
    for (member, own) in members.iter().zip(&crates).filter(|(member, _)| member.has_library) {
        for (path, prefix) in
            [(format!("{}/README.md", member.folder), ""), (format!("{}/src/lib.rs", member.folder), "//!")]
        {
            let Some(text) = text_of(files, &path) else { continue };
            for (number, line) in examples(text, prefix) {
                let others = crates.iter().filter(|name| *name != own && uses(line, name));
                findings.extend(others.map(|other| {
                    Finding::new(
                        &format!("{path}:{number}"),
                        format!("the example depends on the crate {other}"),
                        format!("re-export the items from {own}, or avoid them in the example"),
                    )
                }));
            }
        }
    }
    findings
}

/// Returns the lines inside Rust code blocks without `prefix`, with their line numbers (from 1). Lines of the
/// text that do not start with `prefix` are skipped.
fn examples<'t>(text: &'t str, prefix: &'t str) -> impl Iterator<Item = (usize, &'t str)> {
    let mut is_inside = false;
    let mut is_rust = false;
    let lines = text
        .lines()
        .enumerate()
        .filter_map(move |(index, line)| Some((index + 1, line.strip_prefix(prefix)?)));
    lines.filter(move |(_, line)| {
        let Some(info) = line.trim().strip_prefix("```") else { return is_inside && is_rust };
        is_inside = !is_inside;
        is_rust = is_inside && matches!(info, "" | "rust" | "no_run" | "rust,no_run" | "should_panic");
        false
    })
}

/// Returns whether a line contains a path that starts with this crate name.
fn uses(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let is_whole = !line[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_');
        is_whole && line[at + name.len()..].starts_with("::")
    })
}

#[cfg(test)]
mod tests {
    use super::super::finding::assert_found;
    use super::*;

    fn library(name: &str) -> Member {
        Member {
            name: name.to_owned(),
            folder: format!("crates/{name}"),
            has_library: true,
            ..Member::default()
        }
    }

    #[test]
    fn examples_that_need_another_crate_are_found() {
        let members = [library("games"), library("my-trees")];
        let files = [
            File::new("crates/games/README.md", "```rust\nuse games::Rows;\n```\nSee my_trees::Exact.\n"),
            File::new(
                "crates/my-trees/README.md",
                "```sh\ngames::x\n```\n```rust\nuse my_trees::Exact;\nuse games::Rows;\n```\n",
            ),
            File::new(
                "crates/my-trees/src/lib.rs",
                "//! ```no_run\n//! let rows = games::Rows::new();\n//! ```\n\nuse games::Rows;\npub use \
                 old_games::X;\n",
            ),
        ];
        let expected = [
            "crates/my-trees/README.md:6: the example depends on the crate games",
            "crates/my-trees/src/lib.rs:2",
        ];
        assert_found(&findings(&files, &members), &expected);
    }
}
