//! Every claim of `docs/claims.md` that does not hold, or holds partly, has a reason, and this project's own claims are apart from the papers'.

use super::files::{File, text_of};
use super::finding::Finding;
use crate::reproduce::claims::{OF_PAPERS, OF_PROJECT};
use crate::reproduce::verdict::{MISSING_REASON, Verdict, is_of_project};

const PAGE: &str = "docs/claims.md";

/// The rows without a reason, and those in the wrong table; `has_reason` is asked with an artefact, `leverage-shap/fig3`, and a claim.
///
/// A reason that is in `xtask/reasons.json` and not yet on the page is there the next time that the page is made.
pub(crate) fn findings(files: &[File], has_reason: impl Fn(&str, &str) -> bool) -> Vec<Finding> {
    let Some(page) = text_of(files, PAGE) else { return Vec::new() };
    let mut findings = Vec::new();
    let (mut columns, mut is_own): (Vec<String>, Option<bool>) = (Vec::new(), None);
    for line in page.lines() {
        match line.trim_end() {
            OF_PAPERS => is_own = Some(false),
            OF_PROJECT => is_own = Some(true),
            _ => {}
        }
        let cells = cells(line);
        if cells.iter().any(|cell| cell == "verdict") {
            columns = cells;
            continue;
        }
        if cells.iter().all(|cell| cell.chars().all(|letter| letter == '-')) {
            continue;
        }
        let cell = |name: &str| {
            let at = columns.iter().position(|column| column == name)?;
            cells.get(at).map(String::as_str)
        };
        let (Some(paper), Some(artefact), Some(claim), Some(source), Some(verdict), Some(why)) =
            (cell("paper"), cell("artefact"), cell("claim"), cell("source"), cell("verdict"), cell("why"))
        else {
            continue;
        };
        let artefact = artefact.trim_start_matches('[').split(']').next().unwrap_or_default();
        let artefact = format!("{paper}/{artefact}");
        let needs_reason =
            Verdict::ALL.into_iter().any(|known| known.needs_reason() && known.in_bold() == verdict);
        if needs_reason && (why.is_empty() || why == MISSING_REASON) && !has_reason(&artefact, claim) {
            findings.push(Finding::new(
                PAGE,
                format!("{artefact}: \"{claim}\" {}, and nothing says why", verdict.trim_matches('*')),
                "find out, by measuring, and write the reason into xtask/reasons.json",
            ));
        }
        if is_own.is_some_and(|is_own| is_own != is_of_project(source)) {
            findings.push(Finding::new(
                PAGE,
                format!("{artefact}: \"{claim}\" ({source}) is in the table of the others"),
                "make the page by cargo xtask reproduce, which keeps claims of this project and of papers apart",
            ));
        }
    }
    findings
}

/// The cells of a row of a table; none of any other line.
fn cells(line: &str) -> Vec<String> {
    let Some(inner) = line.trim().strip_prefix('|').and_then(|line| line.strip_suffix('|')) else {
        return Vec::new();
    };
    // A bar within a cell has a backslash before it.
    let mut cells = vec![String::new()];
    let mut letters = inner.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.peek() == Some(&'|') => {
                letters.next();
                cells.last_mut().into_iter().for_each(|cell| cell.push('|'));
            }
            '|' => cells.push(String::new()),
            other => cells.last_mut().into_iter().for_each(|cell| cell.push(other)),
        }
    }
    cells.into_iter().map(|cell| cell.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::finding::assert_found;
    use super::*;

    const HEAD: &str =
        "| paper | artefact | claim | source | verdict | why |\n| --- | --- | --- | --- | --- | --- |\n";

    fn page(rows: &str) -> [File; 1] {
        [File::new(PAGE, rows)]
    }

    #[test]
    fn rows_that_do_not_hold_and_say_not_why_are_found() {
        let rows = format!(
            "{HEAD}\
             | p | fig1 | a | section 1 | **holds** |  |\n\
             | p | fig1 | b \\| c | section 1 | **holds partly** |  |\n\
             | p | [fig2](p/fig2/report.md) | d | section 1 | **does not hold** | {MISSING_REASON} |\n\
             | p | fig2 | e | section 1 | **does not hold** | it is too small |\n\
             | p | fig3 | f | section 1 | **does not hold** |  |\n\
             | p | fig3 | g | section 1 | **undecided** |  |\n"
        );
        let found = findings(&page(&rows), |artefact, claim| artefact == "p/fig3" && claim == "f");
        assert_found(&found, &["p/fig1: \"b | c\" holds partly", "p/fig2: \"d\" does not hold"]);
    }

    #[test]
    fn own_claims_among_those_of_papers_are_found() {
        let rows = format!(
            "{OF_PAPERS}\n\n{HEAD}| p | fig1 | a | target of this project | **holds** |  |\n\
             | p | fig1 | b | section 1 | **holds** |  |\n\n{OF_PROJECT}\n\n{HEAD}\
             | p | fig1 | c | this project | **holds** |  |\n| p | fig1 | d | section 2 | **holds** |  |\n"
        );
        assert_found(&findings(&page(&rows), |_, _| false), &["\"a\"", "\"d\""]);
    }

    #[test]
    fn without_the_page_there_is_nothing_to_find() {
        assert!(findings(&[], |_, _| false).is_empty());
    }
}
