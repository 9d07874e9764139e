//! Tests with files that are built message by message.

#![allow(clippy::unwrap_used)]

use apportion_games::Rows;
use proptest::prelude::*;
use prost::Message;

use super::graph::DOMAIN;
use super::messages::*;
use crate::common::{Random, assert_close, assert_cuts_are_refused, refusal};
use crate::{Ensemble, Link, ModelError};

fn attribute(name: &str) -> AttributeProto {
    AttributeProto { name: name.to_owned(), ..Default::default() }
}

fn integers(name: &str, ints: &[i64]) -> AttributeProto {
    AttributeProto { ints: ints.to_vec(), ..attribute(name) }
}

fn floats(name: &str, floats: &[f32]) -> AttributeProto {
    AttributeProto { floats: floats.to_vec(), ..attribute(name) }
}

fn texts(name: &str, strings: &[&str]) -> AttributeProto {
    let strings = strings.iter().map(|text| text.as_bytes().to_vec()).collect();
    AttributeProto { strings, ..attribute(name) }
}

fn text(name: &str, value: &str) -> AttributeProto {
    AttributeProto { s: Some(value.as_bytes().to_vec()), ..attribute(name) }
}

fn integer(name: &str, value: i64) -> AttributeProto {
    AttributeProto { i: Some(value), ..attribute(name) }
}

fn tensor(name: &str, tensor: TensorProto) -> AttributeProto {
    AttributeProto { t: Some(tensor), ..attribute(name) }
}

fn doubles(name: &str, numbers: &[f64]) -> AttributeProto {
    let raw_data = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let dims = vec![numbers.len() as i64];
    tensor(name, TensorProto { dims, data_type: DOUBLE, raw_data, ..Default::default() })
}

fn node(
    domain: &str,
    operator: &str,
    input: &str,
    output: &[&str],
    attribute: Vec<AttributeProto>,
) -> NodeProto {
    NodeProto {
        input: vec![input.to_owned()],
        output: output.iter().map(|&name| name.to_owned()).collect(),
        op_type: operator.to_owned(),
        attribute,
        domain: domain.to_owned(),
        ..Default::default()
    }
}

