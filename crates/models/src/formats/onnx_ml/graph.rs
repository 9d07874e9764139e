//! The graph around the trees: what rows go through before them, and what margins go through after.

use std::collections::{HashMap, HashSet};

use super::attributes::Attributes;
use super::messages::{DOUBLE, FLOAT, GraphProto, NodeProto, ValueInfoProto};
use crate::ensemble::Link;
use crate::error::ModelError;

/// The domain of the operators.
pub(super) const DOMAIN: &str = "ai.onnx.ml";
/// Operators of the trees, in that domain.
const ENSEMBLES: [&str; 3] = ["TreeEnsembleRegressor", "TreeEnsembleClassifier", "TreeEnsemble"];

/// Integers of 8 to 64 bits, signed or not, and truth values.
const WHOLE: [i32; 9] = [2, 3, 4, 5, 6, 7, 9, 12, 13];

/// The one tree ensemble of a graph; `None` where it has none.
pub(super) fn tree_ensemble(graph: &GraphProto) -> Result<Option<&NodeProto>, ModelError> {
    let is_ensemble = |node: &&NodeProto| node.domain == DOMAIN && ENSEMBLES.contains(&&*node.op_type);
    let mut found = graph.node.iter().filter(is_ensemble);
    match (found.next(), found.count()) {
        (found, 0) => Ok(found),
        (_, more) => Err(ModelError::Unsupported {
            what: format!("an ONNX graph with {} tree ensembles", more + 1),
            wanted: "give one with a single TreeEnsembleRegressor, TreeEnsembleClassifier or TreeEnsemble; for an isolation forest or a \
                     pipeline of several, use the JSON that docs/tree-json.md describes",
        }),
    }
}

/// The names of the classes, which the first node that lists them has; none of a regressor.
pub(super) fn classes(graph: &GraphProto) -> Vec<String> {
    let lists = graph.node.iter().flat_map(|node| &node.attribute);
    let mut named = lists.filter(|attribute| attribute.name.starts_with("classlabels_"));
    named.find(|list| !list.strings.is_empty() || !list.ints.is_empty()).map_or_else(Vec::new, |list| {
        let texts = list.strings.iter().map(|text| String::from_utf8_lossy(text).into_owned());
        texts.chain(list.ints.iter().map(i64::to_string)).collect()
    })
}

/// What rows are when they reach the trees.
pub(super) struct Rows {
    /// Columns, where the graph says.
    pub(super) columns: Option<usize>,
    /// The names of the columns, where each is an input by itself.
    pub(super) names: Option<Vec<String>>,
    pub(super) element: Element,
}

/// The kind of number of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    Single,
    Double,
    /// Whole numbers, or whatever the operator takes.
    Other,
}

/// Follows the rows from the graph's input to the operator.
pub(super) fn rows(graph: &GraphProto, ensemble: &NodeProto) -> Result<Rows, ModelError> {
    let inputs: HashMap<&str, &ValueInfoProto> =
        graph.input.iter().map(|input| (&*input.name, input)).collect();
    let makers: HashMap<&str, &NodeProto> =
        graph.node.iter().flat_map(|node| node.output.iter().map(move |name| (&**name, node))).collect();
    let damaged = |problem: String| ModelError::Schema { at: "graph".to_owned(), problem };
    let Some(mut name) = ensemble.input.first().map(String::as_str) else {
        return Err(damaged(format!("{} has no input", ensemble.op_type)));
    };
    let mut narrowed = false;
    // As many steps as there are nodes, or it is a cycle.
    for _ in 0..=graph.node.len() {
        if let Some(input) = inputs.get(name) {
            let (element, columns) = describe(input)?;
            let element = if narrowed { Element::Single } else { element };
            return Ok(Rows { columns, names: None, element });
        }
        let Some(maker) = makers.get(name) else {
            return Err(damaged(format!("nothing makes {name:?}, an input of {}", ensemble.op_type)));
        };
        match (&*maker.domain, &*maker.op_type) {
            ("" | "ai.onnx", "Identity") => {}
            ("" | "ai.onnx", "Cast") => match Attributes::new(maker)?.integer("to")? {
                Some(to) if to == i64::from(FLOAT) => narrowed = true,
                Some(to) if to == i64::from(DOUBLE) => {}
                _ => return Err(prepared("Cast to other numbers than float and double")),
            },
            ("" | "ai.onnx", "Concat") => {
                return beside_each_other(maker, &inputs, narrowed);
            }
            (_, other) => return Err(prepared(other)),
        }
        name = maker.input.first().ok_or_else(|| damaged(format!("{} has no input", maker.op_type)))?;
    }
    Err(damaged(format!("the input of {} depends on itself", ensemble.op_type)))
}

