//! Reduction of a graph to the part that the chosen output needs, in operators that the runtime supports.
//!
//! Converters of scikit-learn models output the label of a classifier in addition to its probabilities. The
//! label requires operators that the runtime does not support. Converters also write standardization as a
//! single operator, `Scaler` of the domain `ai.onnx.ml`. It consists of a subtraction and a multiplication,
//! `Y = (X − offset) · scale`. Source: ONNX, "Operator Schemas", `ai.onnx.ml`.

use std::collections::HashSet;

use rten_onnx::onnx::{AttributeProto, DataType, GraphProto, ModelProto, NodeProto, TensorProto};

/// Removes the nodes that `output` does not need, and replaces `Scaler` with standard operators. Returns
/// whether this changed the file.
pub(crate) fn reduce(file: &mut ModelProto, output: &str) -> bool {
    let Some(graph) = &mut file.graph else { return false };
    let has_others = leave_out(graph, output);
    let has_scalers = graph.node.iter().any(is_scaler);
    if has_scalers {
        write_scalers(graph);
    }
    has_others || has_scalers
}

/// Removes all outputs except `output`, and the nodes that only the removed outputs need. Returns whether
/// anything was removed: a graph with a single output, or with nodes that contain graphs, is not changed.
fn leave_out(graph: &mut GraphProto, output: &str) -> bool {
    let holds_graphs = |node: &NodeProto| node.attribute.iter().any(|attribute| attribute.g.is_some());
    // A graph inside a node may refer to any value of this graph by name.
    if graph.output.len() < 2 || graph.node.iter().any(holds_graphs) {
        return false;
    }
    let mut needed: HashSet<&str> = HashSet::from([output]);
    let mut kept = vec![false; graph.node.len()];
    // Visit the nodes in reverse order, because nodes come after the nodes on which they depend.
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
                // The leading space avoids clashes with the names of other values.
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

/// Returns the numbers of an attribute: one for each feature, or one for all features.
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
