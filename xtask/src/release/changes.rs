//! Checks the unreleased part of the change log, and inserts the heading of a release.

use anyhow::{Context, Result, bail, ensure};

use super::number::Number;

pub(super) const FILE: &str = "CHANGELOG.md";

/// Heading of the unreleased part.
const UNRELEASED: &str = "## Unreleased";

/// Headings that the part of a release may contain, in order. Results depend on seeds, so changes of values
/// have a separate heading.
const HEADINGS: [&str; 4] = ["### New", "### Changed", "### Values that change", "### Mended"];

/// Heading that the part of every release contains, followed by "None." if no value changes.
const VALUES: &str = "### Values that change";

/// Summarizes the number of unreleased entries under each heading, for example "2 new, 1 changed".
///
/// # Errors
///
/// If there are no entries, a heading is unknown, or the heading for changed values is missing.
pub(super) fn unreleased(text: &str) -> Result<String> {
    let part = part(text)?;
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for line in part.lines() {
        if line.starts_with("### ") {
            ensure!(
                HEADINGS.contains(&line),
                "{FILE}: invalid heading {line:?}; expected one of: {}",
                HEADINGS.join(", ")
            );
            counts.push((line, 0));
        } else if line.starts_with("- ") || line == "None." {
            let (_, count) = counts.last_mut().with_context(|| {
                format!("{FILE}: entry {line:?} before the first heading; move it under {}", HEADINGS[0])
            })?;
            *count += usize::from(line != "None.");
        }
    }
    ensure!(
        counts.iter().any(|(heading, _)| *heading == VALUES),
        "{FILE}: missing heading {VALUES:?}; add it, with \"None.\" if no values change"
    );
    ensure!(
        counts.iter().any(|(_, count)| *count > 0),
        "{FILE}: no entries under {UNRELEASED:?}; describe what changed for users"
    );
    let said: Vec<String> = counts
        .iter()
        .map(|(heading, count)| format!("{count} {}", heading.trim_start_matches("### ").to_lowercase()))
        .collect();
    Ok(said.join(", "))
}

/// Returns the change log with a heading for this release, and an empty part above it for the next one.
pub(super) fn released(text: &str, version: &Number, date: &str) -> Result<String> {
    unreleased(text)?;
    if text.lines().any(|line| line.starts_with(&format!("## {version},"))) {
        bail!("{FILE} already has a heading for {version}; use a later version");
    }
    let next = format!("{UNRELEASED}\n\n{VALUES}\n\nNone.\n\n## {version}, {date}");
    Ok(text.replacen(UNRELEASED, &next, 1))
}

/// Returns the unreleased part, without its heading.
fn part(text: &str) -> Result<&str> {
    let (_, part) = text
        .split_once(&format!("{UNRELEASED}\n"))
        .with_context(|| format!("{FILE}: missing heading {UNRELEASED:?}; add it above the last release"))?;
    Ok(part.split_once("\n## ").map_or(part, |(part, _)| part))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "# Changes\n\n## Unreleased\n\n### New\n\n- A thing\n  of two lines.\n- \
                       Another.\n\n### Values that change\n\nNone.\n\n## 0.1.0, 2026-01-01\n\n### Other\n\n- \
                       Old.\n";

    #[test]
    fn what_is_not_released_is_counted() {
        assert_eq!(unreleased(LOG).unwrap(), "2 new, 0 values that change");
        for (text, wanted) in [
            ("# Changes\n", "missing heading \"## Unreleased\""),
            (&LOG.replace("### New", "### Novel"), "invalid heading \"### Novel\""),
            (
                &LOG.replace("### Values that change", "### Changed"),
                "missing heading \"### Values that change\"",
            ),
            (&LOG.replace("- A thing", "A thing").replace("- Another", "Another"), "no entries under"),
            (&LOG.replace("### New\n", ""), "before the first heading"),
        ] {
            let error = unreleased(text).unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}");
        }
    }

    #[test]
    fn a_release_has_a_heading_and_the_next_one_begins_empty() {
        let version: Number = "0.2.0".parse().unwrap();
        let new = released(LOG, &version, "2026-02-03").unwrap();
        assert!(new.contains(
            "## Unreleased\n\n### Values that change\n\nNone.\n\n## 0.2.0, 2026-02-03\n\n### New\n\n- A thing"
        ));
        assert!(unreleased(&new).unwrap_err().to_string().contains("no entries under"));
        assert!(released(&LOG.replace("0.1.0", "0.2.0"), &version, "").is_err());
    }

    #[test]
    fn our_change_log_can_be_released() {
        let text = include_str!("../../../CHANGELOG.md");
        unreleased(text).unwrap();
    }
}
