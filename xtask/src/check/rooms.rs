//! Check that the table of crates in `docs/architecture.md` is correct: it lists the crates of the workspace,
//! each below all its dependencies, and no crate does what its row excludes. A crate must not build with a
//! package that its row excludes in backticks, and must not be publishable if its row excludes that.

use super::files::{File, text_of};
use super::finding::Finding;
use super::metadata::Member;

const DOCUMENT: &str = "docs/architecture.md";
const HEADING: &str = "## Crates";
/// Phrase that marks a crate as internal to the workspace, in the column on what the crate does not do.
const UNPUBLISHED: &str = "be published";

/// A row of the table of crates.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Room {
    /// Path of the crate, relative to the root of the repository.
    folder: String,
    /// The package name, if the row states one in addition to the directory.
    package: Option<String>,
    is_outside: bool,
    /// Text of the column on what the crate does not do, with excluded packages in backticks.
    does_not: String,
}

/// Returns the differences between the table and the workspace, and dependencies on a crate further down in
/// the table.
pub(crate) fn findings(files: &[File], members: &[Member]) -> Vec<Finding> {
    let rooms = rooms(text_of(files, DOCUMENT).unwrap_or_default());
    if rooms.is_empty() {
        let wrong = format!("missing table of crates under {HEADING:?}");
        return vec![Finding::new(DOCUMENT, wrong, "list every crate there")];
    }
    let mut findings = Vec::new();
    for room in &rooms {
        let member = members.iter().find(|member| member.folder == room.folder);
        if member.is_some() == room.is_outside {
            let wrong = format!(
                "`{}` is {} the workspace",
                room.folder,
                if room.is_outside { "in" } else { "not in" }
            );
            findings.push(Finding::new(DOCUMENT, wrong, "correct or remove its row in the table of crates"));
        }
        let names = member.map(|member| &member.name).zip(room.package.as_ref());
        if let Some((name, listed)) = names.filter(|(name, listed)| name != listed) {
            let wrong = format!("the crate in `{}` is `{name}`, not `{listed}`", room.folder);
            findings.push(Finding::new(DOCUMENT, wrong, "correct its row in the table of crates"));
        }
    }
    let row = |name: &str| {
        let member = members.iter().find(|member| member.name == name)?;
        rooms.iter().position(|room| room.folder == member.folder)
    };
    for member in members {
        let Some(own) = row(&member.name) else {
            let wrong = format!("`{}` is not in the table of crates", member.name);
            findings.push(Finding::new(DOCUMENT, wrong, "add a row that describes the crate"));
            continue;
        };
        for needed in member.needs.iter().filter(|needed| row(needed).is_some_and(|its| its >= own)) {
            let manifest = format!("{}/Cargo.toml", member.folder);
            let wrong = format!("depends on `{needed}`, which is not above it in the table of crates");
            let remedy = format!("remove the dependency, or change the order in {DOCUMENT}");
            findings.push(Finding::new(&manifest, wrong, remedy));
        }
        findings.extend(broken_promises(member, &rooms[own].does_not));
    }
    findings
}

/// Returns findings if a crate violates the exclusions in its row of the table.
fn broken_promises(member: &Member, does_not: &str) -> Vec<Finding> {
    let manifest = format!("{}/Cargo.toml", member.folder);
    let named = does_not.split('`').skip(1).step_by(2);
    let needed = named.filter(|name| member.builds_with.iter().any(|needed| needed == name));
    let mut broken: Vec<Finding> = needed
        .map(|name| {
            let wrong = format!("builds with `{name}`, which its row in the table of crates excludes");
            Finding::new(&manifest, wrong, format!("remove the dependency, or correct the row in {DOCUMENT}"))
        })
        .collect();
    if does_not.contains(UNPUBLISHED) && member.is_published {
        let wrong = "may be published, which its row in the table of crates excludes";
        broken.push(Finding::new(&manifest, wrong, "set `publish = false`"));
    }
    broken
}

