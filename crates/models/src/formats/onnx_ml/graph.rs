//! Functions that describe inputs, outputs and tree ensembles of a graph.

use super::messages::{DOUBLE, FLOAT, GraphProto, NodeProto, STRING, ValueInfoProto};
use crate::error::ModelError;

/// The domain of the operators.
pub(super) const DOMAIN: &str = "ai.onnx.ml";
/// The operators of tree ensembles in this domain.
const ENSEMBLES: [&str; 3] = ["TreeEnsembleRegressor", "TreeEnsembleClassifier", "TreeEnsemble"];

/// Data types of integers with 8 to 64 bits, signed or unsigned, and booleans.
const WHOLE: [i32; 9] = [2, 3, 4, 5, 6, 7, 9, 12, 13];

/// Returns whether a node is a tree ensemble.
pub(super) fn is_ensemble(node: &NodeProto) -> bool {
    node.domain == DOMAIN && ENSEMBLES.contains(&&*node.op_type)
}

/// Returns the names of the classes from the first node that lists `count` of them. Empty for a regressor.
pub(super) fn classes(graph: &GraphProto, count: usize) -> Vec<String> {
    let lists = graph.node.iter().flat_map(|node| &node.attribute);
    let mut named = lists.filter(|attribute| attribute.name.starts_with("classlabels_"));
    let list = named.find(|list| list.strings.len().max(list.ints.len()) == count);
    list.map_or_else(Vec::new, |list| {
        let texts = list.strings.iter().map(|text| String::from_utf8_lossy(text).into_owned());
        texts.chain(list.ints.iter().map(i64::to_string)).collect()
    })
}

/// The data type of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    Single,
    Double,
    /// Integers, booleans, or an unspecified type.
    Other,
    Text,
}

/// Returns the type of an input, and its number of columns if the graph specifies it.
pub(super) fn describe(input: &ValueInfoProto) -> Result<(Element, Option<usize>), ModelError> {
    let tensor = input.r#type.as_ref().and_then(|kind| kind.tensor_type.as_ref());
    let Some(tensor) = tensor else { return Ok((Element::Other, None)) };
    let element = match tensor.elem_type {
        FLOAT => Element::Single,
        DOUBLE => Element::Double,
        STRING => Element::Text,
        0 => Element::Other,
        whole if WHOLE.contains(&whole) => Element::Other,
        other => {
            return Err(ModelError::Unsupported {
                what: format!("an ONNX graph whose input {:?} has the type {other}", input.name),
                help: "expected rows of type float, double, string or integer",
            });
        }
    };
    let columns = match tensor.shape.as_ref().map(|shape| &shape.dim[..]) {
        Some([_, columns]) => columns.dim_value.filter(|&columns| columns > 0),
        _ => None,
    };
    Ok((element, columns.and_then(|columns| usize::try_from(columns).ok())))
}

/// Returns whether an output contains integers or text, as labels do.
pub(super) fn is_label(output: &ValueInfoProto) -> bool {
    let tensor = output.r#type.as_ref().and_then(|kind| kind.tensor_type.as_ref());
    tensor.is_some_and(|tensor| tensor.elem_type == STRING || WHOLE.contains(&tensor.elem_type))
}
