//! Tests the options of `apportion explain`.

use std::fs;

use crate::support::{assert_close, assert_efficient, bytes, files, fixture, json, numbers, on, run};

const ESTIMATORS: [&str; 8] = [
    "leverage-shap",
    "leverage-shap-bernoulli",
    "leverage-shap-unpaired",
    "leverage-shap-with-replacement",
    "kernel-shap",
    "kernel-shap-paired",
    "optimized-kernel-shap",
    "permutation",
];

fn diabetes(more: &[&str]) -> Vec<String> {
    on("explain", "diabetes_xgb.json.gz", "diabetes.csv.gz", more)
}

#[test]
fn the_tree_explainer_and_enumeration_agree_for_every_model_value_and_background() {
    for (model, rows) in [
        ("iris_xgb.json.gz", "iris.csv"),
        ("iris_xgb_softprob.json.gz", "iris.csv"),
        ("diabetes_xgb_dart.json.gz", "diabetes.csv.gz"),
        ("diabetes_xgb_1_7.ubj", "diabetes.csv.gz"),
    ] {
        for value in ["shapley", "banzhaf", "weighted-banzhaf=0.2", "beta=4,1", "mixture=0.1:0.5,1:0.5"] {
            for background in [
                &["--background", "mean"][..],
                &["--background-select", "1,40-44"],
                &["--game", "path-dependent"],
            ] {
                let results = |method: &str| {
                    let options = ["--select", "0,70,149", "--value", value, "--method", method];
                    json(&on("explain", model, rows, &[&options[..], background].concat()))
                };
                let (tree, exact) = (results("tree"), results("exact"));
                let what = format!("{model}, {value}, {background:?}");
                for (tree, exact) in tree["explanations"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .zip(exact["explanations"].as_array().unwrap())
                {
                    for key in ["base", "prediction", "values"] {
                        assert_close(&numbers(&tree[key]), &numbers(&exact[key]), 100.0, 1e-12, &what);
                    }
                }
                if value == "shapley" {
                    assert_efficient(&tree, &what);
                    assert_efficient(&exact, &what);
                }
            }
        }
    }
}

#[test]
fn every_method_divides_the_whole_of_the_prediction() {
    for method in ESTIMATORS {
        let results = json(&diabetes(&["--select", "3,17", "--method", method, "--budget", "20n"]));
        assert_efficient(&results, method);
        assert_eq!(results["method"], method);
        assert_eq!(results["budget"], 200);
    }
}

#[test]
fn a_budget_that_covers_all_coalitions_makes_every_estimate_exact() {
    let exact =
        json(&on("explain", "iris_xgb.json.gz", "iris.csv", &["--select", "60", "--method", "exact"]));
    for method in ESTIMATORS {
        let results = json(&on(
            "explain",
            "iris_xgb.json.gz",
            "iris.csv",
            &["--select", "60", "--method", method, "--budget", "16"],
        ));
        let of = |results: &serde_json::Value| numbers(&results["explanations"][0]["values"]);
        assert_close(&of(&results), &of(&exact), 1.0, 1e-10, method);
    }
}

#[test]
fn a_single_feature_gets_everything_from_every_method() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let model = file("model.json", &stump_of_one_feature());
    let rows = file("rows.csv", "a\n1\n5\n");
    for method in ["auto", "tree", "exact"].into_iter().chain(ESTIMATORS) {
        let results = json(&[
            "explain",
            "--model",
            &model,
            "--rows",
            &rows,
            "--background-select",
            "0",
            "--method",
            method,
        ]);
        let explained = &results["explanations"][1];
        assert_eq!(numbers(&explained["values"]), [2.0], "{method}");
        assert_eq!(
            [numbers(&explained["base"]), numbers(&explained["prediction"])],
            [[1.5], [3.5]],
            "{method}"
        );
        assert_eq!(numbers(&results["explanations"][0]["values"]), [0.0], "{method}");
    }
}

