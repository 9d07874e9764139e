//! treelite dumps: margins computed by treelite 4.8.1, the same model in its native format, all operators,
//! and errors.

use apportion_games::Rows;
use apportion_models::{Link, ModelError};
use serde_json::{Value, json};

use crate::common::{
    assert_as_said, assert_close, assert_cuts_are_refused, assert_refused, content, json_fixture, model,
    numbers, put, read, refusal,
};

/// The rows include missing values, values at thresholds, and categories that are fractions, negative, huge
/// or unknown.
#[test]
fn margins_and_outputs_are_those_of_treelite() {
    let said = json_fixture("treelite_margins.json");
    for (name, tolerance, link) in [
        // treelite adds the trees of f32 models in f32.
        ("treelite_xgboost", 1e-6, Link::Softmax),
        ("treelite_lightgbm", 1e-12, Link::Logistic { steepness: f64::from(0.7f32) }),
        ("treelite_forest", 1e-12, Link::Identity),
        ("treelite_targets", 1e-12, Link::Identity),
        ("treelite_histogram", 1e-12, Link::Identity),
        ("treelite_isolation", 1e-12, Link::HalfPower { unit: 0.0 }),
    ] {
        let ensemble = model(&format!("{name}.json.gz"));
        match (ensemble.link().unwrap(), link) {
            (Link::HalfPower { unit }, Link::HalfPower { .. }) => assert!(unit > 1.0),
            (got, expected) => assert_eq!(got, expected, "{name}"),
        }
        assert_eq!(ensemble.origin().format, "treelite JSON");
        ensemble.check_covers().unwrap();
        // treelite stores the parameters of links as f32.
        assert_as_said(name, &ensemble, &said[name], [tolerance, 1e-6]);
    }
}

#[test]
fn a_model_has_the_same_margins_in_its_own_format() {
    let rows = numbers(&json_fixture("treelite_margins.json")["treelite_xgboost"]["rows"]);
    let [own, dumped] = ["treelite_xgboost_native.json.gz", "treelite_xgboost.json.gz"]
        .map(|name| model(name).margins(Rows::new(&rows, 4)).unwrap());
    assert_close(&own, &dumped, 1e-12, "own and dumped");
}

/// Returns a model with a numeric split on feature 1, whose nodes have arbitrary IDs in another order.
fn split(operator: &str, threshold_type: &str, threshold: f64, default_left: bool) -> Value {
    json!({
        "threshold_type": threshold_type, "leaf_output_type": "float64", "num_feature": 2,
        "task_type": "kRegressor", "average_tree_output": false, "num_target": 1, "num_class": [1],
        "leaf_vector_shape": [1, 1], "target_id": [0], "class_id": [0], "postprocessor": "identity",
        "sigmoid_alpha": 1.0, "ratio_c": 1.0, "base_scores": [0.5], "attributes": "{}",
        "trees": [{"num_nodes": 3, "has_categorical_split": false, "nodes": [
            {"node_id": -7, "leaf_value": 2.0, "data_count": 3},
            {"node_id": 900, "split_feature_id": 1, "default_left": default_left,
             "node_type": "numerical_test_node", "comparison_op": operator, "threshold": threshold,
             "left_child": 4, "right_child": -7, "data_count": 5},
            {"node_id": 4, "leaf_value": 1.0, "data_count": 2},
        ]}],
    })
}

#[test]
fn every_operator_decides_as_it_says() {
    type Decide = fn(f64, f64) -> bool;
    let operators: [(&str, Decide); 5] = [
        ("<", |x, t| x < t),
        ("<=", |x, t| x <= t),
        (">", |x, t| x > t),
        (">=", |x, t| x >= t),
        ("==", |x, t| x == t),
    ];
    for (operator, decide) in operators {
        for default_left in [false, true] {
            for (kind, threshold) in [("float64", 0.1), ("float32", f64::from(0.1f32)), ("float64", -3.0)] {
                let ensemble = read(&split(operator, kind, threshold, default_left)).unwrap();
                ensemble.check_covers().unwrap();
                let near =
                    [0.1, f64::from(0.1f32), 0.1f64.next_up(), 0.1f64.next_down(), -3.0, 0.0, -0.0, 7.0];
                for x in near {
                    let rounded = if kind == "float32" { f64::from(x as f32) } else { x };
                    let expected = if decide(rounded, threshold) { 1.5 } else { 2.5 };
                    let got = ensemble.margins(Rows::new(&[9.0, x], 2)).unwrap()[0];
                    assert_eq!(got, expected, "{x} {operator} {threshold}, {kind}");
                }
                let got = ensemble.margins(Rows::new(&[9.0, f64::NAN], 2)).unwrap()[0];
                assert_eq!(got, if default_left { 1.5 } else { 2.5 }, "a missing value, {operator}");
            }
        }
    }
}

