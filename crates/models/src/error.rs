//! What can go wrong when a model file is read or a model is asked.

use apportion_games::GameError;

/// What can be read: the end of messages about files that cannot.
const KNOWN: &str = "an XGBoost model saved as JSON or UBJ, a LightGBM model saved as text, a CatBoost model saved as cbm or JSON, trees \
                     saved as ONNX or by treelite as JSON, or the JSON of docs/tree-json.md";

/// Why a model file could not be read, or why a model cannot give what it was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The file could not be opened or read.
    #[error("cannot read the model file {path}: {source}")]
    File {
        /// The path given.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file without content.
    #[error("the model file is empty; give {KNOWN}, gzipped or not")]
    Empty,
    /// Content that is no model of a known format.
    #[error("this is no model file known here (it starts with {start:?}); give {KNOWN}, gzipped or not")]
    UnknownFormat {
        /// The first bytes, as text.
        start: String,
    },
    /// A loss that a model does not have.
    #[error("there is no loss of the model for the target {target}: its outputs are {link}; {wanted}")]
    NoLoss {
        /// The target given.
        target: f64,
        /// What the outputs of the model are.
        link: &'static str,
        /// What to do.
        wanted: &'static str,
    },
    /// A JSON document that is a model of no format known here.
    #[error("this JSON document is no model known here (it has {members}); give {KNOWN}, gzipped or not")]
    UnknownDocument {
        /// The names of its first members.
        members: String,
    },
    /// A gzip stream that is damaged or ends too early.
    #[error("the gzipped model file is damaged or truncated: {source}")]
    Gzip {
        /// What the decompressor said.
        source: std::io::Error,
    },
    /// Text that is no JSON document, or only the beginning of one.
    #[error("the model file is no complete JSON document: byte {offset}: {problem}")]
    Json {
        /// Where, in bytes from the start of the uncompressed document.
        offset: usize,
        /// What was found and what was wanted.
        problem: String,
    },
    /// Bytes that are no UBJ document, or only the beginning of one.
    #[error("the model file is no complete UBJ document: byte {offset}: {problem}")]
    Ubj {
        /// Where, in bytes from the start of the uncompressed document.
        offset: usize,
        /// What was found and what was wanted.
        problem: String,
    },
    /// Bytes that begin as an ONNX file, but are none, or only its beginning.
    #[error("the model file is no complete ONNX file: {problem}")]
    Onnx {
        /// What was found.
        problem: String,
    },
    /// A sound ONNX file of another kind of model, a neural network for example. A runtime may know its operators.
    #[error("this ONNX file holds no tree ensemble and no linear model: its operators are {operators}")]
    OtherOnnx {
        /// The first operators of its graph.
        operators: String,
    },
    /// A document that is not what a model of this format looks like.
    #[error("the model file is damaged: {at}: {problem}")]
    Schema {
        /// The field, as a path from the root of the document.
        at: String,
        /// What was found and what was wanted.
        problem: String,
    },
    /// Text that is not what a model of this format looks like.
    #[error("the model file is damaged: line {line}: {problem}")]
    Line {
        /// Which line, from 1.
        line: usize,
        /// What was found and what was wanted.
        problem: String,
    },
    /// A model saved by a release whose files are not known here.
    #[error("the model was saved by {format} {given}; known are {known}: save it again with a known release")]
    Version {
        /// The library.
        format: &'static str,
        /// The version in the file.
        given: String,
        /// The versions that can be read.
        known: &'static str,
    },
    /// A sound model of a kind that is not read here.
    #[error("{what} is not supported; {wanted}")]
    Unsupported {
        /// What was found.
        what: String,
        /// What to do or use.
        wanted: &'static str,
    },
    /// A tree that is no binary tree, or holds numbers that mean nothing.
    #[error("the model file is damaged: tree {tree}: {problem}")]
    Tree {
        /// Which tree, from 0.
        tree: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// More features than a model may have.
    #[error(
        "the file says that the model has {given} features; at most {most} are read, because a damaged file can say any number: raise \
         the limit (most_features, --most-features) if it is right"
    )]
    TooManyFeatures {
        /// How many features the file says there are.
        given: usize,
        /// How many may be.
        most: usize,
    },
    /// More outputs than a model may have.
    #[error(
        "the file says that the model has {given} outputs (classes or targets); at most {most} are read, because a damaged file can say any \
         number"
    )]
    TooManyOutputs {
        /// How many outputs the file says there are.
        given: usize,
        /// How many may be.
        most: usize,
    },
    /// Rounds of boosting that are not in the file.
    #[error(
        "rounds {start} to {end} (not included) of {count} were asked for; give a range of at least one within 0 to {count}"
    )]
    Rounds {
        /// The first of the rounds, from 0.
        start: usize,
        /// The number after the last.
        end: usize,
        /// How many the file has.
        count: usize,
    },
    /// A mean without members.
    #[error("the list of models is empty; expected at least one model")]
    EmptyMean,
    /// Models that differ in what they read or return, so that the mean of their margins is not the margin of one ensemble.
    #[error(
        "model {member} of the list has {found}, expected {expected} as for the models before it; explain the models one by one and \
         average their values"
    )]
    Mean {
        /// Which model, from 0.
        member: usize,
        /// What it has.
        found: String,
        /// What the models before it have.
        expected: String,
    },
    /// Covers that do not define the path-dependent game.
    #[error(
        "the path-dependent game needs the training cover of every node: tree {tree}, node {node}: {problem}; save the model with \
         its statistics, trained (or refreshed) on rows of positive weight, or explain it against a background, which needs no covers"
    )]
    Cover {
        /// Which tree, from 0.
        tree: usize,
        /// Which of its nodes, by the number in the file.
        node: usize,
        /// What is wrong with its cover.
        problem: String,
    },
    /// Leaves that hold a linear model of the row, where only the covers of branches are known.
    #[error(
        "the path-dependent game has no value where a leaf is linear: tree {tree}, node {node}: what its model expects of an absent \
         feature is not in the file; explain the model against a background"
    )]
    LinearLeaves {
        /// Which tree, from 0.
        tree: usize,
        /// Which of its nodes, by the number in the file.
        node: usize,
    },
    /// Splits that look at several features at once, where only the covers of branches are known.
    #[error(
        "the path-dependent game has no value where a split looks at several features at once, as statistics of combinations of \
         categories do: what it expects where some of them are absent is not in the file; explain the model against a background, or \
         train it with max_ctr_complexity=1"
    )]
    JointSplits,
    /// Outputs of a model whose link is not known.
    #[error(
        "how margins become outputs is not known for the objective {objective:?}; explain the margin instead, which needs no link"
    )]
    UnknownLink {
        /// The objective in the file.
        objective: String,
    },
    /// Rows of the wrong shape, or with infinite values that the model computes with.
    #[error(transparent)]
    Game(#[from] GameError),
}

impl ModelError {
    /// The same with the number that the file has for the tree, which may be several of the ensemble.
    pub(crate) fn in_tree(self, tree: usize) -> Self {
        match self {
            Self::Tree { problem, .. } => Self::Tree { tree, problem },
            other => other,
        }
    }
}
