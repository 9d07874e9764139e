//! Check of the order of modules in a crate. If a table in the module doc of `lib.rs` is followed by the line
//! [`SENTENCE`], the modules in each row may only import modules of rows further up.

use super::super::finding::Finding;
use super::graph;

/// Line in `lib.rs` that marks the table above it as an order of the modules.
const SENTENCE: &str = "//! A module imports only modules above it in this table.";

/// Returns findings for modules that are missing in the table of their crate, and for imports of modules that
/// are not in a row above the importing module. `files` are the source files, with paths relative to `src`.
pub(super) fn findings(source: &str, files: &[(&str, &str)]) -> Vec<Finding> {
    let text = files.iter().find(|(path, _)| *path == "lib.rs").map(|(_, text)| *text);
    let Some(floors) = text.and_then(floors) else { return Vec::new() };
    let floor = |module: &str| floors.iter().position(|floor| floor.iter().any(|name| name == module));
    let mut findings = Vec::new();
    let mut modules: Vec<&str> = files.iter().filter_map(|(path, _)| module(path)).collect();
    modules.dedup();
    for module in modules.into_iter().filter(|module| floor(module).is_none()) {
        let wrong = format!("`{module}` is not in the table of modules of lib.rs");
        findings.push(Finding::new(source, wrong, "add it to a row below the modules that it imports"));
    }
    for (file, imported) in graph::imports(files) {
        let (Some(own), Some(other)) = (module(&file), module(&imported)) else { continue };
        let floors = floor(own).zip(floor(other));
        if own != other && floors.is_some_and(|(own, other)| other >= own) {
            let wrong = format!("imports {imported}, which is not above `{own}` in the table of lib.rs");
            let remedy = "move what both need into a module above them";
            findings.push(Finding::new(&format!("{source}/{file}"), wrong, remedy));
        }
    }
    findings
}

/// Returns the modules in each row of the table above [`SENTENCE`], or `None` if there is no such line.
fn floors(text: &str) -> Option<Vec<Vec<String>>> {
    let lines: Vec<&str> = text.lines().collect();
    let end = lines.iter().position(|line| *line == SENTENCE)?;
    let rows = lines[..end].iter().rev().skip_while(|line| !line.starts_with("//! |"));
    let mut floors: Vec<Vec<String>> = rows
        .take_while(|line| line.starts_with("//! |"))
        .map(|row| row.split('|').nth(1).unwrap_or_default().split('`').skip(1).step_by(2))
        .map(|names| names.map(str::to_owned).collect())
        .collect();
    floors.reverse();
    Some(floors)
}

/// Returns the top-level module that contains a file, or `None` for the crate roots (`lib.rs`, `main.rs` and
/// the files in `bin`).
fn module(path: &str) -> Option<&str> {
    let name = path.split('/').next().unwrap_or(path);
    let name = name.strip_suffix(".rs").unwrap_or(name);
    (!matches!(name, "lib" | "main" | "bin")).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::assert_found;
    use super::*;

    const LIB: &str = "//! | type | content |\n//! |---|---|\n//! | `A` | a |\n//!\n//! | module | \
        content |\n//! |---|---|\n//! | `low` | a |\n//! | `left`, [`right`] | b |\n//!\n//! A module \
        imports only modules above it in this table.\n";

    #[test]
    fn imports_of_modules_above_have_no_findings() {
        let files = [
            ("lib.rs", LIB),
            ("low.rs", "pub struct L;\n"),
            ("left/mod.rs", "mod one;\nuse one::O;\nuse crate::low::L;\n"),
            ("left/one.rs", "use super::super::low::L;\npub struct O;\n"),
            ("right.rs", "use crate::low::L;\n"),
        ];
        assert_found(&findings("a/src", &files), &[]);
    }

    #[test]
    fn imports_from_the_same_row_or_below_are_found() {
        let files = [
            ("lib.rs", LIB),
            ("low.rs", "use crate::left::one::O;\npub struct L;\n"),
            ("left/mod.rs", "pub mod one;\n"),
            ("left/one.rs", "pub struct O;\n"),
            ("right.rs", "use crate::left::one::O;\n"),
        ];
        let wanted = [
            "a/src/low.rs: imports left/one.rs, which is not above `low`",
            "a/src/right.rs: imports left/one.rs, which is not above `right`",
        ];
        assert_found(&findings("a/src", &files), &wanted);
    }

    #[test]
    fn modules_without_a_row_are_found_if_the_table_is_in_order() {
        let files = [("lib.rs", LIB), ("other.rs", "")];
        assert_found(&findings("a/src", &files), &["a/src: `other` is not in the table"]);
        assert_found(&findings("a/src", &[("lib.rs", "//! | `a` | b |\n"), files[1]]), &[]);
    }
}
