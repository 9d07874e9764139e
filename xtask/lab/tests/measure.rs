//! End-to-end tests of `cargo xtask measure`: each section at a small size.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

fn measure(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lab"));
    command.env("PYTHONPATH", workspace().join("benches/rivals"));
    command.arg("measure").args(arguments).current_dir(workspace()).output().unwrap()
}

/// A row of the table: entries by column.
type Row = BTreeMap<String, String>;

/// Runs the command, which must succeed, and returns its table with all digits, and what it printed.
fn table(arguments: &[&str]) -> (Vec<Row>, String) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("table.csv");
    let output = measure(&[arguments, &["--csv", path.to_str().unwrap()]].concat());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned));
    let columns: Vec<String> = lines.next().unwrap().collect();
    let rows = lines.map(|line| columns.iter().cloned().zip(line).collect()).collect();
    (rows, format!("{}{errors}", String::from_utf8_lossy(&output.stdout)))
}

fn number(row: &Row, column: &str) -> f64 {
    row[column].parse().unwrap_or(f64::NAN)
}

#[test]
fn frontier_compares_errors_with_those_of_a_reference() {
    let arguments = |threads| {
        [
            "frontier",
            "--games",
            "unanimity 10,airport 12,xgb california",
            "--seeds",
            "3",
            "--budgets",
            "5n,2n,2000",
            "--estimators",
            "leverage-shap,msr-adjusted",
            "--threads",
            threads,
        ]
    };
    let (rows, _) = table(&arguments("1"));
    // With 2n evaluations, msr-adjusted lacks standard errors. 2000 evaluations would cover all coalitions of
    // 10 players, and are measured for 100 and for 12 players only.
    let budgets = |game: &str| -> Vec<&str> {
        let rows = rows.iter().filter(|row| row["game"] == game && row["estimator"] == "leverage-shap");
        rows.map(|row| row["budget"].as_str()).collect()
    };
    assert_eq!(budgets("unanimity 10"), ["5n", "2n"]);
    assert_eq!(budgets("xgb california"), ["5n", "2n"]);
    assert_eq!(budgets("airport 12"), ["5n", "2n", "2000"]);
    for row in &rows {
        assert!(row["runs"] == "3" && row["value"] == "shapley", "{row:?}");
        let ratios = ["median", "90%", "geometric mean", "ratio of means"].map(|column| number(row, column));
        match row["estimator"].as_str() {
            "leverage-shap" => assert_eq!(ratios, [1.0; 4], "{row:?}"),
            _ => assert!(ratios.iter().all(|&ratio| ratio > 0.0 && ratio != 1.0), "{row:?}"),
        }
    }
    let without_times = |rows: &[Row]| -> Vec<Row> {
        let mut rows = rows.to_vec();
        rows.iter_mut().for_each(|row| drop(row.remove("seconds")));
        rows
    };
    assert_eq!(without_times(&rows), without_times(&table(&arguments("2")).0));
    let few = ["frontier", "--games", "unanimity 10", "--seeds", "3", "--budgets", "5n", "--pool"];
    let banzhaf =
        ["--value", "banzhaf", "--reference", "msr-adjusted", "--estimators", "msr-adjusted,kernel-banzhaf"];
    let (rows, _) = table(&[&few[..], &banzhaf].concat());
    let is_pooled = |row: &Row| row["game"] == "unanimity" && row["n"] == "10 to 100" && row["runs"] == "6";
    assert!(rows.len() == 2 && rows.iter().all(is_pooled), "{rows:?}");
}

#[test]
fn monte_carlo_estimators_are_compared_with_antithetic_permutations() {
    let (rows, said) =
        table(&["monte-carlo", "--players", "9", "--seeds", "3", "--games", "interactions,airport"]);
    assert!(said.contains("relative to those of optimized-monte-carlo"), "{said}");
    let estimators = 5;
    assert_eq!(rows.len(), 4 * estimators);
    assert!(rows.iter().all(|row| row["budget"] == "2n²" && number(row, "evaluations") <= 162.0));
    let of = |name: &str| -> f64 {
        let row = rows.iter().find(|row| row["game"] == "airport" && row["estimator"] == name).unwrap();
        number(row, "ratio of means")
    };
    assert!(of("optimized-monte-carlo-independent") < of("monte-carlo"));
}

#[test]
fn intervals_cover_and_their_exceptions_are_listed() {
    let (rows, said) = table(&[
        "intervals",
        "--players",
        "8,9",
        "--seeds",
        "2",
        "--estimators",
        "leverage-shap,msr",
        "--games",
        "apex,a cube,a product",
    ]);
    let counts: Vec<(&str, &str, &str)> = rows
        .iter()
        .map(|row| (row["estimator"].as_str(), row["games"].as_str(), row["intervals"].as_str()))
        .collect();
    let expected = [
        ("leverage-shap", "hard", "34"),
        ("leverage-shap", "smooth", "68"),
        ("msr", "hard", "34"),
        ("msr", "smooth", "68"),
    ];
    assert_eq!(counts, expected);
    assert!(rows.iter().all(|row| number(row, "coverage") > 0.7 && row["wrong points"] == "0"), "{rows:?}");
    assert!(said.contains("Coverage of 95% intervals"), "{said}");
}

