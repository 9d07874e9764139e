//! Tests values of features on a graph.

use std::fs;

use crate::support::{assert_close, json, numbers, on, run};

fn diabetes(more: &[&str]) -> Vec<String> {
    on("explain", "diabetes_xgb.json.gz", "diabetes.csv.gz", more)
}

fn values(more: &[&str]) -> Vec<f64> {
    numbers(&json(&diabetes(&[&["--select", "50"], more].concat()))["explanations"][0]["values"])
}

#[test]
fn from_the_diameter_on_they_are_those_of_all_coalitions() {
    let (shapley, banzhaf) = (values(&[]), values(&["--value", "banzhaf"]));
    let close = |got: &[f64], expected: &[f64]| assert_close(got, expected, 100.0, 1e-12, "");
    close(&values(&["--value", "l-shapley=9", "--graph", "line"]), &shapley);
    close(&values(&["--value", "l-shapley=4", "--graph", "grid=2x5,8", "--budget", "2000"]), &shapley);
    close(&values(&["--value", "l-banzhaf=5", "--graph", "grid=2x5"]), &banzhaf);
    let all: Vec<String> = (0..10).flat_map(|a| (a + 1..10).map(move |b| format!("{a},{b}"))).collect();
    close(&values(&["--value", "myerson", "--graph", &all.join(";")]), &shapley);
    let myerson = values(&["--value", "myerson", "--graph", "line"]);
    close(&values(&["--value", "c-shapley=9", "--graph", "line"]), &myerson);
    assert!(myerson.iter().zip(&shapley).any(|(a, b)| (a - b).abs() > 1e-3));
}

#[test]
fn a_graph_in_a_file_and_sampled_values() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("edges.csv");
    fs::write(&path, "age,sex\nbmi,bp\ns1,s2\ns2,s3\n").unwrap();
    let file = format!("file={}", path.display());
    let typed = values(&["--value", "l-shapley=1", "--graph", "age,sex;bmi,bp;s1,s2;s2,s3"]);
    assert_eq!(values(&["--value", "l-shapley=1", "--graph", &file]), typed);
    let leverage =
        ["--value", "l-shapley=2", "--graph", "line", "--method", "l-shapley-leverage", "--budget", "4000"];
    assert_close(&values(&leverage), &values(&leverage[..4]), 100.0, 1e-9, "enough for all");
    let regression = ["--value", "c-shapley=4", "--graph", "line", "--method", "c-shapley-regression"];
    assert!(values(&regression).iter().all(|value| value.is_finite()));
}

#[test]
fn graphs_that_are_missing_or_needless_and_small_budgets_are_refused() {
    for (more, status, expected) in [
        (&["--value", "myerson"][..], 2, "--graph line"),
        (&["--graph", "line"], 2, "--value shapley cannot be combined with --graph"),
        (&["--value", "myerson", "--graph", "grid=3x3"], 2, "expected a grid of the 10 features"),
        (&["--value", "myerson", "--graph", "line", "--method", "tree"], 2, "does not support"),
        (&["--value", "l-shapley=3", "--graph", "line", "--budget", "20"], 1, "20"),
    ] {
        let output = run(&diabetes(&[&["--select", "50"], more].concat()));
        assert_eq!(output.status.code(), Some(status), "{more:?}");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.contains(expected), "{more:?}: {message}");
    }
}