fn prepared(operator: &str) -> ModelError {
    ModelError::Unsupported {
        what: format!("an ONNX graph that prepares the rows with the operator {operator} before its trees"),
        wanted: "convert the trees without the steps before them, and explain prepared rows",
    }
}

/// Columns that come as an input each, as of a data frame.
fn beside_each_other(
    concat: &NodeProto,
    inputs: &HashMap<&str, &ValueInfoProto>,
    narrowed: bool,
) -> Result<Rows, ModelError> {
    let axis = Attributes::new(concat)?.integer("axis")?;
    let mut names = Vec::with_capacity(concat.input.len());
    let mut common = None;
    for name in &concat.input {
        let Some((element, columns)) = inputs.get(&**name).map(|input| describe(input)).transpose()? else {
            return Err(prepared("Concat of other things than inputs"));
        };
        if columns != Some(1) || !matches!(axis, Some(1 | -1)) {
            return Err(prepared("Concat of other things than single columns"));
        }
        if *common.get_or_insert(element) != element {
            return Err(prepared("Concat of columns of several types"));
        }
        names.push(name.clone());
    }
    let element = if narrowed { Element::Single } else { common.unwrap_or(Element::Other) };
    Ok(Rows { columns: Some(names.len()), names: Some(names), element })
}

/// Type and columns of an input.
pub(super) fn describe(input: &ValueInfoProto) -> Result<(Element, Option<usize>), ModelError> {
    let tensor = input.r#type.as_ref().and_then(|kind| kind.tensor_type.as_ref());
    let Some(tensor) = tensor else { return Ok((Element::Other, None)) };
    let element = match tensor.elem_type {
        FLOAT => Element::Single,
        DOUBLE => Element::Double,
        0 => Element::Other,
        whole if WHOLE.contains(&whole) => Element::Other,
        other => {
            return Err(ModelError::Unsupported {
                what: format!("an ONNX graph whose input {:?} has the type {other}", input.name),
                wanted: "rows of the type float, double or of whole numbers can be explained",
            });
        }
    };
    let columns = match tensor.shape.as_ref().map(|shape| &shape.dim[..]) {
        Some([_, columns]) => columns.dim_value.filter(|&columns| columns > 0),
        _ => None,
    };
    Ok((element, columns.and_then(|columns| usize::try_from(columns).ok())))
}

/// How the scores of the operator, which the link takes margins to, become the outputs of the graph.
pub(super) fn link_after(
    graph: &GraphProto,
    ensemble: &NodeProto,
    mut link: Option<Link>,
) -> Result<Option<Link>, ModelError> {
    // A classifier's first output is the label.
    let scores = ensemble.output.get(usize::from(ensemble.op_type == "TreeEnsembleClassifier"));
    let mut names: HashSet<&str> =
        scores.iter().map(|name| &***name).filter(|name| !name.is_empty()).collect();
    for node in &graph.node {
        if !node.input.iter().any(|name| names.contains(&**name)) {
            continue;
        }
        let identity = link == Some(Link::Identity);
        match &*node.op_type {
            "Identity" | "Cast" | "ZipMap" | "Reshape" | "Flatten" | "Squeeze" | "Unsqueeze" => {}
            // From scores to a label.
            "ArgMax" | "TopK" => continue,
            "Normalizer" => link = None,
            "Sigmoid" => link = identity.then_some(Link::Logistic { steepness: 1.0 }),
            "Softmax" => link = identity.then_some(Link::Softmax),
            "Exp" => link = identity.then_some(Link::Exponential),
            other => {
                return Err(ModelError::Unsupported {
                    what: format!("an ONNX graph that goes on after its trees with the operator {other}"),
                    wanted: "convert the trees alone, or use the JSON that docs/tree-json.md describes",
                });
            }
        }
        names.extend(node.output.iter().map(|name| &**name).filter(|name| !name.is_empty()));
    }
    Ok(link)
}