#[test]
fn members_of_a_category_list_go_where_it_says() {
    for right in [false, true] {
        for default_left in [false, true] {
            let mut document = split("<", "float64", 0.0, default_left);
            document["trees"][0]["nodes"][1]["node_type"] = json!("categorical_test_node");
            document["trees"][0]["nodes"][1]["category_list"] = json!([3, 0]);
            document["trees"][0]["nodes"][1]["category_list_right_child"] = json!(right);
            let ensemble = read(&document).unwrap();
            for (x, member) in
                [(0.0, true), (3.0, true), (3.9, true), (1.0, false), (-0.5, false), (1e12, false)]
            {
                let got = ensemble.margins(Rows::new(&[9.0, x], 2)).unwrap()[0];
                assert_eq!(
                    got,
                    if member != right { 1.5 } else { 2.5 },
                    "{x}, members to the right: {right}"
                );
            }
            let got = ensemble.margins(Rows::new(&[9.0, f64::NAN], 2)).unwrap()[0];
            assert_eq!(got, if default_left { 1.5 } else { 2.5 });
        }
    }
}

/// The average for an output is taken only over the trees that add to it.
#[test]
fn averages_are_over_the_trees_of_an_output() {
    let mut document = split("<", "float64", 0.0, true);
    document["average_tree_output"] = json!(true);
    document["num_class"] = json!([2]);
    document["base_scores"] = json!([0.0, 10.0]);
    let tree = document["trees"][0].clone();
    let leaf = json!({"num_nodes": 1, "nodes": [{"node_id": 0, "leaf_value": 8.0}]});
    document["trees"] = json!([tree, leaf, leaf]);
    document["target_id"] = json!([0, 0, 0]);
    document["class_id"] = json!([1, 0, 1]);
    let ensemble = read(&document).unwrap();
    assert_eq!(ensemble.margins(Rows::new(&[0.0, -1.0], 2)).unwrap(), [8.0, 10.0 + 4.5]);
    document["average_tree_output"] = json!(false);
    assert_eq!(read(&document).unwrap().margins(Rows::new(&[0.0, -1.0], 2)).unwrap(), [8.0, 19.0]);
}

#[test]
fn postprocessors_have_their_links() {
    for (name, link) in [
        ("identity", Some(Link::Identity)),
        ("exponential", Some(Link::Exponential)),
        ("logarithm_one_plus_exp", Some(Link::Softplus)),
        ("multiclass_ova", Some(Link::Logistic { steepness: 2.0 })),
        ("hinge", Some(Link::Step)),
        ("signed_square", None),
    ] {
        let mut document = split("<", "float64", 0.0, true);
        document["postprocessor"] = json!(name);
        document["sigmoid_alpha"] = json!(2.0);
        assert_eq!(read(&document).unwrap().link(), link, "{name}");
    }
}

#[test]
fn a_file_cut_at_any_byte_is_refused() {
    for name in ["treelite_xgboost", "treelite_lightgbm", "treelite_targets"] {
        assert_cuts_are_refused(name, &content(&format!("{name}.json.gz")), 13);
    }
}

