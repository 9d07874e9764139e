//! A violation of a repository rule, printed as one line: the file, the problem and how to fix it.

use std::fmt;

/// A violation of a repository rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    file: String,
    wrong: String,
    remedy: String,
}

impl Finding {
    pub(crate) fn new(file: &str, wrong: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { file: file.to_owned(), wrong: wrong.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.file, self.wrong, self.remedy)
    }
}

/// Asserts that there is one finding for each of `parts`, in order, whose line contains this part.
#[cfg(test)]
pub(crate) fn assert_found(findings: &[Finding], parts: &[&str]) {
    let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert_eq!(lines.len(), parts.len(), "{lines:?}");
    for (line, part) in lines.iter().zip(parts) {
        assert!(line.contains(part), "{line:?} has no {part:?}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_says_where_what_and_what_to_do() {
        let finding = Finding::new("src/lib.rs", "no module doc", "write one");
        assert_eq!(finding.to_string(), "src/lib.rs: no module doc; write one");
    }
}
