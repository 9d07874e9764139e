//! Tree ensembles saved as ONNX: the operators `TreeEnsembleRegressor`, `TreeEnsembleClassifier` and `TreeEnsemble` of the domain
//! `ai.onnx.ml`, read from the file's messages without a runtime. A graph without them may be a [linear] model.
//!
//! # What is read
//!
//! A graph with one of these operators. Before it rows may be cast or put together from single columns, after it scores may be cast,
//! reshaped, zipped with their labels, and taken through a link; a graph that does anything else to rows or margins is refused, as its
//! trees are not what the model says of a row. Outputs are targets, or classes: of two classes with weights for one only (boosted
//! trees), the margin of the second class.
//!
//! # Widths
//!
//! Rows are compared as `f32` where they reach the operator as `float`, as `f64` where they do as `double`. Converters of scikit-learn's
//! forests, whose thresholds are `f64`, round them to `f32` unless they are told to keep doubles: where a value lies between the two,
//! the file is another model than the one that was trained. What is explained here is the model of the file.
//!
//! # Covers
//!
//! The format has none. `nodes_hitrates` are taken for covers where they are positive and add up, which of the common converters none
//! writes; else the path-dependent game is refused.

mod attributes;
mod decision;
mod graph;
mod hit_rates;
mod indices;
mod linear;
mod lists;
mod messages;
mod origin;
mod outputs;
mod post_transform;
mod tensor;
#[cfg(test)]
mod tests;

use prost::Message;

use self::attributes::Attributes;
use self::graph::{DOMAIN, Element, Rows};
use self::lists::Kind;
use self::messages::ModelProto;
use self::origin::{operator_set, origin};
use crate::ensemble::{Ensemble, EnsembleParts, Width};
use crate::error::ModelError;

/// Columns come as a bare number, so a short file could ask for any memory.
const MAX_FEATURES: usize = 1 << 30;

/// Whether bytes begin as an ONNX file does: with the version of the format, a small number, and then another field of the model.
pub(crate) fn begins_like_onnx(bytes: &[u8]) -> bool {
    // Fields of text and messages have the tags 2, 3, 4, 6, 7, 8, 14, 20, 25 and 26, of numbers 5; from 16 on a tag has two bytes.
    const TAGS: [u8; 8] = [0x12, 0x1a, 0x22, 0x28, 0x32, 0x3a, 0x42, 0x72];
    match bytes {
        [0x08, 1..=127, next @ ..] => next.first().is_none_or(|tag| TAGS.contains(tag)),
        _ => false,
    }
}

/// Reads an ONNX file.
pub(crate) fn read(bytes: &[u8]) -> Result<Ensemble, ModelError> {
    let model = ModelProto::decode(bytes).map_err(|error| ModelError::Onnx { problem: error.to_string() })?;
    let mut ensemble = read_model(&model, bytes)?;
    if let Some(graph) = &model.graph {
        ensemble.set_output_names(graph::classes(graph));
    }
    Ok(ensemble)
}

fn read_model(model: &ModelProto, bytes: &[u8]) -> Result<Ensemble, ModelError> {
    let Some(graph) = &model.graph else {
        return Err(ModelError::Onnx { problem: "it has no graph".to_owned() });
    };
    let Some(node) = graph::tree_ensemble(graph)? else { return linear::read(model, bytes) };
    let version = operator_set(model)?;
    let attributes = Attributes::new(node)?;
    let rows = graph::rows(graph, node)?;
    let objective = if node.op_type == "TreeEnsembleClassifier" { "classification" } else { "regression" };
    let parts = |features, base_margins, link, is_double| {
        let width = match rows.element {
            Element::Single => Width::Single,
            Element::Double => Width::Double,
            Element::Other if is_double => Width::Double,
            Element::Other => Width::Single,
        };
        let parts = EnsembleParts {
            width,
            features: feature_count(&rows, features)?,
            feature_names: rows.names.clone(),
            base_margins,
            link: graph::link_after(graph, node, link)?,
            origin: origin(model, &node.op_type, objective, format!("{DOMAIN} {version}")),
        };
        Ok::<_, ModelError>(parts)
    };
    if node.op_type == "TreeEnsemble" {
        let (base_margins, link) = indices::outputs(attributes)?;
        let is_double = attributes.is_double("nodes_splits");
        let parts = parts(indices::feature_bound(attributes), base_margins, link, is_double)?;
        return indices::read(attributes, parts);
    }
    let kind = if node.op_type == "TreeEnsembleRegressor" { Kind::Regressor } else { Kind::Classifier };
    let outputs = lists::outputs(attributes, kind)?;
    let is_double = attributes.is_double("nodes_values_as_tensor");
    let features = lists::feature_bound(attributes);
    let parts = parts(features, outputs.base_margins.clone(), outputs.link, is_double)?;
    lists::read(attributes, kind, &outputs, parts)
}

/// The columns of the graph's rows, or as many as the splits use.
fn feature_count(rows: &Rows, used: i64) -> Result<usize, ModelError> {
    let features = rows.columns.or(usize::try_from(used).ok()).unwrap_or(0);
    let error = |problem: String| ModelError::Schema { at: "graph.input".to_owned(), problem };
    match features {
        0 => Err(error("a model without features".to_owned())),
        1..MAX_FEATURES => Ok(features),
        _ => Err(error(format!("{features} features; fewer than {MAX_FEATURES} are wanted"))),
    }
}
