//! Differences between two runs of the laboratory.

use std::collections::BTreeSet;
use std::fmt::Display;

use super::record::{EstimatorRecord, Record, Skipped};

/// Returns a line for each difference between two runs that matters for a comparison; times and machines are
/// ignored.
pub(crate) fn differences(a: &Record, b: &Record) -> Vec<String> {
    let mut told = Vec::new();
    let mut unlike = |what: &str, of_a: &str, of_b: &str| {
        if of_a != of_b {
            told.push(format!("{what}: A has {of_a}, B has {of_b}"));
        }
    };
    unlike("values", &a.value, &b.value);
    unlike("version", &a.made.version, &b.made.version);
    unlike("commit", &commit(a), &commit(b));
    for dataset in &a.datasets {
        if let Some(other) = b.datasets.iter().find(|other| other.name == dataset.name) {
            let mut part = |part: &str, of_a: &str, of_b: &str| {
                let short = |digest: &str| format!("SHA-256 {digest:.12}…");
                unlike(&format!("{part} of the dataset {:?}", dataset.name), &short(of_a), &short(of_b));
            };
            part("rows, as they were read,", &dataset.numbers_sha256, &other.numbers_sha256);
            part("model", &dataset.model_sha256, &other.model_sha256);
            part("background", &dataset.background_sha256, &other.background_sha256);
            let [of_a, of_b] = [dataset, other].map(|dataset| dataset.output.to_string());
            unlike(&format!("output of the dataset {:?}", dataset.name), &of_a, &of_b);
        }
    }
    for estimator in &a.estimators {
        if let Some(other) = b.estimators.iter().find(|other| other.name == estimator.name) {
            unlike(&format!("estimator {:?}", estimator.name), &source_of(estimator), &source_of(other));
        }
    }
    let datasets = |record: &Record| record.datasets.iter().map(|dataset| dataset.name.clone()).collect();
    let estimators =
        |record: &Record| record.estimators.iter().map(|estimator| estimator.name.clone()).collect();
    told.extend(only("dataset", &datasets(a), &datasets(b)));
    told.extend(only("estimator", &estimators(a), &estimators(b)));
    told.extend(only("budget", &a.budgets.iter().cloned().collect(), &b.budgets.iter().cloned().collect()));
    told.extend(only("seed", &a.seeds.iter().copied().collect(), &b.seeds.iter().copied().collect()));
    told.extend(skipped("A", a, b));
    told.extend(skipped("B", b, a));
    told
}

/// Describes an estimator: `the library's method`, or the command and the digests of its files.
fn source_of(estimator: &EstimatorRecord) -> String {
    let Some(command) = &estimator.program else { return "the library's method".to_owned() };
    let files: Vec<String> =
        estimator.files.iter().map(|(file, digest)| format!("{file}: SHA-256 {digest:.12}…")).collect();
    if files.is_empty() { command.clone() } else { format!("{command} ({})", files.join(", ")) }
}

/// Lists the combinations that only one of the runs skipped; they are not compared.
fn skipped(name: &str, record: &Record, other: &Record) -> Vec<String> {
    let is_of_both = |skipped: &&Skipped| {
        let is_same = |one: &Skipped| {
            (&one.estimator, &one.dataset, &one.budget)
                == (&skipped.estimator, &skipped.dataset, &skipped.budget)
        };
        other.skipped.iter().any(is_same)
    };
    let line = |skipped: &Skipped| format!("{name} has skipped {skipped}");
    record.skipped.iter().filter(|skipped| !is_of_both(skipped)).map(line).collect()
}

/// Formats the commit of a run, with a note if there were uncommitted changes.
fn commit(record: &Record) -> String {
    let commit = record.made.commit.as_deref().unwrap_or("none");
    match record.made.has_changes {
        Some(true) => format!("{commit} with changes"),
        _ => commit.to_owned(),
    }
}

/// Lists the elements that only one of the runs contains.
fn only<T: Ord + Display>(what: &str, of_a: &BTreeSet<T>, of_b: &BTreeSet<T>) -> Vec<String> {
    let line = |name: &str, mine: &BTreeSet<T>, others: &BTreeSet<T>| {
        let alone: Vec<String> = mine.difference(others).map(ToString::to_string).collect();
        let (shown, more) = alone.split_at(alone.len().min(8));
        let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
        let plural = if alone.len() == 1 { "" } else { "s" };
        (!alone.is_empty()).then(|| format!("only {name} has the {what}{plural} {}{more}", shown.join(", ")))
    };
    [line("A", of_a, of_b), line("B", of_b, of_a)].into_iter().flatten().collect()
}
