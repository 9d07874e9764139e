//! XGBoost models other than ordinary trees: vector leaves, linear boosters, classes of the hinge loss, and
//! quantiles that do not cross.

use apportion_games::Rows;
use apportion_models::{Ensemble, Link};
use serde_json::{Value, json};

use crate::common::{assert_refused, content, json_fixture, put, read};

fn numbers(list: &Value) -> Vec<f64> {
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    list.as_array().unwrap().iter().map(number).collect()
}

/// Returns a model after comparing its margins and outputs with the results of the library.
fn checked(name: &str) -> Ensemble {
    let model = Ensemble::from_bytes(&content(&format!("xgboost_{name}.json.gz"))).unwrap();
    let document = json_fixture("xgboost_outputs.json.gz");
    let rows: Vec<f64> = document["rows"].as_array().unwrap().iter().flat_map(numbers).collect();
    let rows = Rows::new(&rows, 4);
    let theirs = |kind: &str| numbers(&document["models"][name][kind]);
    assert_close(name, &model.margins(rows).unwrap(), &theirs("margins"));
    assert_close(name, &model.linked().unwrap().outputs_of(rows).unwrap(), &theirs("outputs"));
    model
}

fn assert_close(name: &str, ours: &[f64], theirs: &[f64]) {
    assert_eq!(ours.len(), theirs.len(), "{name}");
    for (place, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
        assert!((ours - theirs).abs() <= 2e-6 * theirs.abs().max(1.0), "{name}, {place}: {ours}, {theirs}");
    }
}

#[test]
fn leaves_that_are_vectors_are_a_tree_for_each_output() {
    for (name, trees, rounds) in [("vectors", 9, 3), ("vector_forest", 12, 2), ("vector_classes", 6, 2)] {
        let model = checked(name);
        assert_eq!(
            (model.output_count(), model.tree_count(), model.round_count()),
            (3, trees, rounds),
            "{name}"
        );
        model.check_covers().unwrap();
    }
}

#[test]
fn damaged_vectors_are_refused() {
    let document = json_fixture("xgboost_vectors.json.gz");
    let tree = |path: &str| format!("/learner/gradient_booster/model/trees/1/{path}");
    let leaf = document.pointer(&tree("left_children")).unwrap().as_array().unwrap();
    let leaf = leaf.iter().position(|child| child == -1).unwrap();
    for (path, value, reason) in [
        ("leaf_weights".to_owned(), json!([1.0]), "the 3 values of leaf"),
        ("leaf_weights".to_owned(), json!("none"), "expected a list of numbers, got a string"),
        (format!("right_children/{leaf}"), json!(-1), "the 3 values of leaf"),
        (format!("right_children/{leaf}"), json!(9007199254740991i64), "the 3 values of leaf"),
        (
            "tree_param/size_leaf_vector".to_owned(),
            json!("2"),
            "expected leaves of 3 values (one per output), got 2",
        ),
    ] {
        assert_refused(&document, &tree(&path), &value, reason);
    }
    let mut old = document.clone();
    old.pointer_mut(&tree("")[..tree("").len() - 1]).unwrap().as_object_mut().unwrap().remove("leaf_weights");
    assert!(read(&old).unwrap_err().to_string().contains("XGBoost 3.2 or later"));
}

#[test]
fn linear_boosters_are_linear_leaves_of_one_feature_each() {
    for (name, outputs) in [("linear", 1), ("linear_classes", 3)] {
        let model = checked(name);
        assert_eq!((model.output_count(), model.round_count(), model.depth()), (outputs, 1, 0), "{name}");
    }
    let document = json_fixture("xgboost_linear.json.gz");
    let weights = "/learner/gradient_booster/model/weights";
    assert_refused(&document, weights, &json!([1.0, 2.0]), "expected 5 elements, got 2");
    let mut wide = document.clone();
    put(&mut wide, "/learner/learner_model_param/num_feature", json!("4294967295"));
    put(&mut wide, "/learner/feature_names", json!([]));
    assert!(read(&wide).is_err());
}

#[test]
fn outputs_are_what_the_library_predicts() {
    assert_eq!(checked("hinge").link(), Some(Link::Step));
    assert_eq!(checked("quantiles").link(), Some(Link::Sorted));
    let mut older = json_fixture("xgboost_quantiles.json.gz");
    put(&mut older, "/version", json!([3, 3, 0]));
    assert_eq!(read(&older).unwrap().link(), Some(Link::Identity));
}

#[test]
fn a_count_of_features_that_no_memory_holds_is_refused_unless_it_is_allowed() {
    let mut document = json_fixture("xgboost_hinge.json.gz");
    put(&mut document, "/learner/learner_model_param/num_feature", json!("2147483647"));
    put(&mut document, "/learner/feature_names", json!([]));
    let error = read(&document).unwrap_err().to_string();
    assert!(error.contains("2147483647 features") && error.contains("max_features"), "{error}");
    let options = apportion_models::ReadOptions::default().max_features(usize::MAX);
    let model = Ensemble::from_bytes_with(document.to_string().as_bytes(), &options).unwrap();
    assert_eq!(model.feature_count(), 2_147_483_647);
}
