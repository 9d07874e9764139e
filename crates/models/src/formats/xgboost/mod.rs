//! Models saved by XGBoost, as JSON or UBJ.

mod dump;
mod linear;
mod objective;
mod schema;
mod trees;
mod version;
mod words;

use crate::ensemble::Ensemble;
use crate::error::ModelError;
use crate::formats::document::{Field, Value, ubj};

pub(crate) fn from_json(document: &Value<'_>) -> Result<Ensemble, ModelError> {
    schema::read(document, "XGBoost JSON")
}

/// Whether a document is a list of trees that were dumped for people.
pub(crate) fn is_dump(root: &Field<'_>) -> bool {
    dump::is_dump(root)
}

pub(crate) fn from_dump(document: &Value<'_>) -> Result<Ensemble, ModelError> {
    dump::read(&Field::root(document))
}

pub(crate) fn from_ubj(bytes: &[u8]) -> Result<Ensemble, ModelError> {
    schema::read(&ubj::read(bytes)?, "XGBoost UBJ")
}
