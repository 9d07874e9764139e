//! Models saved by CatBoost, as JSON.

use crate::document::Value;
use crate::ensemble::Ensemble;
use crate::error::TreeError;

pub(crate) fn from_json(_document: &Value<'_>) -> Result<Ensemble, TreeError> {
    Err(TreeError::Unsupported {
        what: "a CatBoost model".to_owned(),
        wanted: "give an XGBoost model saved as JSON or UBJ",
    })
}
