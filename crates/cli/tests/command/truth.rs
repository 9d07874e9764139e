//! Compares the command on every XGBoost model of the data pack with reference values computed from the
//! definitions. Without the data pack, only the base values and predictions of the fixtures are compared with
//! known ones.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{assert_close, assert_efficient, json, numbers, on};

/// The maximum number of features for enumerating all coalitions.
const ENUMERATED: u64 = 12;

fn shared() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", "..", "..", "shared"].iter().collect()
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Returns the reference documents, each for the games of one XGBoost model.
fn truths() -> Vec<Value> {
    let Ok(folder) = fs::read_dir(shared().join("truth")) else { return Vec::new() };
    let paths = folder.map(|entry| entry.unwrap().path());
    let names = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| names(path).contains("_xgb") && !names(path).contains("_groups")).collect();
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

/// Returns the cases of a document by row: for each row, the cases of its outputs in order.
fn cases(truth: &Value) -> BTreeMap<u64, Vec<&Value>> {
    let mut rows: BTreeMap<u64, Vec<&Value>> = BTreeMap::new();
    for case in truth["cases"].as_array().unwrap() {
        rows.entry(case["row"].as_u64().unwrap()).or_default().push(case);
    }
    rows
}

fn list(rows: impl Iterator<Item = u64>) -> String {
    rows.map(|row| row.to_string()).collect::<Vec<_>>().join(",")
}

/// Explains rows and compares the values; `game` is the name of a game in the reference document.
fn check(
    truth: &Value,
    model: &str,
    game: &str,
    value: &str,
    method: &str,
    cases: &BTreeMap<u64, Vec<&Value>>,
) {
    let what = format!("{model}, {game}, {value}, {method}");
    let path = |folder: &str, name: &str| shared().join(folder).join(name).to_str().unwrap().to_owned();
    let rows = path("data", truth["data"].as_str().unwrap());
    let model = path("models", model);
    let select = list(cases.keys().copied());
    let mut arguments = vec!["explain", "--model", &model, "--rows", &rows, "--select", &select];
    arguments.extend(["--value", value, "--method", method]);
    let background = list(truth["background"].as_array().unwrap().iter().map(|row| row.as_u64().unwrap()));
    if game == "interventional_background" {
        arguments.extend(["--background", &rows, "--background-select", &background]);
    }
    if game == "path_dependent" {
        arguments.extend(["--game", "path-dependent"]);
    }
    if game == "interventional_mean" {
        arguments.extend(["--background", "mean"]);
    }
    let results = json(&arguments);
    if value == "shapley" {
        assert_efficient(&results, &what);
    }
    for (explained, cases) in results["explanations"].as_array().unwrap().iter().zip(cases.values()) {
        assert_eq!(explained["row"], cases[0]["row"], "{what}");
        let (base, prediction) = (numbers(&explained["base"]), numbers(&explained["prediction"]));
        let values = numbers(&explained["values"]);
        for (output, case) in cases.iter().enumerate() {
            let (margin, expected) = (case["margin"].as_f64().unwrap(), &case[game]);
            let expected_base = expected["base"].as_f64().unwrap();
            let scale = margin.abs().max(expected_base.abs());
            assert_close(&[prediction[output]], &[margin], scale, 1e-12, &what);
            assert_close(&[base[output]], &[expected_base], scale, 1e-9, &what);
            let of_output: Vec<f64> = values.iter().skip(output).step_by(cases.len()).copied().collect();
            assert_close(&of_output, &numbers(&expected[value]), scale, 1e-9, &what);
        }
    }
}

fn check_all(method: &str, wanted: impl Fn(&Value) -> bool) {
    for truth in truths().iter().filter(|truth| wanted(truth)) {
        let json = truth["model_file"].as_str().unwrap().to_owned();
        let ubj = json.replace(".json", ".ubj");
        let models = [json, ubj].into_iter().filter(|model| shared().join("models").join(model).exists());
        for model in models {
            let cases = cases(truth);
            let first = cases.iter().take(1).map(|(&row, cases)| (row, cases.clone())).collect();
            for value in ["shapley", "banzhaf"] {
                check(truth, &model, "interventional_mean", value, method, &cases);
                // Enumeration with a background of 50 rows evaluates the model 2^n × 50 times per row.
                let few = if method == "exact" { &first } else { &cases };
                check(truth, &model, "interventional_background", value, method, few);
                check(truth, &model, "path_dependent", value, method, &cases);
            }
        }
    }
}

#[test]
fn the_tree_explainer_equals_the_truth_on_all_models() {
    check_all("tree", |_| true);
}

