//! The reason why a graph, or a value in it, cannot be evaluated.

use crate::error::ModelError;

/// The reason why a graph, or a value in it, cannot be evaluated.
#[derive(Debug)]
pub(in super::super) enum Stop {
    /// The graph is neither a sum of trees nor a linear model.
    Other,
    /// Like [`Other`](Self::Other), with the reason.
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

/// Returns the error for an inconsistent graph.
pub(super) fn damaged(problem: String) -> ModelError {
    ModelError::Schema { at: "graph".to_owned(), problem }
}
