//! The regression check of verdicts: compares them with the recorded ones, or records them.
//!
//! The check uses only the quick preset, the default seed and the embedded datasets, so that the verdicts do
//! not depend on the machine. Claims about measured times are omitted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use super::report::Report;
use super::verdict::{RULES, Verdict};
use xtask::files::write_atomically;
use xtask::{aside, say};

/// The verdict on each claim, by the text of the claim.
type Verdicts = BTreeMap<String, Verdict>;

/// Contents of the recorded file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    /// Version of the rules for verdicts.
    rules: u32,
    /// Verdicts by artefact, e.g. `leverage-shap/table2`.
    artefacts: BTreeMap<String, Verdicts>,
}

impl Record {
    /// Creates an empty record with the current version of the rules.
    pub(super) fn new() -> Self {
        Self { rules: RULES, artefacts: BTreeMap::new() }
    }

    /// Adds the verdicts of an artefact.
    ///
    /// # Errors
    ///
    /// If the artefact makes the same claim twice.
    pub(super) fn add(&mut self, artefact: String, report: &Report) -> Result<()> {
        let mut verdicts = Verdicts::new();
        for claim in report.claims.iter().filter(|claim| !claim.is_of_times) {
            let before = verdicts.insert(claim.claim.clone(), claim.verdict);
            ensure!(before.is_none(), "duplicate claim of {artefact}: {}", claim.claim);
        }
        self.artefacts.insert(artefact, verdicts);
        Ok(())
    }

    /// Returns one line for each verdict that differs from the recorded one, for the artefacts in `found`.
    /// Claims that were added or removed count as differences, and so does another version of the rules.
    fn changes(&self, found: &Self) -> Vec<String> {
        let mut changes = Vec::new();
        if self.rules != found.rules {
            changes.push(format!("rules: recorded version {}, now {}", self.rules, found.rules));
        }
        let none = Verdicts::new();
        for (artefact, now) in &found.artefacts {
            let before = self.artefacts.get(artefact).unwrap_or(&none);
            for (claim, verdict) in now {
                let recorded = before.get(claim).map_or("nothing", |verdict| verdict.words());
                if before.get(claim) != Some(verdict) {
                    changes.push(format!(
                        "{artefact}: \"{claim}\": recorded {recorded}, now {}",
                        verdict.words()
                    ));
                }
            }
            for (claim, verdict) in before.iter().filter(|(claim, _)| !now.contains_key(*claim)) {
                changes
                    .push(format!("{artefact}: \"{claim}\": recorded {}, now not claimed", verdict.words()));
            }
        }
        changes
    }
}

fn path(workspace: &Path) -> PathBuf {
    workspace.join("xtask/lab/verdicts.json")
}

fn read(path: &Path) -> Result<Record> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_slice(&bytes)
        .with_context(|| format!("{} is not a valid record of verdicts", path.display()))
}

/// Compares new verdicts with the recorded ones.
///
/// # Errors
///
/// If a verdict has changed, or nothing is recorded.
pub(super) fn check(found: &Record, workspace: &Path) -> Result<()> {
    let changes = read(&path(workspace))?.changes(found);
    if !changes.is_empty() {
        for change in &changes {
            aside!("{change}");
        }
        bail!(
            "verdicts differ from xtask/lab/verdicts.json (differences: {}); if the new verdicts are \
             intended, run cargo xtask reproduce --record",
            changes.len()
        );
    }
    let count: usize = found.artefacts.values().map(BTreeMap::len).sum();
    say!("verdicts equal to those recorded: {count} (artefacts: {})", found.artefacts.len());
    Ok(())
}

/// Records new verdicts. The records of other artefacts are kept, unless the rules have changed.
///
/// # Errors
///
/// If the record cannot be read or written.
pub(super) fn record(found: Record, workspace: &Path) -> Result<()> {
    let path = path(workspace);
    let mut record = if path.exists() { read(&path)? } else { Record::new() };
    if record.rules != found.rules {
        record = Record::new();
    }
    record.artefacts.extend(found.artefacts);
    let mut json = serde_json::to_vec_pretty(&record)?;
    json.push(b'\n');
    write_atomically(&path, &json)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(verdicts: &[(&str, &str, Verdict)]) -> Record {
        let mut record = Record::new();
        for &(artefact, claim, verdict) in verdicts {
            record.artefacts.entry(artefact.to_owned()).or_default().insert(claim.to_owned(), verdict);
        }
        record
    }

    #[test]
    fn a_change_names_artefact_claim_and_both_verdicts() {
        let recorded = record(&[
            ("p/fig1", "same", Verdict::Holds),
            ("p/fig1", "flipped", Verdict::Holds),
            ("p/fig1", "gone", Verdict::NotTested),
            ("p/fig2", "not made", Verdict::Holds),
        ]);
        let found = record(&[
            ("p/fig1", "same", Verdict::Holds),
            ("p/fig1", "flipped", Verdict::DoesNotHold),
            ("p/fig1", "new", Verdict::HoldsPartly),
        ]);
        assert_eq!(
            recorded.changes(&found),
            [
                "p/fig1: \"flipped\": recorded holds, now does not hold",
                "p/fig1: \"new\": recorded nothing, now holds partly",
                "p/fig1: \"gone\": recorded not tested, now not claimed",
            ]
        );
        assert_eq!(recorded.changes(&recorded), [""; 0]);
    }

    #[test]
    fn other_rules_are_a_change() {
        let recorded = Record { rules: RULES - 1, ..Record::new() };
        assert_eq!(recorded.changes(&Record::new()).len(), 1);
    }

    #[test]
    fn recording_keeps_what_was_not_made() {
        let workspace = tempfile::tempdir().unwrap();
        super::record(
            record(&[("p/fig1", "a", Verdict::Holds), ("p/fig2", "b", Verdict::Holds)]),
            workspace.path(),
        )
        .unwrap();
        let found = record(&[("p/fig2", "b", Verdict::DoesNotHold)]);
        assert!(check(&found, workspace.path()).is_err());
        super::record(found.clone(), workspace.path()).unwrap();
        check(&found, workspace.path()).unwrap();
        check(&record(&[("p/fig1", "a", Verdict::Holds)]), workspace.path()).unwrap();
    }
}
