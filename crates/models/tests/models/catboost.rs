//! CatBoost models: margins computed by CatBoost 1.2.10, and errors.

use apportion_games::Rows;
use apportion_models::ModelError;
use serde_json::{Value, json};

use crate::common::{
    assert_as_said, assert_cuts_are_refused, assert_refused, json_fixture, model, put, read, refusal,
};

fn document(name: &str) -> Value {
    json_fixture(&format!("{name}.json.gz"))
}

const MODELS: [&str; 6] = [
    "catboost_multiclass",
    "catboost_missing",
    "catboost_lossguide",
    "catboost_depthwise",
    "catboost_one_hot",
    "catboost_one_hot_depthwise",
];

/// The rows include missing values, values at borders and next to them, and categories that did not occur in
/// training.
#[test]
fn margins_are_those_of_catboost() {
    let said = json_fixture("catboost_margins.json");
    for name in MODELS {
        assert_as_said(name, &model(&format!("{name}.json.gz")), &said[name], [1e-12; 2]);
    }
}

#[test]
fn a_file_cut_at_any_byte_is_refused() {
    for name in MODELS {
        assert_cuts_are_refused(name, document(name).to_string().as_bytes(), 17);
    }
}

#[test]
fn damage_is_refused_with_the_place_and_the_reason() {
    const TREE: &str = "/oblivious_trees/2";
    const FLOAT: &str = "/features_info/float_features/1";
    let at = |path: &str, rest: &str| format!("{path}{rest}");
    let cases = [
        (at(TREE, "/splits/0/split_type"), json!("Sideways"), "oblivious_trees[2].splits[0].split_type"),
        (at(TREE, "/splits/0/split_type"), json!("EstimatedFeature"), "text or embeddings"),
        (at(TREE, "/splits/1/float_feature_index"), json!(4), "index 4 is not one of the 4 numeric features"),
        (at(TREE, "/splits/1/float_feature_index"), json!(-1), "expected a count, got -1"),
        (at(TREE, "/splits/1/border"), json!("x"), "expected a number, got a string"),
        (at(TREE, "/splits/1/border"), Value::Null, "missing field \"border\""),
        (at(TREE, "/splits"), json!([]), "leaf_values: expected 3 elements, got 48"),
        (at(TREE, "/splits"), json!(vec![json!({}); 17]), "17 splits exceed the maximum of 16"),
        (at(TREE, "/splits"), json!([1]), "a list of values other than numbers, got numbers"),
        (at(TREE, "/leaf_values"), json!([0.0, 1.0]), "expected 48 elements, got 2"),
        (at(TREE, "/leaf_values/3"), json!("x"), "expected a list of numbers, got other values"),
        (at(TREE, "/leaf_values"), Value::Null, "missing field \"leaf_values\""),
        (at(TREE, "/leaf_weights"), json!([1.0]), "expected 16 elements, got 1"),
        (
            "/oblivious_trees/0/leaf_values".to_owned(),
            json!(vec![0.0; 47]),
            "47 values do not match 16 leaves",
        ),
        ("/oblivious_trees".to_owned(), Value::Null, "missing field \"oblivious_trees\""),
        ("/oblivious_trees".to_owned(), json!({}), "expected a list, got an object"),
        (at(FLOAT, "/flat_feature_index"), json!(0), "two features have the column"),
        (at(FLOAT, "/flat_feature_index"), json!(2_000_000), "maximum of 1048576 features"),
        (at(FLOAT, "/feature_index"), json!(0), "two features have the index"),
        (at(FLOAT, "/nan_value_treatment"), json!("AsYouLike"), "AsYouLike"),
        (at(FLOAT, "/feature_id"), json!(3), "expected a string, got a number"),
        ("/features_info".to_owned(), json!({}), "has no features"),
        ("/features_info".to_owned(), Value::Null, "missing field \"features_info\""),
        ("/scale_and_bias".to_owned(), json!([1.0]), "a scale and a bias"),
        ("/scale_and_bias".to_owned(), json!([1.0, [0.5, 0.5]]), "expected 3 biases (one per output), got 2"),
        ("/scale_and_bias".to_owned(), json!(["a", []]), "expected a number, got a string"),
        ("/scale_and_bias".to_owned(), Value::Null, "missing field \"scale_and_bias\""),
        ("/model_info/catboost_version_info".to_owned(), json!("Branch: tags/v2.0"), "CatBoost 2.0"),
    ];
    let whole = document("catboost_multiclass");
    for (path, value, reason) in cases {
        assert_refused(&whole, &path, &value, reason);
    }
    // JSON cannot represent NaN and infinity, but the parser accepts `NaN` and numbers that overflow, so the
    // reader of the model must reject both.
    let text = whole.to_string();
    let with = |before: &str, number: &str| {
        let start = text.find(before).unwrap() + before.len();
        let end = start + text[start..].find(',').unwrap();
        refusal([&text[..start], number, &text[end..]].concat().as_bytes())
    };
    let nan = with("\"border\":", "NaN");
    assert!(nan.contains("border") && nan.contains("NaN"), "{nan}");
    let infinite = with("\"leaf_values\":[", "1e999");
    assert!(infinite.contains("tree 0: leaf 15 has the value inf"), "{infinite}");
}

