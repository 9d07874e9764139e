//! Check that lines have at most 110 characters, the width that rustfmt is configured for.
//!
//! Lines that cannot be broken are exempt: table rows and code blocks in comments of Rust, lines with a URL,
//! and a few files.

use super::files::File;
use super::finding::Finding;

/// Maximum number of characters in a line.
const MAX_WIDTH: usize = 110;

/// File name extensions of the files that are checked.
const ENDINGS: [&str; 4] = [".rs", ".py", ".pyi", ".js"];

/// Files that may contain longer lines.
const EXEMPT: [&str; 3] = [
    // Snapshots of HTML and of terminal output.
    "crates/media/src/text/tests.rs",
    // BibTeX, which is printed unchanged.
    "xtask/lab/src/papers/group_explainers/mod.rs",
    "xtask/lab/src/papers/projected_sgd/mod.rs",
];

/// Returns a finding for each line of code or of a comment that is too long.
pub(crate) fn findings(files: &[File]) -> Vec<Finding> {
    let is_checked = |file: &&File| {
        ENDINGS.iter().any(|ending| file.path.ends_with(ending)) && !EXEMPT.contains(&file.path.as_str())
    };
    files.iter().filter(is_checked).flat_map(long_lines).collect()
}

fn long_lines(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut in_block = false;
    for (number, line) in file.text.lines().enumerate() {
        let comment = comment_of(line);
        let starts_with = |start: &str| comment.is_some_and(|comment| comment.starts_with(start));
        // A code block cannot continue past the end of its comment.
        in_block &= comment.is_some();
        let width = line.chars().count();
        if width > MAX_WIDTH && !in_block && !starts_with("|") && !line.contains("://") {
            let wrong = format!("line {} has {width} characters", number + 1);
            findings.push(Finding::new(
                &file.path,
                wrong,
                format!("break it after at most {MAX_WIDTH} characters"),
            ));
        }
        in_block ^= starts_with("```");
    }
    findings
}

/// Returns the text of a comment line, without `//`.
fn comment_of(line: &str) -> Option<&str> {
    let comment = line.trim_start().strip_prefix("//")?;
    Some(comment.trim_start_matches(['/', '!']).trim_start())
}

#[cfg(test)]
mod tests {
    use super::super::finding::assert_found;
    use super::*;

    fn found(path: &str, text: &str) -> Vec<Finding> {
        findings(&[File::new(path, text)])
    }

    #[test]
    fn long_lines_are_found_unless_they_cannot_be_broken() {
        let long = "x".repeat(111);
        assert_found(
            &found(
                "a.rs",
                &format!("fn short() {{}}\n// {long}\n/// ```\n/// {long}\n/// ```\n/// {long}\n{long}\n"),
            ),
            &["a.rs: line 2 has 114 characters; break it after at most 110 characters", "line 6", "line 7"],
        );
        for text in
            [format!("//! | {long} |"), format!("// https://{long}"), format!("// {}", "ü".repeat(107))]
        {
            assert_found(&found("a.rs", &text), &[]);
        }
        for path in ["a.py", "a.pyi", "a.js", "xtask/lab/src/a.rs"] {
            assert_found(&found(path, &format!("short\n{long}")), &["line 2 has 111 characters"]);
        }
        for path in ["a.md", EXEMPT[0]] {
            assert_found(&found(path, &long), &[]);
        }
    }

    #[test]
    fn code_in_a_comment_ends_with_the_comment() {
        let long = "x".repeat(111);
        let text = format!("/// ```\n/// {long}\nfn short() {{}}\n/// {long}\n");
        assert_found(&found("a.rs", &text), &["line 4"]);
    }

    #[test]
    fn a_row_of_a_table_is_exempt_in_comments_only() {
        let long = "x".repeat(111);
        assert_found(&found("a.rs", &format!("| {long}")), &["line 1"]);
    }
}
