//! Values of features in groups, groups from data, and conditional games.

use std::fs;

use crate::support::{assert_close, assert_efficient, bytes, fixture, json, numbers, on, rounded, run, text};

const GROUPS: &str = "age,sex;bmi,bp;s1,s2,s3,s4;s5,s6";

fn diabetes(more: &[&str]) -> Vec<String> {
    on("explain", "diabetes_xgb.json.gz", "diabetes.csv.gz", more)
}

#[test]
fn the_tree_explainer_and_enumeration_agree_for_every_value_of_groups_and_game() {
    for value in [
        "owen",
        "banzhaf-owen",
        "symmetric-coalitional-banzhaf",
        "coalitional=beta=4,1/weighted-banzhaf=0.3",
        "two-step",
        "quotient-shapley",
        "quotient-banzhaf",
        "quotient-mixture=0:0.5,1:0.5",
    ] {
        for game in [&["--background-select", "1,40-44"][..], &["--game", "path-dependent"]] {
            let results = |method: &str| {
                let options = ["--select", "0,70", "--value", value, "--groups", GROUPS, "--method", method];
                json(&diabetes(&[&options[..], game].concat()))
            };
            let (tree, exact) = (results("tree"), results("exact"));
            assert_eq!(tree["groups"], exact["groups"]);
            for row in 0..2 {
                for key in ["base", "prediction", "values"] {
                    let of = |results: &serde_json::Value| numbers(&results["explanations"][row][key]);
                    assert_close(&of(&tree), &of(&exact), 100.0, 1e-12, &format!("{value}, {game:?}"));
                }
            }
            if ["owen", "two-step", "quotient-shapley"].contains(&value) {
                assert_efficient(&tree, value);
            }
        }
    }
}

#[test]
fn quotient_values_are_of_the_groups_as_they_were_typed() {
    let value = ["--value", "quotient-shapley", "--groups", "0,1;bmi,bp;4,5,6,7,8,s6"];
    let options = [&["--select", "50", "--background", "mean"], &value[..]].concat();
    let results = json(&diabetes(&options));
    assert_eq!(results["features"], serde_json::json!(["age,sex", "bmi,bp", "s1,s2,s3,s4,s5,s6"]));
    assert_eq!(results["groups"][0], serde_json::json!(["age", "sex"]));
    assert_eq!(numbers(&results["explanations"][0]["values"]).len(), 3);
    for format in ["table", "csv"] {
        let written = text(&diabetes(&[&options[..], &["--format", format]].concat()));
        insta::assert_snapshot!(format!("quotient_{format}"), rounded(&written));
    }
    let npy = bytes(&diabetes(&[&options[..], &["--format", "npy"]].concat()));
    assert!(String::from_utf8_lossy(&npy[..128]).contains("(1, 3)"));
}

#[test]
fn estimates_of_groups_come_near_the_truth_by_their_standard_errors() {
    let explain = |more: &[&str]| {
        let options = ["--select", "50", "--groups", GROUPS, "--background-select", "0-9"];
        json(&diabetes(&[&options[..], more].concat()))
    };
    for (value, method, budget) in [
        ("owen", "leverage", "100"),
        ("banzhaf-owen", "leverage", "100"),
        ("two-step", "leverage", "34"),
        ("owen", "product-space", "100"),
        ("banzhaf-owen", "product-space", "100"),
        ("owen", "product-space-true-marginal", "100"),
        ("owen", "nested-permutation", "100"),
        ("two-step", "nested-permutation-plain", "30"),
        ("quotient-shapley", "nested-permutation", "12"),
    ] {
        let what = format!("{value}, {method}");
        let truth = numbers(&explain(&["--value", value])["explanations"][0]["values"]);
        let results = explain(&["--value", value, "--method", method, "--budget", budget]);
        let row = &results["explanations"][0];
        assert!(row["evaluations"].as_u64().unwrap() <= budget.parse().unwrap(), "{what}");
        let (values, errors) = (numbers(&row["values"]), numbers(&row["std_errors"]));
        // This method estimates the game of the distribution that the background was drawn from, which
        // differs from the game of the background.
        if method == "product-space-true-marginal" {
            assert!(errors.iter().any(|&error| error > 0.0));
            continue;
        }
        for ((value, truth), error) in values.iter().zip(&truth).zip(&errors) {
            assert!((value - truth).abs() <= 5.0 * error + 1e-9, "{what}: {value} ± {error} for {truth}");
        }
        let again = explain(&["--value", value, "--method", method, "--budget", budget, "--threads", "1"]);
        assert_eq!(results, again, "{what}");
    }
}