#[test]
fn damaged_nested_trees_are_refused() {
    let cases = [
        ("/trees/1/left/left/split", json!({"split_type": "FloatFeature"}), "trees[1].left.left.split"),
        ("/trees/1/left", Value::Null, "missing field \"left\""),
        (
            "/trees/1/right",
            json!({"value": [0.0, 1.0], "weight": 1}),
            "expected 3 values (one per output), got 2",
        ),
        ("/trees/1/right", json!({}), "missing field \"value\""),
        ("/trees/0", json!({"value": [], "weight": 1}), "the leaf has no values"),
        (
            "/trees/1/right",
            json!({"value": [0.0, 1.0, 2.0], "weight": "x"}),
            "expected a number, got a string",
        ),
    ];
    let whole = document("catboost_lossguide");
    for (path, value, reason) in cases {
        assert_refused(&whole, path, &value, reason);
    }
    let mut deep = json!({"value": 1.0, "weight": 1.0});
    for _ in 0..600 {
        deep = json!({"left": deep, "right": {"value": 0.0, "weight": 1.0},
            "split": {"split_type": "FloatFeature", "float_feature_index": 0, "border": 0.5}});
    }
    assert_refused(&document("catboost_depthwise"), "/trees/0", &deep, "deep");
}

#[test]
fn leaf_weights_that_mean_nothing_are_named_when_they_are_asked_for() {
    let weights = "/oblivious_trees/0/leaf_weights";
    for (place, value, reason) in [
        ("/3", json!(-2), "its cover is -2"),
        ("", Value::Null, "missing cover"),
        ("", json!(vec![0.0; 32]), "its cover is 0"),
    ] {
        let mut document = document("catboost_missing");
        put(&mut document, &format!("{weights}{place}"), value);
        let ensemble = read(&document).unwrap();
        ensemble.margins(Rows::new(&[0.5; 10], 10)).unwrap();
        let error = ensemble.check_covers().unwrap_err();
        assert!(matches!(error, ModelError::Cover { tree: 0, .. }), "{error}");
        assert!(error.to_string().contains(reason), "{error}");
    }
}

/// Older releases write a single bias instead of a list, and null for an empty list. A model may lack trees
/// or splits.
#[test]
fn other_ways_to_write_the_same_are_read() {
    let mut document = document("catboost_missing");
    let expected = read(&document).unwrap();
    let bias = document["scale_and_bias"][1][0].clone();
    document["scale_and_bias"][1] = bias;
    let rows = [0.25, f64::NAN, -0.01, 0.0, 0.5, 0.01, f64::NAN, 0.02, -0.5, 0.03];
    let rows = Rows::new(&rows, 10);
    assert_eq!(read(&document).unwrap().margins(rows).unwrap(), expected.margins(rows).unwrap());
    document["oblivious_trees"] = json!([{"leaf_values": [3.0], "leaf_weights": [9], "splits": []}]);
    document["scale_and_bias"] = json!([2.0, 0.5]);
    assert_eq!(read(&document).unwrap().margins(rows).unwrap(), [6.5]);
    document["oblivious_trees"][0]["splits"] = Value::Null;
    document["features_info"]["categorical_features"] = Value::Null;
    assert_eq!(read(&document).unwrap().margins(rows).unwrap(), [6.5]);
    document["oblivious_trees"] = json!([]);
    assert_eq!(read(&document).unwrap().margins(rows).unwrap(), [0.5]);
}
