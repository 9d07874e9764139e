//! Check that relative links in Markdown point to existing files.

use super::files::File;
use super::finding::Finding;

/// Returns findings for links to missing files; `exists` is called with a path relative to the root of the
/// repository.
pub(crate) fn findings(files: &[File], exists: impl Fn(&str) -> bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.path.ends_with(".md")) {
        for target in targets(&file.text) {
            let path = target.split('#').next().unwrap_or_default();
            let is_elsewhere = target.contains("://") || target.starts_with("mailto:");
            if path.is_empty() || is_elsewhere {
                continue;
            }
            if !resolved(file.folder(), path).is_some_and(|path| exists(&path)) {
                let wrong = format!("broken link to `{target}`");
                findings.push(Finding::new(
                    &file.path,
                    wrong,
                    "correct the path, relative to the directory of the file",
                ));
            }
        }
    }
    findings
}

/// Returns the targets of `](…)` links outside code.
fn targets(markdown: &str) -> Vec<String> {
    let mut targets = Vec::new();
    let mut is_code = false;
    for line in markdown.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            let line = without_code(line);
            let ends = line.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
            // A quoted title may follow the path in a link.
            targets
                .extend(ends.filter_map(|(target, _)| target.split_whitespace().next().map(str::to_owned)));
        }
    }
    targets
}

/// Returns a line without its code spans.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect()
}

/// Returns a link target as a path relative to the root of the repository, or `None` if it points outside the
/// repository. `path` is relative to `folder`.
fn resolved(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::super::finding::assert_found;
    use super::*;

    fn check(path: &str, text: &str, wanted: &[&str]) {
        let exists = |path: &str| ["docs/map.md", "README.md", "docs"].contains(&path);
        assert_found(&findings(&[File::new(path, text)], exists), wanted);
    }

    #[test]
    fn links_to_files_that_are_there_and_to_elsewhere_are_right() {
        let text = "[a](map.md) [`b`](../README.md#top) [c](https://x.y/z) [d](#here) [e](mailto:a@b.c) \
            [f](./ \"the folder\")";
        check("docs/other.md", text, &[]);
    }

    #[test]
    fn links_that_lead_nowhere_are_found() {
        let text = "[a](gone.md) and [b](map.md)\n[c](../../out.md)\n";
        check("docs/other.md", text, &["docs/other.md: broken link to `gone.md`", "../../out.md"]);
    }

    #[test]
    fn code_has_no_links() {
        check("README.md", "`a[0](gone)`\n```\nb[1](gone)\n```\n", &[]);
    }
}
