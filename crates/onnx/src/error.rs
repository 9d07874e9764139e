//! What can go wrong when a network is read or run.

use apportion_games::{BoxError, GameError};

/// Why a network takes no infinite values.
pub(crate) const COMPUTES: &str =
    "a network computes with it in 32 bits; pass a finite number below 3.4e38 in size, as in training";

/// Why an ONNX file could not be read, or the network could not predict rows.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OnnxError {
    /// The file could not be opened or read.
    #[error("cannot read the network {path}: {source}")]
    File {
        /// The path given.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// Content that is no ONNX file, or only the beginning of one.
    #[error("this is no complete ONNX file: {problem}; give a network saved as ONNX")]
    NotOnnx {
        /// What was found.
        problem: String,
    },
    /// A gzip stream that is damaged, cut, or far larger than what it holds can be.
    #[error("cannot unpack the network: {source}; give it as gzip writes it, or unpacked")]
    Gzip {
        /// What is wrong with it.
        source: std::io::Error,
    },
    /// An operator that the runtime does not know, or not in this form.
    #[error(
        "node {node} has the operator {operator}, which cannot be run here: {problem}; save the network without it"
    )]
    Operator {
        /// The operator, with its domain where that is not the standard one: `Gemm`,
        /// `ai.onnx.ml/TreeEnsembleRegressor`.
        operator: String,
        /// The node's name, or its number and first output where it has none.
        node: String,
        /// What the runtime said.
        problem: String,
    },
    /// A sound file whose graph or weights the runtime refuses.
    #[error("the network cannot be loaded: {problem}")]
    Load {
        /// What the runtime said.
        problem: String,
    },
    /// A network without inputs, or with several.
    #[error("the network has {} inputs ({}), but a model has one; save it with a single input", names.len(), names.join(", "))]
    Inputs {
        /// Their names.
        names: Vec<String>,
    },
    /// A network with several outputs (or none), of which none was chosen.
    #[error(
        "the network has {} outputs ({}), but a model has one; choose it with NetworkOptions::output (--model-output NAME)",
        names.len(), names.join(", ")
    )]
    Outputs {
        /// Their names.
        names: Vec<String>,
    },
    /// The chosen output is not among the network's.
    #[error("the network has no output {given:?}; its outputs are {}", names.join(", "))]
    UnknownOutput {
        /// The name given.
        given: String,
        /// The names of the outputs.
        names: Vec<String>,
    },
    /// An input or output whose elements are not numbers of a kind that can be passed.
    #[error("{what} has elements of type {given}, but {wanted} are wanted")]
    ElementType {
        /// "input x", "output y".
        what: String,
        /// The type in the file, as ONNX names it.
        given: String,
        /// The types wanted.
        wanted: &'static str,
    },
    /// An input without a shape, or with a rank that leaves no room for rows.
    #[error(
        "input {input} has {given}, but rows are passed as [batch, features] or [batch, ...] with fixed sizes; \
         save the network with such a shape"
    )]
    Rank {
        /// The input.
        input: String,
        /// Its shape in words.
        given: String,
    },
    /// A dimension of a row whose size the file leaves open.
    #[error(
        "dimension {axis} of input {input} ({dimension}) has no fixed size; only the first, the batch, may vary: \
         give the shape of a row with NetworkOptions::row_shape"
    )]
    DynamicDimension {
        /// The input.
        input: String,
        /// Which dimension; 0 is the batch.
        axis: usize,
        /// Its name in the file, or "unnamed".
        dimension: String,
    },
    /// A shape of rows was given that is not the one in the file.
    #[error("rows of shape {given:?} were asked for, but input {input} takes {wanted}")]
    RowShape {
        /// The input.
        input: String,
        /// The shape given.
        given: Vec<usize>,
        /// The shape in the file, the batch first.
        wanted: String,
    },
    /// An output whose first dimension is not the batch.
    #[error(
        "output {output} has the shape {given:?} for a batch of {batch} rows; its first dimension must be the batch, the others the same \
         for all rows"
    )]
    OutputShape {
        /// The output.
        output: String,
        /// The shape that came out.
        given: Vec<usize>,
        /// Rows that went in.
        batch: usize,
    },
    /// A network that mixes the rows of a batch, so that it is no function of one row.
    #[error(
        "output {output} of a row changes with the other rows of its batch; a model must predict each row by itself"
    )]
    RowsMixed {
        /// The output.
        output: String,
    },
    /// The trial run with zeros, made when the network is loaded, failed.
    #[error("the network was loaded but does not run on a batch of zeros: {problem}")]
    Trial {
        /// What the runtime said.
        problem: String,
    },
    /// A missing value (NaN) in a row.
    #[error(
        "row {row} has no value in column {column}, but a network takes no missing values; fill it in first"
    )]
    Missing {
        /// Which row of those given, from 0.
        row: usize,
        /// Its column.
        column: usize,
    },
    /// A value that is no whole number of 32 bits, where the input takes integers such as token ids.
    #[error(
        "row {row} has the value {value} in column {column}, but the input takes whole numbers of 32 bits"
    )]
    NotWhole {
        /// Which row of those given, from 0.
        row: usize,
        /// Its column.
        column: usize,
        /// The value.
        value: f64,
    },
    /// The network failed on a row: a token id outside the vocabulary, for one.
    #[error("the network failed on row {row}: {problem}")]
    Run {
        /// Which row of those given, from 0.
        row: usize,
        /// What the runtime said.
        problem: String,
    },
    /// A prediction that is infinite or not a number.
    #[error(
        "output {output} of row {row} is {value}; a model needs finite predictions, so check the network at that row"
    )]
    NotFinite {
        /// Which row of those given, from 0.
        row: usize,
        /// Which of the outputs.
        output: usize,
        /// What came out.
        value: f64,
    },
    /// The system gave no thread to run the network on.
    #[error("cannot start a thread for the network: {0}")]
    Thread(std::io::Error),
    /// Rows of another width than the network has features, or with values that are infinite or too large for
    /// 32 bits.
    #[error(transparent)]
    Game(#[from] GameError),
}

impl OnnxError {
    /// For a game, which takes its own errors as they are.
    pub(crate) fn boxed(self) -> BoxError {
        match self {
            Self::Game(error) => error.into(),
            error => error.into(),
        }
    }
}
