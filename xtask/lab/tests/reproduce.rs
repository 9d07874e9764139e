//! End-to-end tests of the reproduction harness: the program is run, and its output is checked.
//!
//! The tests use few runs on the embedded datasets, and take less than a minute without optimization.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Returns the command `xtask reproduce` without a data directory.
fn reproduce(arguments: &[&str]) -> Command {
    static NO_DATA: OnceLock<TempDir> = OnceLock::new();
    let no_data = NO_DATA.get_or_init(|| tempfile::tempdir().unwrap());
    let mut command = Command::new(env!("CARGO_BIN_EXE_lab"));
    command.arg("reproduce").args(arguments).env("APPORTION_DATA", no_data.path());
    command
}

fn output(arguments: &[&str]) -> Output {
    reproduce(arguments).output().unwrap()
}

/// Generates the artefacts of a paper in `out`, with two runs per setting.
fn make(paper: &str, out: &Path, threads: &str) {
    let out = out.to_str().unwrap();
    let done = output(&[paper, "--runs", "2", "--threads", threads, "--out", out]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

const PAPERS: [&str; 6] =
    ["leverage-shap", "kernel-banzhaf", "group-explainers", "projected-sgd", "l-c-shapley", "estimators"];

/// Generates the artefacts of a paper once, with two threads, and returns their directory.
fn artefacts_of(paper: &str) -> &'static Path {
    static OUT: OnceLock<TempDir> = OnceLock::new();
    static MADE: [OnceLock<()>; PAPERS.len()] = [const { OnceLock::new() }; PAPERS.len()];
    let out = OUT.get_or_init(|| tempfile::tempdir().unwrap()).path();
    let which = PAPERS.iter().position(|known| *known == paper).unwrap();
    MADE[which].get_or_init(|| make(paper, out, "2"));
    out
}

/// Generates the artefacts of all papers once, with two threads.
fn everything() -> &'static Path {
    PAPERS.map(artefacts_of)[0]
}

/// The artefact that consists of measured times, which are not reproducible.
const TIMES: &str = "kernel-banzhaf/fig8";

/// Returns the results of a paper below `out` by path, excluding checkpoints and measured times.
fn results(out: &Path, paper: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![out.join(paper)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            // The provenance is not part of the results.
            if path == out.join(TIMES) || path.ends_with("run.json") {
                continue;
            } else if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path.strip_prefix(out).unwrap().to_owned(), std::fs::read(&path).unwrap());
            }
        }
    }
    for (path, bytes) in &mut found {
        if path.ends_with("kernel-banzhaf/summary.md") {
            let text = String::from_utf8(std::mem::take(bytes)).unwrap();
            let kept: Vec<&str> = text.lines().filter(|line| !line.contains("fig8/report.md")).collect();
            *bytes = kept.join("\n").into_bytes();
        }
    }
    found
}

/// Asserts that `out` contains the same results of a paper as [`artefacts_of`].
fn assert_as_made(out: &Path, paper: &str) {
    assert_same(&results(out, paper), &results(artefacts_of(paper), paper));
}

