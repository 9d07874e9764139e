//! Small networks for tests.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use rten_onnx::onnx::{
    AttributeProto, AttributeType, DataType, Dimension, GraphProto, ModelProto, NodeProto,
    OperatorSetIdProto, TensorProto, TensorShapeProto, TypeProto, TypeProtoTensor, ValueInfoProto,
};

pub(crate) const DIABETES: &[u8] = include_bytes!("../../fixtures/diabetes_mlp.onnx");
pub(crate) const IRIS: &[u8] = include_bytes!("../../fixtures/iris_mlp.onnx");

/// The networks of the data pack, which may be unavailable.
pub(crate) const PACK: [&str; 5] =
    ["adult_mlp", "mnist38_cnn", "cifar_cnn", "rt_polarity_conv", "ag_news_bag"];

pub(crate) fn shared() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared")
}

/// Returns a generator of numbers in [0, 1), the same in every run (SplitMix64).
pub(crate) fn uniform(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ bits >> 31) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Creates an input or output; each dimension is a size, a name, or empty for no name.
pub(crate) fn value(name: &str, elements: DataType, dimensions: &[&str]) -> ValueInfoProto {
    let dimension = |word: &&str| Dimension {
        dim_value: word.parse().ok(),
        dim_param: Some((*word).to_owned()).filter(|word| !word.is_empty() && word.parse::<i64>().is_err()),
    };
    let shape = TensorShapeProto { dim: dimensions.iter().map(dimension).collect() };
    let tensor = TypeProtoTensor { elem_type: Some(elements), shape: Some(shape) };
    ValueInfoProto {
        name: Some(name.to_owned()),
        r#type: Some(TypeProto { tensor_type: Some(tensor), ..TypeProto::default() }),
    }
}

/// Creates a value whose type and shape the file does not declare.
pub(crate) fn bare(name: &str) -> ValueInfoProto {
    ValueInfoProto { name: Some(name.to_owned()), r#type: None }
}

/// Creates a node without a name. Inputs and outputs are separated by spaces: `node("Add", "x b", "y")`.
pub(crate) fn node(operator: &str, inputs: &str, output: &str) -> NodeProto {
    NodeProto {
        op_type: Some(operator.to_owned()),
        input: inputs.split_whitespace().map(str::to_owned).collect(),
        output: vec![output.to_owned()],
        ..NodeProto::default()
    }
}

pub(crate) fn with_integer(mut node: NodeProto, attribute: &str, value: i64) -> NodeProto {
    node.attribute.push(AttributeProto {
        name: Some(attribute.to_owned()),
        i: Some(value),
        r#type: Some(AttributeType::INT),
        ..AttributeProto::default()
    });
    node
}

pub(crate) fn with_integers(mut node: NodeProto, attribute: &str, values: &[i64]) -> NodeProto {
    node.attribute.push(AttributeProto {
        name: Some(attribute.to_owned()),
        ints: values.to_vec(),
        r#type: Some(AttributeType::INTS),
        ..AttributeProto::default()
    });
    node
}

pub(crate) fn with_float(mut node: NodeProto, attribute: &str, value: f32) -> NodeProto {
    node.attribute.push(AttributeProto {
        name: Some(attribute.to_owned()),
        f: Some(value),
        r#type: Some(AttributeType::FLOAT),
        ..AttributeProto::default()
    });
    node
}

pub(crate) fn with_text(mut node: NodeProto, attribute: &str, value: &str) -> NodeProto {
    node.attribute.push(AttributeProto {
        name: Some(attribute.to_owned()),
        s: Some(value.to_owned()),
        r#type: Some(AttributeType::STRING),
        ..AttributeProto::default()
    });
    node
}

pub(crate) fn integers(name: &str, values: &[i64]) -> TensorProto {
    TensorProto {
        name: Some(name.to_owned()),
        dims: vec![values.len() as i64],
        data_type: Some(DataType::INT64),
        int64_data: values.to_vec(),
        ..TensorProto::default()
    }
}

pub(crate) fn weight(name: &str, shape: &[i64], values: &[f32]) -> TensorProto {
    TensorProto {
        name: Some(name.to_owned()),
        dims: shape.to_vec(),
        data_type: Some(DataType::FLOAT),
        raw_data: Some(RefCell::new(values.iter().flat_map(|value| value.to_le_bytes()).collect())),
        ..TensorProto::default()
    }
}

/// Returns the content of an ONNX file.
pub(crate) fn file(
    inputs: Vec<ValueInfoProto>,
    outputs: Vec<ValueInfoProto>,
    nodes: Vec<NodeProto>,
    weights: Vec<TensorProto>,
) -> Vec<u8> {
    let graph = GraphProto {
        input: inputs,
        output: outputs,
        node: nodes,
        initializer: weights,
        ..GraphProto::default()
    };
    let standard = OperatorSetIdProto { domain: None, version: Some(13) };
    let model = ModelProto {
        ir_version: Some(8),
        graph: Some(graph),
        opset_import: vec![standard],
        ..ModelProto::default()
    };
    model.write_buf().unwrap()
}

/// Returns a file with one node from the input `x` of this type and shape to the output `y`, of floats in two
/// dimensions.
pub(crate) fn one_node(
    elements: DataType,
    dimensions: &[&str],
    node: NodeProto,
    weights: Vec<TensorProto>,
) -> Vec<u8> {
    let output = value("y", DataType::FLOAT, &["N", "k"]);
    file(vec![value("x", elements, dimensions)], vec![output], vec![node], weights)
}

/// Returns the file of a network that doubles two columns.
pub(crate) fn doubling() -> Vec<u8> {
    one_node(DataType::FLOAT, &["N", "2"], node("Add", "x x", "y"), vec![])
}

/// Returns the file of a network that averages the two-dimensional embeddings of three tokens from a
/// vocabulary of four.
pub(crate) fn embedding(elements: DataType) -> Vec<u8> {
    let mean = with_integer(with_integers(node("ReduceMean", "e", "y"), "axes", &[1]), "keepdims", 0);
    file(
        vec![value("ids", elements, &["N", "3"])],
        vec![value("y", DataType::FLOAT, &["N", "2"])],
        vec![node("Gather", "E ids", "e"), mean],
        vec![weight("E", &[4, 2], &[0.0, 0.0, 1.0, 10.0, 2.0, 20.0, 6.0, 60.0])],
    )
}
