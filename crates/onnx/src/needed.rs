//! The part of a graph that its chosen output needs, in operators that the runtime has.
//!
//! Converters of scikit-learn's models write the label of a classifier beside its probabilities, by operators
//! that the runtime lacks and no model needs; and standardization as one operator, `Scaler` of the domain
//! `ai.onnx.ml`, which is a subtraction and a multiplication: Y = (X − offset) · scale. Source: ONNX,
//! "Operator Schemas", `ai.onnx.ml`.

use std::collections::HashSet;

use rten_onnx::onnx::{AttributeProto, DataType, GraphProto, ModelProto, NodeProto, TensorProto};

/// Leaves out what `output` does not need, and writes `Scaler` in standard operators. Whether that changed
/// anything.
pub(crate) fn reduce(file: &mut ModelProto, output: &str) -> bool {
    let Some(graph) = &mut file.graph else { return false };
    let has_others = leave_out(graph, output);
    let has_scalers = graph.node.iter().any(is_scaler);
    if has_scalers {
        write_scalers(graph);
    }
    has_others || has_scalers
}

/// Leaves out other outputs, and the nodes that they alone need. A file with a single output is left as it
/// is.
fn leave_out(graph: &mut GraphProto, output: &str) -> bool {
    let holds_graphs = |node: &NodeProto| node.attribute.iter().any(|attribute| attribute.g.is_some());
    // What is inside of a node may need any value by its name.
    if graph.output.len() < 2 || graph.node.iter().any(holds_graphs) {
        return false;
    }
    let mut needed: HashSet<&str> = HashSet::from([output]);
    let mut kept = vec![false; graph.node.len()];
    // Nodes come after those that they need.
    for (node, kept) in graph.node.iter().zip(&mut kept).rev() {
        if node.output.iter().any(|output| needed.contains(output.as_str())) {
            *kept = true;
            needed.extend(node.input.iter().map(String::as_str));
        }
    }
    let mut kept = kept.into_iter();
    graph.node.retain(|_| kept.next().unwrap_or(true));
    graph.output.retain(|value| value.name.as_deref() == Some(output));
    true
}

fn is_scaler(node: &NodeProto) -> bool {
    node.domain.as_deref() == Some("ai.onnx.ml") && node.op_type.as_deref() == Some("Scaler")
}

fn write_scalers(graph: &mut GraphProto) {
    let GraphProto { node: nodes, initializer: weights, .. } = graph;
    for node in std::mem::take(nodes) {
        match (is_scaler(&node), &node.input[..], &node.output[..]) {
            (true, [input], [output]) => {
                // No name of a value begins with a blank.
                let names = |part: &str| format!(" {part} of {output}");
                let step = |operator: &str, input: &str, by: String, output: String| NodeProto {
                    name: Some(names(operator)),
                    op_type: Some(operator.to_owned()),
                    input: vec![input.to_owned(), by],
                    output: vec![output],
                    ..NodeProto::default()
                };
                weights.push(weight(names("offset"), floats(&node, "offset", 0.0)));
                weights.push(weight(names("scale"), floats(&node, "scale", 1.0)));
                nodes.push(step("Sub", input, names("offset"), names("centred")));
                nodes.push(step("Mul", &names("centred"), names("scale"), output.clone()));
            }
            _ => nodes.push(node),
        }
    }
}

/// The numbers of an attribute, one for each feature or one for all.
fn floats(node: &NodeProto, name: &str, otherwise: f32) -> Vec<f32> {
    let named = |attribute: &&AttributeProto| attribute.name.as_deref() == Some(name);
    let floats = node.attribute.iter().find(named).map(|attribute| attribute.floats.clone());
    floats.filter(|floats| !floats.is_empty()).unwrap_or_else(|| vec![otherwise])
}

fn weight(name: String, values: Vec<f32>) -> TensorProto {
    TensorProto {
        name: Some(name),
        dims: vec![values.len() as i64],
        data_type: Some(DataType::FLOAT),
        float_data: values,
        ..TensorProto::default()
    }
}
