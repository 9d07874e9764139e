//! Reading files, with choices.

use std::error::Error;
use std::path::Path;

use rten::{LoadError, LoadErrorKind, ModelOptions};
use rten_onnx::onnx::ModelProto;

use crate::error::OnnxError;
use crate::network::Network;
use crate::runtime::caught;
use crate::signature::Signature;

/// How to read a network that has several outputs, or whose file leaves the shape of a row open.
///
/// | choice | default |
/// |---|---|
/// | [`output`](Self::output) | the only output |
/// | [`row_shape`](Self::row_shape) | as the file states |
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
    /// The defaults: what [`Network::from_path`] and [`Network::from_bytes`] do.
    pub fn new() -> Self {
        Self::default()
    }

    /// Chooses the output of this name.
    pub fn output(mut self, name: impl Into<String>) -> Self {
        self.output = Some(name.into());
        self
    }

    /// Fixes the shape of one row of the input, without the batch. Must agree with the sizes that the file states.
    pub fn row_shape(mut self, shape: &[usize]) -> Self {
        self.row_shape = Some(shape.to_vec());
        self
    }

    /// Reads an ONNX file.
    ///
    /// # Errors
    ///
    /// [`OnnxError::File`] where the file cannot be read, else as [`from_bytes`](Self::from_bytes).
    pub fn from_path(&self, path: impl AsRef<Path>) -> Result<Network, OnnxError> {
        let path = path.as_ref();
        let bytes = std::fs::read(path)
            .map_err(|source| OnnxError::File { path: path.display().to_string(), source })?;
        self.from_bytes(&bytes)
    }

    /// Reads the content of an ONNX file, and runs the network once on zeros.
    ///
    /// # Errors
    ///
    /// [`OnnxError::UnknownOutput`] and [`OnnxError::RowShape`] where the choices are not the file's, else as
    /// [`Network::from_bytes`].
    pub fn from_bytes(&self, bytes: &[u8]) -> Result<Network, OnnxError> {
        let not_onnx = |problem| OnnxError::NotOnnx { problem };
        if bytes.is_empty() {
            return Err(not_onnx("it is empty".to_owned()));
        }
        let file = ModelProto::parse_buf(bytes).map_err(|error| not_onnx(error.to_string()))?;
        let signature = Signature::read(&file, self.output.as_deref(), self.row_shape.as_deref())?;
        match load(bytes.to_vec())? {
            Ok(model) => Network::new(model, signature),
            Err(error) => Err(explain(&error, file)?),
        }
    }
}

/// Gives a file to the runtime; the outer error says that it panicked.
fn load(bytes: Vec<u8>) -> Result<Result<rten::Model, LoadError>, OnnxError> {
    caught(|| ModelOptions::with_all_ops().load(bytes)).map_err(|problem| OnnxError::Load { problem })
}

/// What the runtime's error means, and for which node.
///
/// The runtime tells a node by its name alone, and many files give their nodes none: it is asked again with numbers for names.
fn explain(error: &LoadError, mut file: ModelProto) -> Result<OnnxError, OnnxError> {
    let problem = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    let nodes = file.graph.as_mut().map(|graph| &mut graph.node[..]).unwrap_or_default();
    let names: Vec<_> =
        nodes.iter_mut().enumerate().map(|(number, node)| node.name.replace(format!("#{number}"))).collect();
    let refused = match file.write_buf().map(load) {
        Ok(numbered) if error.kind() == LoadErrorKind::OperatorInvalid => numbered?.err(),
        _ => None,
    };
    let number = refused.and_then(|error| error.node()?.strip_prefix('#')?.parse::<usize>().ok());
    let node = |number: usize| file.graph.as_ref()?.node.get(number);
    let Some((number, node)) = number.and_then(|number| Some((number, node(number)?))) else {
        return Ok(OnnxError::Load { problem: error.to_string() });
    };
    let domain = node.domain.as_deref().filter(|domain| !domain.is_empty());
    let kind = node.op_type.as_deref().unwrap_or_default();
    let output = node.output.first().map(String::as_str).unwrap_or_default();
    let name = names[number].clone().filter(|name| !name.is_empty());
    Ok(OnnxError::Operator {
        operator: domain.map_or_else(|| kind.to_owned(), |domain| format!("{domain}/{kind}")),
        node: name.unwrap_or_else(|| format!("{number} (of output {output})")),
        problem,
    })
}
