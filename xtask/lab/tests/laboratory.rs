//! End-to-end tests of the laboratory: the program is run on small files, and its output is checked.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// Returns the root of the workspace.
fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// Runs `xtask` with these arguments, in the root of the workspace.
fn xtask(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lab")).args(arguments).current_dir(workspace()).output().unwrap()
}

const IRIS: &str = "iris=xtask/lab/data/iris.csv.gz,xtask/lab/data/iris_xgb.json.gz";
const DIABETES: &str = "diabetes=xtask/lab/data/diabetes.csv.gz,xtask/lab/data/diabetes_xgb.json.gz";

/// A directory for results and for the files of a test.
struct Bench(TempDir);

impl Bench {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn out(&self) -> PathBuf {
        self.0.path().join("out")
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Writes the rows, and returns the argument `NAME=ROWS,MODEL` with a fixture model of two unnamed
    /// features.
    fn tiny(&self, rows: &str) -> String {
        let rows = self.file("rows.csv", rows);
        format!("tiny={rows},{}", workspace().join("crates/trees/tests/fixtures/tiny.json").display())
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let out = self.out();
        xtask(&[&["laboratory", "--label", "t", "--out", out.to_str().unwrap()], arguments].concat())
    }

    /// Runs the command, which must succeed, and returns its result directory.
    fn done(&self, arguments: &[&str]) -> PathBuf {
        let output = self.run(arguments);
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        said.lines().last().unwrap().split_once(": ").unwrap().1.into()
    }

    /// Runs the command, which must fail with this exit status, and returns its error message.
    fn refused(&self, arguments: &[&str], status: i32) -> String {
        let output = self.run(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(status), "{said}");
        said
    }
}

fn record(folder: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(folder.join("run.json")).unwrap()).unwrap()
}

