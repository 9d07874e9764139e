//! Symbolic evaluation of a graph from the columns of a table to scores, without a runtime.
//!
//! # Supported graphs
//!
//! Scores must be sums of leaves of trees and affine functions of columns, with at most one link:
//!
//! ```text
//! link(c + Σ_j w_j x_j + Σ_t leaf_t(x))
//! ```
//!
//! | module | evaluates |
//! |---|---|
//! | `inputs` | the columns of the table: numbers and strings |
//! | `prepare`, `prepared` | preprocessing of single columns before trees or linear models: scaling, imputing, clipping, encoding |
//! | `forest` | operators with trees, whose splits on preprocessed columns are translated to splits on columns of the table |
//! | `leafwise` | functions of the leaf of one tree, such as path lengths of isolation forests |
//! | `operators` | operators that are linear models |
//! | `scores` | weighted sums of scores, and links |
//!
//! Linear models are multiplied out in `f64`: each becomes a tree with one linear leaf for each feature and
//! output.
//!
//! # Widths
//!
//! Arithmetic before trees is rounded as in the runtime, because the last digit may determine the branch at a
//! split. For linear models, neither rows nor intermediate results are rounded to `f32`, because a rounding
//! error only changes a sum slightly.
//!
//! # Missing values
//!
//! If a feature is missing and no `Imputer` imputes it, a linear model in a runtime predicts NaN, and
//! encoders fail or return a value that depends on the processor. Such rows are rejected, and also rows in
//! which a string is missing.

mod columns;
mod encoder;
mod ensembles;
mod follow;
pub(super) mod forest;
mod inputs;
mod leafwise;
mod operators;
mod prepare;
pub(super) mod prepared;
mod scores;
pub(super) mod stop;
mod support_vectors;
pub(super) mod table;
#[cfg(test)]
mod tests;
mod value;

pub(super) use self::support_vectors::support_vectors;

use std::rc::Rc;

use prost::Message;

use self::columns::{Column, Leaves, Term};
use self::follow::GraphResult;
use self::forest::Forest;
use self::stop::Stop;
use self::value::{Reason, Refusal, Scores};
use super::draft::Targets;
use super::graph::{DOMAIN, is_ensemble};
use super::messages::{GraphProto, ModelProto, ModelWeights, NodeProto};
use super::origin::{operator_set, origin};
use crate::ensemble::{Ensemble, EnsembleParts, Link, Width};
use crate::error::ModelError;

/// The advice in errors for models that are not a sum of trees.
const OTHER_WAYS: &str = "explain the model as a function instead: apportion.Explainer(function, X) in \
                          Python, or a program with --predict COMMAND";

/// The operators that may occur in the graph of a linear model. A graph with other operators is a neural
/// network.
const KNOWN: [&str; 53] = [
    "Abs",
    "Add",
    "And",
    "ArgMax",
    "ArrayFeatureExtractor",
    "Binarizer",
    "Cast",
    "Clip",
    "Concat",
    "Constant",
    "Div",
    "Dropout",
    "Equal",
    "Exp",
    "FeatureVectorizer",
    "Flatten",
    "Gather",
    "Gemm",
    "Greater",
    "GreaterOrEqual",
    "Identity",
    "Imputer",
    "IsNaN",
    "LabelEncoder",
    "Less",
    "LessOrEqual",
    "LinearClassifier",
    "LinearRegressor",
    "LpNormalization",
    "MatMul",
    "Mul",
    "Neg",
    "Normalizer",
    "Not",
    "OneHotEncoder",
    "Or",
    "ReduceMean",
    "ReduceSum",
    "Reshape",
    "SVMClassifier",
    "SVMRegressor",
    "Scaler",
    "Sigmoid",
    "Slice",
    "Softmax",
    "Softplus",
    "Squeeze",
    "Sub",
    "Sum",
    "TfIdfVectorizer",
    "Unsqueeze",
    "Where",
    "ZipMap",
];

fn is_known(node: &NodeProto) -> bool {
    let of_standard = ["", "ai.onnx", DOMAIN].contains(&&*node.domain);
    of_standard && KNOWN.contains(&&*node.op_type)
}

/// Reads a model from `bytes`, the content of the whole file.
pub(super) fn read(model: &ModelProto, bytes: &[u8]) -> Result<Ensemble, ModelError> {
    let Some(graph) = &model.graph else {
        return Err(ModelError::Onnx { problem: "missing graph".to_owned() });
    };
    let has_trees = graph.node.iter().any(is_ensemble);
    if !has_trees && !graph.node.iter().all(is_known) {
        return Err(other(model));
    }
    let has_own_operators = graph.node.iter().any(|node| node.domain == DOMAIN);
    let version = match has_own_operators {
        true => format!("{DOMAIN} {}", operator_set(model)?),
        false => "ai.onnx".to_owned(),
    };
    let weights =
        ModelWeights::decode(bytes).map_err(|error| ModelError::Onnx { problem: error.to_string() })?;
    let weights = weights.graph.map(|graph| graph.initializer).unwrap_or_default();
    let found = match follow::follow(graph, &weights, bytes.len()) {
        Ok(Ok(found)) => found,
        Ok(Err(refusal)) if has_trees || matches!(refusal.why, Reason::Unsupported { .. }) => {
            return Err(refused("trees", &refusal));
        }
        Err(Stop::Because(reason)) if has_trees => {
            return Err(unfollowed(format!("an ONNX graph with trees that {reason}")));
        }
        Err(Stop::Other) if has_trees => {
            return Err(unfollowed(
                "an ONNX graph with trees whose outputs are not sums of their leaves".to_owned(),
            ));
        }
        Ok(Err(_)) | Err(Stop::Other | Stop::Because(_)) => return Err(other(model)),
        Err(Stop::Error(error)) => return Err(error),
    };
    let (booster, objective) = kinds(graph);
    let parts = EnsembleParts {
        width: if has_trees { found.rows.grid.0 } else { Width::Double },
        features: found.rows.columns,
        feature_names: found.rows.names.clone(),
        base_margins: Vec::new(),
        link: None,
        origin: origin(model, &booster, objective, version),
    };
    ensemble(parts, found)
}

