//! Why a graph is not followed to its end.

use crate::error::ModelError;

/// Why a graph is not followed to its end.
pub(super) enum Stop {
    /// It is no linear model.
    Other,
    Error(ModelError),
}

impl From<ModelError> for Stop {
    fn from(error: ModelError) -> Self {
        Self::Error(error)
    }
}