#[test]
fn damage_is_refused_with_the_place_and_the_reason() {
    const SPLIT: &str = "/trees/0/nodes/1";
    let at = |rest: &str| format!("{SPLIT}/{rest}");
    let top = |key: &str| format!("/{key}");
    let cases = [
        (
            at("node_type"),
            json!("oblique_test_node"),
            "trees[0].nodes[1].node_type: expected numerical_test_node",
        ),
        (at("node_type"), Value::Null, "missing field \"node_type\""),
        (at("comparison_op"), json!("!="), "unknown operator \"!=\""),
        (at("threshold"), json!("x"), "expected a number, got a string"),
        (at("threshold"), Value::Null, "missing field \"threshold\""),
        (at("split_feature_id"), json!(2), "tree 0: node 0 splits on feature 2, which is out of range"),
        (at("split_feature_id"), json!(-1), "feature -1"),
        (at("default_left"), json!(1), "expected a boolean, got a number"),
        (at("left_child"), json!(0.5), "expected an integer, got 0.5"),
        (at("left_child"), json!(900), "2 of 3 nodes are not reached from the root"),
        (at("left_child"), json!(-7), "several roots"),
        (at("left_child"), Value::Null, "missing field \"left_child\""),
        (at("node_id"), json!(4), "no root"),
        (top("trees/0/nodes/0/node_id"), json!(4), "nodes[2].node_id: duplicate node_id"),
        (top("trees/0/nodes/0/leaf_value"), json!([1.0, 2.0]), "expected 1 values, got 2"),
        (top("trees/0/nodes/0/leaf_value"), Value::Null, "missing field \"left_child\""),
        (top("trees/0/nodes"), json!([]), "expected 0 (the number of nodes), got 3"),
        (top("trees/0"), json!({"nodes": []}), "no root"),
        (top("trees/0/num_nodes"), json!(4), "expected 3 (the number of nodes), got 4"),
        (top("num_feature"), json!(0), "has no features"),
        (top("num_feature"), json!(-3), "expected a count, got -3"),
        (top("num_class"), json!([1, 1]), "expected 1 numbers (one per target), got 2"),
        (top("num_class"), json!([0]), "invalid number of classes 0"),
        (top("num_class"), json!([5_000_000]), "more than 1048576 outputs"),
        (top("num_class"), json!([2]), "base_scores: expected 2 elements, got 1"),
        (top("num_target"), Value::Null, "missing field \"num_target\""),
        (top("leaf_vector_shape"), json!([1, 2]), "unsupported leaf shape [1, 2]"),
        (top("leaf_vector_shape"), json!([1]), "unsupported leaf shape [1]"),
        (top("target_id"), json!([1]), "invalid target 1 of tree 0"),
        (top("class_id"), json!([-2]), "invalid class -2 of tree 0"),
        (top("class_id"), json!([]), "expected 1 elements, got 0"),
        (top("base_scores"), json!([]), "expected 1 elements, got 0"),
        (top("threshold_type"), json!("float16"), "float16"),
        (top("leaf_output_type"), json!("uint32"), "uint32"),
        (top("average_tree_output"), json!(0), "expected a boolean, got a number"),
        (top("postprocessor"), json!(1), "expected a string, got a number"),
        (top("task_param"), json!({}), "treelite 3.x or earlier"),
    ];
    let whole = split("<", "float64", 0.5, true);
    for (path, value, reason) in cases {
        assert_refused(&whole, &path, &value, reason);
    }
    for (path, value, reason) in [
        ("/trees/0/nodes/1/threshold", "NaN", "invalid threshold NaN"),
        ("/trees/0/nodes/0/leaf_value", "Infinity", "has the value inf"),
        ("/base_scores/0", "NaN", "invalid base score NaN"),
    ] {
        let mut document = whole.clone();
        put(&mut document, path, json!(12345.5));
        let error = refusal(document.to_string().replace("12345.5", value).as_bytes());
        assert!(error.contains(reason), "{path} = {value}: {error}");
    }
    let mut sigmoid = whole.clone();
    sigmoid["postprocessor"] = json!("sigmoid");
    assert_refused(&sigmoid, "/sigmoid_alpha", &json!(0.0), "sigmoid_alpha");
    let mut categorical = whole;
    categorical["trees"][0]["nodes"][1]["node_type"] = json!("categorical_test_node");
    let list = at("category_list");
    assert_refused(&categorical, &list, &json!([-1]), "invalid category -1");
    assert_refused(&categorical, &list, &json!([1 << 25]), "invalid category 33554432");
}

/// Two splits are each other's children, and not connected to the valid root.
#[test]
fn cycles_and_shared_nodes_are_refused() {
    let mut document = split("<", "float64", 0.5, true);
    let mut first = document["trees"][0]["nodes"][1].clone();
    let mut second = first.clone();
    (first["node_id"], first["left_child"], first["right_child"]) = (json!(10), json!(11), json!(11));
    (second["node_id"], second["left_child"], second["right_child"]) = (json!(11), json!(10), json!(10));
    let nodes = document["trees"][0]["nodes"].as_array_mut().unwrap();
    nodes.extend([first, second]);
    document["trees"][0]["num_nodes"] = json!(5);
    let error = read(&document).unwrap_err();
    assert!(matches!(error, ModelError::Tree { tree: 0, .. }), "{error}");
    assert!(error.to_string().contains("2 of 5 nodes are not reached"), "{error}");

    for (right, reason) in
        [(-7, "right_child: the tree does not contain this node"), (4, "tree 0: node 1 is reached twice")]
    {
        let mut document = split("<", "float64", 0.5, true);
        document["trees"][0]["nodes"].as_array_mut().unwrap().remove(0);
        document["trees"][0]["num_nodes"] = json!(2);
        assert_refused(&document, "/trees/0/nodes/0/right_child", &json!(right), reason);
    }
}

#[test]
fn covers_are_hessians_or_counts_or_missing() {
    let mut document = split("<", "float64", 0.5, true);
    let covers = |document: &Value| {
        let ensemble = read(document).unwrap();
        ensemble.check_covers().map(|()| ensemble.cover_of(&ensemble.trees()[0]).to_vec())
    };
    assert_eq!(covers(&document).unwrap(), [5.0, 2.0, 3.0]);
    for (node, hessian) in [(0, 1.0), (1, 4.0), (2, 3.0)] {
        document["trees"][0]["nodes"][node]["sum_hess"] = json!(hessian);
    }
    assert_eq!(covers(&document).unwrap(), [4.0, 3.0, 1.0]);
    document["trees"][0]["nodes"][2]["sum_hess"] = json!(-3.0);
    assert!(matches!(covers(&document), Err(ModelError::Cover { tree: 0, .. })));
    for node in 0..3 {
        let node = document["trees"][0]["nodes"][node].as_object_mut().unwrap();
        node.remove("data_count");
        if node["node_id"] == 4 {
            node.remove("sum_hess");
        }
    }
    assert!(matches!(covers(&document), Err(ModelError::Cover { tree: 0, .. })));
}