#[test]
fn enumeration_equals_the_truth_where_there_are_few_features() {
    check_all("exact", |truth| truth["n_features"].as_u64().unwrap() <= ENUMERATED);
}

/// Returns the reference documents for values of features in groups.
fn group_truths() -> Vec<Value> {
    let names = ["diabetes_xgb_groups.json", "california_xgb_groups.json", "adult_xgb_groups.json"];
    let paths = names.map(|name| shared().join("truth").join(name));
    paths.iter().filter(|path| path.exists()).map(|path| read(path)).collect()
}

#[test]
fn values_of_groups_equal_the_truth_by_the_tree_explainer_and_by_enumeration() {
    let path = |folder: &str, name: &str| shared().join(folder).join(name).to_str().unwrap().to_owned();
    for truth in group_truths() {
        let (model, rows) = (
            path("models", truth["model_file"].as_str().unwrap()),
            path("data", truth["data"].as_str().unwrap()),
        );
        let groups: Vec<String> = truth["partition"]
            .as_array()
            .unwrap()
            .iter()
            .map(|group| list(group.as_array().unwrap().iter().map(|feature| feature.as_u64().unwrap())))
            .collect();
        let groups = groups.join(";");
        let background =
            list(truth["background"].as_array().unwrap().iter().map(|row| row.as_u64().unwrap()));
        for (index, case) in truth["cases"].as_array().unwrap().iter().enumerate() {
            let (game, row) = (case["game"].as_str().unwrap(), case["row"].as_u64().unwrap().to_string());
            for (value, key) in [
                ("owen", "owen"),
                ("banzhaf-owen", "banzhaf_owen"),
                ("two-step", "two_step_shapley"),
                ("quotient-shapley", "quotient_shapley"),
                ("quotient-banzhaf", "quotient_banzhaf"),
            ] {
                // Enumerating all cases would take too long.
                for method in if index < 2 { &["tree", "exact"][..] } else { &["tree"] } {
                    let mut arguments = vec!["explain", "--model", &model, "--rows", &rows, "--select", &row];
                    arguments.extend(["--value", value, "--groups", &groups, "--method", method]);
                    match game {
                        "interventional_background" => {
                            arguments.extend(["--background", &rows, "--background-select", &background]);
                        }
                        "path_dependent" => arguments.extend(["--game", "path-dependent"]),
                        _ => {
                            assert_eq!(game, "interventional_mean");
                            arguments.extend(["--background", "mean"]);
                        }
                    }
                    let explained = &json(&arguments)["explanations"][0];
                    let (base, full) = (numbers(&case["v_empty"]), numbers(&case["v_full"]));
                    let scale = base[0].abs().max(full[0].abs());
                    let what = format!("{model}, {game}, row {row}, {value}, {method}");
                    assert_close(&numbers(&explained["values"]), &numbers(&case[key]), scale, 1e-9, &what);
                    assert_close(&numbers(&explained["base"]), &base, scale, 1e-9, &what);
                }
            }
        }
    }
}

#[test]
fn bases_and_predictions_of_the_fixtures_are_known() {
    // A case consists of the model, the rows file, the row, the predictions of XGBoost and the base values.
    // The predictions require a tolerance, because XGBoost sums leaves in float32.
    type TruthCase = (&'static str, &'static str, &'static str, &'static [f64], &'static [f64]);
    let known: [TruthCase; 5] = [
        ("iris_xgb.json.gz", "iris.csv", "50", &[1.0006223], &[0.9988986145219598]),
        (
            "iris_xgb_softprob.json.gz",
            "iris.csv",
            "25",
            &[2.7946322, -2.8365562, -3.374104],
            &[-3.008042083121836, 2.6355793327093124, -3.3741041445173323],
        ),
        ("diabetes_xgb.json.gz", "diabetes.csv.gz", "50", &[138.02765], &[109.84369985223748]),
        ("diabetes_xgb_1_7.ubj", "diabetes.csv.gz", "247", &[86.25226], &[146.31399132311344]),
        ("diabetes_xgb_dart.json.gz", "diabetes.csv.gz", "65", &[156.90796], &[137.3690823060955]),
    ];
    for (model, rows, row, predictions, bases) in known {
        let results = json(&on("explain", model, rows, &["--select", row, "--background", "mean"]));
        let explained = &results["explanations"][0];
        assert_close(&numbers(&explained["prediction"]), predictions, predictions[0].abs(), 1e-6, model);
        assert_close(&numbers(&explained["base"]), bases, bases[0].abs(), 1e-12, model);
        assert_efficient(&results, model);
    }
}
