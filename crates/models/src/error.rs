//! Errors of reading a model file and of using a model.

use apportion_games::GameError;

/// The supported formats, which end the messages about files that cannot be read.
const KNOWN: &str = "an XGBoost model saved as JSON or UBJ, a LightGBM model saved as text, a CatBoost model saved as cbm or JSON, trees \
                     saved as ONNX or by treelite as JSON, or the JSON of docs/tree-json.md";

/// Why a model file could not be read, or why a model does not support a request.
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
    #[error("the model file is empty; give {KNOWN}, gzipped or not")]
    Empty,
    /// The content is not a model of a supported format.
    #[error("this is no model file known here (it starts with {start:?}); give {KNOWN}, gzipped or not")]
    UnknownFormat {
        /// The first bytes, as text.
        start: String,
    },
    /// The model has no loss for this target.
    #[error("there is no loss of the model for the target {target}: its outputs are {link}; {wanted}")]
    NoLoss {
        /// The given target.
        target: f64,
        /// The kind of outputs of the model.
        link: &'static str,
        /// How to fix it.
        wanted: &'static str,
    },
    /// The JSON document is not a model of a supported format.
    #[error("this JSON document is no model known here (it has {members}); give {KNOWN}, gzipped or not")]
    UnknownDocument {
        /// The names of its first members.
        members: String,
    },
    /// The gzip stream is corrupt or truncated.
    #[error("the gzipped model file is damaged or truncated: {source}")]
    Gzip {
        /// The error of the decompressor.
        source: std::io::Error,
    },
    /// The text is not a complete JSON document.
    #[error("the model file is no complete JSON document: byte {offset}: {problem}")]
    Json {
        /// The byte offset in the uncompressed document.
        offset: usize,
        /// The value found and the value expected.
        problem: String,
    },
    /// The bytes are not a complete UBJ document.
    #[error("the model file is no complete UBJ document: byte {offset}: {problem}")]
    Ubj {
        /// The byte offset in the uncompressed document.
        offset: usize,
        /// The value found and the value expected.
        problem: String,
    },
    /// The bytes start like an ONNX file, but are invalid or truncated.
    #[error("the model file is no complete ONNX file: {problem}")]
    Onnx {
        /// The unsupported or invalid content.
        problem: String,
    },
    /// A valid ONNX file of another kind of model, for example a neural network. A runtime may support its
    /// operators.
    #[error("this ONNX file holds no tree ensemble and no linear model: its operators are {operators}")]
    OtherOnnx {
        /// The first operators of its graph.
        operators: String,
    },
    /// The document does not follow the schema of its format.
    #[error("the model file is damaged: {at}: {problem}")]
    Schema {
        /// The field, as a path from the root of the document.
        at: String,
        /// The value found and the value expected.
        problem: String,
    },
    /// The text does not follow the syntax of its format.
    #[error("the model file is damaged: line {line}: {problem}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// The value found and the value expected.
        problem: String,
    },
    /// The model was saved by a release whose files are not supported.
    #[error("the model was saved by {format} {given}; known are {known}: save it again with a known release")]
    Version {
        /// The library.
        format: &'static str,
        /// The version in the file.
        given: String,
        /// The supported versions.
        known: &'static str,
    },
    /// A valid model of an unsupported kind.
    #[error("{what} is not supported; {wanted}")]
    Unsupported {
        /// The unsupported or invalid content.
        what: String,
        /// The alternative to use.
        wanted: &'static str,
    },
    /// The tree is not a valid binary tree, or contains invalid numbers.
    #[error("the model file is damaged: tree {tree}: {problem}")]
    Tree {
        /// The tree, from 0.
        tree: usize,
        /// The problem.
        problem: String,
    },
    /// The file declares more features than allowed.
    #[error(
        "the file says that the model has {given} features; at most {most} are read, because a damaged file can say any number: raise \
         the limit (most_features, --most-features) if it is right"
    )]
    TooManyFeatures {
        /// The number of features in the file.
        given: usize,
        /// The maximum number of features.
        most: usize,
    },
    /// The file declares more outputs than allowed.
    #[error(
        "the file says that the model has {given} outputs (classes or targets); at most {most} are read, because a damaged file can say any \
         number"
    )]
    TooManyOutputs {
        /// The number of outputs in the file.
        given: usize,
        /// The maximum number of outputs.
        most: usize,
    },
    /// The file does not contain these boosting rounds.
    #[error(
        "rounds {start} to {end} (not included) of {count} were asked for; give a range of at least one within 0 to {count}"
    )]
    Rounds {
        /// The first round, from 0.
        start: usize,
        /// The end of the range, exclusive.
        end: usize,
        /// The number of rounds in the file.
        count: usize,
    },
    /// The mean of an empty list of models.
    #[error("the list of models is empty; expected at least one model")]
    EmptyMean,
    /// The models differ in their inputs or outputs, so the mean of their margins is not the margin of one
    /// ensemble.
    #[error(
        "model {member} of the list has {found}, expected {expected} as for the models before it; explain the models one by one and \
         average their values"
    )]
    Mean {
        /// The model, from 0.
        member: usize,
        /// The properties of this model.
        found: String,
        /// The properties of the models before it.
        expected: String,
    },
    /// The cover in the file does not define the path-dependent game.
    #[error(
        "the path-dependent game needs the training cover of every node: tree {tree}, node {node}: {problem}; save the model with \
         its statistics, trained (or refreshed) on rows of positive weight, or explain it against a background, which needs no covers"
    )]
    Cover {
        /// The tree, from 0.
        tree: usize,
        /// The node, as numbered in the file.
        node: usize,
        /// The problem with its cover.
        problem: String,
    },
    /// Leaves are linear models of the row, for which cover alone does not define the path-dependent game.
    #[error(
        "the path-dependent game has no value where a leaf is linear: tree {tree}, node {node}: what its model expects of an absent \
         feature is not in the file; explain the model against a background"
    )]
    LinearLeaves {
        /// The tree, from 0.
        tree: usize,
        /// The node, as numbered in the file.
        node: usize,
    },
    /// Splits depend on several features at once, for which cover alone does not define the path-dependent
    /// game.
    #[error(
        "the path-dependent game has no value where a split looks at several features at once, as statistics of combinations of \
         categories do: what it expects where some of them are absent is not in the file; explain the model against a background, or \
         train it with max_ctr_complexity=1"
    )]
    JointSplits,
    /// The link of the model is not known.
    #[error(
        "how margins become outputs is not known for the objective {objective:?}; explain the margin instead, which needs no link"
    )]
    UnknownLink {
        /// The objective in the file.
        objective: String,
    },
    /// Rows have the wrong shape, or infinite or missing values that the model cannot process.
    #[error(transparent)]
    Game(#[from] GameError),
}

impl ModelError {
    /// Replaces the number of the tree by that in the file, since one tree of a file may become several of
    /// the ensemble.
    pub(crate) fn in_tree(self, tree: usize) -> Self {
        match self {
            Self::Tree { problem, .. } => Self::Tree { tree, problem },
            other => other,
        }
    }
}
