//! Errors of reading and running networks.

use apportion_games::phrases::plural;
use apportion_games::{BoxError, GameError};

/// The part of an error message that explains why networks reject infinite values.
pub(crate) const COMPUTES: &str = "networks compute in 32-bit floats; pass a finite number below 3.4e38 in \
                                   absolute value, as in training";

/// An error while reading an ONNX file, or while predicting rows.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OnnxError {
    /// The file could not be opened or read.
    #[error("cannot read the network {path}: {source}")]
    File {
        /// The path passed.
        path: String,
        /// The I/O error.
        source: std::io::Error,
    },
    /// The bytes are not an ONNX file, or are truncated.
    #[error("invalid ONNX file: {problem}; expected a network saved as ONNX")]
    NotOnnx {
        /// What is wrong with the bytes.
        problem: String,
    },
    /// The gzip stream is corrupt or truncated, or its decompressed size is implausible for a network.
    #[error("cannot decompress the network: {source}; expected a valid gzip file or an uncompressed network")]
    Gzip {
        /// The error of the decompression.
        source: std::io::Error,
    },
    /// The runtime does not support an operator, or does not support it with these attributes or inputs.
    #[error(
        "node {node} has the unsupported operator {operator}: {problem}; save the network without this \
         operator"
    )]
    Operator {
        /// The operator, prefixed with its domain unless that is the standard one: `Gemm`,
        /// `ai.onnx.ml/TreeEnsembleRegressor`.
        operator: String,
        /// The node's name, or its number and first output if it does not have a name.
        node: String,
        /// The error of the runtime.
        problem: String,
    },
    /// The runtime rejects the graph or the weights of a valid file.
    #[error("cannot load the network: {problem}; save the network as ONNX again")]
    Load {
        /// The error of the runtime.
        problem: String,
    },
    /// The network does not have an input, or has several.
    #[error(
        "expected a network with a single input, got {}; save the network with a single input",
        listed(names)
    )]
    Inputs {
        /// The names of the inputs.
        names: Vec<String>,
    },
    /// The network does not have an output, or has several, of which the options do not choose one.
    #[error(
        "expected a network with a single output, got {}; {}",
        listed(names),
        if names.is_empty() {
            "save the network with an output"
        } else {
            "choose one output with NetworkOptions::output (--model-output NAME)"
        }
    )]
    Outputs {
        /// The names of the outputs.
        names: Vec<String>,
    },
    /// The chosen output does not exist.
    #[error("unknown output {name:?}; expected one of: {}", names.join(", "))]
    UnknownOutput {
        /// The name passed.
        name: String,
        /// The names of the outputs.
        names: Vec<String>,
    },
    /// The elements of an input or output have an unsupported type.
    #[error("{what} has elements of type {actual}, expected {expected}; save the network with such a type")]
    ElementType {
        /// The input or output, as named in the message: "input x", "output y".
        what: String,
        /// The type in the file, by its ONNX name.
        actual: String,
        /// The supported element types.
        expected: &'static str,
    },
    /// The input does not have a shape, or does not have dimensions after the batch.
    #[error(
        "input {input} has {actual}, expected [batch, features] or [batch, ...] with fixed sizes; save the \
         network with one of these shapes"
    )]
    Rank {
        /// The name of the input.
        input: String,
        /// The shape of the input, formatted for the message.
        actual: String,
    },
    /// The file does not fix the size of a dimension of a row.
    #[error(
        "dimension {axis} of input {input} ({dimension}) has no fixed size; only the first (batch) may \
         vary: set the shape of a row with NetworkOptions::row_shape"
    )]
    DynamicDimension {
        /// The name of the input.
        input: String,
        /// Index of the dimension; 0 is the batch.
        axis: usize,
        /// The name of the dimension in the file, or "unnamed".
        dimension: String,
    },
    /// The requested shape of rows contradicts the file.
    #[error("invalid row shape {actual:?}; expected {expected}, as input {input} requires")]
    RowShape {
        /// The name of the input.
        input: String,
        /// The requested shape of a row.
        actual: Vec<usize>,
        /// The shape of a row in the file, without the batch.
        expected: String,
    },
    /// The first dimension of the output is not the batch.
    #[error(
        "output {output} has the shape {actual:?} for a batch of {batch} row{}; the first dimension must be \
         the batch, and the other dimensions must be the same for all rows",
        plural(*batch)
    )]
    OutputShape {
        /// The name of the output.
        output: String,
        /// The actual shape of the output.
        actual: Vec<usize>,
        /// The number of rows of the input.
        batch: usize,
    },
    /// The network mixes the rows of a batch, so its predictions are not a function of one row.
    #[error(
        "output {output} of a row depends on the other rows of its batch; a model must predict each row \
         independently"
    )]
    RowsMixed {
        /// The name of the output.
        output: String,
    },
    /// The trial run on zeros after loading the network failed.
    #[error(
        "the network was loaded, but fails on a batch of zeros: {problem}; check the shape of a row, or set \
         the shape with NetworkOptions::row_shape"
    )]
    Trial {
        /// The error of the runtime.
        problem: String,
    },
    /// A row contains a missing value (NaN).
    #[error(
        "row {row} has no value in column {column}, but networks do not support missing values; impute the \
         value first"
    )]
    Missing {
        /// Index of the row among the rows passed to the network.
        row: usize,
        /// Index of the value's column.
        column: usize,
    },
    /// A value is not a 32-bit integer, although the input expects integers such as token ids.
    #[error(
        "row {row} has the value {value} in column {column}, but the network expects 32-bit integers; pass \
         an integer, such as a token ID"
    )]
    NotWhole {
        /// Index of the row among the rows passed to the network.
        row: usize,
        /// Index of the value's column.
        column: usize,
        /// The value that is not an integer.
        value: f64,
    },
    /// The network failed on a row, for example because of a token id outside the vocabulary.
    #[error("the network failed on row {row}: {problem}; check the values of this row")]
    Run {
        /// Index of the row among the rows passed to the network.
        row: usize,
        /// The error of the runtime.
        problem: String,
    },
    /// A prediction is infinite or NaN.
    #[error("output {output} of row {row} is {value}, but predictions must be finite; check the network")]
    NotFinite {
        /// Index of the row among the rows passed to the network.
        row: usize,
        /// Index of the output.
        output: usize,
        /// The value of the prediction.
        value: f64,
    },
    /// The system cannot start a thread to run the network.
    #[error("cannot start a thread for the network: {0}")]
    Thread(std::io::Error),
    /// The rows have the wrong width, or contain values that are infinite or too large for 32 bits.
    #[error(transparent)]
    Game(#[from] GameError),
}

/// Formats the number of names, followed by the names.
fn listed(names: &[String]) -> String {
    match names.len() {
        0 => "none".to_owned(),
        count => format!("{count} ({})", names.join(", ")),
    }
}

impl OnnxError {
    /// Boxes the error for a game. An error of the game itself is boxed without this wrapper.
    pub(crate) fn boxed(self) -> BoxError {
        match self {
            Self::Game(error) => error.into(),
            error => error.into(),
        }
    }
}
