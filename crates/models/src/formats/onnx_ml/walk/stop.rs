//! Why a graph, or a value in it, is not followed to its end.

use crate::error::ModelError;

/// Why a graph, or a value in it, is not followed to its end.
#[derive(Debug)]
pub(in super::super) enum Stop {
    /// It is neither a sum of trees nor a linear model.
    Other,
    /// The same, with the reason.
    Because(String),
    Error(ModelError),
}

impl Stop {
    pub(super) fn because(reason: impl Into<String>) -> Self {
        Self::Because(reason.into())
    }
}

impl From<ModelError> for Stop {
    fn from(error: ModelError) -> Self {
        Self::Error(error)
    }
}

/// A graph that contradicts itself.
pub(super) fn damaged(problem: String) -> ModelError {
    ModelError::Schema { at: "graph".to_owned(), problem }
}
