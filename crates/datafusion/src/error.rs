//! What can go wrong when batches are explained.

use apportion::ExplainError;
use apportion::games::GameError;
use apportion::models::ModelError;
use apportion_rows::CellError;
use datafusion_common::DataFusionError;
use datafusion_common::arrow::datatypes::DataType;
use datafusion_common::arrow::error::ArrowError;

/// Names in a message, at most.
const MOST_NAMES: usize = 8;

/// Why batches, or the arguments of a function, could not be explained.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// What was asked cannot be computed, or the model failed.
    #[error(transparent)]
    Explain(#[from] ExplainError),
    /// A model file that could not be read.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The model that a query names cannot be used.
    #[error("{function}: the model {path:?}: {problem}")]
    InQuery {
        /// The function.
        function: String,
        /// What the query calls the model.
        path: String,
        /// What is wrong with it.
        problem: Box<BatchError>,
    },
    /// Columns that are features of the model, and are not there.
    #[error(
        "the model has {features} features, of which the batches lack {}: {}; they have {}: name the columns as the features",
        lacking.len(), listed(lacking), listed(columns)
    )]
    Lacking {
        /// How many features there are.
        features: usize,
        /// Those without a column.
        lacking: Vec<String>,
        /// The columns that are there.
        columns: Vec<String>,
    },
    /// Columns that are taken in order, and are not as many as features.
    #[error(
        "the batches have {} columns that may be features ({}), and the model wants {wanted}, one for each: leave others out, or name \
         them in keep", columns.len(), listed(columns)
    )]
    Count {
        /// The columns that are there and are not kept.
        columns: Vec<String>,
        /// How many features there are.
        wanted: usize,
    },
    /// Two columns of one name.
    #[error("the batches have two columns {name:?}; give each a name of its own")]
    SameName {
        /// The name.
        name: String,
    },
    /// A column that holds no numbers.
    #[error("{place} is of the type {given}; {}", wanted_type(*has_categories))]
    Type {
        /// The column or the argument.
        place: String,
        /// Its type.
        given: DataType,
        /// Whether the model has categories for it.
        has_categories: bool,
    },
    /// A category that was not there in training, of a model that refuses those.
    #[error(
        "{place} holds {given:?}, which is no category of it in training; there are {}: give one of them, or leave the value missing",
        listed(known)
    )]
    Category {
        /// The column or the argument.
        place: String,
        /// What it holds.
        given: String,
        /// The categories of the model.
        known: Vec<String>,
    },
    /// A cell that is neither a number nor one of the categories.
    #[error(
        "{place} {problem}; give the number or category that the model was trained on, or leave the value missing"
    )]
    Cell {
        /// The column or the argument.
        place: String,
        /// What is wrong with it.
        problem: CellError,
    },
    /// Columns to keep that are not there.
    #[error("keep names {}, and the batches have {}", listed(lacking), listed(columns))]
    Keep {
        /// Those that are not there.
        lacking: Vec<String>,
        /// The columns that are there.
        columns: Vec<String>,
    },
    /// Two columns of the results would have one name.
    #[error(
        "the results would have two columns {name:?}; rename the one that is kept, or ask for the layout of lists"
    )]
    SameResult {
        /// The name.
        name: String,
    },
    /// Two players of one name, where each is a field.
    #[error(
        "two features of the model are called {name:?}, and each is a field of the result; give them other names by feature_names"
    )]
    SamePlayer {
        /// The name.
        name: String,
    },
    /// As many names as there are features, or outputs, are wanted.
    #[error(
        "there are {given} names of {what}, and the model has {wanted}; give one for each, in the order of the model"
    )]
    Names {
        /// Features, or outputs.
        what: &'static str,
        /// How many names are given.
        given: usize,
        /// How many are wanted.
        wanted: usize,
    },
    /// A background that is not one of this model.
    #[error(
        "rows of the background have {given} numbers, and the model wants {wanted}, one for each feature"
    )]
    Background {
        /// The columns of the background.
        given: usize,
        /// The features of the model.
        wanted: usize,
    },
    /// What is behind the link was asked for without a background, or of a model that has no link.
    #[error(
        "what the model says behind its link is explained against rows: give a background and a tree ensemble, or leave behind_link out"
    )]
    Link,
    /// Numbers of arguments that do not fit.
    #[error(
        "{function} wants {wanted} numbers{}, one for each feature of the model in its order ({}), and is given {given}",
        if *after_model { " after the model" } else { "" }, listed(features)
    )]
    Arguments {
        /// The function.
        function: String,
        /// How many arguments are given.
        given: usize,
        /// How many are wanted.
        wanted: usize,
        /// Whether these come after that which names the model.
        after_model: bool,
        /// The names of the features.
        features: Vec<String>,
    },
    /// The model is not named by a text that is written in the query.
    #[error(
        "{function} wants the model first, as a text in the query: {function}('model.json', a, b, …); it is read when the query is \
         planned, so that a column or the result of another function cannot name it"
    )]
    NoModel {
        /// The function.
        function: String,
    },
    /// More numbers than lists of a batch can hold.
    #[error(
        "a batch of {rows} rows has more values than lists of Arrow hold (2147483647): give smaller batches, or ask for the layout \
         of columns"
    )]
    TooLong {
        /// How many rows.
        rows: usize,
    },
    /// The threads could not be started.
    #[error("cannot start {threads} threads: {problem}")]
    Threads {
        /// How many.
        threads: usize,
        /// What the system said.
        problem: String,
    },
    /// Whoever gives the batches, or the models that queries name, failed.
    #[error("{0}")]
    Input(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Arrow arrays could not be created or read.
    #[error(transparent)]
    Arrow(#[from] ArrowError),
    /// The session does not accept the function.
    #[error(transparent)]
    Register(#[from] DataFusionError),
}

impl BatchError {
    /// As an error of a query that is planned.
    pub(crate) fn in_plan(self) -> DataFusionError {
        DataFusionError::Plan(self.to_string())
    }
}

/// Of a background that cannot be made.
impl From<GameError> for BatchError {
    fn from(error: GameError) -> Self {
        Self::Explain(error.into())
    }
}

/// As an error of a query that runs.
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

/// Names in a line: the first of them, and how many more there are.
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
