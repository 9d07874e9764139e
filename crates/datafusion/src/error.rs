//! Errors in explaining batches.

use apportion::ExplainError;
use apportion::games::GameError;
use apportion::games::phrases::plural;
use apportion::models::ModelError;
use apportion_rows::{CellError, ChoiceError, ColumnUse};
use datafusion_common::DataFusionError;
use datafusion_common::arrow::datatypes::DataType;
use datafusion_common::arrow::error::ArrowError;

/// Maximum number of names in a message.
const MAX_NAMES: usize = 8;

/// An error in explaining batches, or in the arguments of an SQL function.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// The request cannot be computed, or the model failed.
    #[error(transparent)]
    Explain(#[from] ExplainError),
    /// The model file cannot be read.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The model named in a query cannot be used.
    #[error("{function}: the model {path:?}: {problem}")]
    InQuery {
        /// The name of the function.
        function: String,
        /// The name of the model in the query.
        path: String,
        /// The underlying error.
        problem: Box<BatchError>,
    },
    /// The columns of the batches do not match the features of the model.
    #[error("the batches: {}", .0.in_words(|of| (of == ColumnUse::Ignored).then_some("keep")))]
    Columns(ChoiceError),
    /// The table method was requested.
    #[error(
        "method table is not supported for batches, because it explains all rows of a table together; use \
         auto or a sampling method"
    )]
    Table,
    /// The option is not supported for batches.
    #[error("option {name} is not supported for batches; remove the option")]
    Option {
        /// The name of the option.
        name: String,
    },
    /// The type of a column is not supported.
    #[error("{place} has the type {actual}; {}", wanted_type(*has_categories))]
    Type {
        /// The column or the argument.
        place: String,
        /// The type of the column or the argument.
        actual: DataType,
        /// Whether the model has categories for the feature.
        has_categories: bool,
    },
    /// A category did not occur in training, and the model rejects unknown categories.
    #[error(
        "unknown category {actual:?} in {place}; categories seen in training: {} (or leave the value \
         missing)",
        listed(known)
    )]
    Category {
        /// The column or the argument.
        place: String,
        /// The value of the cell.
        actual: String,
        /// The categories of the model.
        known: Vec<String>,
    },
    /// A cell is neither a number nor a category.
    #[error(
        "{place}: {problem}; pass the number or category that the model was trained on, or leave the value \
         missing"
    )]
    Cell {
        /// The column or the argument.
        place: String,
        /// The problem with the cell.
        problem: CellError,
    },
    /// Columns to keep do not exist.
    #[error(
        "unknown column{} {} in keep; available columns: {}",
        plural(lacking.len()),
        listed(lacking),
        listed(columns)
    )]
    Keep {
        /// The missing columns.
        lacking: Vec<String>,
        /// The existing columns.
        columns: Vec<String>,
    },
    /// Two columns of the results would have the same name.
    #[error("the results would contain two columns {name:?}; rename the kept column, or use Layout::Lists")]
    SameResult {
        /// The duplicate name.
        name: String,
    },
    /// Two players have the same name, although each is a field of the result.
    #[error(
        "duplicate feature {name:?}; features are fields of the result, so pass unique names with \
         feature_names"
    )]
    SamePlayer {
        /// The duplicate name.
        name: String,
    },
    /// The number of names differs from the number of features or outputs.
    #[error("expected {expected} {what} name{}, in the order of the model, got {actual}", plural(*expected))]
    Names {
        /// "feature" or "output".
        what: &'static str,
        /// Number of names passed.
        actual: usize,
        /// Expected number of names.
        expected: usize,
    },
    /// The width of the background differs from the number of features.
    #[error("the background has {actual} column{}, expected {expected} (one per feature)", plural(*actual))]
    Background {
        /// Number of columns of the background.
        actual: usize,
        /// Number of features of the model.
        expected: usize,
    },
    /// The output after the link function was requested without a background, or for a model that is neither
    /// a tree ensemble nor a linear model.
    #[error(
        "behind_link requires a tree ensemble and a background; pass a background, or omit behind_link for \
         other models"
    )]
    Link,
    /// The number of arguments is wrong.
    #[error(
        "{function} requires {expected} argument{}{}, one per feature in the order of the model ({}), got \
         {actual}",
        plural(*expected),
        if *after_model { " after the model" } else { "" }, listed(features)
    )]
    Arguments {
        /// The name of the function.
        function: String,
        /// Number of arguments passed.
        actual: usize,
        /// Expected number of arguments.
        expected: usize,
        /// Whether the features come after an argument that names the model.
        after_model: bool,
        /// The names of the features.
        features: Vec<String>,
    },
    /// The first argument is not a string literal that names the model.
    #[error(
        "{function} requires the model as its first argument, as a string literal: {function}('model.json', \
         a, b, …); it is read when the query is planned, so columns and function results are not supported"
    )]
    NoModel {
        /// The name of the function.
        function: String,
    },
    /// The lists of a batch would exceed the maximum length.
    #[error(
        "a batch of {rows} row{} exceeds the maximum of 2147483647 values in Arrow lists; use smaller \
         batches, or Layout::Columns",
        plural(*rows)
    )]
    TooLong {
        /// Number of rows.
        rows: usize,
    },
    /// The threads cannot be started.
    #[error("cannot start {threads} thread{}: {problem}; use fewer threads", plural(*threads))]
    Threads {
        /// Number of threads.
        threads: usize,
        /// The error of the system.
        problem: String,
    },
    /// The source of the batches, or of the models named in queries, failed.
    #[error("{0}")]
    Input(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// An error of Arrow arrays.
    #[error(transparent)]
    Arrow(#[from] ArrowError),
    /// The session does not accept the function.
    #[error(transparent)]
    Register(#[from] DataFusionError),
}

impl BatchError {
    /// Converts the error to an error of query planning.
    pub(crate) fn in_plan(self) -> DataFusionError {
        DataFusionError::Plan(self.to_string())
    }
}

/// Converts an error in creating a background.
impl From<GameError> for BatchError {
    fn from(error: GameError) -> Self {
        Self::Explain(error.into())
    }
}

/// Converts the error to an error of query execution.
impl From<BatchError> for DataFusionError {
    fn from(error: BatchError) -> Self {
        Self::External(Box::new(error))
    }
}

fn wanted_type(has_categories: bool) -> &'static str {
    if has_categories {
        "expected strings, numbers or booleans, as the model has categories for it"
    } else {
        "expected integers, floating-point numbers, decimals or booleans; pass the number or code that the \
         model was trained on, or cast it"
    }
}

/// Formats the first few names, and the number of omitted ones.
fn listed(names: &[String]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    let first: Vec<String> = names.iter().take(MAX_NAMES).map(|name| format!("{name:?}")).collect();
    match names.len() - first.len() {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}
