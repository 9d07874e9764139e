//! Models saved by XGBoost, as JSON or UBJ.

mod categories;
mod dump;
mod linear;
mod objective;
mod schema;
mod trees;
mod version;

use crate::ensemble::Ensemble;
use crate::error::ModelError;
use crate::formats::document::{Field, Value, ubj};

pub(crate) fn from_json(document: &Value<'_>) -> Result<Ensemble, ModelError> {
    schema::read(document, "XGBoost JSON")
}

/// Returns whether a document is a list of dumped trees.
pub(crate) fn is_dump(root: &Field<'_>) -> bool {
    dump::is_dump(root)
}

pub(crate) fn from_dump(document: &Value<'_>) -> Result<Ensemble, ModelError> {
    dump::read(&Field::root(document))
}

/// Returns whether a file is in the binary format that XGBoost wrote before JSON. Such a file begins with the
/// magic `binf`, which the oldest releases omit. The parameters of the learner in 136 bytes, the length of
/// the objective's name and the name follow. Alternatively, it begins with `bs64`, followed by the same data
/// as text.
pub(crate) fn is_old_binary(bytes: &[u8]) -> bool {
    const OBJECTIVES: [&[u8]; 6] = [b"reg:", b"binary:", b"multi:", b"rank:", b"count:", b"survival:"];
    const PARAMETERS: usize = 136;
    let is_marked = bytes.starts_with(b"binf") || bytes.starts_with(b"bs64\t");
    is_marked
        || bytes.get(PARAMETERS..).and_then(|rest| rest.split_first_chunk()).is_some_and(|(length, name)| {
            u64::from_le_bytes(*length) < 64 && OBJECTIVES.iter().any(|objective| name.starts_with(objective))
        })
}

pub(crate) fn from_ubj(bytes: &[u8]) -> Result<Ensemble, ModelError> {
    schema::read(&ubj::read(bytes)?, "XGBoost UBJ")
}
