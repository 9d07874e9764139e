//! The harness as it is used: the program is run, and what it leaves is looked at.
//!
//! Few runs on the embedded datasets, so that the whole takes less than a minute without optimization.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// `xtask reproduce` without a data directory.
fn reproduce(arguments: &[&str]) -> Command {
    static NO_DATA: OnceLock<TempDir> = OnceLock::new();
    let no_data = NO_DATA.get_or_init(|| tempfile::tempdir().unwrap());
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.arg("reproduce").args(arguments).env("APPORTION_DATA", no_data.path());
    command
}

fn output(arguments: &[&str]) -> Output {
    reproduce(arguments).output().unwrap()
}

/// Runs everything with two runs per setting into `out`.
fn all_into(out: &Path, threads: &str) {
    let out = out.to_str().unwrap();
    let done = output(&["all", "--runs", "2", "--threads", threads, "--out", out]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// Everything, made once with two threads.
fn everything() -> &'static Path {
    static OUT: OnceLock<TempDir> = OnceLock::new();
    let out = OUT.get_or_init(|| {
        let out = tempfile::tempdir().unwrap();
        all_into(out.path(), "2");
        out
    });
    out.path()
}

/// The results below `out` by their paths, without the checkpoints.
fn results(out: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![out.join("leverage-shap")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path.strip_prefix(out).unwrap().to_owned(), std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

fn assert_same(one: &BTreeMap<PathBuf, Vec<u8>>, other: &BTreeMap<PathBuf, Vec<u8>>) {
    assert_eq!(one.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
    for (path, bytes) in one {
        assert!(bytes == &other[path], "{} differs", path.display());
    }
}

fn checkpoints(out: &Path) -> PathBuf {
    out.join("checkpoints/leverage-shap.jsonl")
}

#[test]
fn every_artefact_leaves_data_and_a_report_and_figures_both_formats() {
    let results = results(everything());
    let names: Vec<String> =
        (1..=11).map(|n| format!("fig{n}")).chain((1..=4).map(|n| format!("table{n}"))).collect();
    for name in names.iter().map(String::as_str).chain(["certificate"]) {
        let folder = Path::new("leverage-shap").join(name);
        let has = |file: &str| results.get(&folder.join(file)).is_some_and(|bytes| !bytes.is_empty());
        assert!(has("data.csv") && has("report.json") && has("report.md"), "{name}");
        assert_eq!(has("figure.svg") && has("figure.png"), name.starts_with("fig"), "{name}");
    }
    let summary = &results[Path::new("leverage-shap/summary.md")];
    assert!(String::from_utf8_lossy(summary).contains("fig8"));
}

#[test]
fn one_thread_and_two_leave_the_same_bytes() {
    let out = tempfile::tempdir().unwrap();
    all_into(out.path(), "1");
    assert_same(&results(out.path()), &results(everything()));
}

#[test]
fn a_run_that_was_killed_resumes_and_ends_with_the_same_bytes() {
    let out = tempfile::tempdir().unwrap();
    let mut child = reproduce(&["all", "--runs", "2", "--out", out.path().to_str().unwrap()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let store = checkpoints(out.path());
    let started = Instant::now();
    while std::fs::metadata(&store).map_or(0, |data| data.len()) < 20_000
        && started.elapsed() < Duration::from_secs(60)
    {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // As if the kill had hit in the middle of a line.
    let bytes = std::fs::read(&store).unwrap();
    assert!(bytes.len() > 10_000, "nothing was remembered");
    assert!(
        bytes.len() < std::fs::read(checkpoints(everything())).unwrap().len(),
        "the run was over before the kill"
    );
    std::fs::write(&store, &bytes[..bytes.len() - 7]).unwrap();
    all_into(out.path(), "2");
    assert_same(&results(out.path()), &results(everything()));
}

#[test]
fn finished_cells_are_not_computed_again() {
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().to_str().unwrap();
    let make = || assert!(output(&["table3", "--runs", "2", "--out", folder]).status.success());
    make();
    let before = std::fs::read(checkpoints(out.path())).unwrap();
    assert!(!before.is_empty());
    make();
    assert_eq!(std::fs::read(checkpoints(out.path())).unwrap(), before);
}

#[test]
fn what_is_not_there_is_an_error_of_use_and_leaves_nothing() {
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().join("results");
    let folder = folder.to_str().unwrap();
    for (arguments, says) in [
        (vec!["fig99", "--out", folder], "there is no \"fig99\""),
        (vec!["leverage-shap/fig99", "--out", folder], "leverage-shap/fig1"),
        (vec!["fig2", "--data", "no/such/folder", "--out", folder], "no/such/folder"),
        (vec!["fig2", "--preset", "fast", "--out", folder], "quick"),
        (vec!["fig2", "--threads", "0", "--out", folder], "--threads"),
        (vec!["--out", folder], "WHAT"),
    ] {
        let done = output(&arguments);
        let message = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains(says), "{arguments:?}: {message}");
        assert!(!Path::new(folder).exists(), "{arguments:?}");
    }
}

#[test]
fn the_list_names_every_artefact() {
    let done = output(&["--list"]);
    let list = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(
        done.status.success()
            && list.contains("leverage-shap/fig11")
            && list.contains("leverage-shap/table4")
    );
}

#[test]
fn missing_datasets_are_skipped_by_name_with_a_line_that_says_how_to_get_them() {
    let out = tempfile::tempdir().unwrap();
    let done = output(&["table3", "--runs", "1", "--out", out.path().to_str().unwrap()]);
    assert!(done.status.success());
    let message = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(message.lines().count(), 2, "{message}");
    assert!(message.contains("california: skipped") && message.contains("adult_xgb.json"), "{message}");
    let report = report(out.path(), "table3");
    assert_eq!(report["skipped"][0]["name"], "california");
    assert_eq!(report["datasets"][0]["name"], "iris");
}

fn report(out: &Path, artefact: &str) -> Value {
    let path = out.join("leverage-shap").join(artefact).join("report.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Two significant digits; numerical zeros as zero.
fn rounded(value: &Value) -> Value {
    match value.as_f64() {
        Some(number) if value.is_f64() && number.abs() < 1e-20 => json!("exact"),
        Some(number) if value.is_f64() => json!(format!("{number:.1e}")),
        _ => value.clone(),
    }
}

/// Verdicts and tables of a report, rounded.
fn numbers(artefact: &str) -> Value {
    let report = report(everything(), artefact);
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let claims: Vec<Value> =
        list(&report["claims"]).iter().map(|claim| json!([claim["claim"], claim["verdict"]])).collect();
    let row = |row: &Value| {
        Value::String(
            list(row)
                .iter()
                .map(|entry| match rounded(entry) {
                    Value::String(text) => text,
                    other => other.to_string(),
                })
                .collect::<Vec<_>>()
                .join(" | "),
        )
    };
    let tables: Vec<Value> = list(&report["tables"])
        .iter()
        .map(|table| json!({ "caption": table["caption"], "rows": list(&table["rows"]).iter().map(row).collect::<Vec<_>>() }))
        .collect();
    json!({ "claims": claims, "tables": tables })
}

// If these change, the numbers of the papers as this project reproduces them have changed: say so in the change log.
#[test]
fn the_numbers_of_two_runs_on_the_embedded_datasets_are_known() {
    for artefact in ["fig2", "fig6", "fig8", "fig9", "fig10", "table3", "table4", "certificate"] {
        insta::assert_json_snapshot!(artefact, numbers(artefact));
    }
}