#[test]
fn groups_are_found_in_the_rows_or_in_the_background() {
    let groups = |more: &[&str]| {
        let options = ["--select", "3", "--value", "owen", "--groups", "auto=4"];
        json(&diabetes(&[&options[..], more].concat()))["groups"].clone()
    };
    let in_all = groups(&[]);
    assert_eq!(in_all.as_array().unwrap().len(), 4);
    assert_eq!(groups(&["--game", "path-dependent"]), in_all);
    assert_ne!(groups(&["--background-select", "0-30"]), in_all);

    let rows = fixture("diabetes.csv.gz");
    let found = json(&["groups", "--rows", &rows, "--groups", "auto=4", "--format", "json"]);
    assert_eq!(found["groups"], in_all);
    assert_eq!(found["dendrogram"]["merges"].as_array().unwrap().len(), 9);
    // The command accepts the option that the output suggests.
    let typed = found["option"].as_str().unwrap();
    let again = json(&diabetes(&["--select", "3", "--value", "owen", "--groups", typed]));
    assert_eq!(again["groups"], in_all);
}

#[test]
fn the_dendrogram_is_drawn_into_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let figure = folder.path().join("dendrogram.svg");
    let rows = fixture("diabetes.csv.gz");
    let written =
        text(&["groups", "--rows", &rows, "--figure", figure.to_str().unwrap(), "--format", "table"]);
    insta::assert_snapshot!("groups_table", rounded(&written));
    let svg = fs::read_to_string(&figure).unwrap();
    assert!(["age", "bmi", "s6", "<svg"].iter().all(|part| svg.contains(part)));
}

#[test]
fn conditional_games_are_functions_of_rows_and_seed() {
    let rows = fixture("diabetes.csv.gz");
    for game in ["gaussian", "copula", "empirical", "frequency"] {
        let explain = |more: &[&str]| {
            let options = ["--select", "50,7", "--game", game, "--method", "leverage-shap", "--budget", "60"];
            json(&diabetes(&[&options[..], more].concat()))
        };
        let draws: &[&str] = if game == "frequency" { &[] } else { &["--draws", "20"] };
        let results = explain(draws);
        assert_eq!(results["game"], game);
        assert_efficient(&results, game);
        assert_eq!(results, explain(&[draws, &["--threads", "1"]].concat()), "{game}");
        // The distribution is fitted to the rows file if no other data is specified.
        assert_eq!(results, explain(&[draws, &["--background", &rows]].concat()), "{game}");
        if ["gaussian", "copula"].contains(&game) {
            assert_ne!(results, explain(&[draws, &["--seed", "1"]].concat()), "{game}");
        }
    }
}

#[test]
fn groups_that_make_no_difference_are_told_of() {
    let note = |value: &str, groups: &str| {
        let options = ["--select", "1", "--value", value, "--groups", groups, "--game", "path-dependent"];
        let output = run(&diabetes(&options));
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(note("owen", "auto=1").contains("one group: owen values equal the shapley values"));
    assert!(
        note("banzhaf-owen", "auto=10")
            .contains("separate group: banzhaf-owen values equal the banzhaf values")
    );
    assert!(note("quotient-shapley", "auto=1").contains("whose value is the prediction"));
    assert_eq!(note("owen", "auto=3"), "");
}

#[test]
fn groups_within_groups_have_exact_values_of_every_kind_and_stand_in_the_results() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("groups.json");
    let nested = r#"{"body": {"who": ["age", "sex"], "size": ["bmi", "bp"]},
        "blood": [["s1", "s2"], ["s3", 7], "s5", "s6"]}"#;
    fs::write(&path, nested).unwrap();
    let typed = "((age,sex);(bmi,bp));(s1,s2),(s3,s4),s5,s6";
    let body = serde_json::json!([["age", "sex"], ["bmi", "bp"]]);
    let groups = serde_json::json!([body, [["s1", "s2"], ["s3", "s4"], "s5", "s6"]]);
    for value in ["owen", "banzhaf-owen", "coalitional=beta=4,1/weighted-banzhaf=0.3"] {
        for game in [&["--background-select", "1,40-44"][..], &["--game", "path-dependent"]] {
            let results = |groups: &str, method: &str| {
                let options = ["--select", "0,70", "--value", value, "--groups", groups, "--method", method];
                json(&diabetes(&[&options[..], game].concat()))
            };
            let (tree, exact) = (results(typed, "tree"), results(path.to_str().unwrap(), "exact"));
            assert_eq!((&tree["groups"], &exact["groups"]), (&groups, &groups));
            for row in 0..2 {
                let of = |results: &serde_json::Value| numbers(&results["explanations"][row]["values"]);
                assert_close(&of(&tree), &of(&exact), 100.0, 1e-12, &format!("{value}, {game:?}"));
            }
            if value == "owen" {
                assert_efficient(&tree, value);
            }
        }
    }
    let read_back = folder.path().join("again.json");
    fs::write(&read_back, groups.to_string()).unwrap();
    let options = ["--select", "3", "--value", "owen", "--background", "mean", "--groups"];
    let [typed, again] = [typed, read_back.to_str().unwrap()]
        .map(|groups| text(&diabetes(&[&options[..], &[groups]].concat())));
    assert_eq!(typed, again);
}