/// Returns a description of the model (the kinds of trees, or "linear model"), and the objective.
fn kinds(graph: &GraphProto) -> (String, &'static str) {
    let mut kinds: Vec<&str> = Vec::new();
    for node in graph.node.iter().filter(|node| is_ensemble(node)) {
        if !kinds.contains(&&*node.op_type) {
            kinds.push(&node.op_type);
        }
    }
    let is_linear = kinds.is_empty();
    let classifies = graph.node.iter().any(|node| match &*node.op_type {
        "LinearClassifier" | "TreeEnsembleClassifier" => true,
        "ArgMax" => is_linear,
        _ => false,
    });
    let booster = if is_linear { "linear model".to_owned() } else { kinds.join(", ") };
    (booster, if classifies { "classification" } else { "regression" })
}

/// Builds the ensemble for the scores. If the scores of two classes are negatives of each other, the ensemble
/// has a single margin, which belongs to the second class.
fn ensemble(mut parts: EnsembleParts, found: GraphResult) -> Result<Ensemble, ModelError> {
    let GraphResult { scores, forests, texts, refused, notes, .. } = found;
    let Scores { margins, link, is_pair, .. } = scores;
    let mirrored = margins.are_mirrored() && matches!(link, Some(Link::Identity | Link::Logistic { .. }));
    let mut columns = margins.0;
    if is_pair || mirrored {
        columns.swap_remove(0);
    }
    parts.base_margins = columns.iter().map(|column| column.constant).collect();
    parts.link = link;
    if let Some(number) = parts.base_margins.iter().find(|number| !number.is_finite()) {
        let problem =
            format!("its coefficients and intercepts sum to the constant {number}, expected a finite number");
        return Err(ModelError::Schema { at: "graph".to_owned(), problem });
    }
    let mut expected = refused;
    let terms = columns.iter().map(|column| column.terms.len()).sum();
    let mut ensemble = Ensemble::new(parts, terms);
    for (output, Column { terms, .. }) in columns.iter().enumerate() {
        for &Term { feature, coefficient, missing } in terms {
            let filled = if missing.is_nan() { 0.0 } else { missing };
            if missing.is_nan() {
                expected.insert(feature);
            }
            if coefficient != 0.0 || filled != 0.0 {
                ensemble.push_term(output, (feature, coefficient), filled)?;
            }
        }
    }
    push_forests(&mut ensemble, &columns, forests)?;
    if let Some(&last) = expected.iter().max() {
        let mut flags = vec![false; last as usize + 1];
        expected.iter().for_each(|&feature| flags[feature as usize] = true);
        ensemble.refuse_missing(flags);
    }
    if let Some(&last) = texts.keys().max() {
        let words = (0..=last).map(|feature| texts.get(&feature).map(|texts| texts.categories()));
        ensemble.set_categories(words.collect());
    }
    notes.into_iter().for_each(|note| ensemble.add_note(note));
    Ok(ensemble)
}

/// Appends the trees that occur in the columns. If there is a single forest, each of its trees is a round;
/// otherwise all trees form one round.
fn push_forests(ensemble: &mut Ensemble, columns: &[Column], forests: Vec<Forest>) -> Result<(), ModelError> {
    let mut is_used = vec![false; forests.len()];
    columns.iter().flat_map(|column| column.trees.keys()).for_each(|&forest| is_used[forest] = true);
    let used = is_used.iter().filter(|&&used| used).count();
    let is_lone = used == 1 && ensemble.tree_count() == 0;
    let mut tree = 0;
    for (number, forest) in forests.into_iter().enumerate().filter(|&(number, _)| is_used[number]) {
        let mut targets = Targets::default();
        for (output, column) in columns.iter().enumerate() {
            match column.trees.get(&number) {
                None => {}
                Some(Leaves::Weighted(weights)) => {
                    weights.iter().for_each(|(&own, &weight)| targets.add_weighted(output, own, weight));
                }
                Some(Leaves::Mapped(values)) => targets.add_mapped(output, Rc::clone(values)),
            }
        }
        if is_lone && forest.is_averaged {
            ensemble.set_averaged();
        }
        for draft in forest.drafts {
            draft.push_to(ensemble, tree, &targets)?;
            tree += 1;
            if is_lone {
                ensemble.end_round();
            }
        }
    }
    if !is_lone {
        ensemble.end_round();
    }
    Ok(())
}

fn unfollowed(what: String) -> ModelError {
    ModelError::Unsupported { what, help: OTHER_WAYS }
}

/// Returns the error for a value that cannot be evaluated; `subject` names the model in the graph.
fn refused(subject: &str, Refusal { operator, name, why }: &Refusal) -> ModelError {
    let name = if name.is_empty() { String::new() } else { format!(" (node {name:?})") };
    match why {
        Reason::Unsupported { what, help } => ModelError::Unsupported { what: what.clone(), help },
        Reason::Because(reason) => {
            unfollowed(format!("an ONNX graph with {subject} and the operator {operator}{name} ({reason})"))
        }
        Reason::Unknown => unfollowed(format!(
            "an ONNX graph with {subject} and the operator {operator}{name} (which neither transforms a \
             single column nor sums scores)"
        )),
    }
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
