//! Models saved by XGBoost, as JSON or UBJ.

mod objective;
mod schema;

use crate::document::{Value, ubj};
use crate::ensemble::Ensemble;
use crate::error::TreeError;

pub(crate) fn from_json(document: &Value<'_>) -> Result<Ensemble, TreeError> {
    schema::read(document, "XGBoost JSON")
}

pub(crate) fn from_ubj(bytes: &[u8]) -> Result<Ensemble, TreeError> {
    schema::read(&ubj::read(bytes)?, "XGBoost UBJ")
}
