//! Models saved by XGBoost, as JSON or UBJ.

mod document;
mod json;
mod objective;
mod packed;
mod schema;
mod ubj;

use crate::ensemble::Ensemble;
use crate::error::TreeError;

pub(crate) fn from_json(bytes: &[u8]) -> Result<Ensemble, TreeError> {
    schema::read(&json::read(bytes)?, "XGBoost JSON")
}

pub(crate) fn from_ubj(bytes: &[u8]) -> Result<Ensemble, TreeError> {
    schema::read(&ubj::read(bytes)?, "XGBoost UBJ")
}
