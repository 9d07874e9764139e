//! The inputs of a graph, which are the columns of the table.

use std::collections::HashMap;

use super::ensembles;
use super::prepared::{Grid, Texts};
use super::stop::{Stop, damaged};
use super::table::{Input, Table};
use super::value::Value;
use crate::ensemble::Width;
use crate::error::ModelError;
use crate::formats::onnx_ml::attributes::Attributes;
use crate::formats::onnx_ml::graph::{Element, describe, is_ensemble};
use crate::formats::onnx_ml::messages::{FLOAT, GraphProto, NodeProto};
use crate::formats::onnx_ml::{indices, lists};

/// Maximum number of columns. The file stores only their number, so without a limit a small file could
/// exhaust the memory.
const MAX_FEATURES: usize = 1 << 30;
/// Number of columns that a file of any length may have if they are listed one by one. Long files may have
/// more columns.
const COLUMNS: usize = 1 << 16;

/// The columns of the table.
pub(super) struct Rows {
    pub(super) columns: usize,
    /// The names of the columns, if each column is a separate input.
    pub(super) names: Option<Vec<String>>,
    /// The width to which rows are rounded.
    pub(super) grid: Grid,
}

/// The inputs by name, and the categories of text columns.
pub(super) struct Inputs<'a> {
    pub(super) rows: Rows,
    pub(super) values: Vec<(&'a str, Value)>,
    pub(super) texts: HashMap<u32, Texts>,
}

/// Returns the inputs of a graph, with the features in their order. The file has `length` bytes.
pub(super) fn inputs<'a>(
    graph: &'a GraphProto,
    constants: &HashMap<&str, Value>,
    length: usize,
) -> Result<Inputs<'a>, Stop> {
    let has_trees = graph.node.iter().any(is_ensemble);
    let mut found = Vec::with_capacity(graph.input.len());
    let (mut columns, mut has_text, mut is_single) = (0usize, false, has_trees);
    for input in &graph.input {
        if constants.contains_key(&*input.name) {
            // Older files also list initializers as inputs, so that they can be overridden.
            continue;
        }
        let (element, count) = describe(input)?;
        let shape = input.r#type.as_ref().and_then(|kind| kind.tensor_type.as_ref()?.shape.as_ref());
        if shape.is_some_and(|shape| shape.dim.len() != 2 && !(has_trees && shape.dim.is_empty())) {
            return Err(Stop::because(format!("has an input {:?} that is not two-dimensional,", input.name)));
        }
        let is_used = graph.node.iter().any(|node| node.input.contains(&input.name));
        let count = match count {
            Some(count) => count,
            None if is_used => {
                width_for(graph, constants, &input.name, graph.node.len()).ok_or_else(|| {
                    Stop::because(format!("has an input {:?} with an unknown number of columns,", input.name))
                })?
            }
            None => return Err(Stop::Other),
        };
        has_text |= element == Element::Text;
        is_single &= match element {
            Element::Single | Element::Text => true,
            Element::Double | Element::Other => is_narrowed(graph, &input.name, element)?,
        };
        found.push((&*input.name, element, columns, count));
        columns = columns.saturating_add(count);
    }
    check_columns(columns, has_text || !has_trees, length)?;
    let grid = Grid(if is_single { Width::Single } else { Width::Double });
    let mut texts = HashMap::new();
    let value = |&(name, element, first, count): &(&'a str, Element, usize, usize)| {
        let is_rounded = element == Element::Single && grid.0 == Width::Double;
        (name, Value::Table(Table::Input(Input { first: first as u32, count, element, is_rounded })))
    };
    let values = found.iter().map(value).collect();
    for &(_, _, first, count) in found.iter().filter(|input| input.1 == Element::Text) {
        texts.extend((first..first + count).map(|feature| (feature as u32, Texts::default())));
    }
    let are_single = found.iter().all(|&(.., count)| count == 1);
    let names = (are_single && columns > 1).then(|| found.iter().map(|input| input.0.to_owned()).collect());
    Ok(Inputs { rows: Rows { columns, names, grid }, values, texts })
}

fn check_columns(columns: usize, are_listed: bool, length: usize) -> Result<(), ModelError> {
    let error = |problem: String| ModelError::Schema { at: "graph.input".to_owned(), problem };
    match columns {
        0 => Err(error("the model has no features".to_owned())),
        _ if are_listed && columns > COLUMNS.max(length) => {
            Err(damaged(format!("{columns} columns, but the file is too short for as many coefficients")))
        }
        1..MAX_FEATURES => Ok(()),
        _ => Err(error(format!("{columns} features; expected fewer than {MAX_FEATURES}"))),
    }
}

/// Returns whether all operators that use an input convert it to `f32`.
fn is_narrowed(graph: &GraphProto, name: &str, element: Element) -> Result<bool, ModelError> {
    for node in graph.node.iter().filter(|node| node.input.iter().any(|input| input == name)) {
        let narrows = match &*node.op_type {
            "Cast" => Attributes::new(node)?.integer("to")? == Some(i64::from(FLOAT)),
            _ => element == Element::Other && is_ensemble(node) && !ensembles::compares_doubles(node)?,
        };
        if !narrows {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the number of columns that operators expect in an input, if the graph does not specify this
/// number.
fn width_for(
    graph: &GraphProto,
    constants: &HashMap<&str, Value>,
    input: &str,
    steps: usize,
) -> Option<usize> {
    let steps = steps.checked_sub(1)?;
    let takes = |node: &&NodeProto| node.input.first().map(String::as_str) == Some(input);
    graph.node.iter().filter(takes).find_map(|node| match (&*node.op_type, node.output.first()) {
        ("Identity" | "Cast", Some(output)) => width_for(graph, constants, output, steps),
        _ => operator_width(node, constants),
    })
}

fn operator_width(node: &NodeProto, constants: &HashMap<&str, Value>) -> Option<usize> {
    let attributes = Attributes::new(node).ok()?;
    let count = |name: &str| attributes.numbers(name).ok().map(|numbers| numbers.len());
    let targets = || match &*node.op_type {
        "LinearRegressor" => usize::try_from(attributes.integer("targets").ok()?.unwrap_or(1)).ok(),
        _ => count("intercepts"),
    };
    let width = match &*node.op_type {
        "TreeEnsemble" => usize::try_from(indices::feature_bound(attributes)).ok()?,
        "TreeEnsembleRegressor" | "TreeEnsembleClassifier" => {
            usize::try_from(lists::feature_bound(attributes)).ok()?
        }
        "LinearRegressor" | "LinearClassifier" => count("coefficients")?.checked_div(targets()?)?,
        "Scaler" => count("offset")?,
        "Imputer" => count("imputed_value_floats")?,
        "SVMRegressor" | "SVMClassifier" => {
            let vectors = match attributes.integers("vectors_per_class") {
                [] => attributes.integer("n_supports").ok()?.unwrap_or(0),
                counts => counts.iter().fold(0, |sum: i64, &count| sum.saturating_add(count)),
            };
            count("support_vectors")?.checked_div(usize::try_from(vectors).ok()?)?
        }
        "MatMul" | "Gemm" => match constants.get(&**node.input.get(1)?)? {
            Value::Constant(weights) => {
                let side = usize::from(attributes.integer("transB").ok()? == Some(1));
                *weights.dims.get(side)?
            }
            _ => return None,
        },
        _ => return None,
    };
    (width > 0).then_some(width)
}
