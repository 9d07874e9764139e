//! Lines of code and comments have at most 110 characters, which is the width of rustfmt here.
//!
//! Exempt is what cannot be broken: rows of tables in comments, blocks of code in comments, text within a string over
//! several lines, and lines with an address.

use super::files::File;
use super::finding::Finding;

/// Maximum number of characters in a line.
const MAX_WIDTH: usize = 110;

/// Returns a finding for each line of Rust and Python that is too long.
pub(crate) fn findings(files: &[File]) -> Vec<Finding> {
    let code = files.iter().filter(|file| [".rs", ".py", ".pyi"].iter().any(|end| file.path.ends_with(end)));
    code.flat_map(long_lines).collect()
}

fn long_lines(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut in_block = false;
    let mut in_string: Option<String> = None;
    for (number, line) in file.text.lines().enumerate() {
        let comment = comment_of(line);
        if comment.is_some_and(|text| text.starts_with("```")) {
            in_block = !in_block;
        }
        let was_in_string = in_string.is_some();
        if file.path.ends_with(".rs") && comment.is_none() {
            in_string = string_after(line, in_string);
        }
        let is_exempt = was_in_string
            || in_string.is_some()
            || (in_block && comment.is_some())
            || comment.is_some_and(|text| text.starts_with('|'))
            || line.contains("://");
        let width = line.chars().count();
        if width > MAX_WIDTH && !is_exempt {
            let wrong = format!("line {} has {width} characters", number + 1);
            findings.push(Finding::new(&file.path, wrong, format!("break it after at most {MAX_WIDTH}")));
        }
    }
    findings
}

/// Returns the text of a line that is a comment.
fn comment_of(line: &str) -> Option<&str> {
    let comment = line.trim_start().strip_prefix("//")?;
    Some(comment.trim_start_matches(['/', '!']).trim_start())
}

/// Returns the end of the raw string that is open after `line`, if there is one; `open` is the end of the string that is
/// open before it.
fn string_after(line: &str, open: Option<String>) -> Option<String> {
    let mut rest = line;
    let mut open = open;
    loop {
        if let Some(end) = &open {
            let position = rest.find(end.as_str())?;
            rest = &rest[position + end.len()..];
            open = None;
        }
        let start = rest.find("r#").or_else(|| rest.find("r\""));
        let Some(position) = start else { return open };
        let hashes = rest[position + 1..].chars().take_while(|&letter| letter == '#').count();
        let after = &rest[position + 1 + hashes..];
        if let Some(content) = after.strip_prefix('"') {
            open = Some(format!("\"{}", "#".repeat(hashes)));
            if !content.contains(open.as_deref().unwrap_or_default()) {
                return open;
            }
            rest = content;
        } else {
            rest = after;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::assert_found;
    use super::*;

    #[test]
    fn long_lines_of_code_and_comments_are_found() {
        let long = "x".repeat(111);
        let found = |path: &str, text: &str| findings(&[File::new(path, text)]);
        assert_found(
            &found("a.rs", &format!("fn short() {{}}\n{long}\n// {long}\n")),
            &["a.rs: line 2 has 111 characters", "line 3 has 114 characters; break it after at most 110"],
        );
        assert_found(&found("a.py", &long), &["a.py: line 1"]);
        assert_found(&found("a.md", &long), &[]);
        assert_found(&found("a.rs", &"ü".repeat(110)), &[]);
    }

    #[test]
    fn lines_that_cannot_be_broken_are_exempt() {
        let long = "x".repeat(111);
        for text in [
            format!("//! | {long} |"),
            format!("/// ```\n/// {long}\n/// ```"),
            format!("// https://{long}"),
            format!("let text = r#\"\n{long}\n\"#;"),
            format!("let text = r\"{long}\n\";"),
        ] {
            assert_found(&findings(&[File::new("a.rs", &text)]), &[]);
        }
        let closed = format!("let text = r#\"a\"#;\n{long}\nlet text = r\"\n\";\n{long}");
        assert_found(&findings(&[File::new("a.rs", &closed)]), &["line 2", "line 5"]);
    }
}
