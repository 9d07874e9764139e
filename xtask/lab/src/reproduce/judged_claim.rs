//! The claims of `docs/claims.md` with the evidence for their verdicts: the tests of every case, run by run.
//!
//! A run of the preset `paper` with `--keep` stores the claims in `xtask/lab/claims.json.gz`. From this file,
//! the verdicts, numbers, totals and reasons on the page can be regenerated in seconds, with the current
//! rules and reasons.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use flate2::{Compression, GzBuilder};
use serde::{Deserialize, Serialize};

use super::catalogue::Paper;
use super::claims::{self, OF_PAPERS};
use super::datasets::unpack;
use super::report::Report;
use super::verdict::{Claim, Judged, MISSING_REASON};
use xtask::files::write_atomically;
use xtask::{aside, say};

/// All stored artefacts, by name: `leverage-shap/fig2`.
type Artefacts = BTreeMap<String, Artefact>;

/// The claims of one artefact, from a run of the preset `paper`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Artefact {
    runs: usize,
    seconds: f64,
    claims: Vec<JudgedClaim>,
}

/// A claim and the evidence for its verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct JudgedClaim {
    claim: String,
    source: String,
    printed: Option<String>,
    evidence: String,
    judged: Judged,
}

impl Artefact {
    fn from_report(report: &Report, took: Duration) -> Self {
        let kept = |claim: &Claim| JudgedClaim {
            claim: claim.claim.clone(),
            source: claim.source.clone(),
            printed: claim.printed.clone(),
            evidence: claim.evidence.clone(),
            judged: claim.judged.clone(),
        };
        Self {
            runs: report.runs,
            seconds: took.as_secs_f64(),
            claims: report.claims.iter().map(kept).collect(),
        }
    }

    /// Judges the stored claims again.
    ///
    /// # Errors
    ///
    /// If the numbers recomputed from the cases of a claim differ from the stored evidence.
    fn judged_again(&self, name: &str) -> Result<Vec<Claim>> {
        let again = |kept: &JudgedClaim| {
            let JudgedClaim { claim, source, printed, evidence, judged } = kept.clone();
            if let Some(found) = judged.evidence() {
                ensure!(
                    evidence.starts_with(&found),
                    "{name}: \"{claim}\": the stored evidence is {evidence:?}, but its cases give {found:?}"
                );
            }
            Ok(Claim::from_evidence(claim, source, printed, evidence, judged).looked_into(name))
        };
        self.claims.iter().map(again).collect()
    }
}

fn path(workspace: &Path) -> PathBuf {
    workspace.join("xtask/lab/claims.json.gz")
}

fn page(workspace: &Path) -> PathBuf {
    workspace.join("docs/claims.md")
}

fn read(path: &Path) -> Result<Artefacts> {
    let at = || format!("cannot read the claims from {}", path.display());
    let bytes = std::fs::read(path).with_context(at)?;
    serde_json::from_slice(&unpack(&bytes).with_context(at)?).with_context(at)
}

/// Formats both tables of the page, in the order of the catalogue.
fn tables(artefacts: &Artefacts, papers: &[Paper]) -> Result<String> {
    let mut judged = Vec::new();
    for paper in papers {
        for artefact in paper.artefacts {
            let name = format!("{}/{}", paper.name, artefact.name);
            if let Some(kept) = artefacts.get(&name) {
                judged.push(claims::ArtefactClaims {
                    paper: paper.name,
                    artefact: artefact.name,
                    seconds: kept.seconds,
                    claims: Cow::Owned(kept.judged_again(&name)?),
                });
            }
        }
    }
    Ok(claims::tables(&judged, false))
}

/// Splits the page into the text before its tables, and the tables.
fn parts(page: &str) -> Result<(&str, &str)> {
    let at = page
        .find(OF_PAPERS)
        .with_context(|| format!("the page does not contain the heading {OF_PAPERS:?}"))?;
    Ok(page.split_at(at))
}

/// Checks that the page agrees with the verdicts and numbers of the stored claims, and has a reason in every
/// row that needs one.
///
/// # Errors
///
/// If a line differs (both versions are printed), or a reason is missing.
pub(super) fn check(papers: &[Paper], workspace: &Path) -> Result<()> {
    let artefacts = read(&path(workspace))?;
    let written = std::fs::read_to_string(page(workspace)).context("cannot read docs/claims.md")?;
    let found = tables(&artefacts, papers)?;
    let (_, tables) = parts(&written)?;
    let differing: Vec<(&str, &str)> =
        tables.lines().zip(found.lines()).filter(|(on_page, found)| on_page != found).collect();
    for (on_page, found) in differing.iter().take(10) {
        aside!("docs/claims.md contains:\n  {on_page}\nthe stored claims give:\n  {found}");
    }
    if tables != found {
        bail!(
            "docs/claims.md differs from xtask/lab/claims.json.gz (different lines: {}; number of lines: {}, \
             expected {}); if rules or reasons have changed, run cargo xtask reproduce fig1 --record, which \
             rewrites the page; if results have changed, run cargo xtask-onnx reproduce all --preset paper \
             --keep",
            differing.len(),
            tables.lines().count(),
            found.lines().count()
        );
    }
    let unexplained: Vec<&str> = tables.lines().filter(|line| line.contains(MISSING_REASON)).collect();
    if !unexplained.is_empty() {
        unexplained.iter().for_each(|line| aside!("{line}"));
        bail!(
            "rows of docs/claims.md without a reason: {}; find the reasons by measurement, and add them to \
             xtask/lab/reasons.json",
            unexplained.len()
        );
    }
    let count: usize = artefacts.values().map(|artefact| artefact.claims.len()).sum();
    say!(
        "docs/claims.md: verdicts equal to those of the stored runs: {count} (artefacts: {})",
        artefacts.len()
    );
    Ok(())
}

