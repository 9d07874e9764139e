//! In place of networks in ONNX files, in a build that reads none.

use anyhow::{Result, bail};

use apportion::Model;

/// Whether this build reads them.
pub(super) const CAN_READ: bool = false;

/// No network.
pub(super) fn network(_: &[u8]) -> Result<Box<dyn Model + Send>> {
    bail!("this build reads no neural networks")
}
