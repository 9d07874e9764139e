//! Reading of ONNX files, with and without options.

use std::borrow::Cow;
use std::path::Path;

use crate::error::OnnxError;
use crate::file;
use crate::gzip;
use crate::load::load;
use crate::near;
use crate::needed;
use crate::network::Network;
use crate::signature::Signature;

/// Options for networks that have several outputs, or whose files do not fix the shape of a row.
///
/// | option | default |
/// |---|---|
/// | [`output`](Self::output) | the only output |
/// | [`row_shape`](Self::row_shape) | the shape in the file |
///
/// ```
/// use apportion_onnx::NetworkOptions;
///
/// let bytes = include_bytes!("../tests/fixtures/iris_mlp.onnx");
/// let network = NetworkOptions::new().output("logits").row_shape(&[4]).from_bytes(bytes)?;
/// assert_eq!((network.feature_count(), network.output_count()), (4, 3));
/// # Ok::<(), apportion_onnx::OnnxError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct NetworkOptions {
    output: Option<String>,
    row_shape: Option<Vec<usize>>,
}

impl NetworkOptions {
    /// Creates the default options, which [`Network::from_path`] and [`Network::from_bytes`] use.
    pub fn new() -> Self {
        Self::default()
    }

    /// Chooses the output with this name.
    pub fn output(mut self, name: impl Into<String>) -> Self {
        self.output = Some(name.into());
        self
    }

    /// Sets the shape of one row of the input, without the batch. It must agree with the sizes in the file.
    pub fn row_shape(mut self, shape: &[usize]) -> Self {
        self.row_shape = Some(shape.to_vec());
        self
    }

    /// Reads an ONNX file.
    ///
    /// # Errors
    ///
    /// [`OnnxError::File`] if the file cannot be read, otherwise same as [`from_bytes`](Self::from_bytes).
    pub fn from_path(&self, path: impl AsRef<Path>) -> Result<Network, OnnxError> {
        let path = path.as_ref();
        let bytes = std::fs::read(path)
            .map_err(|source| OnnxError::File { path: path.display().to_string(), source })?;
        self.from_bytes(&bytes)
    }

    /// Reads the content of an ONNX file, optionally compressed with gzip, and runs the network on trial
    /// batches.
    ///
    /// # Errors
    ///
    /// [`OnnxError::UnknownOutput`] and [`OnnxError::RowShape`] if the options contradict the file, otherwise
    /// same as [`Network::from_bytes`].
    pub fn from_bytes(&self, bytes: &[u8]) -> Result<Network, OnnxError> {
        let bytes = &*gzip::unpacked(bytes)?;
        let mut file = file::parse(bytes)?;
        let signature = Signature::read(&file, self.output.as_deref(), self.row_shape.as_deref())?;
        let bytes = match needed::reduce(&mut file, &signature.output) {
            false => Cow::Borrowed(bytes),
            true => {
                Cow::Owned(file.write_buf().map_err(|error| OnnxError::Load { problem: error.to_string() })?)
            }
        };
        let near = near::chain(&file, &signature);
        let vocabulary_size = near::vocabulary_size(&file, &signature);
        Network::new(load(&bytes, file)?, signature, near, vocabulary_size)
    }
}

impl Network {
    /// Reads an ONNX file with one input and one output. For other networks, see [`NetworkOptions`].
    ///
    /// # Errors
    ///
    /// [`OnnxError::File`] if the file cannot be read, otherwise same as [`from_bytes`](Self::from_bytes).
    pub fn from_path(path: impl AsRef<Path>) -> Result<Self, OnnxError> {
        NetworkOptions::new().from_path(path)
    }

    /// Reads the content of an ONNX file with one input and one output, optionally compressed with gzip, and
    /// runs the network on trial batches. For other networks, see [`NetworkOptions`].
    ///
    /// # Errors
    ///
    /// [`OnnxError::Gzip`] for a gzip stream that cannot be decompressed; [`OnnxError::NotOnnx`] for other
    /// content and for truncated files; [`OnnxError::Operator`] for an unsupported operator;
    /// [`OnnxError::Inputs`], [`OnnxError::Outputs`], [`OnnxError::ElementType`], [`OnnxError::Rank`] and
    /// [`OnnxError::DynamicDimension`] for networks that are not a function of rows of numbers;
    /// [`OnnxError::Load`] and [`OnnxError::Trial`] for invalid graphs; [`OnnxError::OutputShape`] and
    /// [`OnnxError::RowsMixed`] for networks that do not return a separate output for each row;
    /// [`OnnxError::Thread`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, OnnxError> {
        NetworkOptions::new().from_bytes(bytes)
    }
}
