//! Reading of the neural network that a command explains.

use anyhow::{Context, Result};
use apportion_onnx::{Network, NetworkOptions};

use crate::parse::media;

/// Reads the neural network that `args` specifies.
pub(crate) fn read(args: &media::Network) -> Result<Network> {
    let mut options = NetworkOptions::new();
    if let Some(output) = &args.model_output {
        options = options.output(output);
    }
    if !args.row_shape.is_empty() {
        options = options.row_shape(&args.row_shape);
    }
    options
        .from_path(&args.model)
        .with_context(|| format!("cannot read the model from {}", args.model.display()))
}
