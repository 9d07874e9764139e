//! Errors of reading a model file and of using a model.

use apportion_games::GameError;
use apportion_games::phrases::plural;

/// The supported formats, for messages about unrecognized files.
const KNOWN: &str = "an XGBoost (JSON or UBJ), LightGBM (text), CatBoost (cbm or JSON), treelite (JSON) or \
                     ONNX (trees) model, or the JSON of docs/tree-json.md";

/// The error if a model file cannot be read, or a model does not support a request.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The file could not be opened or read.
    #[error("cannot read the model file {path}: {source}")]
    File {
        /// The path of the file.
        path: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file is empty.
    #[error("the model file is empty; expected {KNOWN}, gzipped or not")]
    Empty,
    /// The file is not a model in a supported format.
    #[error("unrecognized model format (starts with {start:?}); expected {KNOWN}, gzipped or not")]
    UnknownFormat {
        /// The first bytes, as text.
        start: String,
    },
    /// The loss is not defined for this target of the model.
    #[error(
        "the loss is not defined for target {target} of a model with the {link} link; expected {expected}"
    )]
    NoLoss {
        /// The target passed.
        target: f64,
        /// The name of the model's link.
        link: &'static str,
        /// The expected targets or models.
        expected: &'static str,
    },
    /// The JSON document is not a model in a supported format.
    #[error("unrecognized JSON model (the document has {members}); expected {KNOWN}, gzipped or not")]
    UnknownDocument {
        /// The names of the first members of the document.
        members: String,
    },
    /// The gzip stream is corrupt or truncated, or its decompressed size is implausible for a model.
    #[error("the gzipped model file is corrupt or truncated: {source}; save or copy the model again")]
    Gzip {
        /// The error of the decompressor.
        source: std::io::Error,
    },
    /// The text is not a complete JSON document.
    #[error("invalid JSON in the model file: byte {offset}: {problem}{}", save_again(problem))]
    Json {
        /// The byte offset in the uncompressed document.
        offset: usize,
        /// The value found and the value expected.
        problem: String,
    },
    /// The bytes are not a complete UBJ document.
    #[error("invalid UBJ in the model file: byte {offset}: {problem}{}", save_again(problem))]
    Ubj {
        /// The byte offset in the uncompressed document.
        offset: usize,
        /// The value found and the value expected.
        problem: String,
    },
    /// The bytes start like an ONNX file, but are invalid or truncated.
    #[error("invalid ONNX file: {problem}{}", save_again(problem))]
    Onnx {
        /// A description of the unsupported or invalid content.
        problem: String,
    },
    /// The file is a valid ONNX file, but contains another kind of model, such as a neural network. A runtime
    /// may support its operators.
    #[error(
        "this ONNX file contains neither a tree ensemble nor a linear model ({}); explain the model as a \
         function: apportion.Explainer(function, X) in Python, or a program with --predict COMMAND",
        if operators.is_empty() { "no operators".to_owned() } else { format!("operators: {operators}") }
    )]
    OtherOnnx {
        /// The first operators of the graph.
        operators: String,
    },
    /// The document does not follow the schema of its format.
    #[error("invalid model file: {at}: {problem}{}", save_again(problem))]
    Schema {
        /// The field, as a path from the root of the document.
        at: String,
        /// The value found and the value expected.
        problem: String,
    },
    /// The text does not follow the syntax of its format.
    #[error("invalid model file: line {line}: {problem}{}", save_again(problem))]
    Line {
        /// The line number, from 1.
        line: usize,
        /// The value found and the value expected.
        problem: String,
    },
    /// The model was saved by a release whose files are not supported.
    #[error(
        "unsupported model version: {format} {actual}; supported: {known}; save the model again with a \
         supported release"
    )]
    Version {
        /// The library that saved the model.
        format: &'static str,
        /// The version in the file.
        actual: String,
        /// The versions whose files are supported.
        known: &'static str,
    },
    /// The model is valid, but of an unsupported kind.
    #[error("{what} is not supported; {help}")]
    Unsupported {
        /// A description of the unsupported or invalid content.
        what: String,
        /// Advice for the user, at the end of the message.
        help: &'static str,
    },
    /// The tree is not a valid binary tree, or contains invalid numbers.
    #[error("invalid model file: tree {tree}: {problem}{}", save_again(problem))]
    Tree {
        /// Index of the tree, from 0.
        tree: usize,
        /// The problem with the tree.
        problem: String,
    },
    /// The file declares more features than allowed.
    #[error(
        "the model file declares {actual} feature{}, more than the limit of {max} (a guard against corrupt \
         files); raise the limit with --most-features COUNT (Rust: ReadOptions::max_features)",
        plural(*actual)
    )]
    TooManyFeatures {
        /// The number of features in the file.
        actual: usize,
        /// The maximum number of features.
        max: usize,
    },
    /// The file declares more outputs than allowed.
    #[error(
        "the model file declares {actual} outputs (classes or targets), more than the limit of {max} (a \
         guard against corrupt files); save the model again, or use a model with fewer outputs"
    )]
    TooManyOutputs {
        /// The number of outputs in the file.
        actual: usize,
        /// The maximum number of outputs.
        max: usize,
    },
    /// The file does not contain these boosting rounds.
    #[error(
        "boosting rounds {start}..{end} are {}; {}",
        if start >= end { "an empty range" } else { "out of range" },
        if *count == 0 {
            "the model has no boosting rounds".to_owned()
        } else {
            format!("expected a range within 0..{count}, the rounds of the model")
        }
    )]
    Rounds {
        /// The first round, from 0.
        start: usize,
        /// The end of the range, exclusive.
        end: usize,
        /// The number of rounds in the file.
        count: usize,
    },
    /// The list of models to average is empty.
    #[error("the list of models is empty; expected at least one model")]
    EmptyMean,
    /// The models differ in their inputs or outputs, so the mean of their margins is not the margin of one
    /// ensemble.
    #[error(
        "model {member} of the list has {found}, expected {expected} as in the models before it; explain \
         the models one by one and average their attributions"
    )]
    Mean {
        /// Index of the model in the list, from 0.
        member: usize,
        /// The properties of this model.
        found: String,
        /// The properties of the models before it.
        expected: String,
    },
    /// The cover in the file does not define the path-dependent game.
    #[error(
        "the path-dependent game requires the training cover of every node: tree {tree}, node {node}: \
         {problem}; save the model with its statistics, trained (or refreshed) on rows with positive \
         weights, or use the marginal game"
    )]
    Cover {
        /// Index of the tree, from 0.
        tree: usize,
        /// The node, as numbered in the file.
        node: usize,
        /// The problem with the cover of this node.
        problem: String,
    },
    /// Leaves are linear models, for which cover alone does not define the path-dependent game.
    #[error(
        "the path-dependent game is not supported for linear leaves: tree {tree}, node {node}: the file \
         does not store the expectation over absent features; use the marginal game"
    )]
    LinearLeaves {
        /// Index of the tree, from 0.
        tree: usize,
        /// The node, as numbered in the file.
        node: usize,
    },
    /// Splits depend on several features at once, for which cover alone does not define the path-dependent
    /// game.
    #[error(
        "the path-dependent game is not supported for splits on several features at once, such as \
         statistics of combinations of categories: the file does not store their expectation over absent \
         features; use the marginal game, or train with max_ctr_complexity=1"
    )]
    JointSplits,
    /// The link of the model is not known.
    #[error("unknown link function of the objective {objective:?}; use the margin instead")]
    UnknownLink {
        /// The objective in the file.
        objective: String,
    },
    /// Rows have the wrong shape, or infinite or missing values that the model cannot process.
    #[error(transparent)]
    Game(#[from] GameError),
}

/// Returns the advice for an invalid file, unless `problem` already ends with advice.
fn save_again(problem: &str) -> &'static str {
    if problem.contains("; ") { "" } else { "; save the model again" }
}

impl ModelError {
    /// Replaces the index of the tree in the error with its index in the file, since one tree of a file may
    /// become several trees of the ensemble.
    pub(crate) fn in_tree(self, tree: usize) -> Self {
        match self {
            Self::Tree { problem, .. } => Self::Tree { tree, problem },
            other => other,
        }
    }
}
