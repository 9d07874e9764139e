//! Linear and generalized linear models saved as ONNX, read from the graph without a runtime.
//!
//! # What is read
//!
//! A graph that takes affine functions of the columns through at most one link: the operators `LinearRegressor`, `LinearClassifier` and
//! `SVMRegressor` (with a linear kernel) of `ai.onnx.ml`, or `MatMul`, `Gemm` and arithmetic with constants, as networks of one layer are
//! exported. What comes before them is followed as long as it is affine, too: `Scaler`, sums and products with constants, columns that are
//! chosen or put together, and `Imputer`, which says what a missing value adds.
//!
//! All of it is one affine function of the row in the end, whose coefficients are multiplied out in `f64`: an [`Ensemble`] with a tree for
//! each feature and output, of one leaf, which is linear. A graph that does anything else is [`Other`](Stop::Other) than that, as networks
//! are.
//!
//! # Widths
//!
//! Numbers of the file are taken as they are, in most files `f32`; a row is not rounded to `f32`, as it is for trees: a sum has no ties that
//! this would decide.
//!
//! # Missing values
//!
//! Where a feature is missing that no `Imputer` fills in, a runtime says NaN. Such rows are refused.

mod columns;
mod graph;
mod operators;
mod stop;
#[cfg(test)]
mod tests;
mod value;

use prost::Message;

use self::columns::{Column, Term};
use self::stop::Stop;
use self::value::Scores;
use super::graph::DOMAIN;
use super::messages::{ModelProto, ModelWeights};
use super::origin::{operator_set, origin};
use crate::ensemble::{Ensemble, EnsembleParts, Link, Width};
use crate::error::ModelError;

/// Reads a model whose graph has no tree ensemble; `bytes` are the whole file.
pub(super) fn read(model: &ModelProto, bytes: &[u8]) -> Result<Ensemble, ModelError> {
    let Some(graph) = &model.graph else { return Err(other(model)) };
    if !graph.node.iter().all(graph::is_known) {
        return Err(other(model));
    }
    let weights =
        ModelWeights::decode(bytes).map_err(|error| ModelError::Onnx { problem: error.to_string() })?;
    let weights = weights.graph.map(|graph| graph.initializer).unwrap_or_default();
    let (rows, scores) = match graph::follow(graph, &weights, bytes.len()) {
        Ok(found) => found,
        Err(Stop::Other) => return Err(other(model)),
        Err(Stop::Error(error)) => return Err(error),
    };
    let has_own_operators = graph.node.iter().any(|node| node.domain == DOMAIN);
    let version = match has_own_operators {
        true => format!("{DOMAIN} {}", operator_set(model)?),
        false => "ai.onnx".to_owned(),
    };
    let classifies = graph.node.iter().any(|node| matches!(&*node.op_type, "LinearClassifier" | "ArgMax"));
    let objective = if classifies { "classification" } else { "regression" };
    let parts = EnsembleParts {
        width: Width::Double,
        features: rows.columns,
        feature_names: rows.names,
        base_margins: Vec::new(),
        link: None,
        origin: origin(model, "linear model", objective, version),
    };
    ensemble(parts, scores)
}

/// The ensemble whose margins are affine functions. Two scores that mirror each other, of two classes, are one margin: that of the second.
fn ensemble(mut parts: EnsembleParts, Scores { margins, link }: Scores) -> Result<Ensemble, ModelError> {
    let mirrored = margins.are_mirrored();
    let mut columns = margins.0;
    if mirrored && matches!(link, Some(Link::Identity | Link::Logistic { .. })) {
        columns.swap_remove(0);
    }
    parts.base_margins = columns.iter().map(|column| column.constant).collect();
    parts.link = link;
    if let Some(number) = parts.base_margins.iter().find(|number| !number.is_finite()) {
        let problem = format!("its coefficients and intercepts make the constant {number}");
        return Err(ModelError::Schema { at: "graph".to_owned(), problem });
    }
    let mut wanted = vec![false; parts.features];
    let terms = columns.iter().map(|column| column.terms.len()).sum();
    let mut ensemble = Ensemble::new(parts, terms);
    for (output, Column { terms, .. }) in columns.iter().enumerate() {
        for &Term { feature, coefficient, missing } in terms {
            let filled = if missing.is_nan() { 0.0 } else { missing };
            wanted[feature as usize] |= missing.is_nan();
            if coefficient != 0.0 || filled != 0.0 {
                ensemble.push_term(output, (feature, coefficient), filled)?;
            }
        }
    }
    ensemble.end_round();
    ensemble.refuse_missing(wanted);
    Ok(ensemble)
}

fn other(model: &ModelProto) -> ModelError {
    let mut operators: Vec<&str> = Vec::new();
    for node in model.graph.iter().flat_map(|graph| &graph.node) {
        if operators.len() < 5 && !operators.contains(&&*node.op_type) {
            operators.push(&node.op_type);
        }
    }
    ModelError::OtherOnnx { operators: operators.join(", ") }
}
