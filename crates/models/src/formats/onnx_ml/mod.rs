//! Tree ensembles saved as ONNX: the operators `TreeEnsembleRegressor`, `TreeEnsembleClassifier` and `TreeEnsemble` of the domain
//! `ai.onnx.ml`, read from the file's messages without a runtime. A graph without them may be a linear model.
//!
//! # What is read
//!
//! Graphs whose scores are sums of leaves of such operators, and of linear models, behind at most one link: one ensemble, or several
//! that are weighted, added, averaged or put next to each other, as voting, bagging, one-vs-rest and several targets are written.
//! Before the trees each column may be scaled, imputed, clipped, compared and encoded, text included, as long as it stays a function of
//! one column of the table: splits then become splits on that column. A graph that does anything else is refused, with the operator that does it: its
//! trees alone are not the model. [`walk`] has the details.
//!
//! Outputs are targets, or classes: for two classes with weights for one only (boosted trees), the margin of the second class.
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
    let mut ensemble = walk::read(&model, bytes)?;
    if let Some(graph) = &model.graph {
        // The two classes of a single margin have names, too.
        let count = ensemble.output_count();
        let counts = if count == 1 { [1, 2] } else { [count; 2] };
        for count in counts {
            ensemble.set_output_names(graph::classes(graph, count));
        }
    }
    Ok(ensemble)
}