#[test]
fn the_dendrogram_of_the_data_is_a_hierarchy() {
    let options = ["--select", "3", "--value", "owen", "--groups", "auto=tree", "--background", "mean"];
    let results = json(&diabetes(&options));
    assert_efficient(&results, "auto=tree");
    // Every group has at most two members.
    fn is_binary(group: &serde_json::Value) -> bool {
        group.as_array().is_none_or(|members| members.len() <= 2 && members.iter().all(is_binary))
    }
    assert!(is_binary(&results["groups"]), "{}", results["groups"]);
    // The groups of the results can be passed as a file.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tree.json");
    fs::write(&path, results["groups"].to_string()).unwrap();
    let options =
        ["--select", "3", "--value", "owen", "--groups", path.to_str().unwrap(), "--background", "mean"];
    assert_eq!(json(&diabetes(&options))["explanations"], results["explanations"]);
}

#[test]
fn what_is_no_hierarchy_is_refused_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |value: &str, groups: &str| {
        let path = folder.path().join("groups.json");
        fs::write(&path, groups).unwrap();
        let options = ["--select", "3", "--value", value, "--groups", path.to_str().unwrap()];
        let output = run(&diabetes(&options));
        assert!(!output.status.success(), "{groups}");
        String::from_utf8(output.stderr).unwrap()
    };
    let rest = r#"["bmi","bp","s1","s2","s3","s4","s5","s6"]"#;
    for (value, groups, expected) in [
        (
            "owen",
            format!(r#"[[["age"],["sex",["age","bp"]]],{rest}]"#),
            "feature \"age\" is listed twice; list each feature once",
        ),
        ("owen", r#"[[["age","bp"],"sex"],["bmi"]]"#.to_owned(), "list every feature, at the top level"),
        ("owen", format!(r#"{{"A":[["age","sex"],[]],"B":{rest}}}"#), "group 0.1 is empty"),
        // A nested group is written inside the other group; it cannot be referred to by name.
        ("owen", format!(r#"{{"A":["age",["sex"]],"B":["A",{rest}]}}"#), "unknown feature \"A\" in --groups"),
        (
            "two-step",
            r#"[[["age","sex"],["bmi","bp"]],["s1","s2","s3","s4","s5","s6"]]"#.to_owned(),
            "does not support nested groups",
        ),
    ] {
        let message = refused(value, &groups);
        assert!(message.contains(expected), "{groups}: {message}");
    }
}

#[test]
fn groups_that_are_typed_too_deep_are_refused() {
    let deep =
        |depth: usize| format!("{}age,sex,bmi,bp,s1,s2,s3,s4,s5,s6{}", "(".repeat(depth), ")".repeat(depth));
    let options = |depth| {
        [
            "--select".to_owned(),
            "0".to_owned(),
            "--value".to_owned(),
            "owen".to_owned(),
            "--groups".to_owned(),
            deep(depth),
        ]
    };
    let explain = |depth| {
        let mut arguments = on("explain", "diabetes_xgb.json.gz", "diabetes.csv.gz", &[]);
        arguments.extend(options(depth));
        run(&arguments)
    };
    assert!(explain(100).status.success());
    let refused = explain(20_000);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("limited to a depth of 120"));
}

#[test]
fn pairs_of_features_that_do_not_fit_into_memory_are_refused_with_both_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wide.csv");
    let line = |cell: &dyn Fn(usize) -> String| (0..3000).map(cell).collect::<Vec<_>>().join(",") + "\n";
    let rows: String = (0..12).map(|row| line(&|column| (row * column % 7).to_string())).collect();
    fs::write(&path, line(&|column| format!("f{column}")) + &rows).unwrap();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_apportion"))
        .env("APPORTION_MAX_MEMORY", "70MB")
        .args(["groups", "--rows", path.to_str().unwrap()])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    let says = "the dependence of all pairs of 3000 features would take 108.0 MB of memory, but only 70.0 MB \
                is available; use fewer features";
    assert!(message.contains(says), "{message}");
}

#[test]
fn lines_of_more_cells_than_a_table_may_have_columns_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("commas.csv");
    for text in
        [",".repeat(2_000_000) + "\n", format!("a,b\n{}\n", ",".repeat(2_000_000)), ";".repeat(1_048_576)]
    {
        fs::write(&path, text).unwrap();
        let output = run(&["groups".to_owned(), "--rows".to_owned(), path.to_str().unwrap().to_owned()]);
        assert_eq!(output.status.code(), Some(1));
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains("fields; a table can have at most 1048576 columns"), "{message}");
    }
}
