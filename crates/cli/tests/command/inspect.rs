//! Tests `apportion inspect`, which shows the contents of a model file.

use insta::assert_snapshot;

use crate::support::{bytes, fixture, json, on, text};

#[test]
fn facts_are_those_of_the_file() {
    for (model, trees, features, outputs) in [
        ("iris_xgb.json.gz", 100, 4, 1),
        ("iris_xgb_softprob.json.gz", 150, 4, 3),
        ("diabetes_xgb_1_7.ubj", 40, 10, 1),
    ] {
        let facts = json(&["inspect", "--model", &fixture(model), "--format", "json"]);
        assert_eq!(facts["trees"], trees, "{model}");
        assert_eq!(facts["features"], features, "{model}");
        assert_eq!(facts["outputs"], outputs, "{model}");
    }
}

#[test]
fn every_format_writes_the_facts() {
    for model in ["iris_xgb_softprob.json.gz", "diabetes_xgb_dart.json.gz", "diabetes_xgb_1_7.ubj"] {
        for format in ["json", "csv", "table"] {
            let name = model.split('.').next().unwrap();
            assert_snapshot!(
                format!("inspect_{name}_{format}"),
                text(&["inspect", "--model", &fixture(model), "--format", format])
            );
        }
    }
}

#[test]
fn what_a_file_is_is_found_from_its_content() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let facts = |file: &str| json(&["inspect", file, "--format", "json"]);
    let (model, rows) = (fixture("diabetes_xgb.json.gz"), fixture("diabetes.csv.gz"));
    assert_eq!(facts(&model)["trees"], json(&["inspect", "--model", &model, "--format", "json"])["trees"]);

    let told = facts(&rows);
    assert_eq!((&told["kind"], &told["rows"], &told["columns"]), (&"rows".into(), &442.into(), &10.into()));
    let sex = &told["of_columns"][1];
    assert_eq!((&sex["name"], &sex["distinct"], &sex["missing"]), (&"sex".into(), &2.into(), &0.into()));
    std::fs::write(at("gaps.csv"), "a,b\n1,\n-0.0,2\n0,2\n").unwrap();
    let told = facts(&at("gaps.csv"));
    assert_eq!(told["of_columns"][0]["distinct"], 2, "both zeros are one number");
    assert_eq!(
        (&told["of_columns"][1]["missing"], &told["of_columns"][1]["least"]),
        (&1.into(), &2.0.into())
    );

    bytes(&["compile-background", "--model", &model, "--background", &rows, "--out", &at("compiled")]);
    let told = facts(&at("compiled"));
    assert_eq!((&told["kind"], &told["rows"]), (&"a compiled background".into(), &442.into()));

    for (format, kind) in [("json", "explain"), ("jsonl", "explain"), ("csv", "explain")] {
        let more = ["--select", "0-6", "--format", format, "--out", &at(format), "--checkpoint", &at("run")];
        bytes(&on("explain", "diabetes_xgb.json.gz", "diabetes.csv.gz", &more));
        std::fs::remove_file(at("run")).unwrap_or(());
        let told = facts(&at(format));
        assert_eq!(
            (&told["kind"], &told["rows"]),
            (&format!("results of {kind}").into(), &7.into()),
            "{format}"
        );
        assert_eq!(told["features"], 10, "{format}");
    }
    let more = ["--out", &at("summary"), "--summary"];
    bytes(&on("explain", "diabetes_xgb.json.gz", "diabetes.csv.gz", &more));
    assert_eq!(facts(&at("summary"))["kind"], "results of explain --summary");
    bytes(&on("predict", "diabetes_xgb.json.gz", "diabetes.csv.gz", &["--out", &at("predictions")]));
    let told = facts(&at("predictions"));
    assert_eq!((&told["kind"], &told["rows"]), (&"results of predict".into(), &442.into()));
    let more = ["--out", &at("values"), "--checkpoint", &at("run"), "--select", "0-4"];
    bytes(&on("explain", "diabetes_xgb.json.gz", "diabetes.csv.gz", &more));
    let told = facts(&at("run"));
    assert_eq!((&told["kind"], &told["rows_explained"]), (&"a checkpoint".into(), &5.into()));
}
