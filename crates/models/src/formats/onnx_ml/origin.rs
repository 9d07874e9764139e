//! Where a model in ONNX comes from.

use super::graph::DOMAIN;
use super::messages::ModelProto;
use crate::ensemble::Origin;
use crate::error::ModelError;

/// The newest version of the operator set.
const NEWEST: i64 = 5;

/// The version of the operators.
pub(super) fn operator_set(model: &ModelProto) -> Result<i64, ModelError> {
    let set = model.opset_import.iter().find(|set| set.domain == DOMAIN);
    match set.map(|set| set.version) {
        Some(version @ 1..=NEWEST) => Ok(version),
        Some(version) => Err(ModelError::Version {
            format: "a converter to ONNX with the operator set ai.onnx.ml",
            given: version.to_string(),
            known: "1 to 5",
        }),
        None => {
            Err(ModelError::Onnx { problem: format!("it does not say which operator set {DOMAIN} it uses") })
        }
    }
}

/// Where a model comes from. `operators` are their set and its version, which stand for the release of a converter that does not say it.
pub(super) fn origin(model: &ModelProto, booster: &str, objective: &str, operators: String) -> Origin {
    let (name, release) = (&model.producer_name, &model.producer_version);
    Origin {
        format: if name.is_empty() { "ONNX".to_owned() } else { format!("ONNX by {name}") },
        version: if release.is_empty() { operators } else { release.clone() },
        booster: booster.to_owned(),
        objective: objective.to_owned(),
    }
}