/// Returns the lines of a data file, split into cells, which must not contain commas.
fn lines(folder: &Path, name: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

/// Returns the lines of `runs.csv` without the times.
fn without_seconds(folder: &Path) -> Vec<Vec<String>> {
    let mut lines = lines(folder, "runs.csv");
    lines.iter_mut().for_each(|line| line.truncate(line.len() - 1));
    lines
}

#[test]
fn every_run_is_written_with_what_it_was_made_of() {
    let bench = Bench::new();
    let folder = bench.done(&[
        "--dataset",
        IRIS,
        "--dataset",
        DIABETES,
        "--estimators",
        "leverage-shap,kernel-shap",
        "--budgets",
        "5n,60",
        "--runs",
        "3",
        "--seed",
        "7",
    ]);
    let record = record(&folder);
    assert_eq!(record["seeds"], serde_json::json!([7, 8, 9]));
    assert_eq!(record["budgets"], serde_json::json!(["5n", "60"]));
    assert_eq!(record["command"][0], "laboratory");
    assert_eq!(record["version"], env!("CARGO_PKG_VERSION"));
    assert!(record["machine"]["cores"].as_u64().unwrap() > 0);
    let digests = ["rows_sha256", "numbers_sha256", "model_sha256", "background_sha256"];
    assert!(digests.iter().all(|digest| record["datasets"][1][digest].as_str().unwrap().len() == 64));
    let runs = lines(&folder, "runs.csv");
    assert_eq!(
        runs[0].join(","),
        "dataset,estimator,budget,run,seed,explicand_row,evaluations,squared_error,relative_squared_error,\
         seconds"
    );
    assert_eq!(runs.len(), 1 + 2 * 2 * 2 * 3);
    // The squared error matches the estimates.
    let estimates = lines(&folder, "estimates.csv");
    assert_eq!(estimates.len(), 1 + 2 * 2 * 3 * (4 + 10));
    for run in &runs[1..] {
        let number = |text: &str| text.parse::<f64>().unwrap();
        let error: f64 = estimates[1..]
            .iter()
            .filter(|line| line[..4] == run[..4])
            .map(|line| (number(&line[5]) - number(&line[6])).powi(2))
            .sum();
        assert_eq!(error, number(&run[7]), "{run:?}");
    }
    assert!(["figure.svg", "figure.png", "table.md"].iter().all(|name| folder.join(name).is_file()));
    assert_eq!(record["results"][0][0], "runs.csv");
    assert_eq!(record["results"][1][1].as_str().unwrap().len(), 64);
    // The output directory contains nothing else.
    assert_eq!(std::fs::read_dir(bench.out()).unwrap().count(), 1);
}

#[test]
fn the_name_of_a_folder_tells_games_apart() {
    let bench = Bench::new();
    let model = bench.file("stumps.json", STUMPS);
    let rows = bench.file("rows.csv", "a,b\n1,1\n0,0\n-9,1\n");
    let dataset = format!("stumps={rows},{model}");
    let run = |more: &[&str]| {
        let few = ["--dataset", &dataset, "--estimators", "leverage-shap", "--budgets", "4", "--runs", "6"];
        let folder = bench.done(&[&few[..], more].concat());
        folder.file_name().unwrap().to_str().unwrap().to_owned()
    };
    let names = [
        run(&["--output", "0"]),
        run(&["--output", "1"]),
        run(&["--output", "0", "--missing", "-9"]),
        run(&["--output", "0", "--missing=none,-9"]),
    ];
    assert_eq!(names[3], format!("{}-2", names[2]));
    assert!(names[0] != names[1] && names[0] != names[2], "{names:?}");
    let record = record(&bench.out().join(&names[3]));
    assert_eq!(record["reading"], serde_json::json!(["--missing=none", "--missing=-9"]));
    // The same file, read in two ways, defines two different games.
    let [one, other] = [&names[0], &names[2]].map(|name| bench.out().join(name));
    let error = compare(&one, &other, &bench.out(), &[]).unwrap_err();
    assert!(error.contains("rows, as they were read, of the dataset \"stumps\": A has SHA-256"), "{error}");
    let said = bench.refused(&["--dataset", IRIS, "--estimators", "leverage-shap", "--output", "7"], 2);
    assert!(said.contains("invalid value 7 for --output"), "{said}");
    // One of the datasets has this output.
    run(&["--dataset", IRIS, "--output", "1"]);
}

#[test]
fn estimators_that_are_skipped_take_no_colour() {
    let bench = Bench::new();
    let names = "leverage-shap,poly-shap-3,kernel-shap,permutation,optimized-kernel-shap,\
                 optimized-monte-carlo,sgd,monte-carlo,kernel-shap-paired";
    let folder =
        bench.done(&["--dataset", DIABETES, "--estimators", names, "--budgets", "5n", "--runs", "3"]);
    assert!(!record(&folder)["skipped"].as_array().unwrap().is_empty());
    assert!(["figure.svg", "figure.png", "table.md"].iter().all(|name| folder.join(name).is_file()));
}

#[test]
fn runs_without_a_relative_error_are_counted() {
    let bench = Bench::new();
    let folder = bench.done(&[
        "--dataset",
        &bench.tiny("a,b\n1,9\n1,9\n1,9\n"),
        "--estimators",
        "leverage-shap",
        "--budgets",
        "4",
        "--runs",
        "3",
    ]);
    let table = std::fs::read_to_string(folder.join("table.md")).unwrap();
    assert!(table.contains("leverage-shap on tiny at 4: in 3 of 3 runs, all true values are 0"), "{table}");
    // The background does not depend on the seed.
    let digest = |seed: &str| {
        let folder = bench.done(&[
            "--dataset",
            IRIS,
            "--estimators",
            "leverage-shap",
            "--budgets",
            "4",
            "--runs",
            "1",
            "--background",
            "9",
            "--seed",
            seed,
        ]);
        record(&folder)["datasets"][0]["background_sha256"].clone()
    };
    assert_eq!(digest("0"), digest("5"));
}

#[test]
fn results_depend_on_no_threads_and_no_other_runs_and_nothing_is_overwritten() {
    let bench = Bench::new();
    let run = |seed: &str, runs: &str, threads: &str| {
        bench.done(&[
            "--dataset",
            DIABETES,
            "--estimators",
            "leverage-shap",
            "--budgets",
            "5n",
            "--seed",
            seed,
            "--runs",
            runs,
            "--threads",
            threads,
        ])
    };
    let (one, again, last) = (run("3", "4", "1"), run("3", "4", "2"), run("5", "1", "1"));
    assert!(one != again && one.is_dir() && again.is_dir());
    assert_eq!(without_seconds(&one), without_seconds(&again));
    assert_eq!(
        std::fs::read(one.join("estimates.csv")).unwrap(),
        std::fs::read(again.join("estimates.csv")).unwrap()
    );
    // A seed determines the explicand and the draws in every run that uses it.
    let (all, alone) = (without_seconds(&one), without_seconds(&last));
    assert_eq!(all[3][4..], alone[1][4..]);
}

#[test]
fn figures_of_the_papers_are_made_of_anybodys_datasets() {
    let bench = Bench::new();
    let out = bench.out();
    let out = out.to_str().unwrap();
    let reproduce = |arguments: &[&str]| xtask(&[&["reproduce", "--out", out], arguments].concat());
    // Every figure that compares estimators by budget is created with its own estimators; figures that were
    // not created are reported.
    let output = reproduce(&["all", "--dataset", IRIS, "--budgets", "12", "--runs", "2", "--label", "mine"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("leverage-shap/fig1: omitted"), "{said}");
    assert!(!said.contains("skipped"), "{said}");
    let mut found: Vec<(String, usize)> = std::fs::read_dir(bench.out())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|folder| {
            let record = record(&folder);
            assert_eq!(
                lines(&folder, "runs.csv").len() - 1,
                2 * record["estimators"].as_array().unwrap().len()
            );
            (record["label"].as_str().unwrap().to_owned(), record["estimators"].as_array().unwrap().len())
        })
        .collect();
    found.sort();
    let found: Vec<(&str, usize)> = found.iter().map(|(label, count)| (label.as_str(), *count)).collect();
    let expected = [
        ("mine-kernel-banzhaf-fig2", 4),
        ("mine-leverage-shap-fig3", 3),
        ("mine-leverage-shap-fig8", 7),
        ("mine-projected-sgd-fig2", 3),
    ];
    assert_eq!(found, expected);
    // The numbers equal those of the command `laboratory` with the same options.
    let folder = bench.done(&[
        "--dataset",
        IRIS,
        "--budgets",
        "12",
        "--runs",
        "2",
        "--value",
        "banzhaf",
        "--estimators",
        "kernel-banzhaf,kernel-banzhaf-unpaired,monte-carlo,msr",
    ]);
    let mut figures = std::fs::read_dir(bench.out()).unwrap().map(|entry| entry.unwrap().path());
    let figure = figures.find(|path| path.to_string_lossy().contains("mine-kernel-banzhaf")).unwrap();
    assert_eq!(without_seconds(&figure), without_seconds(&folder));
    for (arguments, expected) in [
        (&["leverage-shap/fig1", "--dataset", IRIS][..], "supported: leverage-shap/fig3"),
        (&["fig3", "--dataset", "iris"], "invalid dataset"),
        (&["fig3", "--dataset", IRIS, "--estimators", "leverage-shp"], "'leverage-shap'"),
        (&["fig3", "--dataset", IRIS, "--check"], "cannot be used with"),
        (&["fig3", "--budgets", "5n"], "--dataset"),
        (&["fig99", "--dataset", IRIS], "unknown figure or table \"fig99\""),
    ] {
        let output = reproduce(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(expected), "{said}");
    }
}

#[test]
fn what_is_not_possible_is_skipped_with_the_reason() {
    let bench = Bench::new();
    let folder = bench.done(&[
        "--dataset",
        IRIS,
        "--estimators",
        "leverage-shap,kernel-banzhaf",
        "--budgets",
        "2,5n",
        "--runs",
        "2",
    ]);
    let record = record(&folder);
    let skipped = record["skipped"].as_array().unwrap();
    let reasons: Vec<&str> = skipped.iter().map(|skipped| skipped["reason"].as_str().unwrap()).collect();
    assert_eq!(reasons.len(), 3);
    assert_eq!(
        reasons[0],
        "leverage-shap requires at least 4 evaluations for 4 players, but the budget is 2"
    );
    assert!(reasons[1..].iter().all(|reason| *reason == "kernel-banzhaf does not compute shapley values"));
    assert_eq!(lines(&folder, "runs.csv").len(), 1 + 2);
    // If nothing could be run, the directory contains the reason.
    let said = bench.refused(&["--dataset", IRIS, "--estimators", "kernel-banzhaf", "--runs", "2"], 1);
    assert!(said.contains("no estimator could be run"), "{said}");
}

#[test]
fn banzhaf_values_and_backgrounds_of_rows_are_what_is_asked_for() {
    let bench = Bench::new();
    let background = bench.file("background.csv", "a,b\n0,0\n1,9\n");
    let dataset = bench.tiny("a,b\n1,9\n");
    let of = |background: &str, dataset: &str, value: &str, estimator: &str| {
        bench.done(&[
            "--dataset",
            dataset,
            "--estimators",
            estimator,
            "--value",
            value,
            "--background",
            background,
            "--budgets",
            "4",
            "--runs",
            "1",
        ])
    };
    let folder = of(&background, &dataset, "banzhaf", "kernel-banzhaf");
    assert_eq!(record(&folder)["datasets"][0]["background_rows"], 2);
    // The values are 3 and 1 for the background (0, 0), and 0 for the row itself.
    let truths: Vec<String> =
        lines(&folder, "estimates.csv")[1..].iter().map(|line| line[6].clone()).collect();
    assert_eq!(truths, ["1.5", "0.5"]);
    let folder = of("25", IRIS, "shapley", "leverage-shap");
    assert_eq!(record(&folder)["datasets"][0]["background_rows"], 25);
}

#[test]
fn numbers_may_be_written_with_commas() {
    let bench = Bench::new();
    let estimates = |folder: &Path| std::fs::read(folder.join("estimates.csv")).unwrap();
    let more = ["--estimators", "leverage-shap", "--budgets", "4", "--runs", "3"];
    let points = bench.tiny("a,b\n1.5,2\n-3,4.5\n0.25,1e1\n");
    let points = estimates(&bench.done(&[&["--dataset", &points], &more[..]].concat()));
    let commas = bench.tiny("a;b\n1,5;2\n-3;4,5\n,25;1e1\n");
    let arguments = ["--dataset", &commas, "--decimal-comma"];
    let folder = bench.done(&[&arguments, &more[..]].concat());
    assert_eq!(estimates(&folder), points);
    assert_eq!(record(&folder)["reading"], serde_json::json!(["--decimal-comma"]));
    assert!(bench.refused(&[&arguments[..2], &more].concat(), 1).contains("pass --decimal-comma"));
    // Papers have a key for the decimal comma, and figures of papers have an option.
    let paper = |key: &str| {
        bench.paper(&format!(
            "name = \"mine\"\ncitation = \"\"\nbibtex = \"\"\n[[artefact]]\nname = \"fig1\"\nshows = \"\"\n\
             dataset = [{commas:?}]\nestimators = [\"leverage-shap\"]\nbudgets = [4]\nruns = 3\n{key}\n"
        ))
    };
    assert!(!bench.make(&paper("decimal-comma = false"), &[]).status.success());
    let output = bench.make(&paper("decimal-comma = true"), &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(estimates(&bench.out().join("mine/fig1")), points);
    let out = bench.out();
    let figure =
        ["reproduce", "leverage-shap/fig3", "--out", out.to_str().unwrap(), "--budgets", "4", "--runs", "3"];
    assert!(!xtask(&[&figure[..], &arguments[..2]].concat()).status.success());
    let output = xtask(&[&figure[..], &arguments].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn what_is_wrong_with_a_dataset_is_said() {
    let bench = Bench::new();
    let missing_model = format!("x={},nowhere.json", bench.file("a.csv", "a,b\n1,2\n3,4\n"));
    for (dataset, expected) in [
        (bench.tiny("a,b\n1,9\n"), vec!["\"tiny\"", "a single row", "--background FILE"]),
        (bench.tiny("a,b\n1,9\n"), vec!["would be its own background"]),
        (missing_model, vec!["cannot read nowhere.json"]),
        (IRIS.replace("iris.csv", "diabetes.csv"), vec!["\"iris\"", "expected 4 feature columns, found 10"]),
        (IRIS.replace("iris_xgb.json", "iris.csv"), vec!["cannot read the model xtask/lab/data/iris.csv.gz"]),
    ] {
        let said =
            bench.refused(&["--dataset", &dataset, "--estimators", "leverage-shap", "--budgets", "4"], 1);
        assert!(expected.iter().all(|part| said.contains(part)), "{said}");
    }
    let words = bench.tiny("a,b\n1,9\n2,high\n");
    let said = bench.refused(&["--dataset", &words, "--estimators", "leverage-shap"], 1);
    assert!(said.contains("\"high\"") && said.contains("\"b\""), "{said}");
}

#[test]
fn trees_take_missing_values_and_constant_columns_are_noted() {
    let bench = Bench::new();
    let folder = bench.done(&[
        "--dataset",
        &bench.tiny("a,b\n1,9\n,9\n0,9\n"),
        "--estimators",
        "leverage-shap",
        "--budgets",
        "4",
        "--runs",
        "5",
    ]);
    let note = &record(&folder)["datasets"][0]["notes"][0];
    assert!(
        note.as_str().unwrap().contains("constant columns") && note.as_str().unwrap().ends_with("\"b\""),
        "{note}"
    );
    let said =
        bench.refused(&["--dataset", &bench.tiny("a,b\n1,\n2,\n"), "--estimators", "leverage-shap"], 1);
    assert!(said.contains("all values of column \"b\" are missing"), "{said}");
}

/// A model with two outputs and one split on each of two features; the second feature must not be missing.
const STUMPS: &str = concat!(
    r#"{"format": "apportion-trees", "version": 1, "width": "double", "features": 2, "base_margins": [0, 0],
    "operator": "<=", "refuses_missing": [1], "trees": [
    {"output": 0, "left": [1, -1, -1], "right": [2, -1, -1], "feature": [0, 0, 0], "#,
    r#""threshold": [0.5, 0, 0], "value": [0, 1, 2]},
    {"output": 1, "left": [1, -1, -1], "right": [2, -1, -1], "feature": [1, 0, 0], "#,
    r#""threshold": [0.5, 0, 0], "value": [0, 1, 4]}]}"#
);

#[test]
fn a_model_may_refuse_missing_values_and_have_several_outputs() {
    let bench = Bench::new();
    let model = bench.file("stumps.json", STUMPS);
    let dataset = |rows: &str| format!("stumps={},{model}", bench.file("rows.csv", rows));
    let run = |dataset: &str, output: &str| {
        bench.done(&[
            "--dataset",
            dataset,
            "--estimators",
            "leverage-shap",
            "--budgets",
            "4",
            "--output",
            output,
        ])
    };
    let whole = dataset("a,b\n1,1\n0,0\n,1\n");
    for (output, null) in [("0", "1"), ("1", "0")] {
        // Each output depends on one feature only; the other one is a null player.
        let folder = run(&whole, output);
        assert_eq!(record(&folder)["datasets"][0]["output"].to_string(), output);
        let estimates = lines(&folder, "estimates.csv");
        let of_null = |line: &&Vec<String>| line[4] == null;
        assert!(estimates.iter().filter(of_null).all(|line| line[6] == "0.0"), "{estimates:?}");
        assert!(estimates[1..].iter().any(|line| line[4] != null && line[6] != "0.0"), "{estimates:?}");
        assert!(estimates[1..].iter().all(|line| line[5] == line[6]), "{estimates:?}");
    }
    let said = bench.refused(&["--dataset", &whole, "--estimators", "msr"], 1);
    assert!(said.contains("has 2 outputs") && said.contains("--output K"), "{said}");
    // Figures support these options as well.
    let out = bench.out();
    let figure = [
        "reproduce",
        "leverage-shap/fig3",
        "--out",
        out.to_str().unwrap(),
        "--dataset",
        &whole,
        "--output",
        "1",
    ];
    let output = xtask(
        &[&figure[..], &["--budgets", "4", "--runs", "1", "--missing=-9,none", "--ignore", "c"]].concat(),
    );
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("\"c\""), "{said}");
    let output = xtask(&[&figure[..], &["--budgets", "4", "--runs", "1", "--missing=-9,none"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("values over 1 run: median"), "{said}");
    let said = bench.refused(&["--dataset", &whole, "--estimators", "msr", "--output", "2"], 1);
    assert!(said.contains("invalid value 2 for --output"), "{said}");
    let holes = dataset("a,b\n1,1\n0,\n");
    let said = bench.refused(&["--dataset", &holes, "--estimators", "msr", "--output", "0"], 1);
    assert!(said.contains("row 1 (counted from 0) has no value in column \"b\""), "{said}");
}

#[test]
fn slips_on_the_command_line_are_told_what_is_near() {
    let bench = Bench::new();
    let both = ["--dataset", IRIS, "--dataset", DIABETES, "--output", "0", "--estimators", "msr"];
    for (arguments, expected) in [
        (vec!["--dataset", IRIS, "--estimators", "leverage-shp"], "'leverage-shap'"),
        (vec!["--dataset", IRIS, "--estimators", "tree"], "invalid value 'tree'"),
        (vec!["--dataset", "iris.csv", "--estimators", "msr"], "expected NAME=ROWS,MODEL"),
        (vec!["--dataset", IRIS, "--estimators", "msr", "--budgets", "10m"], "invalid budget \"10m\""),
        (vec!["--dataset", IRIS, "--estimators", "msr", "--budgets", "0"], "invalid budget \"0\""),
        (vec!["--dataset", IRIS, "--estimators", "msr,msr"], "duplicate estimator \"msr\""),
        (vec!["--dataset", IRIS, "--dataset", IRIS, "--estimators", "msr"], "duplicate dataset \"iris\""),
        ([&both[..], &["--ignore", "petal"]].concat(), "unknown column \"petal\" in --target or --ignore"),
        ([&both[..], &["--target", "tagret", "--ignore", "target"]].concat(), "unknown column \"tagret\""),
        (vec!["--dataset", IRIS], "--estimators"),
        (
            vec!["--dataset", IRIS, "--estimators", "msr", "--seed", "18446744073709551615"],
            "use a smaller --seed",
        ),
    ] {
        let said = bench.refused(&arguments, 2);
        assert!(said.contains(expected), "{said}");
    }
    assert!(!bench.out().exists());
}

/// Returns the program in docs/laboratory.md.
fn example() -> String {
    let page = std::fs::read_to_string(workspace().join("docs/laboratory.md")).unwrap();
    let from = page.find("```python\n").unwrap() + "```python\n".len();
    page[from..from + page[from..].find("```").unwrap()].to_owned()
}

#[cfg(unix)]
#[test]
fn the_program_of_the_documentation_estimates_and_one_that_fails_is_skipped() {
    if Command::new("python3").arg("--version").output().is_err() {
        return;
    }
    let bench = Bench::new();
    let program = format!("permutations=python3 '{}'", bench.file("permutations.py", &example()));
    let folder = bench.done(&[
        "--dataset",
        DIABETES,
        "--estimators",
        "msr",
        "--estimator-program",
        &program,
        "--estimator-program",
        "greedy=echo '{\"coalitions\": [\"0000000000\"]}'; echo oops",
        "--estimator-program",
        "quiet=sleep 60",
        "--estimator-program",
        "huge=echo '{\"estimate\": [0, 0, 1e200, 0, 0, 0, 0, 0, 0, 1e155]}'",
        // This is enough time for Python to start on a busy machine.
        "--time-limit",
        "10",
        "--budgets",
        "11n",
        "--runs",
        "3",
    ]);
    let runs = lines(&folder, "runs.csv");
    let errors = |estimator: &str| -> Vec<f64> {
        runs.iter().filter(|line| line[1] == estimator).map(|line| line[8].parse().unwrap()).collect()
    };
    // Ten permutations of ten players require eleven coalitions each.
    assert!(runs.iter().filter(|line| line[1] == "permutations").all(|line| line[6] == "110"));
    let (own, reuse) = (errors("permutations"), errors("msr"));
    let sum = |errors: &[f64]| errors.iter().sum::<f64>();
    assert!(own.len() == 3 && sum(&own) < sum(&reuse), "{own:?} {reuse:?}");
    let record = record(&folder);
    let file = &record["estimators"][1]["files"][0];
    assert!(file[0].as_str().unwrap().ends_with("permutations.py") && file[1].as_str().unwrap().len() == 64);
    let skipped = record["skipped"].clone();
    let reason = |at: usize| skipped[at]["reason"].as_str().unwrap().to_owned();
    assert!(
        reason(0).starts_with("on diabetes, budget 11n (110 evaluations), run 0 (seed 0): "),
        "{}",
        reason(0)
    );
    assert!(reason(0).contains("the program wrote the invalid line \"oops\""), "{}", reason(0));
    assert!(reason(1).contains("wrote nothing for 10 s ("), "{}", reason(1));
    assert!(reason(2).contains("player 2 is not finite: the estimate is 1e200"), "{}", reason(2));
    assert!(!std::fs::read_to_string(folder.join("table.md")).unwrap().contains("NaN"));
}

#[cfg(unix)]
#[test]
fn an_estimator_that_is_biased_is_named() {
    let bench = Bench::new();
    // This program returns zeros without evaluating the game.
    let zeros = r#"zeros=read task; echo '{"estimate": [0, 0, 0, 0]}'"#;
    let few = [
        "--dataset",
        IRIS,
        "--estimators",
        "leverage-shap,permutation",
        "--budgets",
        "10",
        "--estimator-program",
        zeros,
    ];
    let folder = bench.done(&[&few[..], &["--runs", "12"]].concat());
    let told = record(&folder)["biased"].clone();
    assert_eq!(
        told,
        serde_json::json!([
            "zeros on iris at 10 is biased: its estimates are 0 times the truth on average over the runs \
             (standard error 0)"
        ])
    );
    assert!(
        std::fs::read_to_string(folder.join("table.md")).unwrap().contains("zeros on iris at 10 is biased")
    );
    // Fewer runs are not enough to detect a bias.
    assert_eq!(record(&bench.done(&[&few[..], &["--runs", "3"]].concat()))["biased"], serde_json::json!([]));
}

/// Returns the last line printed by `compare`, or its error message.
fn compare(a: &Path, b: &Path, out: &Path, more: &[&str]) -> Result<(PathBuf, String), String> {
    let paths = [a, b, out].map(|path| path.to_str().unwrap());
    let output = xtask(&[&["compare", paths[0], paths[1], "--out", paths[2]], more].concat());
    let [said, errors] =
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    if !output.status.success() {
        return Err(errors);
    }
    Ok((said.lines().last().unwrap().split_once(": ").unwrap().1.into(), errors))
}

/// Returns a column of a comparison.
fn column(folder: &Path, name: &str) -> Vec<String> {
    let lines = lines(folder, "comparison.csv");
    let place = lines[0].iter().position(|column| column == name).unwrap();
    lines[1..].iter().map(|line| line[place].clone()).collect()
}

#[test]
fn runs_are_compared_in_pairs_of_what_both_have() {
    let bench = Bench::new();
    let old = bench.done(&[
        "--dataset",
        DIABETES,
        "--dataset",
        IRIS,
        "--estimators",
        "kernel-shap,leverage-shap",
        "--budgets",
        "5n,10n",
        "--runs",
        "8",
    ]);
    let new = bench.done(&[
        "--dataset",
        DIABETES,
        "--estimators",
        "leverage-shap",
        "--budgets",
        "10n,20n",
        "--runs",
        "11",
        "--seed",
        "1",
    ]);
    let (folder, said) = compare(&old, &new, &bench.out(), &[]).unwrap();
    for expected in [
        "only A has the dataset iris",
        "only A has the estimator kernel-shap",
        "only A has the budget 5n",
        "only A has the seed 0",
        "only B has the seeds 8, 9, 10, 11",
    ] {
        assert!(said.contains(expected), "{said}");
    }
    // The same estimator with the same seeds gives identical results.
    assert_eq!(column(&folder, "pairs"), ["7"]);
    assert_eq!(column(&folder, "ratio"), ["1"]);
    let files = ["comparison.md", "comparison.tex", "figure.svg", "figure.png"];
    assert!(files.iter().all(|name| folder.join(name).is_file()));
    let (folder, _) = compare(&old, &new, &bench.out(), &["--pair", "kernel-shap=leverage-shap"]).unwrap();
    let (ratio, high) = (column(&folder, "ratio"), column(&folder, "high"));
    assert!(
        ratio[0].parse::<f64>().unwrap() < 0.5 && high[0].parse::<f64>().unwrap() < 1.0,
        "{ratio:?} {high:?}"
    );
    let twice = ["--pair", "kernel-shap=leverage-shap", "--pair", "kernel-shap=leverage-shap"];
    let error = compare(&old, &new, &bench.out(), &twice).unwrap_err();
    assert!(error.contains("duplicate pair \"kernel-shap=leverage-shap\""), "{error}");
    // Combinations skipped by both are not reported as a difference.
    let few =
        ["--dataset", IRIS, "--estimators", "leverage-shap,kernel-banzhaf", "--budgets", "5n", "--runs", "2"];
    let alone = bench.done(&few);
    let (_, said) = compare(&alone, &alone, &bench.out(), &[]).unwrap();
    assert!(!said.contains("differs"), "{said}");
    let error = compare(&old, &new, &bench.out(), &["--pair", "kernel-shap=leverage"]).unwrap_err();
    assert!(
        error.contains("unknown estimator \"leverage\" in B; available estimators: leverage-shap"),
        "{error}"
    );
    let error = compare(&old, &new, &bench.out(), &["--pair", "kernel-shap"]).unwrap_err();
    assert!(error.contains("invalid pair \"kernel-shap\""), "{error}");
}

#[test]
fn runs_with_nothing_in_common_are_refused_with_what_differs() {
    let bench = Bench::new();
    let run = |more: &[&str]| {
        bench.done(&[&["--estimators", "leverage-shap", "--budgets", "5n", "--runs", "2"], more].concat())
    };
    let one = run(&["--dataset", DIABETES]);
    for (other, expected) in [
        (run(&["--dataset", IRIS]), "only A has the dataset diabetes"),
        (
            run(&["--dataset", DIABETES, "--background", "9"]),
            "background of the dataset \"diabetes\": A has SHA-256",
        ),
        (
            run(&["--dataset", &IRIS.replace("iris=", "diabetes=")]),
            "model of the dataset \"diabetes\": A has SHA-256",
        ),
        (run(&["--dataset", DIABETES, "--seed", "2"]), "only B has the seeds 2, 3"),
        (
            run(&["--dataset", DIABETES, "--value", "banzhaf", "--estimators", "msr"]),
            "values: A has shapley, B has banzhaf",
        ),
    ] {
        let error = compare(&one, &other, &bench.out(), &[]).unwrap_err();
        assert!(error.contains("cannot be compared") && error.contains(expected), "{error}");
    }
}

#[test]
fn a_folder_of_another_form_or_version_is_refused_or_told() {
    let bench = Bench::new();
    let run = || {
        bench.done(&["--dataset", IRIS, "--estimators", "leverage-shap", "--budgets", "5n", "--runs", "2"])
    };
    let (one, other) = (run(), run());
    let change = |name: &str, value: Value| {
        let mut record = record(&other);
        record[name] = value;
        std::fs::write(other.join("run.json"), record.to_string()).unwrap();
    };
    change("version", "0.0.9".into());
    change("commit", "0123".into());
    let (_, said) = compare(&one, &other, &bench.out(), &[]).unwrap();
    assert!(said.contains("version: A has 0.1.0, B has 0.0.9") && said.contains("B has 0123"), "{said}");
    let runs = std::fs::read_to_string(other.join("runs.csv")).unwrap();
    let cut = &runs[..runs.trim_end().rfind('\n').unwrap() + 1];
    for changed in [cut, "", &runs.replace(",0,", ",1,"), &format!("{runs}{}", runs.lines().last().unwrap())]
    {
        std::fs::write(other.join("runs.csv"), changed).unwrap();
        let error = compare(&one, &other, &bench.out(), &[]).unwrap_err();
        assert!(error.contains("it was modified or truncated"), "{error}");
    }
    std::fs::remove_file(other.join("runs.csv")).unwrap();
    let error = compare(&one, &other, &bench.out(), &[]).unwrap_err();
    assert!(error.contains("copy the whole directory"), "{error}");
    std::fs::write(other.join("runs.csv"), runs).unwrap();
    change("format", 1.into());
    let error = compare(&one, &other, &bench.out(), &[]).unwrap_err();
    assert!(
        error.contains("has format version 1, but this program expects 2") && error.contains("version 0.0.9"),
        "{error}"
    );
    std::fs::remove_file(other.join("run.json")).unwrap();
    for other in [&other, &other.join("runs.csv"), &other.join("nothing")] {
        let error = compare(&one, other, &bench.out(), &[]).unwrap_err();
        assert!(error.contains("not the directory of a finished run"), "{error}");
    }
}

#[test]
fn papers_and_the_library_are_cited() {
    let said = |arguments: &[&str]| {
        let output = xtask(&[&["cite"], arguments].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let entries =
        |text: &str| text.lines().filter(|line| line.starts_with('@')).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(entries(&said(&[])), ["@software{apportion,"]);
    assert_eq!(
        entries(&said(&["leverage-shap/fig2"])),
        ["@inproceedings{musco2025provably,", "@software{apportion,"]
    );
    assert_eq!(entries(&said(&["fig2"])).len(), 6);
    // The project's own checks have no paper.
    assert_eq!(entries(&said(&["estimators"])), ["@software{apportion,"]);
    // The citation states the version of the program that created the run.
    let bench = Bench::new();
    let folder =
        bench.done(&["--dataset", IRIS, "--estimators", "leverage-shap", "--budgets", "5n", "--runs", "1"]);
    let mut record = record(&folder);
    record["version"] = "0.0.9".into();
    std::fs::write(folder.join("run.json"), record.to_string()).unwrap();
    assert!(said(&["--run", folder.to_str().unwrap()]).contains("version = {0.0.9}"));
    assert_eq!(xtask(&["cite", "fig99"]).status.code(), Some(2));
}

/// Returns a paper with one artefact on a dataset of four players.
fn paper(more: &str) -> String {
    let data = |name: &str| workspace().join("xtask/lab/data").join(name).display().to_string();
    format!(
        "name = \"mine\"\ncitation = \"I, Mine\"\nbibtex = \"@misc{{mine}}\"\n[[artefact]]\nname \
         = \"fig1\"\nshows = \"Errors.\"\ndataset = [\"iris={},{}\"]\nestimators = \
         [\"leverage-shap\", \"kernel-shap\"]\nbudgets = [8, 16]\nruns = 12\n{more}",
        data("iris.csv.gz"),
        data("iris_xgb.json.gz")
    )
}

const CLAIMS: &str = r#"
dataset-if-there = ["elsewhere=nowhere.csv,nowhere.json"]
[[artefact.claims]]
claim = "exact at all coalitions"
source = "section 1"
exact = { of = "leverage-shap", within = 1e-9 }
budgets = ["16"]
[[artefact.claims]]
claim = "never exact"
source = "section 2"
exact = { of = "kernel-shap", within = 1e-9 }
budgets = ["8"]
why = "it draws."
[[artefact.claims]]
claim = "better than the other"
source = "section 3"
lower = { of = "leverage-shap", than = "kernel-shap" }
budgets = ["8"]
prints = "half"
[[artefact.claims]]
claim = "rounding is no difference"
source = "this project"
lower = { of = "leverage-shap", than = "kernel-shap" }
budgets = ["16"]
[[artefact.claims]]
claim = "elsewhere, too"
source = "section 4"
lower = { of = "leverage-shap", than = "kernel-shap" }
datasets = ["elsewhere"]
"#;

impl Bench {
    /// Writes this `paper.toml`, and returns its directory.
    fn paper(&self, text: &str) -> String {
        self.file("paper.toml", text);
        self.0.path().to_str().unwrap().to_owned()
    }

    fn make(&self, paper: &str, more: &[&str]) -> Output {
        let out = self.out();
        xtask(&[&["paper", paper, "--out", out.to_str().unwrap()], more].concat())
    }
}

#[test]
fn a_paper_in_a_folder_has_runs_figures_and_verdicts() {
    let bench = Bench::new();
    let folder = bench.paper(&paper(CLAIMS));
    let output = bench.make(&folder, &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(
        String::from_utf8_lossy(&output.stderr)
            .contains("elsewhere: skipped; nowhere.csv is not in the directory")
    );
    let made = bench.out().join("mine");
    for name in ["runs.csv", "estimates.csv", "run.json", "figure.svg", "table.md", "report.md"] {
        assert!(made.join("fig1").join(name).is_file(), "{name}");
    }
    let report: Value =
        serde_json::from_slice(&std::fs::read(made.join("fig1/report.json")).unwrap()).unwrap();
    let claims = report["claims"].as_array().unwrap();
    let verdicts: Vec<&str> = claims.iter().map(|claim| claim["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["holds", "does-not-hold", "holds", "undecided", "not-tested"], "{claims:?}");
    assert_eq!(
        (claims[1]["reason"].as_str(), claims[2]["printed"].as_str()),
        (Some("it draws."), Some("half"))
    );
    assert_eq!(report["skipped"][0]["name"], "elsewhere");
    let summary = std::fs::read_to_string(made.join("summary.md")).unwrap();
    assert!(
        summary.contains("| [fig1](fig1/report.md) | exact at all coalitions | **holds** |"),
        "{summary}"
    );
    // Another run with other seeds gets another directory.
    let again = bench.make(&folder, &["--seed", "100", "--runs", "3", "--only", "fig1"]);
    assert!(again.status.success());
    let record = record(&bench.out().join("mine-2/fig1"));
    assert_eq!(record["seeds"], serde_json::json!([100, 101, 102]));
    let cited = xtask(&["cite", &folder]);
    assert!(String::from_utf8_lossy(&cited.stdout).starts_with("@misc{mine}\n\n@software{apportion,"));
}

#[test]
fn a_column_or_an_output_may_be_of_a_dataset_that_is_not_there() {
    let bench = Bench::new();
    let options = "runs = 1\nignore = [\"region\"]\noutput = 3\n";
    let one = paper(options).replacen("runs = 12\n", "", 1);
    let data = workspace().join("xtask/lab/data").display().to_string();
    let diabetes = DIABETES.replace("xtask/lab/data", &data);
    let two = one.replacen("dataset = [", &format!("dataset = [\"{diabetes}\", "), 1);
    for (text, expected) in [
        (&one, "unknown column \"region\" in the ignored columns"),
        (&two, "invalid value 3 for --output"),
        (&two.replace("output = 3\n", ""), "unknown column \"region\" in --target or --ignore"),
    ] {
        let output = bench.make(&bench.paper(text), &[]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(expected), "{said}");
        let missing = "dataset-if-there = [\"elsewhere=nowhere.csv,nowhere.json\"]\n";
        let output = bench.make(&bench.paper(&format!("{text}{missing}")), &[]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn what_is_wrong_with_a_paper_is_said_before_anything_is_run() {
    let bench = Bench::new();
    let claim = |statement: &str| {
        paper(&format!("[[artefact.claims]]\nclaim = \"it\"\nsource = \"s\"\n{statement}\n"))
    };
    for (text, only, expected) in [
        ("name = ".to_owned(), "fig1", "is not a valid description of a paper"),
        (
            "name = \"a\"\ncitation = \"b\"\nbibtex = \"c\"\n".to_owned(),
            "fig1",
            "does not contain any [[artefact]]",
        ),
        (paper(""), "fig2", "unknown artefact \"fig2\"; paper.toml contains fig1"),
        (paper("budget = [3]\n"), "fig1", "unexpected argument '--budget'"),
        (paper("missing = [-9]\ntarget = \"none\"\n"), "fig1", "unknown column \"none\" in the target"),
        // The last artefact is validated as well.
        (
            paper(
                "[[artefact]]\nname = \"last\"\nshows = \"\"\ndataset = \
                 [\"x=nowhere.csv,nowhere.json\"]\nestimators = [\"msr\"]\n",
            ),
            "",
            "cannot read nowhere.json",
        ),
        (paper("threads = 1\n"), "fig1", "invalid key \"threads\" in paper.toml"),
        (paper("fresh = false\n"), "fig1", "invalid key \"fresh\" in paper.toml"),
        (paper("decimal = true\n"), "fig1", "unexpected argument '--decimal'"),
        (paper("seed = 1.5\n"), "fig1", "invalid value of type float for seed"),
        (paper("[[artefact]]\nname = \"fig1\"\nshows = \"\"\n"), "fig1", "duplicate artefact \"fig1\""),
        (
            paper("[[artefact.claim]]\nclaim = \"it\"\n"),
            "fig1",
            "keys that are not options of cargo xtask laboratory are name",
        ),
        (paper("").replace("\"fig1\"", "\"../fig1\""), "../fig1", "invalid label"),
        (paper("").replacen("\"mine\"", "\"\"", 1), "fig1", "invalid name in paper.toml: invalid label \"\""),
        (
            claim("lower = { of = \"leverage-shap\", than = \"other\" }"),
            "fig1",
            "unknown estimator \"other\"",
        ),
        (claim("exact = { of = \"leverage-shap\", within = 0.0 }"), "fig1", "invalid within 0"),
        (
            claim("exact = { of = \"leverage-shap\", within = 1e-9 }\nbudgets = [\"7\"]"),
            "fig1",
            "unknown budget \"7\"",
        ),
        (claim(""), "fig1", "requires exactly one of"),
        (claim("lower = { of = \"leverage-shap\" }"), "fig1", "missing field `than`"),
    ] {
        let folder = bench.paper(&text);
        let only = ["--only", only];
        let output = bench.make(&folder, if only[1].is_empty() { &[] } else { &only });
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(expected), "{expected}: {said}");
    }
    assert!(!bench.out().exists());
    let said = String::from_utf8_lossy(&bench.make("nowhere", &[]).stderr).into_owned();
    assert!(said.contains("cannot read nowhere/paper.toml"), "{said}");
}

#[cfg(unix)]
#[test]
fn with_pairs_kernel_shap_is_poly_shap_of_degree_2() {
    if Command::new("python3").arg("--version").output().is_err() {
        return;
    }
    let bench = Bench::new();
    let folder = workspace().join("xtask/lab/papers/poly_shap");
    let output = bench.make(folder.to_str().unwrap(), &["--only", "pairs", "--runs", "2"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("exactly the estimates of degree 2: holds (of "), "{said}");
    // Budgets that the program refuses are skipped and reported.
    let skipped = record(&bench.out().join("poly-shap/pairs"))["skipped"].clone();
    assert_eq!(skipped[1]["reason"], "55 products need as many coalitions, and there are 28", "{skipped}");
}

/// Waits for a condition that must become true.
#[cfg(unix)]
fn wait_for(what: &str, is_so: impl Fn() -> bool) {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !is_so() {
        assert!(std::time::Instant::now() < deadline, "{what}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

/// A program that estimates five times and then waits until it is released; each start adds a line to a file.
#[cfg(unix)]
struct Patient(PathBuf);

#[cfg(unix)]
impl Patient {
    fn new(bench: &Bench) -> Self {
        let folder = bench.0.path().to_owned();
        let [starts, go] = ["starts", "go"].map(|name| folder.join(name).display().to_string());
        let text = format!(
            "read task; echo >> {starts}; [ -e {go} ] || [ $(wc -l < {starts}) -le 5 ] || sleep 60; \
             echo '{{\"estimate\":[1,0,0,0]}}'"
        );
        bench.file("patient.sh", &text);
        Self(folder)
    }

    fn starts(&self) -> usize {
        std::fs::read_to_string(self.0.join("starts")).map_or(0, |text| text.lines().count())
    }

    fn release(&self) {
        std::fs::write(self.0.join("go"), "").unwrap();
    }

    fn program(&self) -> String {
        format!("patient=sh {}", self.0.join("patient.sh").display())
    }

    /// Interrupts a command of the laboratory while its program waits, and returns the error output of the
    /// command.
    fn interrupted(&self, arguments: &[&str]) -> String {
        let mut running = Command::new(env!("CARGO_BIN_EXE_lab"))
            .args(arguments)
            .current_dir(workspace())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        wait_for("the program waits", || self.starts() == 6);
        assert!(Command::new("kill").args(["-INT", &running.id().to_string()]).status().unwrap().success());
        assert_eq!(running.wait().unwrap().code(), Some(130));
        let mut said = String::new();
        std::io::Read::read_to_string(running.stderr.as_mut().unwrap(), &mut said).unwrap();
        said
    }
}

/// Returns the sorted file names in a directory.
fn names(folder: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<String> = std::fs::read_dir(folder).unwrap().map(name).collect();
    names.sort();
    names
}

#[cfg(unix)]
#[test]
fn a_command_that_was_interrupted_goes_on_where_it_was() {
    let bench = Bench::new();
    let patient = Patient::new(&bench);
    let program = patient.program();
    let few = ["--dataset", IRIS, "--estimators", "leverage-shap", "--estimator-program", &program];
    let few = [&few[..], &["--budgets", "3,10", "--runs", "10", "--threads", "1"]].concat();
    let out = bench.out();
    let said = patient.interrupted(
        &[&["laboratory", "--label", "t", "--out", out.to_str().unwrap()], few.as_slice()].concat(),
    );
    assert!(said.contains("interrupted: finished runs are stored"), "{said}");
    let left = names(&out);
    assert!(left.len() == 1 && left[0].starts_with(".t-") && left[0].ends_with(".checkpoints"), "{left:?}");
    let checkpoints = out.join(&left[0]);
    let kept = std::fs::read(&checkpoints).unwrap();
    patient.release();

    // Leverage SHAP does not support three evaluations.
    let folder = bench.done(&few);
    assert_eq!((record(&folder)["earlier_runs"].clone(), patient.starts()), (15.into(), 6 + 15));
    assert_eq!(names(&out), [folder.file_name().unwrap().to_str().unwrap()]);
    let whole = bench.done(&few);
    assert_eq!((record(&whole)["earlier_runs"].clone(), patient.starts()), (0.into(), 21 + 20));
    assert_eq!(without_seconds(&folder), without_seconds(&whole));
    let estimates = |folder: &Path| std::fs::read(folder.join("estimates.csv")).unwrap();
    assert_eq!(estimates(&folder), estimates(&whole));

    let again = |more: &[&str]| {
        let output = bench.run(&[few.as_slice(), more].concat());
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    // The run of a truncated line is repeated.
    std::fs::write(&checkpoints, &kept[..kept.len() - 3]).unwrap();
    assert!(again(&[]).contains("resuming with 14 runs left by an interrupted command"));
    std::fs::write(&checkpoints, &kept).unwrap();
    assert!(!again(&["--fresh"]).contains("resuming with"));
    assert!(!checkpoints.exists());
    // A different command does not use the checkpoints and keeps the file.
    std::fs::write(&checkpoints, &kept).unwrap();
    for other in [["--background", "5"], ["--seed", "1"], ["--output", "0"], ["--value", "banzhaf"]] {
        let goes_on = again(&other).contains("resuming with 15 runs");
        assert_eq!(goes_on, other[0] == "--output", "{other:?}");
        std::fs::write(&checkpoints, &kept).unwrap();
    }
    // The same applies while another process runs the same command.
    let beside = std::fs::File::open(&checkpoints).unwrap();
    beside.lock().unwrap();
    assert!(again(&[]).contains("the same command is already running"));
    assert_eq!(std::fs::read(&checkpoints).unwrap(), kept);
}

#[cfg(unix)]
#[test]
fn a_paper_that_was_interrupted_goes_on_where_it_was() {
    let bench = Bench::new();
    let patient = Patient::new(&bench);
    let second = paper("").split_once("[[artefact]]").unwrap().1.replace("fig1", "fig2");
    let text = format!("{}[[artefact]]{second}estimator-program = {:?}\n", paper(""), patient.program());
    let folder = bench.paper(&text);
    let out = bench.out();
    let said = patient.interrupted(&["paper", &folder, "--threads", "1", "--out", out.to_str().unwrap()]);
    assert!(said.contains("interrupted: finished runs are stored"), "{said}");
    let left = names(&out);
    assert!(
        left.len() == 2 && left[0].starts_with(".mine-fig1-") && left[1].starts_with(".mine-fig2-"),
        "{left:?}"
    );
    patient.release();
    let output = bench.make(&folder, &["--threads", "1"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(names(&out), ["mine"]);
    let earlier =
        ["fig1", "fig2"].map(|figure| record(&out.join("mine").join(figure))["earlier_runs"].clone());
    assert_eq!(earlier, [48.into(), Value::from(48 + 5)]);
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_the_programs_and_leaves_nothing_where_no_run_has_ended() {
    let bench = Bench::new();
    let (alive, out) = (bench.0.path().join("alive"), bench.out());
    let busy = format!("busy=while sleep 0.05; do echo >> '{}'; done", alive.display());
    let mut running = Command::new(env!("CARGO_BIN_EXE_lab"))
        .args(["laboratory", "--label", "t", "--out", out.to_str().unwrap()])
        .args(["--dataset", IRIS, "--budgets", "5n", "--estimator-program", &busy])
        .current_dir(workspace())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let size = || std::fs::metadata(&alive).map_or(0, |file| file.len());
    wait_for("the program runs", || size() > 0);
    assert!(names(&out).iter().all(|name| name.starts_with('.')), "{:?}", names(&out));
    assert!(Command::new("kill").args(["-INT", &running.id().to_string()]).status().unwrap().success());
    assert_eq!(running.wait().unwrap().code(), Some(130));
    let mut said = String::new();
    std::io::Read::read_to_string(running.stderr.as_mut().unwrap(), &mut said).unwrap();
    assert!(said.contains("interrupted before any run finished"), "{said}");
    assert!(names(&out).is_empty(), "{:?}", names(&out));
    let before = size();
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(size(), before);
}

#[cfg(unix)]
#[test]
fn nobody_need_read_what_is_printed() {
    use std::os::unix::ffi::OsStrExt;

    let bench = Bench::new();
    let folder = bench.paper(&paper(CLAIMS));
    let out = bench.out();
    let with_stdout = |arguments: &[&std::ffi::OsStr], shell: &str| {
        let words =
            [std::ffi::OsStr::new("-c"), std::ffi::OsStr::new(shell), env!("CARGO_BIN_EXE_lab").as_ref()];
        Command::new("sh").args(words).args(arguments).current_dir(workspace()).output().unwrap()
    };
    // The other end of the pipe is closed before anything is written.
    let closed = r#"("$0" "$@" 2>&1; echo $? >&3) 3>&2 | true"#;
    let arguments = ["paper", &folder, "--out", out.to_str().unwrap()].map(std::ffi::OsStr::new);
    let output = with_stdout(&arguments, closed);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "0\n");
    assert!(out.join("mine/summary.md").is_file());
    // The citation is the only output of this command, so a write error must be reported.
    let output = with_stdout(&["cite"].map(std::ffi::OsStr::new), r#""$0" "$@" >/dev/full"#);
    assert!(!output.status.success() && String::from_utf8_lossy(&output.stderr).contains("cannot print"));
    // Paths that are not valid UTF-8 are supported.
    let odd = out.join(std::ffi::OsStr::from_bytes(b"odd\xff"));
    let few =
        ["laboratory", "--label", "t", "--dataset", IRIS, "--estimators", "msr", "--runs", "1", "--out"];
    let arguments: Vec<&std::ffi::OsStr> =
        few.iter().map(std::ffi::OsStr::new).chain([odd.as_os_str()]).collect();
    assert!(with_stdout(&arguments, r#""$0" "$@""#).status.success());
}