#[test]
fn bounds_are_measured_for_both_values_and_for_growing_samples() {
    let arguments = ["bounds", "--players", "6", "--seeds", "12", "--games", "table,pair"];
    let (rows, _) = table(&arguments);
    assert!(["shapley", "banzhaf"].iter().all(|value| rows.iter().any(|row| row["value"] == *value)));
    let leverage = rows.iter().find(|row| row["estimator"] == "leverage-shap").unwrap();
    assert!(number(leverage, "norm") > 0.6 && number(leverage, "values") > 0.7, "{leverage:?}");
    let more = ["--growing", "--estimators", "leverage-shap", "--value", "shapley"];
    let (grown, _) = table(&[&arguments[..], &more].concat());
    assert_ne!(grown[0]["error / variance"], leverage["error / variance"]);
}

#[test]
fn certificates_are_counted_for_any_value() {
    let arguments = ["certificates", "--players", "8", "--seeds", "2", "--games", "additive,cube"];
    let more = ["--value", "banzhaf", "--value", "owen", "--tolerances", "0.1,0.03", "--budgets", "50n"];
    let named = ["--estimators", "msr-adjusted,nested-permutation"];
    let (rows, _) = table(&[&arguments[..], &more, &named].concat());
    let rows: Vec<[&str; 4]> = rows
        .iter()
        .map(|row| ["value", "estimator", "tolerance", "runs"].map(|column| row[column].as_str()))
        .collect();
    let expected = [
        ["banzhaf", "msr-adjusted", "0.1", "14"],
        ["banzhaf", "msr-adjusted", "0.03", "14"],
        ["banzhaf", "msr-adjusted", "all", "28"],
        ["owen", "nested-permutation", "0.1", "14"],
        ["owen", "nested-permutation", "0.03", "14"],
        ["owen", "nested-permutation", "all", "28"],
    ];
    assert_eq!(rows, expected);
}

#[test]
fn invalid_requests_are_refused_with_a_reason() {
    for (arguments, expected) in [
        (&["frontier", "--games", "chess"][..], "no game with known values matches --games"),
        (&["frontier", "--estimators", "leverage-shp"], "unknown method \"leverage-shp\""),
        (&["frontier", "--estimators", "kernel-banzhaf"], "kernel-banzhaf does not estimate"),
        (&["frontier", "--value", "banzhaf"], "leverage-shap does not estimate"),
        (&["frontier", "--reference", "auto"], "auto does not estimate"),
        (&["intervals", "--players", "7"], "the games have at least 8 players"),
        (&["intervals", "--estimator-program", "a=true"], "requires frontier or monte-carlo"),
        (&["frontier", "--budgets", "0"], "invalid budget"),
        (&["frontier", "--players", "8"], "--players cannot be combined with frontier"),
        (&["bounds", "--pool"], "--pool requires"),
        (&["certificates", "--tolerances", "0.1,-1"], "invalid tolerance in --tolerances"),
        (&["monte-carlo", "--players", "6", "--games", "airport"], "nothing to measure"),
    ] {
        let output = measure(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(expected), "{arguments:?}: {said}");
    }
}

#[cfg(unix)]
#[test]
fn programs_take_part_and_those_that_fail_are_omitted() {
    let (rows, said) = table(&[
        "frontier",
        "--games",
        "airport 12",
        "--seeds",
        "1",
        "--budgets",
        "5n",
        "--estimator-program",
        "zero=while read task; do echo '{\"estimate\": [0,0,0,0,0,0,0,0,0,0,0,0]}'; done",
        "--estimator-program",
        "shy=read task; echo '{\"refused\": \"too hard\"}'",
    ]);
    assert!(said.contains("shy on airport 12 (n = 12) at 5n is omitted: too hard"), "{said}");
    assert_eq!(rows.len(), 1);
    // The relative error of zeros is 1.
    assert_eq!(number(&rows[0], "median"), 1.0 / number(&rows[0], "reference"));
    assert!(rows[0]["coverage"].is_empty() && number(&rows[0], "evaluations") == 0.0, "{:?}", rows[0]);
}

/// A library that prints to standard output and requests coalitions twice: the value of each player is its
/// contribution to the grand coalition.
#[cfg(unix)]
const LIBRARY: &str = r#"
import sys
import numpy as np
from estimator_program import Refused, run

open(sys.argv[1], "a").write("started\n")

def estimate(game):
    print("some progress")
    if game.budget < game.players + 1:
        raise Refused("too few evaluations")
    without = 1.0 - np.eye(game.players)
    everything = game(np.ones(game.players))[0]
    assert (game(without) == game(without)).all()
    return everything - game(without)

run(estimate)
"#;

#[cfg(unix)]
#[test]
fn adapters_of_libraries_request_a_coalition_once_and_serve_many_runs() {
    if !Command::new("python3")
        .args(["-c", "import numpy"])
        .output()
        .is_ok_and(|found| found.status.success())
    {
        return;
    }
    let folder = TempDir::new().unwrap();
    let (script, starts) = (folder.path().join("library.py"), folder.path().join("starts"));
    std::fs::write(&script, LIBRARY).unwrap();
    let program = format!("library=python3 '{}' '{}'", script.display(), starts.display());
    let arguments = ["frontier", "--seeds", "3", "--threads", "1", "--estimator-program", &program];
    let (rows, said) =
        table(&[&arguments[..], &["--games", "max 12,airport 12", "--budgets", "5n,7"]].concat());
    assert!(said.contains("library on airport 12 (n = 12) at 7 is omitted: too few evaluations"), "{said}");
    assert_eq!(rows.len(), 2, "{said}");
    assert!(rows.iter().all(|row| row["evaluations"] == "13" && number(row, "median") > 0.0), "{rows:?}");
    assert_eq!(std::fs::read_to_string(&starts).unwrap(), "started\n");
}
