//! Tree ensembles saved as ONNX: the operators `TreeEnsembleRegressor`, `TreeEnsembleClassifier` and
//! `TreeEnsemble` of the domain `ai.onnx.ml`. They are read from the messages of the file without a runtime.
//! A graph without them may be a linear model.
//!
//! # Supported graphs
//!
//! The scores of a graph must be sums of leaves of these operators and of linear models, with at most one
//! link function. There may be one ensemble, or several that are weighted, added, averaged or concatenated,
//! as in models for voting, bagging, one-vs-rest and several targets. Before the trees, columns may be
//! scaled, imputed, clipped, compared and encoded, including text, as long as each remains a function of one
//! column of the table. Splits are then translated to splits on that column. All other graphs are rejected,
//! because their trees alone are not the model; the error names the unsupported operator. [`walk`] describes
//! the details.
//!
//! Outputs are targets or classes. If there are two classes and only one of them has weights (boosted trees),
//! the output is the margin of the second class.
//!
//! # Widths
//!
//! Rows are compared as `f32` or `f64`, depending on whether the operator receives them as `float` or
//! `double`. Converters of scikit-learn's forests round the thresholds, which are `f64`, to `f32` by default.
//! For values between a threshold and its rounded value, the model in the file differs from the trained
//! model. Explanations refer to the model in the file.
//!
//! # Cover
//!
//! The format does not store cover. `nodes_hitrates` are used as cover if they are positive and add up, but
//! none of the common converters writes such values. Otherwise, the path-dependent game is not supported.

mod attributes;
mod decision;
mod draft;
mod graph;
mod hit_rates;
mod indices;
mod lists;
mod messages;
mod origin;
mod outputs;
mod post_transform;
mod tensor;
#[cfg(test)]
mod tests;
mod walk;

use prost::Message;

use self::messages::ModelProto;
use crate::ensemble::Ensemble;
use crate::error::ModelError;
use crate::support_vectors::SupportVectorMachine;

/// Returns whether the bytes start like an ONNX file: with the version of the format, which is a small
/// number, followed by another field of the model.
pub(crate) fn begins_like_onnx(bytes: &[u8]) -> bool {
    // Text and message fields have the numbers 2, 3, 4, 6, 7, 8, 14, 20, 25 and 26, and a field for a number
    // has the number 5. Tags of fields from number 16 on take two bytes and are not included.
    const TAGS: [u8; 8] = [0x12, 0x1a, 0x22, 0x28, 0x32, 0x3a, 0x42, 0x72];
    match bytes {
        [0x08, 1..=127, next @ ..] => next.first().is_none_or(|tag| TAGS.contains(tag)),
        _ => false,
    }
}

/// Reads a support vector machine; returns `None` for other models.
pub(crate) fn support_vectors(bytes: &[u8]) -> Result<Option<SupportVectorMachine>, ModelError> {
    let model = ModelProto::decode(bytes).map_err(|error| ModelError::Onnx { problem: error.to_string() })?;
    walk::support_vectors(&model, bytes)
}

/// Reads an ONNX file.
pub(crate) fn read(bytes: &[u8]) -> Result<Ensemble, ModelError> {
    let model = ModelProto::decode(bytes).map_err(|error| ModelError::Onnx { problem: error.to_string() })?;
    let mut ensemble = walk::read(&model, bytes)?;
    if let Some(graph) = &model.graph {
        // The two classes of a single margin also have names.
        let count = ensemble.output_count();
        let counts = if count == 1 { [1, 2] } else { [count; 2] };
        for count in counts {
            ensemble.set_output_names(graph::classes(graph, count));
        }
    }
    Ok(ensemble)
}