fn input(name: &str, elem_type: i32, columns: Option<i64>) -> ValueInfoProto {
    let dim = vec![DimensionProto { dim_value: None }, DimensionProto { dim_value: columns }];
    let tensor_type = Some(TensorTypeProto { elem_type, shape: Some(TensorShapeProto { dim }) });
    ValueInfoProto { name: name.to_owned(), r#type: Some(TypeProto { tensor_type }) }
}

/// Builds a model whose outputs are the values that no node uses.
fn model(nodes: Vec<NodeProto>, inputs: Vec<ValueInfoProto>, version: i64) -> ModelProto {
    let is_taken = |name: &String| nodes.iter().any(|node| node.input.contains(name));
    let made = nodes.iter().flat_map(|node| &node.output).filter(|name| !is_taken(name));
    let output = made.map(|name| ValueInfoProto { name: name.clone(), r#type: None }).collect();
    ModelProto {
        ir_version: 8,
        producer_name: "test".to_owned(),
        producer_version: "1.2".to_owned(),
        graph: Some(GraphProto { node: nodes, input: inputs, output }),
        opset_import: vec![OperatorSetIdProto { domain: DOMAIN.to_owned(), version }],
    }
}

fn ensemble(operator: &str, attributes: Vec<AttributeProto>) -> NodeProto {
    node(DOMAIN, operator, "X", &["Y", "Z"], attributes)
}

/// Builds a model with a single node and two columns of `f32`.
fn alone(operator: &str, attributes: Vec<AttributeProto>) -> ModelProto {
    model(vec![ensemble(operator, attributes)], vec![input("X", FLOAT, Some(2))], 1)
}

fn read(model: &ModelProto) -> Result<Ensemble, ModelError> {
    Ensemble::from_bytes(&model.encode_to_vec())
}

/// Builds the attributes of a tree that predicts 10 if feature 0 is at most 1.5; otherwise 40 if feature 1 is
/// missing or above −1, and 20 if not.
fn regressor() -> Vec<AttributeProto> {
    vec![
        integers("nodes_treeids", &[0; 5]),
        integers("nodes_nodeids", &[0, 1, 2, 3, 4]),
        integers("nodes_featureids", &[0, 0, 1, 0, 0]),
        texts("nodes_modes", &["BRANCH_LEQ", "LEAF", "BRANCH_LEQ", "LEAF", "LEAF"]),
        floats("nodes_values", &[1.5, 0.0, -1.0, 0.0, 0.0]),
        integers("nodes_truenodeids", &[1, 0, 3, 0, 0]),
        integers("nodes_falsenodeids", &[2, 0, 4, 0, 0]),
        integers("target_treeids", &[0; 3]),
        integers("target_nodeids", &[1, 3, 4]),
        integers("target_ids", &[0; 3]),
        floats("target_weights", &[10.0, 20.0, 40.0]),
        integer("n_targets", 1),
    ]
}

/// Builds the attributes of a tree with one split on feature 0 and two leaves, followed by `more`.
fn one_split(
    kind: &str,
    mode: &str,
    numbers: AttributeProto,
    more: Vec<AttributeProto>,
) -> Vec<AttributeProto> {
    let mut attributes = vec![
        integers("nodes_treeids", &[0; 3]),
        integers("nodes_nodeids", &[0, 1, 2]),
        integers("nodes_featureids", &[0; 3]),
        texts("nodes_modes", &[mode, "LEAF", "LEAF"]),
        numbers,
        integers("nodes_truenodeids", &[1, 0, 0]),
        integers("nodes_falsenodeids", &[2, 0, 0]),
        integers(&format!("{kind}_treeids"), &[0; 2]),
        integers(&format!("{kind}_nodeids"), &[1, 2]),
    ];
    attributes.extend(more);
    attributes
}

/// Adds or replaces an attribute.
fn with(mut attributes: Vec<AttributeProto>, changed: AttributeProto) -> Vec<AttributeProto> {
    attributes.retain(|attribute| attribute.name != changed.name);
    attributes.push(changed);
    attributes
}

fn predict(ensemble: &Ensemble, rows: &[f64]) -> Vec<f64> {
    ensemble.margins(Rows::new(rows, ensemble.feature_count())).unwrap()
}

const NAN: f64 = f64::NAN;

#[test]
fn a_regressor_says_what_it_is_and_predicts() {
    let ensemble = read(&alone("TreeEnsembleRegressor", regressor())).unwrap();
    assert_eq!((ensemble.feature_count(), ensemble.output_count(), ensemble.tree_count()), (2, 1, 1));
    assert_eq!(ensemble.link(), Some(Link::Identity));
    let origin = ensemble.origin();
    assert_eq!((&*origin.format, &*origin.version), ("ONNX by test", "1.2"));
    assert_eq!((&*origin.booster, &*origin.objective), ("TreeEnsembleRegressor", "regression"));
    let rows = [1.5, 0.0, 1.6, -1.0, 1.6, -0.9, NAN, NAN, 0.0, NAN];
    assert_eq!(predict(&ensemble, &rows), [10.0, 20.0, 40.0, 40.0, 10.0]);
    assert!(ensemble.check_covers().is_err());
}

/// Returns whether a value passes the test of a node, as a reference.
fn holds(mode: &str, value: f64, number: f64, missing_true: bool) -> bool {
    match mode {
        _ if value.is_nan() => missing_true,
        "BRANCH_LEQ" => value <= number,
        "BRANCH_LT" => value < number,
        "BRANCH_GTE" => value >= number,
        "BRANCH_GT" => value > number,
        "BRANCH_EQ" => value == number,
        "BRANCH_NEQ" => value != number,
        _ => panic!("{mode}"),
    }
}

const MODES: [&str; 6] = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"];

#[test]
fn nodes_send_values_where_their_tests_say() {
    let values = [-1.0, -0.0, 0.0, 0.5, 0.5f32.next_up().into(), 0.5f32.next_down().into(), 3.0, NAN];
    for mode in MODES {
        for (number, flags) in [(0.5, [0, 0, 0]), (0.5, [1, 0, 0]), (-0.0, [0; 3]), (0.0, [1; 3])] {
            let more = vec![
                integers("nodes_missing_value_tracks_true", &flags),
                integers("target_ids", &[0; 2]),
                floats("target_weights", &[1.0, -1.0]),
            ];
            let attributes = one_split("target", mode, floats("nodes_values", &[number, 0.0, 0.0]), more);
            let nodes = vec![ensemble("TreeEnsembleRegressor", attributes)];
            let ensemble = read(&model(nodes, vec![input("X", FLOAT, None)], 1)).unwrap();
            let way = |&value| if holds(mode, value, number.into(), flags[0] == 1) { 1.0 } else { -1.0 };
            let expected: Vec<f64> = values.iter().map(way).collect();
            assert_eq!(predict(&ensemble, &values), expected, "{mode} {number} {flags:?}");
        }
    }
}

#[test]
fn random_trees_with_any_numbering_predict_as_their_lists_say() {
    let random = &mut Random(11);
    for outputs in [1, 3] {
        let (trees, features) = (6, 3);
        // A node: tree ID, node ID, mode, feature, threshold, children in the true and the false branch,
        // whether missing values take the true branch, weights.
        type Row = (i64, i64, usize, i64, f32, [i64; 2], i64, Vec<f32>);
        let mut rows: Vec<Row> = Vec::new();
        for tree in 0..trees {
            let ids: Vec<i64> = (0..40).map(|node| 3 * ((node * 17 + tree) % 40) - 5).collect();
            let mut open = vec![0];
            let mut used = 1;
            while let Some(node) = open.pop() {
                let splits = used < 30 && (node == 0 || random.chance(60));
                let (mode, mut children) = (if splits { random.below(6) } else { 6 }, [0, 0]);
                if splits {
                    open.extend([used, used + 1]);
                    children = [ids[used], ids[used + 1]];
                    used += 2;
                }
                let weights = (0..outputs).map(|_| random.below(50) as f32).collect();
                let (feature, number) = (random.below(features) as i64, random.below(6) as f32 * 0.5 - 0.5);
                let missing = i64::from(random.chance(50));
                rows.push((7 * tree - 3, ids[node], mode, feature, number, children, missing, weights));
            }
        }
        for place in (1..rows.len()).rev() {
            rows.swap(place, random.below(place + 1));
        }
        let list = |of: fn(&Row) -> i64| rows.iter().map(of).collect::<Vec<i64>>();
        let names: Vec<&str> = rows.iter().map(|row| MODES.get(row.2).copied().unwrap_or("LEAF")).collect();
        let votes: Vec<(&Row, usize)> = rows
            .iter()
            .filter(|row| row.2 == 6)
            .flat_map(|row| (0..outputs).map(move |output| (row, output)))
            .collect();
        let of_votes = |of: fn(&(&Row, usize)) -> i64| votes.iter().map(of).collect::<Vec<i64>>();
        let weights: Vec<f32> = votes.iter().map(|&(row, output)| row.7[output]).collect();
        let base: Vec<f32> = (0..outputs).map(|output| output as f32 + 0.5).collect();
        let attributes = vec![
            integers("nodes_treeids", &list(|row| row.0)),
            integers("nodes_nodeids", &list(|row| row.1)),
            integers("nodes_featureids", &list(|row| row.3)),
            texts("nodes_modes", &names),
            floats("nodes_values", &rows.iter().map(|row| row.4).collect::<Vec<f32>>()),
            integers("nodes_truenodeids", &list(|row| row.5[0])),
            integers("nodes_falsenodeids", &list(|row| row.5[1])),
            integers("nodes_missing_value_tracks_true", &list(|row| row.6)),
            integers("target_treeids", &of_votes(|vote| vote.0.0)),
            integers("target_nodeids", &of_votes(|vote| vote.0.1)),
            integers("target_ids", &of_votes(|vote| vote.1 as i64)),
            floats("target_weights", &weights),
            floats("base_values", &base),
            integer("n_targets", outputs as i64),
            text("aggregate_function", "AVERAGE"),
        ];
        let model =
            model(vec![ensemble("TreeEnsembleRegressor", attributes)], vec![input("X", FLOAT, Some(3))], 3);
        let ensemble = read(&model).unwrap();
        for _ in 0..50 {
            let x = random.row(features);
            let mut expected: Vec<f64> = base.iter().map(|&number| number.into()).collect();
            for tree in 0..trees {
                let mut at = -5 + 3 * (tree % 40);
                loop {
                    let row = rows.iter().find(|row| (row.0, row.1) == (7 * tree - 3, at)).unwrap();
                    if row.2 == 6 {
                        let share = |weight: &f32| f64::from(*weight) / trees as f64;
                        expected.iter_mut().zip(&row.7).for_each(|(sum, weight)| *sum += share(weight));
                        break;
                    }
                    let goes = holds(MODES[row.2], x[row.3 as usize], row.4.into(), row.6 == 1);
                    at = row.5[usize::from(!goes)];
                }
            }
            assert_close(&predict(&ensemble, &x), &expected, 1e-12, "random trees");
        }
    }
}

#[test]
fn doubles_are_compared_as_doubles_where_rows_reach_the_trees_so() {
    let threshold = 0.1;
    let between = 0.5 * (threshold + f64::from(threshold as f32));
    let more = vec![
        integers("target_ids", &[0; 2]),
        doubles("target_weights_as_tensor", &[0.1, 0.2]),
        doubles("base_values_as_tensor", &[0.3]),
    ];
    let numbers = doubles("nodes_values_as_tensor", &[threshold, 0.0, 0.0]);
    let attributes = one_split("target", "BRANCH_LEQ", numbers, more);
    let trees = |input| node(DOMAIN, "TreeEnsembleRegressor", input, &["Y"], attributes.clone());
    let cast = |to| node("", "Cast", "X", &["C"], vec![integer("to", to)]);
    let row = [between];
    for (nodes, kind, wide) in [
        (vec![trees("X")], DOUBLE, true),
        (vec![trees("X")], 0, true),
        (vec![trees("X")], FLOAT, false),
        (vec![cast(1), trees("C")], DOUBLE, false),
        (vec![cast(11), trees("C")], DOUBLE, true),
        (vec![cast(11), trees("C")], FLOAT, false),
        (vec![node("", "Identity", "X", &["C"], vec![]), trees("C")], DOUBLE, true),
    ] {
        let ensemble = read(&model(nodes, vec![input("X", kind, Some(1))], 3)).unwrap();
        let left = if wide { between <= threshold } else { f64::from(between as f32) <= threshold };
        assert_eq!(predict(&ensemble, &row), [0.3 + if left { 0.1 } else { 0.2 }]);
    }
}

#[test]
fn columns_may_come_as_inputs_of_their_own() {
    let concat = NodeProto {
        input: vec!["a".to_owned(), "b".to_owned()],
        ..node("", "Concat", "", &["X"], vec![integer("axis", 1)])
    };
    let inputs = vec![input("a", FLOAT, Some(1)), input("b", FLOAT, Some(1))];
    let nodes = vec![concat, ensemble("TreeEnsembleRegressor", regressor())];
    let read_ensemble = read(&model(nodes.clone(), inputs, 1)).unwrap();
    assert_eq!(read_ensemble.feature_names().unwrap(), ["a", "b"]);
    let inputs = vec![input("a", FLOAT, Some(1)), input("b", FLOAT, Some(3))];
    let wider = read(&model(nodes, inputs, 1)).unwrap();
    assert_eq!((wider.feature_count(), wider.feature_names()), (4, None));
}

/// Builds a classifier with two classes and one split.
fn classifier(ids: [i64; 2], base: &[f32], transform: &str) -> Ensemble {
    let more = vec![
        integers("class_ids", &ids),
        floats("class_weights", &[-0.25, 0.75]),
        texts("classlabels_strings", &["no", "yes"]),
        floats("base_values", base),
        text("post_transform", transform),
    ];
    let attributes = one_split("class", "BRANCH_LEQ", floats("nodes_values", &[1.0, 0.0, 0.0]), more);
    read(&alone("TreeEnsembleClassifier", attributes)).unwrap()
}

/// Compares with the values that a widely used runtime returns for these files.
#[test]
fn weights_for_one_class_of_two_are_one_margin() {
    let rows = [0.0, 0.0, 2.0, 0.0];
    let logistic = Some(Link::Logistic { steepness: 1.0 });
    for (ids, base, transform, margins, link) in [
        ([0, 0], &[][..], "LOGISTIC", &[-0.25, 0.75][..], logistic),
        ([0, 0], &[0.5], "NONE", &[0.25, 1.25], Some(Link::Identity)),
        ([1, 1], &[], "SOFTMAX", &[-0.25, 0.75], logistic),
        ([0, 0], &[], "PROBIT", &[-0.25, 0.75], None),
        ([0, 1], &[1.0, 2.0], "SOFTMAX", &[0.75, 2.0, 1.0, 2.75], Some(Link::Softmax)),
    ] {
        let ensemble = classifier(ids, base, transform);
        assert_eq!((&predict(&ensemble, &rows)[..], ensemble.link()), (margins, link), "{transform}");
    }
}

/// Builds the attributes of a `TreeEnsemble` with three trees. The first tests membership of x₀ in {1, 2.5},
/// then x₁ > 0; the second is a single leaf; the third tests membership of x₁ in {−1}.
fn newest() -> Vec<AttributeProto> {
    let modes =
        TensorProto { dims: vec![4], data_type: UINT8, raw_data: vec![6, 3, 0, 6], ..Default::default() };
    vec![
        integer("n_targets", 2),
        integers("tree_roots", &[0, 2, 3]),
        tensor("nodes_modes", modes),
        integers("nodes_featureids", &[0, 1, 0, 1]),
        doubles("nodes_splits", &[0.0, 0.0, 7.0, 0.0]),
        doubles("membership_values", &[1.0, 2.5, NAN, -1.0, NAN]),
        integers("nodes_truenodeids", &[0, 1, 3, 4]),
        integers("nodes_trueleafs", &[1, 1, 1, 1]),
        integers("nodes_falsenodeids", &[1, 2, 3, 5]),
        integers("nodes_falseleafs", &[0, 1, 1, 1]),
        integers("nodes_missing_value_tracks_true", &[0, 1, 0, 0]),
        integers("leaf_targetids", &[0, 0, 1, 1, 0, 1]),
        doubles("leaf_weights", &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0]),
    ]
}

fn newest_model(attributes: Vec<AttributeProto>) -> ModelProto {
    model(vec![ensemble("TreeEnsemble", attributes)], vec![input("X", DOUBLE, Some(2))], 5)
}

#[test]
fn the_newest_operator_is_read() {
    let ensemble = read(&newest_model(newest())).unwrap();
    assert_eq!(ensemble.output_count(), 2);
    let rows = [2.5, 0.0, 2.0, 0.5, 2.0, -1.0, NAN, NAN];
    let expected = [1.0, 40.0, 2.0, 40.0, 16.0, 12.0, 2.0, 40.0];
    assert_eq!(predict(&ensemble, &rows), expected);
    let average = read(&newest_model(with(newest(), integer("aggregate_function", 0)))).unwrap();
    assert_close(&predict(&average, &rows), &expected.map(|sum| sum / 3.0), 1e-14, "average");
}

#[test]
fn hit_rates_are_covers_only_where_they_count() {
    let rates = |rates: &[f32]| {
        let attributes = with(regressor(), floats("nodes_hitrates", rates));
        read(&alone("TreeEnsembleRegressor", attributes)).unwrap().check_covers()
    };
    assert!(rates(&[9.0, 4.0, 5.0, 2.0, 3.0]).is_ok());
    for wrong in [[1.0; 5], [0.0; 5], [9.0, 4.0, 5.0, 5.0, 0.0], [9.0, 4.0, 5.0, 2.0, f32::NAN]] {
        let error = rates(&wrong).unwrap_err().to_string();
        assert!(error.contains("missing cover"), "{error}");
    }
}

#[test]
fn what_comes_after_the_trees_is_a_link_or_refused() {
    let after = |operators: &[&str]| {
        let mut nodes = vec![ensemble("TreeEnsembleRegressor", regressor())];
        let mut name = "Y".to_owned();
        for operator in operators {
            let next = format!("{name}'");
            let attributes = if *operator == "Cast" { vec![integer("to", 1)] } else { vec![] };
            nodes.push(node("", operator, &name, &[&next], attributes));
            name = next;
        }
        read(&model(nodes, vec![input("X", FLOAT, Some(2))], 1)).map(|ensemble| ensemble.link())
    };
    for (operators, link) in [
        (&["Cast", "Flatten"][..], Some(Link::Identity)),
        (&["Identity", "Sigmoid"], Some(Link::Logistic { steepness: 1.0 })),
        (&["Exp"], Some(Link::Exponential)),
        (&["Softmax"], Some(Link::Softmax)),
        (&["Exp", "Exp"], None),
        (&["Normalizer"], None),
    ] {
        assert_eq!(after(operators).unwrap(), link, "{operators:?}");
    }
    let error = after(&["Identity", "Mul"]).unwrap_err().to_string();
    assert!(error.contains("Mul"), "{error}");
}

#[test]
fn other_graphs_are_refused_by_name() {
    let inputs = || vec![input("X", FLOAT, Some(2))];
    let network = vec![node("", "Gemm", "X", &["Y"], vec![]), node("", "Relu", "Y", &["Z"], vec![])];
    match read(&model(network, inputs(), 1)) {
        Err(ModelError::OtherOnnx { operators }) => assert_eq!(operators, "Gemm, Relu"),
        other => panic!("{other:?}"),
    }
    let trees = |name| node(DOMAIN, "TreeEnsembleRegressor", name, &["Y"], regressor());
    let unsupported = |nodes, inputs, says: &str| match read(&model(nodes, inputs, 1)) {
        Err(error @ ModelError::Unsupported { .. }) => assert!(error.to_string().contains(says), "{error}"),
        other => panic!("{other:?}"),
    };
    let doubled = NodeProto { output: vec!["D".to_owned()], ..trees("X") };
    unsupported(vec![trees("X"), doubled], inputs(), "several outputs");
    unsupported(vec![node(DOMAIN, "Normalizer", "X", &["S"], vec![]), trees("S")], inputs(), "Normalizer");
    unsupported(vec![node("", "Cast", "X", &["S"], vec![integer("to", 8)]), trees("S")], inputs(), "Cast");
    unsupported(vec![trees("X")], vec![input("X", 8, Some(2))], "text");
    unsupported(vec![trees("X")], vec![input("X", 10, Some(2))], "type 10");
    for operator in ["Tanh", "Normalizer", "Cast"] {
        let nodes = vec![node(DOMAIN, operator, "X", &["S"], vec![]), trees("S")];
        unsupported(nodes, inputs(), "apportion.Explainer(function, X)");
    }
    let least = with(regressor(), text("aggregate_function", "MIN"));
    unsupported(vec![ensemble("TreeEnsembleRegressor", least)], inputs(), "MIN");
    let other_file = TensorProto { data_type: DOUBLE, data_location: 1, ..Default::default() };
    let mut attributes = regressor();
    attributes.retain(|attribute| attribute.name != "target_weights");
    attributes.push(tensor("target_weights_as_tensor", other_file));
    unsupported(vec![ensemble("TreeEnsembleRegressor", attributes)], inputs(), "another file");
    for version in [0, 6, -1] {
        let error = read(&model(vec![trees("X")], inputs(), version)).unwrap_err();
        assert!(matches!(error, ModelError::Version { .. }), "{error}");
    }
    let cycle = vec![node("", "Identity", "S", &["S"], vec![]), trees("S")];
    assert!(matches!(read(&model(cycle, inputs(), 1)), Err(ModelError::Schema { .. })));
    assert!(matches!(read(&model(vec![trees("S")], inputs(), 1)), Err(ModelError::Schema { .. })));
    let mut unnamed = model(vec![trees("X")], inputs(), 1);
    unnamed.opset_import.clear();
    assert!(matches!(read(&unnamed), Err(ModelError::Onnx { .. })));
    unnamed.graph = None;
    assert!(matches!(read(&unnamed), Err(ModelError::Onnx { .. })));
}

#[test]
fn damage_is_refused_with_the_place_and_the_reason() {
    let cases = [
        (integers("nodes_nodeids", &[0, 1, 2, 3]), "nodes_nodeids: expected 5 elements, got 4"),
        (integers("nodes_nodeids", &[0, 1, 2, 2, 4]), "duplicate node 2 of tree 0"),
        (
            integers("nodes_featureids", &[0, 0, 2, 0, 0]),
            "tree 0: node 2 splits on feature 2, which is out of range (features: 2)",
        ),
        (integers("nodes_featureids", &[-1, 0, 1, 0, 0]), "node 0 splits on feature -1"),
        (
            texts("nodes_modes", &["BRANCH_LEQ", "LEAF", "BRANCH", "LEAF", "LEAF"]),
            "unknown node mode \"BRANCH\"",
        ),
        (floats("nodes_values", &[1.5, 0.0, f32::NAN, 0.0, 0.0]), "tree 0: node 2 has the threshold NaN"),
        (floats("nodes_values", &[1.5]), "nodes_values: expected "),
        (integers("nodes_truenodeids", &[1, 0, 7, 0, 0]), "tree 0: node 2 has the child 7"),
        (integers("nodes_truenodeids", &[1, 0, -3, 0, 0]), "node 2 has the child -3"),
        (integers("nodes_truenodeids", &[1, 0, 0, 0, 0]), "tree 0: 4 of 5 nodes are not reached"),
        (integers("nodes_truenodeids", &[1, 0, 2, 0, 0]), "expected one root, got 2 nodes"),
        (integers("nodes_truenodeids", &[1, 0, 1, 0, 0]), "expected one root, got 2 nodes"),
        (integers("nodes_treeids", &[0, 0, 0, 0, 1]), "tree 0: node 2 has the child 4"),
        (integers("nodes_missing_value_tracks_true", &[0, 0, 2, 0, 0]), "expected 0 or 1, got 2"),
        (floats("nodes_hitrates", &[1.0; 6]), "nodes_hitrates: expected "),
        (integers("target_nodeids", &[1, 2, 4]), "node 2 of tree 0 is not a leaf"),
        (integers("target_nodeids", &[1, 9, 4]), "node 9 of tree 0 is not a leaf"),
        (integers("target_treeids", &[0, 0, 5]), "node 4 of tree 5 is not a leaf"),
        (integers("target_treeids", &[-2, 0, 0]), "node 1 of tree -2 is not a leaf"),
        (integers("target_ids", &[0, 1, 0]), "output 1 is out of range (outputs: 1)"),
        (integers("target_ids", &[0, 0]), "target_ids: expected "),
        (floats("target_weights", &[10.0, f32::INFINITY, 40.0]), "tree 0: leaf 3 has the value inf"),
        (doubles("target_weights_as_tensor", &[1.0; 3]), "cannot be combined with target_weights"),
        (floats("base_values", &[1.0, 2.0]), "base_values: expected 1 elements, got 2"),
        (floats("base_values", &[f32::NAN]), "base_values: expected a finite number, got NaN"),
        (integer("n_targets", 0), "expected at least one output"),
        (integer("n_targets", i64::MAX), "expected at most"),
        (integer("n_targets", -1), "expected at most"),
        (text("post_transform", "SQUARE"), "unknown function \"SQUARE\""),
        (text("aggregate_function", "MEDIAN"), "unknown function \"MEDIAN\""),
        (integer("post_transform", 1), "expected a string"),
    ];
    for (changed, says) in cases {
        let what = changed.name.clone();
        let model = alone("TreeEnsembleRegressor", with(regressor(), changed));
        let error = refusal(&model.encode_to_vec());
        assert!(error.contains(says), "{what}: {error}");
    }
    let mut twice = regressor();
    twice.push(integer("n_targets", 1));
    assert!(
        read(&alone("TreeEnsembleRegressor", twice)).unwrap_err().to_string().contains("duplicate attribute")
    );
    for columns in [1 << 30, i64::MAX] {
        let nodes = vec![ensemble("TreeEnsembleRegressor", regressor())];
        let error = read(&model(nodes, vec![input("X", FLOAT, Some(columns))], 1)).unwrap_err().to_string();
        assert!(error.contains("features"), "{error}");
    }
}

#[test]
fn damage_of_the_newest_operator_is_refused() {
    let wrong = |data_type, dims: &[i64]| TensorProto {
        dims: dims.to_vec(),
        data_type,
        raw_data: vec![0; 32],
        ..Default::default()
    };
    let cases = [
        (integers("tree_roots", &[0, 2]), "node 3 does not belong to a tree"),
        (integers("tree_roots", &[0, 2, 4]), "tree 2: node 4 is out of range (nodes: 4)"),
        (integers("tree_roots", &[0, 1, 3]), "tree 1: node 1 is reached twice"),
        (integers("nodes_falsenodeids", &[0, 2, 3, 5]), "tree 0: node 0 is reached twice"),
        (integers("nodes_falsenodeids", &[1, 6, 3, 5]), "tree 0: leaf 6 is out of range (leaves: 6)"),
        (integers("nodes_falsenodeids", &[-1, 2, 3, 5]), "node -1 is out of range (nodes: 4)"),
        (integers("nodes_trueleafs", &[1, 1]), "nodes_trueleafs: expected "),
        (integers("nodes_trueleafs", &[]), "nodes_trueleafs: expected "),
        (integers("leaf_targetids", &[0, 0, 2, 1, 0, 1]), "output 2 is out of range (outputs: 2)"),
        (integers("nodes_featureids", &[0, 5, 0, 1]), "splits on feature 5"),
        (doubles("membership_values", &[1.0, 2.5]), "membership_values: expected 2 elements, got 1"),
        (doubles("membership_values", &[]), "membership_values: expected 2 elements, got 0"),
        (doubles("nodes_splits", &[0.0, NAN, 7.0, 0.0]), "tree 0: node 1 has the threshold NaN"),
        (doubles("nodes_modes", &[0.0, 7.0, 0.0, 0.0]), "unknown node mode 7"),
        (tensor("nodes_splits", wrong(FLOAT16, &[16])), "half precision"),
        (tensor("nodes_splits", wrong(DOUBLE, &[5])), "[5] does not match 4 numbers"),
        (tensor("nodes_splits", wrong(DOUBLE, &[1 << 40, 1 << 40])), "does not match 4 numbers"),
        (tensor("nodes_splits", wrong(DOUBLE, &[-4])), "does not match 4 numbers"),
        (integer("nodes_splits", 3), "expected a tensor"),
        (integer("aggregate_function", 4), "unknown function 4"),
        (integer("post_transform", 9), "unknown function 9"),
    ];
    for (changed, says) in cases {
        let what = changed.name.clone();
        let error = read(&newest_model(with(newest(), changed))).unwrap_err().to_string();
        assert!(error.contains(says), "{what}: {error}");
    }
}

#[test]
fn a_file_cut_at_any_byte_is_refused() {
    let lists = alone("TreeEnsembleRegressor", regressor());
    for (name, model) in [("lists", lists), ("newest", newest_model(newest()))] {
        assert_cuts_are_refused(name, &model.encode_to_vec(), 1);
    }
}

#[test]
fn a_chain_of_many_nodes_is_read_without_recursion() {
    let depth = 30_000;
    let nodes = 2 * depth + 1;
    let ids: Vec<i64> = (0..nodes).collect();
    let modes: Vec<&str> =
        ids.iter().map(|id| if id % 2 == 0 && id + 1 < nodes { "BRANCH_LT" } else { "LEAF" }).collect();
    let attributes = vec![
        integers("nodes_treeids", &vec![0; ids.len()]),
        integers("nodes_nodeids", &ids),
        integers("nodes_featureids", &vec![0; ids.len()]),
        texts("nodes_modes", &modes),
        floats("nodes_values", &vec![0.0; ids.len()]),
        integers("nodes_truenodeids", &ids.iter().map(|id| id + 1).collect::<Vec<_>>()),
        integers("nodes_falsenodeids", &ids.iter().map(|id| id + 2).collect::<Vec<_>>()),
    ];
    let ensemble = read(&alone("TreeEnsembleRegressor", attributes)).unwrap();
    assert_eq!(ensemble.depth(), depth as usize);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn changed_bytes_are_read_or_refused(
        newest_one: bool,
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let model =
            if newest_one { newest_model(newest()) } else { alone("TreeEnsembleRegressor", regressor()) };
        let mut bytes = model.encode_to_vec();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if let Ok(ensemble) = Ensemble::from_bytes(&bytes)
            && ensemble.feature_count() * ensemble.output_count() < 10_000
        {
            predict(&ensemble, &vec![0.5; ensemble.feature_count()]);
        }
    }
}
