//! The table method.

use serde_json::Value;

use crate::support::{bytes, fixture, json, numbers, on, run};

fn table(more: &[&str]) -> Vec<String> {
    let background = fixture("diabetes.csv.gz");
    let of_table = ["--background", &background, "--background-select", "0-19", "--select", "100-159"];
    on("explain", "diabetes_xgb.json.gz", "diabetes.csv.gz", &[&of_table, more].concat())
}

#[test]
fn errors_are_below_those_of_leverage_shap_and_results_are_complete() {
    let of_method = |method: &str| json(&table(&["--method", method, "--budget", "3n"]));
    let exact = json(&table(&["--method", "tree"]));
    let values = |found: &Value| -> Vec<f64> {
        found["explanations"].as_array().unwrap().iter().flat_map(|row| numbers(&row["values"])).collect()
    };
    let error = |found: &Value| -> f64 {
        values(found).iter().zip(values(&exact)).map(|(a, b)| (a - b).powi(2)).sum()
    };
    let found = of_method("table");
    assert!(error(&found) < 0.2 * error(&of_method("leverage-shap")));
    assert_eq!((found["method"].as_str(), found["budget"].as_u64()), (Some("table"), Some(30)));
    for row in found["explanations"].as_array().unwrap() {
        assert_eq!(row["std_errors"].as_array().unwrap().len(), 10);
    }
}

#[test]
fn threads_and_resumed_runs_give_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.checkpoint");
    let file = file.to_str().unwrap();
    let table = |more: &[&str]| table(&[&["--method", "table", "--budget", "0.5n"][..], more].concat());
    let expected = bytes(&table(&["--threads", "1"]));
    assert!(bytes(&table(&["--threads", "3", "--checkpoint", file])) == expected);
    assert!(bytes(&table(&["--resume", file])) == expected);
    // 0.45n and 0.5n are both 5 evaluations, but different numbers of rows.
    let mut other = table(&["--resume", file]);
    let budget = other.iter().position(|argument| argument == "0.5n").unwrap();
    other[budget] = "0.45n".to_owned();
    let refused = run(&other);
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("budget"), "{refused:?}");
}

#[test]
fn other_values_and_tolerances_are_explained_and_resumed() {
    let folder = tempfile::tempdir().unwrap();
    for (at, options) in [
        &["--value", "banzhaf"][..],
        &["--value", "beta=4,1", "--budget", "5n"],
        &["--until", "0.2"],
        &["--value", "owen", "--groups", "bmi,bp;age,sex;s1,s2,s3,s4,s5,s6", "--until", "0.3"],
    ]
    .into_iter()
    .enumerate()
    {
        let file = folder.path().join(at.to_string());
        let file = file.to_str().unwrap();
        let explain = |more: &[&str]| table(&[&["--method", "table"][..], options, more].concat());
        let expected = bytes(&explain(&["--threads", "1"]));
        assert!(bytes(&explain(&["--threads", "3", "--checkpoint", file])) == expected, "{options:?}");
        assert!(bytes(&explain(&["--resume", file])) == expected, "{options:?}");
        let found = json(&explain(&[]));
        assert_eq!(found["method"].as_str(), Some("table"));
        for row in found["explanations"].as_array().unwrap() {
            assert_eq!(row["certificate"].is_object(), options.contains(&"--until"), "{row}");
        }
    }
}

#[test]
fn interactions_of_pairs_are_estimated() {
    let pairs = ["--interactions=shapley", "--order", "2", "--budget", "10n"];
    let found = json(&table(&[&["--method", "table"][..], &pairs].concat()));
    assert_eq!(found["method"].as_str(), Some("table"));
    let without = json(&table(&[&["--method", "learned-spectrum"][..], &pairs].concat()));
    assert_eq!(without["method"].as_str(), Some("learned-spectrum"));
    let count = |found: &Value| found["explanations"].as_array().unwrap().len();
    assert_eq!((count(&found), count(&without)), (60, 60));
}

#[test]
fn what_the_table_method_does_not_support_is_refused() {
    for (more, expected) in [
        (&["--game", "gaussian"][..], "the marginal game"),
        (&["--budget", "0.001n"], "method table requires a budget of at least 5"),
        (&["--interactions"], "--interactions"),
    ] {
        let output = run(&table(&[&["--method", "table"][..], more].concat()));
        let says = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && says.contains(expected), "{says}");
    }
}

#[cfg(unix)]
#[test]
fn auto_explains_each_row_with_the_surrogate_of_the_background() {
    use std::fmt::Write as _;

    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, rows: usize| {
        let header: Vec<String> = (0..12).map(|at| format!("x{at}")).collect();
        let mut text = header.join(",") + "\n";
        for row in 0..rows {
            let cells: Vec<String> =
                (0..12).map(|at| ((row * 31 + at * 17) % (23 + at)).to_string()).collect();
            writeln!(text, "{}", cells.join(",")).unwrap();
        }
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (rows, background) = (write("rows.csv", 4), write("background.csv", 30));
    let program = "read header; while read count; do while [ $count -gt 0 ]; do \
                   IFS=, read a b c d e f g h i j k l; echo $((a * b + c * d * e + f - l)); \
                   count=$((count - 1)); done; echo; done";
    let explain = |more: &[&str]| -> Vec<String> {
        let common = ["explain", "--predict", program, "--rows", &rows, "--background", &background];
        [&common[..], more].concat().into_iter().map(str::to_owned).collect()
    };
    let all = json(&explain(&[]));
    assert_eq!((all["method"].as_str(), all["budget"].as_u64()), (Some("table"), Some(38)));
    let one = json(&explain(&["--select", "2"]));
    assert_eq!(one["explanations"][0]["values"], all["explanations"][2]["values"]);
    let file = folder.path().join("run.checkpoint");
    let file = file.to_str().unwrap();
    let expected = bytes(&explain(&[]));
    assert!(bytes(&explain(&["--checkpoint", file])) == expected);
    assert!(bytes(&explain(&["--resume", file, "--threads", "3"])) == expected);
    // The surrogate of method table is learned from the rows instead.
    let refused = run(&explain(&["--resume", file, "--method", "table"]));
    assert!(!refused.status.success());
}
