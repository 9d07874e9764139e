//! Tests of the command with kernel machines: exact values, predictions, and `inspect`.

use std::collections::BTreeMap;

use apportion::kernels::{Kernel, KernelMachine};
use serde_json::Value;

use crate::support::{fixture, json, numbers, run};

/// Returns the path of a support vector machine.
fn machine(name: &str) -> String {
    fixture(&format!("../../../models/tests/fixtures/onnx/support_vectors/{name}.onnx"))
}

/// Returns the scores of the runtime for some rows, and these rows.
fn said(name: &str) -> (Vec<f64>, Vec<f64>) {
    let path = fixture("../../../models/tests/fixtures/onnx/support_vectors/said.json");
    let said: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    (numbers(&said[name]["runtime"]), numbers(&said[name]["rows"]))
}

/// Writes a table with these rows.
fn table(path: &str, rows: &[f64], columns: usize) {
    let header: Vec<String> = (0..columns).map(|column| format!("b{column}")).collect();
    let lines = rows.chunks_exact(columns).map(|row| {
        let cells: Vec<String> = row.iter().map(f64::to_string).collect();
        cells.join(",")
    });
    let lines: Vec<String> = std::iter::once(header.join(",")).chain(lines).collect();
    std::fs::write(path, lines.join("\n") + "\n").unwrap();
}

#[test]
fn values_of_support_vector_machines_are_exact() {
    let folder = tempfile::tempdir().unwrap();
    let rows = folder.path().join("rows.csv").to_str().unwrap().to_owned();
    for (name, columns) in
        [("regression", 5), ("regression_scaled", 5), ("frame", 5), ("classes", 4), ("one_class", 4)]
    {
        let (scores, numbers_of_rows) = said(name);
        table(&rows, &numbers_of_rows, columns);
        let machine = machine(name);
        let common = ["--model", &machine, "--rows", &rows, "--format", "json"];
        let predicted = json(&[&["predict"][..], &common].concat());
        let predicted = predicted["predictions"].as_array().unwrap();
        assert_eq!(predicted.len(), scores.len(), "{name}");
        for (row, expected) in predicted.iter().zip(&scores) {
            let got = row["prediction"].as_f64().unwrap();
            assert!((got - expected).abs() < 1e-4, "{name}: {got} {expected}");
        }
        let explained =
            |more: &[&str]| json(&[&["explain"][..], &common, &["--background", &rows], more].concat());
        let (exact, enumerated) = (explained(&[]), explained(&["--method", "exact"]));
        assert_eq!((&exact["method"], &exact["budget"]), (&"kernel-machine".into(), &Value::Null), "{name}");
        let values = |results: &Value| -> Vec<f64> {
            let rows = results["explanations"].as_array().unwrap();
            rows.iter().flat_map(|row| numbers(&row["values"])).collect()
        };
        let (exact, enumerated) = (values(&exact), values(&enumerated));
        assert_eq!(exact.len(), 12 * columns);
        for (got, expected) in exact.iter().zip(&enumerated) {
            assert!((got - expected).abs() < 1e-12, "{name}: {got} {expected}");
        }
        let indices = |more: &[&str]| -> BTreeMap<String, f64> {
            let results = explained(&[&["--interactions=shapley"], more].concat());
            let rows = results["explanations"].as_array().unwrap();
            let mut found = BTreeMap::new();
            for (at, row) in rows.iter().enumerate() {
                for coalition in row["coalitions"].as_array().unwrap() {
                    found.insert(
                        format!("{at} {}", coalition["features"]),
                        coalition["value"].as_f64().unwrap(),
                    );
                }
            }
            found
        };
        let (exact, enumerated) = (indices(&[]), indices(&["--method", "exact"]));
        assert!(!exact.is_empty(), "{name}");
        // Indices that are zero are not listed.
        for coalition in exact.keys().chain(enumerated.keys()) {
            let [got, expected] = [&exact, &enumerated].map(|all| all.get(coalition).copied().unwrap_or(0.0));
            assert!((got - expected).abs() < 1e-12, "{name} {coalition}: {got} {expected}");
        }
    }
}

#[test]
fn contents_are_shown() {
    let facts = json(&["inspect", "--model", &machine("frame"), "--format", "json"]);
    assert_eq!(facts["kernels"], serde_json::json!(["rbf"]));
    assert_eq!(facts["feature_names"], serde_json::json!(["b0", "b1", "b2", "b3", "b4"]));
    assert_eq!((&facts["outputs"], &facts["features"]), (&1.into(), &5.into()));
    assert!(facts["centres"].as_u64().unwrap() > 1);
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    table(&at("rows.csv"), &said("frame").1, 5);
    let given =
        ["inspect", "--model", &machine("frame"), "--background", &at("rows.csv"), "--format", "json"];
    let plans = json(&given);
    assert!(plans["marginal_shapley"][0].as_str().unwrap().starts_with("1 row: about "), "{plans}");
    let found = json(&["inspect", &machine("regression"), "--format", "json"]);
    assert_eq!((&found["kind"], &found["games"]), (&"a model".into(), &serde_json::json!(["marginal"])));

    let own = KernelMachine::new(2, &[1.0, 2.0])
        .and_then(|machine| machine.with_kernel(Kernel::laplace(1.0, 2), &[0.0, 1.0], &[3.0, 4.0]))
        .unwrap();
    std::fs::write(at("own.json"), own.to_bytes()).unwrap();
    let facts = json(&["inspect", &at("own.json"), "--format", "json"]);
    assert_eq!(facts["kernels"], serde_json::json!(["laplace"]));
    assert_eq!(facts["intercept"], serde_json::json!([1.0, 2.0]));
}

#[test]
fn machines_and_requests_that_are_not_supported_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let rows = folder.path().join("rows.csv").to_str().unwrap().to_owned();
    table(&rows, &said("regression").1, 5);
    let refused = |model: &str, more: &[&str]| {
        let model = machine(model);
        let output = run(&[&["explain", "--model", &model, "--rows", &rows][..], more].concat());
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    for (model, more, says) in [
        ("refused_polynomial", &[][..], "with kernel POLY is not supported; use an RBF or linear kernel"),
        ("refused_votes", &[], "SVMClassifier of 3 classes is not supported"),
        ("regression", &["--trees", "all"], "--trees requires a tree ensemble; remove --trees"),
        ("regression", &["--method", "tree"], "--method tree requires a tree ensemble"),
        ("regression", &["--game", "path-dependent"], "--game path-dependent requires a tree ensemble"),
        ("regression", &["--output", "probability"], "--output probability requires a tree ensemble"),
        ("regression", &["--interactions"], "use an index that supports any model: --interactions=shapley"),
    ] {
        let error = refused(model, more);
        assert!(error.contains(says), "{error}");
    }
    std::fs::write(&rows, "a,b,c,d,e\n1,2,,4,5\n1,2,3,4,5\n").unwrap();
    let error = refused("regression", &[]);
    assert!(
        error.contains("row 0 has a missing value in \"c\", which the model does not support"),
        "{error}"
    );
}