#[test]
fn the_number_of_threads_does_not_change_a_byte() {
    for method in ["tree", "leverage-shap", "optimized-kernel-shap", "permutation"] {
        let options = |threads| {
            diabetes(&[
                "--select",
                "0-19",
                "--method",
                method,
                "--budget",
                "100",
                "--seed",
                "7",
                "--threads",
                threads,
            ])
        };
        let one = bytes(&options("1"));
        assert_eq!(one, bytes(&options("2")), "{method}");
        assert_eq!(one, bytes(&options("0")), "{method}");
    }
}

#[test]
fn the_seed_changes_an_estimate_and_nothing_else_does() {
    let options = |seed, select| {
        diabetes(&["--method", "leverage-shap", "--budget", "60", "--seed", seed, "--select", select])
    };
    let (first, again, other) =
        (json(&options("1", "5")), json(&options("1", "4,5")), json(&options("2", "5")));
    assert_eq!(first["explanations"][0], again["explanations"][1]);
    assert_ne!(first["explanations"][0]["values"], other["explanations"][0]["values"]);
}

/// The model has no feature names, so they come from the header of the rows.
#[test]
fn columns_of_a_background_file_are_matched_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("reversed.csv");
    let rows = fs::read_to_string(fixture("iris.csv")).unwrap();
    let reversed =
        rows.lines().take(40).map(|line| line.split(',').rev().collect::<Vec<_>>().join(",") + "\n");
    fs::write(&path, reversed.collect::<String>()).unwrap();
    let results = |options: &[&str]| {
        let select = ["--select", "60", "--background-select", "3-30"];
        json(&on("explain", "iris_xgb.json.gz", "iris.csv", &[&select[..], options].concat()))
    };
    assert_eq!(results(&["--background", path.to_str().unwrap()]), results(&[]));
}

#[test]
fn a_budget_that_does_not_determine_the_values_is_warned_of() {
    let of = |budget| {
        let options =
            ["--select", "3", "--method", "leverage-shap", "--budget", budget, "--game", "path-dependent"];
        let output = run(&on("explain", "diabetes_xgb.json.gz", "diabetes.csv.gz", &options));
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(of("10").contains("determine only 4 of 9 unknowns"), "{}", of("10"));
    assert_eq!(of("100"), "");
}

#[test]
fn the_mean_is_that_of_all_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mean.csv");
    fs::write(&path, "a,b\n2,10\n").unwrap();
    let rows = folder.path().join("rows.csv");
    fs::write(&rows, "a,b,target\n1,,5\n3,10,6\n").unwrap();
    let model = folder.path().join("model.json");
    fs::write(&model, stump_of_two_features()).unwrap();
    let results = |background: &[&str]| {
        let base = ["explain", "--model", model.to_str().unwrap(), "--rows", rows.to_str().unwrap()];
        json(&[&base[..], background].concat())
    };
    let expected = results(&["--background", path.to_str().unwrap()]);
    assert_eq!(results(&["--background", "mean"]), expected);
    assert_eq!(results(&["--background", "mean", "--select", "0,1"]), expected);
    assert_ne!(results(&["--background-select", "0"]), expected);
}

#[test]
fn columns_are_taken_by_the_models_names_whatever_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let rows = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let model = rows("model.json", &stump_of_two_features());
    let one = rows("one.csv", "a,b\n1,20\n3,5\n");
    let other = rows("other.csv", "b,name,target,a\n20,x,0,1\n5,y,0,3\n");
    let unnamed = rows("unnamed.csv", "x0,x1\n1,20\n3,5\n");
    let run = |path: &str| run(&["explain", "--model", &model, "--rows", path, "--game", "path-dependent"]);
    let expected = run(&one);
    assert!(expected.status.success() && expected.stderr.is_empty());
    for (path, note) in [
        (&other, "ignored columns that are not features of the model: \"name\""),
        (&unnamed, "\"x0\" as \"a\""),
    ] {
        let output = run(path);
        assert_eq!(output.stdout, expected.stdout);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.starts_with("note: ") && stderr.contains(note), "{stderr}");
    }
}

