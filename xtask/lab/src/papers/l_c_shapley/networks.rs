//! Networks in ONNX files, which `apportion-onnx` reads: behind the feature `onnx`. `networks_left_out.rs`
//! stands here without it.

use anyhow::Result;
use apportion_onnx::Network;

use apportion::Model;

/// Whether this build reads them.
pub(super) const CAN_READ: bool = true;

/// The network in these bytes.
pub(super) fn network(bytes: &[u8]) -> Result<Box<dyn Model + Send>> {
    Ok(Box::new(Network::from_bytes(bytes)?))
}
