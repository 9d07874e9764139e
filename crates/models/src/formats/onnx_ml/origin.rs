//! Origin of ONNX models.

use super::graph::DOMAIN;
use super::messages::ModelProto;
use crate::ensemble::Origin;
use crate::error::ModelError;

/// The latest supported version of the operator set.
const NEWEST: i64 = 5;

/// Returns the version of the operator set.
pub(super) fn operator_set(model: &ModelProto) -> Result<i64, ModelError> {
    let set = model.opset_import.iter().find(|set| set.domain == DOMAIN);
    match set.map(|set| set.version) {
        Some(version @ 1..=NEWEST) => Ok(version),
        Some(version) => Err(ModelError::Version {
            format: "ONNX operator set ai.onnx.ml",
            actual: version.to_string(),
            known: "1 to 5",
        }),
        None => Err(ModelError::Onnx { problem: format!("missing version of the operator set {DOMAIN}") }),
    }
}

/// Returns the origin of a model. `operators` is the operator set with its version, used if the converter
/// does not store its release.
pub(super) fn origin(model: &ModelProto, booster: &str, objective: &str, operators: String) -> Origin {
    let (name, release) = (&model.producer_name, &model.producer_version);
    Origin {
        format: if name.is_empty() { "ONNX".to_owned() } else { format!("ONNX by {name}") },
        version: if release.is_empty() { operators } else { release.clone() },
        booster: booster.to_owned(),
        objective: objective.to_owned(),
    }
}