#[test]
fn timings_are_one_line_of_json_on_standard_error() {
    let output = run(&diabetes(&["--select", "0", "--timings", "--game", "path-dependent"]));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(stderr.lines().count(), 1);
    let timings: serde_json::Value = serde_json::from_str(&stderr).unwrap();
    for key in ["load_s", "explain_s", "write_s"] {
        assert!(timings[key].as_f64().unwrap() >= 0.0);
    }
}

#[test]
fn a_file_gets_what_standard_output_would() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("results.json");
    fs::write(&out, "old").unwrap();
    let printed = bytes(&diabetes(&["--select", "2"]));
    let silent = bytes(&diabetes(&["--select", "2", "--out", out.to_str().unwrap()]));
    assert!(silent.is_empty());
    assert_eq!(fs::read(&out).unwrap(), printed);
    assert_eq!(files(folder.path()), ["results.json"]);
}

#[test]
fn a_reader_that_goes_away_ends_the_run_without_a_word_and_with_status_1() {
    use std::process::{Command, Stdio};
    for format in ["json", "csv", "table", "npy", "npz"] {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin("apportion"))
            .args(diabetes(&["--format", format, "--game", "path-dependent"]))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.code() == Some(1) && output.stderr.is_empty(), "{format}: {output:?}");
    }
}

/// Returns a model with one tree with one split, which predicts 1.5 if a < 2, else 3.5.
fn stump_of_one_feature() -> String {
    let mut model: serde_json::Value = serde_json::from_str(&stump_of_two_features()).unwrap();
    let learner = &mut model["learner"];
    learner["feature_names"] = serde_json::json!(["a"]);
    learner["feature_types"] = serde_json::json!(["float"]);
    learner["learner_model_param"]["num_feature"] = "1".into();
    learner["gradient_booster"]["model"]["trees"][0] = serde_json::json!({
        "base_weights": [0, 1, 3],
        "categories": [], "categories_nodes": [], "categories_segments": [], "categories_sizes": [],
        "default_left": [0, 0, 0], "id": 0, "left_children": [1, -1, -1], "loss_changes": [1, 0, 0],
        "parents": [2_147_483_647, 0, 0], "right_children": [2, -1, -1], "split_conditions": [2, 1, 3],
        "split_indices": [0, 0, 0], "split_type": [0, 0, 0], "sum_hessian": [4, 2, 2],
        "tree_param": {"num_deleted": "0", "num_feature": "1", "num_nodes": "3", "size_leaf_vector": "1"},
    });
    model.to_string()
}

/// Returns a model with one tree with two splits, which predicts 1.5 if a < 2, else 2.5 if b < 10, else 4.5.
pub(crate) fn stump_of_two_features() -> String {
    r#"{"version":[3,0,0],"learner":{"attributes":{},
    "feature_names":["a","b"],"feature_types":["float","float"],
    "gradient_booster":{"name":"gbtree","model":{
    "gbtree_model_param":{"num_parallel_tree":"1","num_trees":"1"},"iteration_indptr":[0,1],
    "tree_info":[0],"trees":[{"base_weights":[0,1,0,2,4],
    "categories":[],"categories_nodes":[],"categories_segments":[],"categories_sizes":[],
    "default_left":[1,0,0,0,0],"id":0,"left_children":[1,-1,3,-1,-1],"loss_changes":[1,0,1,0,0],
    "parents":[2147483647,0,0,2,2],"right_children":[2,-1,4,-1,-1],"split_conditions":[2,1,10,2,4],
    "split_indices":[0,0,1,0,0],"split_type":[0,0,0,0,0],"sum_hessian":[4,2,2,1,1],
    "tree_param":{"num_deleted":"0","num_feature":"2","num_nodes":"5","size_leaf_vector":"1"}}]}},
    "learner_model_param":{"base_score":"5E-1","boost_from_average":"1",
    "num_class":"0","num_feature":"2","num_target":"1"},
    "objective":{"name":"reg:squarederror","reg_loss_param":{"scale_pos_weight":"1"}}}}"#
        .to_owned()
}
