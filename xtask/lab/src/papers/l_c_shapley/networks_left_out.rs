//! Replacement for networks in ONNX files in a build without support for them.

use anyhow::{Result, bail};

use apportion::Model;

/// Whether this build can load networks.
pub(super) const CAN_READ: bool = false;

/// Returns an error, since this build cannot load networks.
pub(super) fn network(_: &[u8]) -> Result<Box<dyn Model + Send>> {
    bail!("this build does not support neural networks")
}
