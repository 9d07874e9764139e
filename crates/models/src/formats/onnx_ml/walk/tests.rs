//! Compares graphs that are built node by node with an evaluation of their operators, and tests corrupt
//! graphs.

#![allow(clippy::unwrap_used)]

use apportion_games::Rows;
use prost::Message;

use crate::common::{Random, assert_close};
use crate::formats::onnx_ml::messages::*;
use crate::{Ensemble, Link, ModelError};

/// A graph with initializers. The messages that the reader uses store these separately.
#[derive(Clone, PartialEq, Message)]
struct Weighted {
    #[prost(int64, tag = "1")]
    ir_version: i64,
    #[prost(message, optional, tag = "7")]
    graph: Option<WeightedGraph>,
    #[prost(message, repeated, tag = "8")]
    opset_import: Vec<OperatorSetIdProto>,
}

#[derive(Clone, PartialEq, Message)]
struct WeightedGraph {
    #[prost(message, repeated, tag = "1")]
    node: Vec<NodeProto>,
    #[prost(message, repeated, tag = "5")]
    initializer: Vec<TensorProto>,
    #[prost(message, repeated, tag = "11")]
    input: Vec<ValueInfoProto>,
    #[prost(message, repeated, tag = "12")]
    output: Vec<ValueInfoProto>,
}

fn node(operator: &str, inputs: &[&str], output: &str, attribute: Vec<AttributeProto>) -> NodeProto {
    let own = ["LinearRegressor", "LinearClassifier", "Scaler", "Imputer", "SVMRegressor"];
    NodeProto {
        input: inputs.iter().map(|&name| name.to_owned()).collect(),
        output: output.split(' ').map(str::to_owned).collect(),
        op_type: operator.to_owned(),
        attribute,
        domain: if own.contains(&operator) { "ai.onnx.ml" } else { "" }.to_owned(),
        ..Default::default()
    }
}

fn attribute(name: &str) -> AttributeProto {
    AttributeProto { name: name.to_owned(), ..Default::default() }
}

fn floats(name: &str, floats: &[f32]) -> AttributeProto {
    AttributeProto { floats: floats.to_vec(), ..attribute(name) }
}

fn integer(name: &str, value: i64) -> AttributeProto {
    AttributeProto { i: Some(value), ..attribute(name) }
}

fn tensor(name: &str, dims: &[i64], numbers: &[f64]) -> TensorProto {
    let double_data = numbers.to_vec();
    TensorProto {
        name: name.to_owned(),
        dims: dims.to_vec(),
        data_type: DOUBLE,
        double_data,
        ..Default::default()
    }
}