/// Stores new results, keeping the results of other artefacts, and writes the tables of the page.
///
/// # Errors
///
/// If a file cannot be read or written.
pub(super) fn keep(made: &[(&str, Report, Duration)], papers: &[Paper], workspace: &Path) -> Result<()> {
    let path = path(workspace);
    let mut artefacts = if path.exists() { read(&path)? } else { Artefacts::new() };
    for (paper, report, took) in made {
        artefacts.insert(format!("{paper}/{}", report.artefact), Artefact::from_report(report, *took));
    }
    // Drop artefacts that are no longer in the catalogue.
    let is_there = |name: &str| {
        papers.iter().any(|paper| {
            paper.artefacts.iter().any(|artefact| name == format!("{}/{}", paper.name, artefact.name))
        })
    };
    artefacts.retain(|name, _| is_there(name));
    let mut packed = GzBuilder::new().write(Vec::new(), Compression::best());
    packed.write_all(&serde_json::to_vec(&artefacts)?)?;
    let written = std::fs::read_to_string(page(workspace)).context("cannot read docs/claims.md")?;
    let text = format!("{}{}", parts(&written)?.0, tables(&artefacts, papers)?);
    write_atomically(&path, &packed.finish()?)?;
    write_atomically(&page(workspace), text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::super::verdict::{By, Case, Test};
    use super::*;
    use crate::reproduce::catalogue::artefact;

    fn papers() -> [Paper; 1] {
        [Paper {
            name: "p",
            citation: "",
            bibtex: "",
            runs: 1,
            quick_runs: 1,
            artefacts: Box::leak(Box::new([artefact("fig1", "", |_| bail!("is not made"))])),
        }]
    }

    fn report() -> Report {
        let sample: Vec<f64> = (0..30).map(|run| f64::from(run % 7) - 8.0).collect();
        let cases = ["iris", "adult"].map(|name| Case::new(name, Test::below(&sample, 0.0)));
        let tested = By::SignedRanks.in_all("all are below", "section 1", "a dataset", cases);
        let fact = Claim::fact("it is odd", "this project", "it is", Some(true), "7".to_owned());
        let readings = [("one", tested.clone()), ("other", tested.clone())];
        let read = readings.map(|(reading, claim)| (reading.to_owned(), vec![claim]));
        let mut claims = vec![tested.and("more"), fact];
        claims.extend(Claim::over_readings(read.to_vec()).into_iter().map(|claim| claim.read_as("twice")));
        Report {
            paper: "p".to_owned(),
            artefact: "fig1".to_owned(),
            shows: String::new(),
            preset: "paper".to_owned(),
            seed: 0,
            runs: 30,
            rules: 1,
            datasets: Vec::new(),
            skipped: Vec::new(),
            notes: Vec::new(),
            claims,
            tables: Vec::new(),
        }
    }

    fn workspace() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("docs")).unwrap();
        std::fs::create_dir_all(folder.path().join("xtask/lab")).unwrap();
        std::fs::write(page(folder.path()), format!("# Head\n\n{OF_PAPERS}\nstale\n")).unwrap();
        keep(&[("p", report(), Duration::from_secs(2))], &papers(), folder.path()).unwrap();
        folder
    }

    #[test]
    fn the_page_is_what_is_kept_comes_to() {
        let folder = workspace();
        let text = std::fs::read_to_string(page(folder.path())).unwrap();
        assert!(text.starts_with("# Head\n\n") && !text.contains("stale"));
        assert!(
            text.contains("| p | fig1 | 2.00 | all are below | section 1 | **holds** | of 2 cases 2 beyond")
        );
        assert!(text.contains("2 claims: 2 holds.") && text.contains("1 claims: 1 holds."));
        check(&papers(), folder.path()).unwrap();
    }

    #[test]
    fn a_claim_that_does_not_hold_needs_a_reason() {
        let folder = workspace();
        let claim = Claim::fact("it is even", "section 2", "it is", Some(false), "7".to_owned());
        let report = Report { claims: vec![claim], ..report() };
        keep(&[("p", report, Duration::from_secs(2))], &papers(), folder.path()).unwrap();
        let message = check(&papers(), folder.path()).unwrap_err().to_string();
        assert!(
            message.contains("rows of docs/claims.md without a reason: 1")
                && message.contains("reasons.json"),
            "{message}"
        );
    }

    #[test]
    fn a_number_that_was_changed_on_the_page_or_in_what_is_kept_is_found() {
        let folder = workspace();
        let text = std::fs::read_to_string(page(folder.path())).unwrap();
        std::fs::write(page(folder.path()), text.replacen("of 2 cases 2", "of 2 cases 1", 1)).unwrap();
        let message = check(&papers(), folder.path()).unwrap_err().to_string();
        assert!(message.contains("different lines: 1"), "{message}");
        std::fs::write(page(folder.path()), text).unwrap();

        let mut artefacts = read(&path(folder.path())).unwrap();
        let claims = &mut artefacts.get_mut("p/fig1").unwrap().claims;
        let Judged::Cases { cases, .. } = &mut claims[0].judged else { panic!("no cases") };
        cases[0].test = Test::certain(false);
        let message = format!("{:#}", artefacts["p/fig1"].judged_again("p/fig1").unwrap_err());
        assert!(message.contains("1 against"), "{message}");
    }
}
