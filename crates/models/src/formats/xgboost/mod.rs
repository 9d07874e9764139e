//! Models saved by XGBoost, as JSON or UBJ.

mod linear;
mod objective;
mod schema;
mod trees;
mod version;
mod words;

use crate::ensemble::Ensemble;
use crate::error::ModelError;
use crate::formats::document::{Value, ubj};

pub(crate) fn from_json(document: &Value<'_>) -> Result<Ensemble, ModelError> {
    schema::read(document, "XGBoost JSON")
}

pub(crate) fn from_ubj(bytes: &[u8]) -> Result<Ensemble, ModelError> {
    schema::read(&ubj::read(bytes)?, "XGBoost UBJ")
}
