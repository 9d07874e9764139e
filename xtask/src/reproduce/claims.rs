//! The table of all claims that a run judged, `claims.md`.
//!
//! What this project claims itself (its targets, and what holds in place of what a paper prints) is in a table of its own with a total of its
//! own. A claim that does not hold, or holds partly, has its reason in its row, or shows that there is none
//! ([`MISSING_REASON`](super::verdict::MISSING_REASON)); `cargo xtask check` finds rows of `docs/claims.md` without one.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use super::files::write_atomically;
use super::report::{Report, line, significant};
use super::verdict::{Claim, Verdict};

/// The heading of the claims that papers make.
pub(crate) const OF_PAPERS: &str = "## The papers' claims";

/// The heading of the claims that no paper makes.
pub(crate) const OF_PROJECT: &str = "## This project's own claims";

const COLUMNS: [&str; 9] =
    ["paper", "artefact", "seconds", "claim", "source", "verdict", "our numbers", "the paper's", "why"];

/// Writes it: the claims of all reports, and the seconds that each artefact took, in earlier runs that it resumed as well.
pub(super) fn write(made: &[(&str, Report, Duration)], out: &Path) -> Result<()> {
    write_atomically(&out.join("claims.md"), markdown(made).as_bytes())
}

fn markdown(made: &[(&str, Report, Duration)]) -> String {
    let papers = table(made, |claim| !claim.is_of_project());
    let own = table(made, Claim::is_of_project);
    format!(
        "# Claims\n\n{OF_PAPERS}\n\n{papers}\n{OF_PROJECT}\n\nNo paper makes these: they are targets of this project, or what holds in place of \
         what a paper prints.\n\n{own}"
    )
}

/// The rows of some claims, below their total.
fn table(made: &[(&str, Report, Duration)], is_shown: impl Fn(&Claim) -> bool) -> String {
    let (mut rows, mut verdicts) = (String::new(), Vec::new());
    for (paper, report, took) in made {
        let seconds = significant(took.as_secs_f64());
        let artefact = format!("[{0}]({paper}/{0}/report.md)", report.artefact);
        for claim in report.claims.iter().filter(|claim| is_shown(claim)) {
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

/// `5 claims: 3 holds, 2 does not hold.`
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

    fn report(claims: Vec<Claim>) -> Report {
        Report {
            paper: "p".to_owned(),
            artefact: "fig1".to_owned(),
            shows: String::new(),
            preset: "quick".to_owned(),
            seed: 0,
            runs: 1,
            rules: 1,
            datasets: Vec::new(),
            skipped: Vec::new(),
            notes: Vec::new(),
            claims,
            tables: Vec::new(),
        }
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
        let text = markdown(&[("p", report(claims), Duration::from_secs(2))]);
        let (papers, own) = text.split_once(OF_PROJECT).unwrap();
        assert!(
            papers.contains("2 claims: 1 holds, 1 does not hold.")
                && own.contains("1 claims: 1 does not hold.")
        );
        assert!(papers.contains("| true of the paper |") && !papers.contains("| ours |"));
        assert!(own.contains("| ours |") && own.contains("| it is too slow |"));
        // Nobody has said why.
        let row = papers.lines().find(|line| line.contains("false of the paper")).unwrap();
        assert!(row.ends_with(&format!("| {MISSING_REASON} |")), "{row}");
        let row = papers.lines().find(|line| line.contains("true of the paper")).unwrap();
        assert!(row.ends_with("| in words |  |"), "{row}");
    }

    #[test]
    fn a_run_without_claims_says_so() {
        assert_eq!(markdown(&[]).matches("No claims.").count(), 2);
    }
}
