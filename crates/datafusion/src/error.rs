//! Errors of explaining batches.

use apportion::ExplainError;
use apportion::games::GameError;
use apportion::models::ModelError;
use apportion_rows::CellError;
use datafusion_common::DataFusionError;
use datafusion_common::arrow::datatypes::DataType;
use datafusion_common::arrow::error::ArrowError;

/// Maximum number of names in a message.
const MOST_NAMES: usize = 8;

/// An error while explaining batches or the arguments of a function.
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
        /// The function.
        function: String,
        /// The name of the model in the query.
        path: String,
        /// The underlying error.
        problem: Box<BatchError>,
    },
    /// Columns for some features of the model are missing.
    #[error(
        "the model has {features} features, of which the batches lack {}: {}; they have {}: name the columns as the features",
        lacking.len(), listed(lacking), listed(columns)
    )]
    Lacking {
        /// Number of features.
        features: usize,
        /// The features without a column.
        lacking: Vec<String>,
        /// The existing columns.
        columns: Vec<String>,
    },
    /// The columns are used in order, but their number differs from that of the features.
    #[error(
        "the batches have {} columns that may be features ({}), and the model wants {wanted}, one for each: leave others out, or name \
         them in keep", columns.len(), listed(columns)
    )]
    Count {
        /// The existing columns that are not kept.
        columns: Vec<String>,
        /// Number of features.
        wanted: usize,
    },
    /// Two columns have the same name.
    #[error("the batches have two columns {name:?}; give each a name of its own")]
    SameName {
        /// The name.
        name: String,
    },
    /// The type of a column is not supported.
    #[error("{place} is of the type {given}; {}", wanted_type(*has_categories))]
    Type {
        /// The column or the argument.
        place: String,
        /// Its type.
        given: DataType,
        /// Whether the model has categories for it.
        has_categories: bool,
    },
    /// A category did not occur in training, and the model rejects unknown categories.
    #[error(
        "{place} holds {given:?}, which is no category of it in training; there are {}: give one of them, or leave the value missing",
        listed(known)
    )]
    Category {
        /// The column or the argument.
        place: String,
        /// The value of the cell.
        given: String,
        /// The categories of the model.
        known: Vec<String>,
    },
    /// A cell is neither a number nor a category.
    #[error(
        "{place} {problem}; give the number or category that the model was trained on, or leave the value missing"
    )]
    Cell {
        /// The column or the argument.
        place: String,
        /// The problem found.
        problem: CellError,
    },
    /// Columns to keep do not exist.
    #[error("keep names {}, and the batches have {}", listed(lacking), listed(columns))]
    Keep {
        /// The missing columns.
        lacking: Vec<String>,
        /// The existing columns.
        columns: Vec<String>,
    },
    /// Two columns of the results would have the same name.
    #[error(
        "the results would have two columns {name:?}; rename the one that is kept, or ask for the layout of lists"
    )]
    SameResult {
        /// The name.
        name: String,
    },
    /// Two players have the same name, although each is a field of the result.
    #[error(
        "two features of the model are called {name:?}, and each is a field of the result; give them other names by feature_names"
    )]
    SamePlayer {
        /// The name.
        name: String,
    },
    /// The number of names differs from the number of features or outputs.
    #[error(
        "there are {given} names of {what}, and the model has {wanted}; give one for each, in the order of the model"
    )]
    Names {
        /// "features" or "outputs".
        what: &'static str,
        /// Number of names passed.
        given: usize,
        /// Expected number of names.
        wanted: usize,
    },
    /// The width of the background differs from the number of features.
    #[error(
        "rows of the background have {given} numbers, and the model wants {wanted}, one for each feature"
    )]
    Background {
        /// Number of columns of the background.
        given: usize,
        /// Number of features of the model.
        wanted: usize,
    },
    /// The output after the link function was requested without a background, or for a model without a link
    /// function.
    #[error(
        "what the model says behind its link is explained against rows: give a background and a tree ensemble, or leave behind_link out"
    )]
    Link,
    /// The number of arguments is wrong.
    #[error(
        "{function} wants {wanted} numbers{}, one for each feature of the model in its order ({}), and is given {given}",
        if *after_model { " after the model" } else { "" }, listed(features)
    )]
    Arguments {
        /// The function.
        function: String,
        /// Number of arguments passed.
        given: usize,
        /// Expected number of arguments.
        wanted: usize,
        /// Whether these come after the argument that names the model.
        after_model: bool,
        /// The names of the features.
        features: Vec<String>,
    },
    /// The first argument is not a text literal that names the model.
    #[error(
        "{function} wants the model first, as a text in the query: {function}('model.json', a, b, …); it is read when the query is \
         planned, so that a column or the result of another function cannot name it"
    )]
    NoModel {
        /// The function.
        function: String,
    },
    /// The lists of a batch would exceed the maximum length.
    #[error(
        "a batch of {rows} rows has more values than lists of Arrow hold (2147483647): give smaller batches, or ask for the layout \
         of columns"
    )]
    TooLong {
        /// Number of rows.
        rows: usize,
    },
    /// The threads cannot be started.
    #[error("cannot start {threads} threads: {problem}")]
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
    /// Converts to an error in the planning of a query.
    pub(crate) fn in_plan(self) -> DataFusionError {
        DataFusionError::Plan(self.to_string())
    }
}

/// An error of creating a background.
impl From<GameError> for BatchError {
    fn from(error: GameError) -> Self {
        Self::Explain(error.into())
    }
}

/// Converts to an error in the execution of a query.
impl From<BatchError> for DataFusionError {
    fn from(error: BatchError) -> Self {
        Self::External(Box::new(error))
    }
}

fn wanted_type(has_categories: bool) -> &'static str {
    if has_categories {
        "the model has categories for it: give texts, numbers or booleans"
    } else {
        "wanted are integers, floating-point numbers, decimals or booleans: give the number or code that the model was trained on, or \
         cast it"
    }
}

/// Formats the first names, and the number of the others.
fn listed(names: &[String]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    let first: Vec<String> = names.iter().take(MOST_NAMES).map(|name| format!("{name:?}")).collect();
    match names.len() - first.len() {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}
