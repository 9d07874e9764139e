//! Comments have at most 110 characters in a line, which is the width of rustfmt here.
//!
//! Exempt is what cannot be broken: rows of tables, blocks of code, and lines with an address.

use super::files::File;
use super::finding::Finding;

/// Maximum number of characters in a line.
const MAX_WIDTH: usize = 110;

/// Folders that are not checked yet.
const UNCHECKED: [&str; 2] = ["crates/python/", "xtask/lab/"];

/// Returns a finding for each line of a comment in Rust that is too long.
pub(crate) fn findings(files: &[File]) -> Vec<Finding> {
    let is_checked = |file: &&File| {
        file.path.ends_with(".rs") && !UNCHECKED.iter().any(|folder| file.path.starts_with(folder))
    };
    files.iter().filter(is_checked).flat_map(long_lines).collect()
}

fn long_lines(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut in_block = false;
    for (number, line) in file.text.lines().enumerate() {
        let Some(comment) = comment_of(line) else { continue };
        let is_fence = comment.starts_with("```");
        let width = line.chars().count();
        if width > MAX_WIDTH && !in_block && !comment.starts_with('|') && !line.contains("://") {
            let wrong = format!("line {} has {width} characters", number + 1);
            findings.push(Finding::new(&file.path, wrong, format!("break it after at most {MAX_WIDTH}")));
        }
        in_block ^= is_fence;
    }
    findings
}

/// Returns the text of a line that is a comment.
fn comment_of(line: &str) -> Option<&str> {
    let comment = line.trim_start().strip_prefix("//")?;
    Some(comment.trim_start_matches(['/', '!']).trim_start())
}

#[cfg(test)]
mod tests {
    use super::super::finding::assert_found;
    use super::*;

    #[test]
    fn long_comments_are_found_unless_they_cannot_be_broken() {
        let long = "x".repeat(111);
        let found = |path: &str, text: &str| findings(&[File::new(path, text)]);
        assert_found(
            &found(
                "a.rs",
                &format!("fn short() {{}}\n// {long}\n/// ```\n/// {long}\n/// ```\n/// {long}\n"),
            ),
            &["a.rs: line 2 has 114 characters; break it after at most 110", "line 6"],
        );
        for text in
            [format!("//! | {long} |"), format!("// https://{long}"), format!("// {}", "ü".repeat(107))]
        {
            assert_found(&found("a.rs", &text), &[]);
        }
        assert_found(&found("a.md", &format!("// {long}")), &[]);
        assert_found(&found("xtask/lab/src/a.rs", &format!("// {long}")), &[]);
    }
}
