//! The table of all judged claims of a run, `claims.md`.
//!
//! The claims of this project itself (targets, and corrected versions of printed results) are in a separate
//! table with a separate total. The row of a claim that does not hold, or holds partly, contains a reason, or
//! a note that the reason is missing ([`MISSING_REASON`](super::verdict::MISSING_REASON));
//! `cargo xtask reproduce --check` finds rows of `docs/claims.md` without a reason.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use super::report::{Report, line, significant};
use super::verdict::{Claim, Verdict};
use xtask::files::write_atomically;

/// Heading of the table of the papers' claims.
pub(crate) const OF_PAPERS: &str = "## The papers' claims";

/// Heading of the table of the project's own claims.
pub(crate) const OF_PROJECT: &str = "## This project's own claims";

const COLUMNS: [&str; 9] =
    ["paper", "artefact", "seconds", "claim", "source", "verdict", "our numbers", "the paper's", "why"];

/// Claims about one artefact.
pub(super) struct ArtefactClaims<'a> {
    pub(super) paper: &'a str,
    pub(super) artefact: &'a str,
    /// Run time, including the earlier runs that were resumed.
    pub(super) seconds: f64,
    pub(super) claims: Cow<'a, [Claim]>,
}

/// Writes `claims.md` with the claims of all reports, each with a link to its report.
pub(super) fn write(made: &[(&str, Report, Duration)], out: &Path) -> Result<()> {
    let judged: Vec<ArtefactClaims<'_>> = (made.iter())
        .map(|(paper, report, took)| ArtefactClaims {
            paper,
            artefact: &report.artefact,
            seconds: took.as_secs_f64(),
            claims: Cow::Borrowed(&report.claims),
        })
        .collect();
    write_atomically(&out.join("claims.md"), format!("# Claims\n\n{}", tables(&judged, true)).as_bytes())
}

/// Formats both tables, with their headings.
pub(super) fn tables(judged: &[ArtefactClaims<'_>], with_links: bool) -> String {
    let papers = table(judged, with_links, |claim| !claim.is_of_project());
    let own = table(judged, with_links, Claim::is_of_project);
    format!(
        "{OF_PAPERS}\n\n{papers}\n{OF_PROJECT}\n\nNo paper makes these: they are targets of this project, or \
         what holds in place of what a paper prints.\n\n{own}"
    )
}

/// Formats the totals of the selected claims, followed by a table with one row per claim.
fn table(judged: &[ArtefactClaims<'_>], with_links: bool, is_shown: impl Fn(&Claim) -> bool) -> String {
    let (mut rows, mut verdicts) = (String::new(), Vec::new());
    for ArtefactClaims { paper, artefact, seconds, claims } in judged {
        let seconds = significant(*seconds);
        let artefact = if with_links {
            format!("[{artefact}]({paper}/{artefact}/report.md)")
        } else {
            (*artefact).to_owned()
        };
        for claim in claims.iter().filter(|claim| is_shown(claim)) {
            verdicts.push(claim.verdict);
            rows.push_str(&line([
                paper,
                artefact.as_str(),
                &seconds,
                &claim.claim,
                &claim.source,
                &claim.verdict.in_bold(),
                &claim.evidence,
                claim.in_paper(),
                claim.why(),
            ]));
        }
    }
    let mut text = total(&verdicts);
    if !rows.is_empty() {
        let _ = write!(text, "\n{}{}{rows}", line(COLUMNS), line(["---"; COLUMNS.len()]));
    }
    text
}

/// Formats the totals: `5 claims: 3 holds, 2 does not hold.`
fn total(verdicts: &[Verdict]) -> String {
    match Verdict::count_of(verdicts.iter().copied()) {
        Some(counts) => format!("{} claims: {counts}.\n", verdicts.len()),
        None => "No claims.\n".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::verdict::MISSING_REASON;
    use super::*;

    fn judged(claims: Vec<Claim>) -> [ArtefactClaims<'static>; 1] {
        [ArtefactClaims { paper: "p", artefact: "fig1", seconds: 2.0, claims: Cow::Owned(claims) }]
    }

    fn claim(name: &str, source: &str, is_so: bool) -> Claim {
        Claim::fact(name, source, "r", Some(is_so), "e".to_owned())
    }

    #[test]
    fn own_claims_have_a_table_and_a_total_of_their_own() {
        let claims = vec![
            claim("true of the paper", "section 1", true),
            claim("ours", "target of this project", false).because("it is too slow"),
            claim("false of the paper", "section 2", false),
        ];
        let text = tables(&judged(claims), true);
        let (papers, own) = text.split_once(OF_PROJECT).unwrap();
        assert!(
            papers.contains("2 claims: 1 holds, 1 does not hold.")
                && own.contains("1 claims: 1 does not hold.")
        );
        assert!(papers.contains("| true of the paper |") && !papers.contains("| ours |"));
        assert!(own.contains("| ours |") && own.contains("| it is too slow |"));
        // No reason is known for this claim.
        let row = papers.lines().find(|line| line.contains("false of the paper")).unwrap();
        assert!(row.ends_with(&format!("| {MISSING_REASON} |")), "{row}");
        let row = papers.lines().find(|line| line.contains("true of the paper")).unwrap();
        assert!(row.ends_with("| in words |  |"), "{row}");
    }

    #[test]
    fn a_run_without_claims_says_so() {
        assert_eq!(tables(&[], true).matches("No claims.").count(), 2);
    }
}
