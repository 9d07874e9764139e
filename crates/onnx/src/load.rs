//! Loading of files by the runtime, and conversion of its errors.

use std::error::Error;

use rten::{LoadErrorKind, ModelOptions};
use rten_onnx::onnx::{ModelProto, NodeProto};

use crate::error::OnnxError;
use crate::runtime::caught;

/// The reason why the runtime rejected a file.
struct Refusal {
    problem: String,
    /// Whether the reason for the rejection is an unsupported operator.
    of_operator: bool,
    /// The name of the node, if it has one.
    node: Option<String>,
}

/// Loads the content of a file, which has been parsed as `file`.
pub(crate) fn load(bytes: &[u8], file: ModelProto) -> Result<rten::Model, OnnxError> {
    try_loading(bytes.to_vec()).map_err(|refusal| match refused_node(&refusal, file) {
        Some(node) => OnnxError::Operator {
            operator: operator(&node),
            node: node.name.unwrap_or_default(),
            problem: refusal.problem,
        },
        None => OnnxError::Load { problem: refusal.problem },
    })
}

fn try_loading(bytes: Vec<u8>) -> Result<rten::Model, Refusal> {
    let loaded = caught(|| ModelOptions::with_all_ops().load(bytes)).map_err(|problem| Refusal {
        problem,
        of_operator: false,
        node: None,
    })?;
    loaded.map_err(|error| {
        let of_operator = error.kind() == LoadErrorKind::OperatorInvalid;
        let cause = error.source().filter(|_| of_operator);
        let problem = cause.map_or_else(|| error.to_string(), ToString::to_string);
        Refusal { problem, of_operator, node: error.node().map(str::to_owned) }
    })
}

/// Returns the node whose operator the runtime does not support, or `None` if loading failed for another
/// reason. If the node does not have a name, its name is set to its number and first output.
///
/// The runtime only reports the name of the node, but in many files, nodes do not have names. The file is
/// therefore loaded again, with each node named by its number.
fn refused_node(refusal: &Refusal, mut file: ModelProto) -> Option<NodeProto> {
    if !refusal.of_operator {
        return None;
    }
    let nodes = &mut file.graph.as_mut()?.node;
    let mut named = nodes.clone();
    for (number, node) in nodes.iter_mut().enumerate() {
        node.name = Some(number.to_string());
    }
    let number: usize = try_loading(file.write_buf().ok()?).err()?.node?.parse().ok()?;
    let mut node = (number < named.len()).then(|| named.swap_remove(number))?;
    if node.name.as_ref().is_none_or(String::is_empty) {
        let output = node.output.first().map(String::as_str).unwrap_or_default();
        node.name = Some(format!("{number} (of output {output})"));
    }
    Some(node)
}

/// Returns the operator of a node, prefixed with its domain unless this is the standard domain.
fn operator(node: &NodeProto) -> String {
    let operator = node.op_type.clone().unwrap_or_default();
    match node.domain.as_deref() {
        None | Some("") => operator,
        Some(domain) => format!("{domain}/{operator}"),
    }
}