fn assert_same(one: &BTreeMap<PathBuf, Vec<u8>>, other: &BTreeMap<PathBuf, Vec<u8>>) {
    assert_eq!(one.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
    for (path, bytes) in one {
        assert!(bytes == &other[path], "{} differs", path.display());
    }
}

fn checkpoints(out: &Path, paper: &str) -> PathBuf {
    out.join("checkpoints").join(format!("{paper}.jsonl"))
}

/// For each paper: the number of figures, and the names of the other artefacts.
const ARTEFACTS: [(&str, usize, &[&str]); PAPERS.len()] = [
    ("leverage-shap", 11, &["table1", "table2", "table3", "table4"]),
    ("kernel-banzhaf", 10, &[]),
    ("group-explainers", 6, &["partition", "two-step"]),
    ("projected-sgd", 3, &["steps", "interactions", "bounds", "markov", "deviation"]),
    ("l-c-shapley", 5, &["table1", "table2", "evaluations", "theorems"]),
    ("estimators", 0, &["budgets", "until"]),
];

/// Returns the names of a paper's artefacts.
fn artefacts(paper: &str) -> Vec<String> {
    let (_, figures, others) = ARTEFACTS.into_iter().find(|(known, ..)| *known == paper).unwrap();
    (1..=figures).map(|n| format!("fig{n}")).chain(others.iter().map(|&name| name.to_owned())).collect()
}

/// The artefacts without a figure. Figure 5 of the paper on L-Shapley and C-Shapley shows photographs, which
/// are not embedded.
const WITHOUT_FIGURE: [&str; 8] = [
    "leverage-shap/table1",
    "leverage-shap/table2",
    "leverage-shap/table3",
    "leverage-shap/table4",
    "l-c-shapley/table1",
    "l-c-shapley/fig5",
    "estimators/budgets",
    "estimators/until",
];

#[test]
fn every_artefact_leaves_data_and_a_report_and_figures_both_formats() {
    for paper in PAPERS {
        for name in artefacts(paper).iter().map(|name| format!("{paper}/{name}")) {
            let folder = everything().join(&name);
            let has = |file: &str| std::fs::metadata(folder.join(file)).is_ok_and(|data| data.len() > 0);
            // Without support for networks, figure 6 contains instructions for getting it.
            let lacks_networks = name == "kernel-banzhaf/fig6" && !cfg!(feature = "onnx");
            let is_drawn = !lacks_networks && !WITHOUT_FIGURE.contains(&name.as_str());
            assert!(has("data.csv") && has("report.json") && has("report.md"), "{name}");
            assert_eq!(has("figure.svg") && has("figure.png"), is_drawn, "{name}");
        }
        let summary = std::fs::read_to_string(everything().join(paper).join("summary.md")).unwrap();
        assert!(summary.contains("/report.md"));
    }
}

#[cfg(not(feature = "onnx"))]
#[test]
fn without_networks_their_figure_says_how_to_get_it() {
    let out = tempfile::tempdir().unwrap();
    let done = output(&["kernel-banzhaf/fig6", "--out", out.path().to_str().unwrap()]);
    assert!(done.status.success());
    let says = "kernel-banzhaf/fig6: skipped; this build does not support neural networks; run cargo \
        xtask-onnx reproduce kernel-banzhaf/fig6";
    assert!(String::from_utf8_lossy(&done.stderr).contains(says));
    let report = std::fs::read_to_string(out.path().join("kernel-banzhaf/fig6/report.md")).unwrap();
    assert!(report.contains("cargo xtask-onnx reproduce kernel-banzhaf/fig6"));
}

/// Returns the arguments that generate a paper in `out` with one thread.
fn with_one_thread<'a>(paper: &'a str, out: &'a Path) -> [&'a str; 7] {
    [paper, "--runs", "2", "--threads", "1", "--out", out.to_str().unwrap()]
}