fn value(name: &str, columns: Option<i64>) -> ValueInfoProto {
    let dim = vec![DimensionProto { dim_value: None }, DimensionProto { dim_value: columns }];
    let tensor_type = Some(TensorTypeProto { elem_type: DOUBLE, shape: Some(TensorShapeProto { dim }) });
    ValueInfoProto { name: name.to_owned(), r#type: Some(TypeProto { tensor_type }) }
}

/// Builds a graph from `x` to `y`.
fn bytes(columns: Option<i64>, node: Vec<NodeProto>, initializer: Vec<TensorProto>) -> Vec<u8> {
    let graph =
        WeightedGraph { node, initializer, input: vec![value("x", columns)], output: vec![value("y", None)] };
    let opset_import = vec![OperatorSetIdProto { domain: "ai.onnx.ml".to_owned(), version: 3 }];
    Weighted { ir_version: 8, graph: Some(graph), opset_import }.encode_to_vec()
}

fn margins(bytes: &[u8], rows: &[f64]) -> Vec<f64> {
    let ensemble = Ensemble::from_bytes(bytes).unwrap();
    ensemble.margins(Rows::new(rows, ensemble.feature_count())).unwrap()
}

/// Tests random chains of affine operators against their evaluation on the numbers of a row.
#[test]
fn chains_of_operators_are_what_they_compute() {
    for seed in 0..200 {
        let mut random = Random(seed);
        let number = |random: &mut Random| random.below(9) as f64 * 0.25 - 1.0;
        let features = 1 + random.below(5);
        let row: Vec<f64> = (0..features).map(|_| number(&mut random) + 0.3).collect();
        let (mut values, mut nodes, mut weights) = (row.clone(), Vec::new(), Vec::new());
        let mut name = "x".to_owned();
        let steps = 1 + random.below(6);
        for step in 0..steps {
            let next = if step + 1 == steps { "y".to_owned() } else { format!("v{step}") };
            let count = values.len();
            let constant = format!("w{step}");
            let numbers: Vec<f64> = (0..count).map(|_| number(&mut random) + 0.1).collect();
            let each = |values: &[f64], of: fn(f64, f64) -> f64| -> Vec<f64> {
                values.iter().zip(&numbers).map(|(&value, &number)| of(value, number)).collect()
            };
            let dims = [count as i64];
            match random.below(8) {
                0 | 1 => {
                    let outputs = 1 + random.below(4);
                    let matrix: Vec<f64> = (0..count * outputs).map(|_| number(&mut random)).collect();
                    let product = |k: usize| (0..count).map(|i| values[i] * matrix[i * outputs + k]).sum();
                    values = (0..outputs).map(product).collect();
                    weights.push(tensor(&constant, &[count as i64, outputs as i64], &matrix));
                    nodes.push(node("MatMul", &[&name, &constant], &next, vec![]));
                }
                2 => {
                    values = each(&values, |value, number| number - value);
                    weights.push(tensor(&constant, &[1, count as i64], &numbers));
                    nodes.push(node("Sub", &[&constant, &name], &next, vec![]));
                }
                3 => {
                    values = each(&values, |value, number| value / number);
                    weights.push(tensor(&constant, &dims, &numbers));
                    nodes.push(node("Div", &[&name, &constant], &next, vec![]));
                }
                4 => {
                    let scale: Vec<f32> = numbers.iter().map(|&number| number as f32).collect();
                    values
                        .iter_mut()
                        .zip(&scale)
                        .for_each(|(value, &scale)| *value = (*value - 0.5) * f64::from(scale));
                    nodes.push(node(
                        "Scaler",
                        &[&name],
                        &next,
                        vec![floats("offset", &[0.5]), floats("scale", &scale)],
                    ));
                }
                5 => {
                    values = values.iter().map(|value| value + value).collect();
                    nodes.push(node("Add", &[&name, &name], &next, vec![]));
                }
                6 => {
                    values = [&values[..], &values[..]].concat();
                    nodes.push(node("Concat", &[&name, &name], &next, vec![integer("axis", -1)]));
                }
                _ => {
                    let place = random.below(count);
                    values = vec![values[place], values[0]];
                    weights.push(tensor(&constant, &[2], &[place as f64 - count as f64, 0.0]));
                    nodes.push(node("Gather", &[&name, &constant], &next, vec![integer("axis", 1)]));
                }
            }
            name = next;
        }
        let got = margins(&bytes(Some(features as i64), nodes, weights), &row);
        let mirrored = values.len() == 2 && got.len() == 1;
        let expected = if mirrored { &values[1..] } else { &values[..] };
        assert_close(&got, expected, 1e-12, &format!("seed {seed}"));
    }
}

#[test]
fn two_scores_that_mirror_each_other_are_one_margin() {
    let classifier = |coefficients: &[f32], transform: &str| {
        let labels = AttributeProto { ints: vec![0, 1], ..attribute("classlabels_ints") };
        let transform =
            AttributeProto { s: Some(transform.as_bytes().to_vec()), ..attribute("post_transform") };
        let attributes =
            vec![floats("coefficients", coefficients), floats("intercepts", &[]), labels, transform];
        let bytes = bytes(Some(2), vec![node("LinearClassifier", &["x"], "l y", attributes)], vec![]);
        let ensemble = Ensemble::from_bytes(&bytes).unwrap();
        let margins = ensemble.margins(Rows::new(&[1.0, 10.0], 2)).unwrap();
        (margins, ensemble.link())
    };
    let logistic = Some(Link::Logistic { steepness: 1.0 });
    assert_eq!(classifier(&[-1.0, -2.0, 1.0, 2.0], "LOGISTIC"), (vec![21.0], logistic));
    assert_eq!(classifier(&[1.0, 2.0], "LOGISTIC"), (vec![21.0], logistic));
    assert_eq!(classifier(&[1.0, 2.0], "SOFTMAX"), (vec![21.0], None));
    assert_eq!(classifier(&[-1.0, -2.0, 1.0, 3.0], "LOGISTIC"), (vec![-21.0, 31.0], logistic));
    assert_eq!(classifier(&[-1.0, -2.0, 1.0, 2.0], "SOFTMAX"), (vec![-21.0, 21.0], Some(Link::Softmax)));
    assert_eq!(classifier(&[1.0, 0.0, 0.0, 1.0], "PROBIT"), (vec![1.0, 10.0], None));
}

#[test]
fn columns_that_the_graph_does_not_count_are_counted_by_their_weights() {
    let regressor = vec![floats("coefficients", &[1.0, 2.0, 3.0, 4.0]), integer("targets", 2)];
    for (nodes, weights) in [
        (vec![node("LinearRegressor", &["x"], "y", regressor)], vec![]),
        (vec![node("MatMul", &["x", "w"], "y", vec![])], vec![tensor("w", &[2, 2], &[1.0, 3.0, 2.0, 4.0])]),
        (
            vec![node("Gemm", &["x", "w"], "y", vec![integer("transB", 1)])],
            vec![tensor("w", &[2, 2], &[1.0, 2.0, 3.0, 4.0])],
        ),
    ] {
        assert_eq!(margins(&bytes(None, nodes, weights), &[1.0, 10.0]), [21.0, 43.0]);
    }
}

#[test]
fn graphs_that_grow_beyond_their_files_are_refused() {
    let twice = |name: &str, next: &str| node("Concat", &[name, name], next, vec![integer("axis", 1)]);
    let mut nodes: Vec<NodeProto> =
        (0..40).map(|step| twice(&format!("v{step}"), &format!("v{}", step + 1))).collect();
    nodes[0].input = vec!["x".to_owned(); 2];
    nodes.push(node("Identity", &["v40"], "y", vec![]));
    let error = Ensemble::from_bytes(&bytes(Some(2), nodes, vec![])).unwrap_err();
    assert!(matches!(error, ModelError::OtherOnnx { .. }), "{error}");
    for columns in [1 << 20, 1 << 40, i64::MAX] {
        let nodes = vec![node("Neg", &["x"], "y", vec![])];
        let error = Ensemble::from_bytes(&bytes(Some(columns), nodes, vec![])).unwrap_err();
        assert!(error.to_string().contains("too short"), "{error}");
    }
    // Alternate between one column and many columns, so that the computed terms far outnumber the weights in
    // the file.
    let wide = tensor("a", &[1, 4000], &[1.0; 4000]);
    let tall = tensor("b", &[4000, 1], &[1.0; 4000]);
    let mut nodes = vec![node("MatMul", &["x", "a"], "v0", vec![])];
    for step in 0..2000 {
        nodes.push(node("MatMul", &[&format!("v{step}"), "b"], &format!("u{step}"), vec![]));
        nodes.push(node("MatMul", &[&format!("u{step}"), "a"], &format!("v{}", step + 1), vec![]));
    }
    nodes.push(node("Identity", &["v2000"], "y", vec![]));
    let error = Ensemble::from_bytes(&bytes(Some(1), nodes, vec![wide, tall])).unwrap_err();
    assert!(matches!(error, ModelError::OtherOnnx { .. }), "{error}");
}

#[test]
fn damage_is_refused_with_the_place_and_the_reason() {
    let regressor = |changed: AttributeProto| {
        let mut attributes =
            vec![floats("coefficients", &[1.0, 2.0]), floats("intercepts", &[0.5]), integer("targets", 1)];
        attributes.retain(|attribute| attribute.name != changed.name);
        attributes.push(changed);
        bytes(Some(2), vec![node("LinearRegressor", &["x"], "y", attributes)], vec![])
    };
    let matrix =
        |tensor: TensorProto| bytes(Some(2), vec![node("MatMul", &["x", "w"], "y", vec![])], vec![tensor]);
    let elsewhere = TensorProto { data_location: 1, ..tensor("w", &[2], &[]) };
    for (bytes, says) in [
        (regressor(floats("coefficients", &[1.0])), "coefficients: expected 2 elements, got 1"),
        (regressor(floats("intercepts", &[1.0, 2.0])), "intercepts: expected 1 elements, got 2"),
        (regressor(floats("coefficients", &[1.0, f32::INFINITY])), "sum to the constant NaN"),
        (regressor(floats("intercepts", &[f32::NAN])), "sum to the constant NaN"),
        (regressor(integer("targets", i64::MAX)), "expected at most"),
        (regressor(integer("targets", 0)), "expected at least one output"),
        (matrix(tensor("w", &[2, 2], &[1.0; 3])), "the tensor w: the shape [2, 2] does not match 3 numbers"),
        (matrix(tensor("w", &[-2, -1], &[1.0; 2])), "does not match 2 numbers"),
        (matrix(TensorProto { data_type: FLOAT16, ..tensor("w", &[0], &[]) }), "half precision"),
        (matrix(elsewhere), "another file"),
        (matrix(tensor("v", &[2], &[1.0; 2])), "the input \"w\" of"),
        (bytes(Some(2), vec![], vec![]), "the output \"y\" is not defined"),
        // These graphs are valid, but are not linear models of a row.
        (matrix(tensor("w", &[3, 1], &[1.0; 3])), "nor a linear model"),
        (matrix(tensor("w", &[2, 0], &[])), "nor a linear model"),
        (bytes(Some(2), vec![node("Mul", &["x", "x"], "y", vec![])], vec![]), "nor a linear model"),
        (
            bytes(
                Some(2),
                vec![NodeProto { domain: "of.others".to_owned(), ..node("Neg", &["x"], "y", vec![]) }],
                vec![],
            ),
            "nor a linear model",
        ),
        (bytes(Some(2), vec![node("Dropout", &["x"], "z y", vec![])], vec![]), "nor a linear model"),
        (bytes(Some(2), vec![node("ArgMax", &["x"], "y", vec![])], vec![]), "nor a linear model"),
    ] {
        let error = Ensemble::from_bytes(&bytes).unwrap_err().to_string();
        assert!(error.contains(says), "{error}; wanted {says}");
    }
}
