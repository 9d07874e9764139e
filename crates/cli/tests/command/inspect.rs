//! `apportion inspect`: what a model file holds.

use insta::assert_snapshot;

use crate::support::{fixture, json, text};

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