#[test]
fn a_run_that_was_killed_resumes_and_ends_with_the_bytes_of_one_that_was_not() {
    let (paper, out) = ("l-c-shapley", tempfile::tempdir().unwrap());
    let arguments = with_one_thread(paper, out.path());
    let mut child = reproduce(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let store = checkpoints(out.path(), paper);
    let started = Instant::now();
    while std::fs::metadata(&store).map_or(0, |data| data.len()) < 20_000
        && started.elapsed() < Duration::from_secs(60)
    {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let bytes = std::fs::read(&store).unwrap();
    assert!(bytes.len() > 10_000, "nothing was remembered");
    assert!(
        bytes.len() < std::fs::read(checkpoints(artefacts_of(paper), paper)).unwrap().len(),
        "the run was over before the kill"
    );
    assert!(output(&arguments).status.success());
    assert_as_made(out.path(), paper);
}

/// Removes every fifth checkpoint of a paper generated with two threads, and truncates the last one as if the
/// process had been killed. One thread must compute the missing checkpoints and produce the same bytes.
fn go_on_from_a_part(paper: &str) {
    let out = tempfile::tempdir().unwrap();
    let store = checkpoints(out.path(), paper);
    let whole = std::fs::read_to_string(checkpoints(artefacts_of(paper), paper)).unwrap();
    let kept = whole.split_inclusive('\n').enumerate().filter(|(line, _)| line % 5 != 1);
    let mut part: String = kept.map(|(_, line)| line).collect();
    part.truncate(part.len() - 7);
    std::fs::create_dir_all(store.parent().unwrap()).unwrap();
    std::fs::write(&store, &part).unwrap();
    assert!(output(&with_one_thread(paper, out.path())).status.success());
    let lines = std::fs::read_to_string(&store).unwrap().lines().count();
    assert_eq!(lines, whole.lines().count(), "{paper}: each cell is remembered once");
    assert_as_made(out.path(), paper);
}

#[test]
fn one_thread_goes_on_from_a_part_of_leverage_shap() {
    go_on_from_a_part("leverage-shap");
}

#[test]
fn one_thread_goes_on_from_a_part_of_kernel_banzhaf() {
    go_on_from_a_part("kernel-banzhaf");
}

#[test]
fn one_thread_goes_on_from_a_part_of_group_explainers() {
    go_on_from_a_part("group-explainers");
}

#[test]
fn one_thread_goes_on_from_a_part_of_projected_sgd() {
    go_on_from_a_part("projected-sgd");
}

#[test]
fn one_thread_goes_on_from_a_part_of_l_c_shapley() {
    go_on_from_a_part("l-c-shapley");
}

#[test]
fn one_thread_goes_on_from_a_part_of_the_benchmark() {
    go_on_from_a_part("estimators");
}

#[test]
fn finished_cells_are_not_computed_again() {
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().to_str().unwrap();
    let make = || assert!(output(&["table3", "--runs", "2", "--out", folder]).status.success());
    make();
    let checkpoints = checkpoints(out.path(), "leverage-shap");
    let before = std::fs::read(&checkpoints).unwrap();
    assert!(!before.is_empty());
    make();
    assert_eq!(std::fs::read(&checkpoints).unwrap(), before);
}

#[test]
fn what_is_not_there_is_an_error_of_use_and_leaves_nothing() {
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().join("results");
    let folder = folder.to_str().unwrap();
    for (arguments, says) in [
        (vec!["fig99", "--out", folder], "unknown figure or table \"fig99\""),
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
            && list.contains("kernel-banzhaf/fig10")
            && list.contains("group-explainers/fig6")
            && list.contains("projected-sgd/steps")
            && list.contains("l-c-shapley/table2")
    );
}

#[test]
fn all_tables_are_there_without_a_data_directory() {
    let out = tempfile::tempdir().unwrap();
    let done = output(&["table3", "--runs", "1", "--out", out.path().to_str().unwrap()]);
    assert!(done.status.success());
    let message = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(message.is_empty(), "{message}");
    let report = report(out.path(), "leverage-shap/table3");
    let names: Vec<&str> = report["datasets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|dataset| dataset["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["iris", "california", "diabetes", "adult"]);
    assert!(report["skipped"].as_array().unwrap().is_empty());
}

#[test]
fn figure_1_explains_the_individual_of_the_paper() {
    let report = report(artefacts_of("projected-sgd"), "projected-sgd/fig1");
    let names: Vec<&Value> =
        report["datasets"].as_array().unwrap().iter().map(|dataset| &dataset["name"]).collect();
    assert_eq!(names, ["compas", "diabetes"]);
    assert!(report["skipped"].as_array().unwrap().is_empty());
    let claims = report["claims"].as_array().unwrap();
    let untested = claims.iter().filter(|claim| claim["verdict"] == "not-tested").count();
    assert_eq!((claims.len(), untested), (5, 0));
}

#[test]
fn without_data_texts_and_images_are_skipped_by_name_and_the_embedded_ones_explained() {
    for (artefact, embedded, missing) in
        [("fig2", "sentences", ["imdb", "ag_news"]), ("fig3", "digits38", ["mnist38", "cifar_deer_horse"])]
    {
        let folder = artefacts_of("l-c-shapley").join("l-c-shapley").join(artefact);
        let report = std::fs::read_to_string(folder.join("report.md")).unwrap();
        for name in missing {
            assert!(report.contains(&format!("- {name}: skipped; ")), "{report}");
        }
        let data = std::fs::read_to_string(folder.join("data.csv")).unwrap();
        assert!(data.lines().skip(1).all(|line| line.starts_with(embedded)) && data.lines().count() > 50);
    }
}

#[test]
fn sentences_are_left_as_html_and_masked_digits_as_pictures() {
    let html = artefacts_of("l-c-shapley").join("l-c-shapley/table2/sentences-l-shapley.html");
    let html = std::fs::read_to_string(html).unwrap();
    assert!(html.starts_with("<div") && html.contains(">heartwarming</span>"), "{html}");
    let pictures = std::fs::read_dir(artefacts_of("l-c-shapley").join("l-c-shapley/fig4")).unwrap();
    let names: Vec<String> =
        pictures.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    let of = |end: &str| names.iter().filter(|name| name.ends_with(end)).count();
    assert!(of("-original.png") >= 2 && of("-c-shapley-20.png") == of("-original.png"), "{names:?}");
    // The SVG contains the same pictures as the PNG.
    let svg =
        std::fs::read_to_string(artefacts_of("l-c-shapley").join("l-c-shapley/fig4/figure.svg")).unwrap();
    assert_eq!(svg.matches("data:image/png;base64,").count(), 2 * 5 * of("-original.png"));
}

fn report(out: &Path, artefact: &str) -> Value {
    let path = out.join(artefact).join("report.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Rounds to two significant digits; numbers below 1e-20 become "exact".
fn rounded(value: &Value) -> Value {
    match value.as_f64() {
        Some(number) if value.is_f64() && number.abs() < 1e-20 => json!("exact"),
        Some(number) if value.is_f64() => json!(format!("{number:.1e}")),
        _ => value.clone(),
    }
}

/// Returns the verdicts and rounded tables of a report.
fn numbers(paper: &str, artefact: &str) -> Value {
    let report = report(artefacts_of(paper), &format!("{paper}/{artefact}"));
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
        .map(|table| {
            let rows = list(&table["rows"]).iter().map(row).collect::<Vec<_>>();
            json!({ "caption": table["caption"], "rows": rows })
        })
        .collect();
    json!({ "claims": claims, "tables": tables })
}

/// Returns the verdicts and rounded tables of a report, without the measured times in the first table: its
/// rows only contain their dataset, their estimator and the number of times.
fn numbers_but_times(paper: &str, artefact: &str) -> Value {
    let mut numbers = numbers(paper, artefact);
    for row in numbers["tables"][0]["rows"].as_array_mut().unwrap() {
        let text = row.as_str().unwrap().to_owned();
        let entries: Vec<&str> = text.split(" | ").collect();
        *row = json!(format!("{} | {} | {} times", entries[0], entries[1], entries.len() - 2));
    }
    numbers
}

// If these snapshots change, the reproduced numbers of the papers have changed, which must be noted in the
// change log.
#[test]
fn the_numbers_of_leverage_shap_are_known() {
    for artefact in artefacts("leverage-shap") {
        insta::assert_json_snapshot!(artefact.as_str(), numbers("leverage-shap", &artefact));
    }
}

/// Compares the artefacts of a paper with the snapshots `PAPER-ARTEFACT`, excluding measured times.
fn assert_known(paper: &str) {
    for artefact in artefacts(paper) {
        let name = format!("{paper}/{artefact}");
        // Without support for networks, figure 6 is empty.
        if name == "kernel-banzhaf/fig6" && !cfg!(feature = "onnx") {
            continue;
        }
        let known = if name == TIMES { numbers_but_times } else { numbers };
        insta::assert_json_snapshot!(format!("{paper}-{artefact}"), known(paper, &artefact));
    }
}

#[test]
fn the_numbers_of_kernel_banzhaf_are_known() {
    assert_known("kernel-banzhaf");
}

#[test]
fn the_numbers_of_group_explainers_are_known() {
    assert_known("group-explainers");
}

#[test]
fn the_numbers_of_projected_sgd_are_known() {
    assert_known("projected-sgd");
}

#[test]
fn the_numbers_of_the_benchmark_are_known() {
    assert_known("estimators");
}

#[test]
fn the_numbers_of_l_c_shapley_are_known() {
    assert_known("l-c-shapley");
}

#[test]
fn too_few_runs_are_not_tested_and_say_how_many_are_needed() {
    let out = tempfile::tempdir().unwrap();
    let done = output(&["group-explainers/fig1", "--runs", "1", "--out", out.path().to_str().unwrap()]);
    assert!(done.status.success());
    let text = std::fs::read_to_string(out.path().join("group-explainers/fig1/report.md")).unwrap();
    assert!(text.contains("too few runs: 1; 10 are needed") && !text.contains("NaN"), "{text}");
    let claims = report(out.path(), "group-explainers/fig1")["claims"].as_array().unwrap().clone();
    assert!(claims.len() > 1 && claims.iter().all(|claim| claim["verdict"] == "not-tested"));
}

#[test]
fn claims_are_judged_on_the_datasets_of_their_paper_and_rules_are_versioned() {
    let report = report(artefacts_of("kernel-banzhaf"), "kernel-banzhaf/fig2");
    assert!(report["rules"].as_u64().unwrap() > 0);
    assert_eq!(report["datasets"].as_array().unwrap().len(), 8);
    let claims = report["claims"].as_array().unwrap();
    assert_eq!(claims.len(), 9);
    assert!(claims.iter().all(|claim| claim["evidence"] != "no such case is there"), "{claims:?}");
}

#[test]
fn every_rule_says_what_chance_gives() {
    for paper in PAPERS {
        for name in artefacts(paper) {
            for claim in report(artefacts_of(paper), &format!("{paper}/{name}"))["claims"].as_array().unwrap()
            {
                let rule = claim["rule"].as_str().unwrap();
                let says = rule.contains("chance") || rule.starts_with("no verdict: ") || rule == "none";
                assert!(says, "{paper}/{name}: {rule}");
            }
        }
    }
}

#[test]
fn a_check_takes_no_other_settings() {
    for other in [["--runs", "3"], ["--seed", "1"], ["--preset", "paper"], ["--data", "."]] {
        let done = output(&["--check", "table3", other[0], other[1]]);
        assert_eq!(done.status.code(), Some(2), "{other:?}");
    }
}
