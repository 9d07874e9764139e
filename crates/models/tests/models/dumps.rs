//! Compares the JSON dumps of libraries with the models that the libraries saved.

use apportion_games::Rows;
use apportion_models::{Ensemble, ModelError};
use serde_json::{Value, json};

use crate::common::{Random, assert_cuts_are_refused, assert_refused, content, json_fixture, read};

/// Returns the model that the library saved, and the model read from its dump.
fn both(name: &str) -> [Ensemble; 2] {
    let saved = if name.contains("xgb") { "json" } else { "txt" };
    [format!("{name}.{saved}.gz"), format!("dump_{name}.json.gz")]
        .map(|file| Ensemble::from_bytes(&content(&file)).unwrap())
}

#[test]
fn a_dump_of_lightgbm_is_the_model() {
    for name in [
        "lightgbm_regression",
        "lightgbm_zero",
        "lightgbm_linear",
        "lightgbm_forest",
        "lightgbm_multiclass",
        "words_lgbm",
    ] {
        let [saved, dumped] = both(name);
        assert_eq!(dumped.feature_names(), saved.feature_names(), "{name}");
        assert_eq!(dumped.link(), saved.link(), "{name}");
        assert_eq!(dumped.round_count(), saved.round_count(), "{name}");
        let features = saved.feature_count();
        for feature in 0..features {
            assert_eq!(dumped.categories(feature), saved.categories(feature), "{name}, {feature}");
        }
        let rows = Random(9).row(200 * features);
        let rows = Rows::new(&rows, features);
        assert_eq!(dumped.margins(rows).unwrap(), saved.margins(rows).unwrap(), "{name}");
        match saved.check_covers() {
            Ok(()) => dumped.check_covers().unwrap(),
            Err(_) => assert!(matches!(dumped.check_covers(), Err(ModelError::LinearLeaves { .. }))),
        }
        assert!(dumped.notes().is_empty());
    }
}

#[test]
fn a_dump_of_xgboost_is_the_model_without_its_base_and_says_so() {
    // Column names of the model. A dump numbers them in the order of their first occurrence in the trees.
    for (name, of_dump) in [
        ("words_xgb", &["city", "Annual Income (k$)", "rooms", "size", "new"][..]),
        ("diabetes_xgb_1_7", &[]),
    ] {
        let [saved, dumped] = both(name);
        let note = &dumped.notes()[0];
        assert!(note.contains("base score") && note.contains("save_model"), "{note}");
        assert_eq!(dumped.base_margins(), [0.0]);
        dumped.check_covers().unwrap();
        let place_of = |feature: usize| match dumped.feature_names() {
            None => feature,
            Some(names) => of_dump.iter().position(|column| *column == names[feature]).unwrap(),
        };
        let (wide, narrow) = (saved.feature_count(), dumped.feature_count());
        for row in Random(4).row(100 * wide).chunks(wide) {
            let of_dump: Vec<f64> = (0..narrow).map(|feature| row[place_of(feature)]).collect();
            let expected = saved.margins(Rows::new(row, wide)).unwrap()[0] - saved.base_margins()[0];
            let own = dumped.margins(Rows::new(&of_dump, narrow)).unwrap()[0];
            assert!((own - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{name}: {own}, {expected}");
        }
    }
}

#[test]
fn damaged_dumps_are_refused() {
    for name in ["words_xgb", "lightgbm_regression"] {
        assert_cuts_are_refused(name, content(&format!("dump_{name}.json.gz")).trim_ascii_end(), 97);
    }
    let xgboost = json_fixture("dump_words_xgb.json.gz");
    for (path, value, reason) in [
        ("/0/missing", json!(77), "got 77"),
        ("/0/yes", json!(78), "expected one of the children 78 and 1, got 2"),
        ("/0/children", json!([]), "expected two children"),
        ("/0/split_condition", json!("x"), "expected a list of numbers, got a string"),
        ("/0/split", json!(3), "expected a string, got a number"),
    ] {
        assert_refused(&xgboost, path, &value, reason);
    }
    let mut vectors = xgboost.clone();
    vectors[0] = json!({"nodeid": 0, "leaf": [1.0, 2.0]});
    assert!(read(&vectors).unwrap_err().to_string().contains("vector leaves"));
    let lightgbm = json_fixture("dump_lightgbm_multiclass.json.gz");
    let tree = |path: &str| format!("/tree_info/0/tree_structure/{path}");
    for (path, value, reason) in [
        (tree("missing_type"), json!("Some"), "unknown missing type"),
        (tree("decision_type"), json!("<"), "unknown decision type"),
        (tree("split_feature"), json!(99), "splits on feature 99"),
        (tree("left_child"), Value::Null, "left_child"),
        ("/num_class".to_owned(), json!(4294967295u32), "classes"),
        ("/max_feature_idx".to_owned(), json!(2), "the index of the last"),
        ("/objective".to_owned(), json!("binary sigmoid:-1"), "invalid sigmoid"),
    ] {
        assert_refused(&lightgbm, &path, &value, reason);
    }
}

#[test]
fn nesting_beyond_any_tree_is_refused() {
    let deep = format!("{}{}", "[".repeat(1 << 16), "]".repeat(1 << 16));
    assert!(Ensemble::from_bytes(deep.as_bytes()).unwrap_err().to_string().contains("nested more than"));
    let deep = "[{\"nodeid\": 0, \"children\": ".repeat(1 << 14);
    assert!(Ensemble::from_bytes(deep.as_bytes()).unwrap_err().to_string().contains("nested more than"));
}