/// Returns the rows of the table, in order.
fn rooms(markdown: &str) -> Vec<Room> {
    let section = markdown.lines().skip_while(|line| *line != HEADING).skip(1);
    let rows = section.take_while(|line| !line.starts_with("## ")).filter(|line| line.starts_with('|'));
    rows.filter_map(|row| {
        let mut cells = row.split('|').skip(1);
        room(cells.next()?, cells.nth(1).unwrap_or_default())
    })
    .collect()
}

/// Parses `` `package` (`folder`) `` or `` `folder` ``, and the column on what the crate does not do. Returns
/// `None` for the header, which names no directory.
fn room(cell: &str, does_not: &str) -> Option<Room> {
    let mut quoted = cell.split('`').skip(1).step_by(2).map(str::to_owned);
    let does_not = does_not.trim().to_owned();
    let first = quoted.next()?;
    let is_outside = cell.contains("outside the workspace");
    Some(match quoted.next() {
        Some(folder) => Room { folder, package: Some(first), is_outside, does_not },
        None => Room { folder: first, package: None, is_outside, does_not },
    })
}

#[cfg(test)]
mod tests {
    use super::super::finding::assert_found;
    use super::*;

    const TABLE: &str = "# Map\n\n## Crates\n\nText.\n\n| crate (directory) | contains | must not \
        |\n|---|---|---|\n| `a-floor` (`crates/floor`) | `Thing` | add (`adder`, `sums`) |\n| `a-face` \
        (`crates/face`) | all | |\n| `tool` | tools | be published |\n| `tool/apart`, outside the workspace \
        | more | |\n\n## Next\n\n| `no` (`room`) |\n";

    fn member(name: &str, folder: &str, needs: &[&str]) -> Member {
        let needs = needs.iter().map(|&name| name.to_owned()).collect();
        Member { name: name.to_owned(), folder: folder.to_owned(), needs, ..Member::default() }
    }

    fn check(members: &[Member], wanted: &[&str]) {
        assert_found(&findings(&[File::new(DOCUMENT, TABLE)], members), wanted);
    }

    #[test]
    fn a_true_table_has_no_findings() {
        let members = [
            member("tool", "tool", &["a-face", "serde"]),
            member("a-face", "crates/face", &["a-floor"]),
            member("a-floor", "crates/floor", &["rand"]),
        ];
        check(&members, &[]);
    }

    #[test]
    fn a_dependency_on_a_lower_row_is_found() {
        let members = [
            member("tool", "tool", &[]),
            member("a-face", "crates/face", &[]),
            member("a-floor", "crates/floor", &["a-face"]),
        ];
        check(&members, &["crates/floor/Cargo.toml: depends on `a-face`"]);
    }

    #[test]
    fn what_a_row_rules_out_is_found() {
        let floor =
            Member { builds_with: vec!["sums".to_owned()], ..member("a-floor", "crates/floor", &["rand"]) };
        let tool = Member { is_published: true, ..member("tool", "tool", &[]) };
        let wanted = [
            "crates/floor/Cargo.toml: builds with `sums`, which its row",
            "tool/Cargo.toml: may be published, which its row",
        ];
        check(&[floor, member("a-face", "crates/face", &[]), tool], &wanted);
    }

    #[test]
    fn crates_without_a_row_and_rows_without_a_crate_are_found() {
        let members = [
            member("a-face", "crates/face", &[]),
            member("renamed", "crates/floor", &[]),
            member("extra", "crates/extra", &[]),
            member("apart", "tool/apart", &[]),
        ];
        let wanted = [
            "the crate in `crates/floor` is `renamed`, not `a-floor`",
            "`tool` is not in the workspace",
            "`tool/apart` is in the workspace",
            "`extra` is not in the table of crates",
        ];
        check(&members, &wanted);
    }

    #[test]
    fn a_document_without_the_table_is_found() {
        assert_found(&findings(&[File::new(DOCUMENT, "# Map\n")], &[]), &["missing table of crates"]);
    }
}
