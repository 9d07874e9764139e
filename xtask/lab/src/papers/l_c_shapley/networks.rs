//! Networks in ONNX files, loaded by `apportion-onnx` with the feature `onnx`. Without this feature,
//! `networks_left_out.rs` is used instead.

use anyhow::Result;
use apportion_onnx::Network;

use apportion::Model;

/// Whether this build can load networks.
pub(super) const CAN_READ: bool = true;

/// Loads the network in these bytes.
pub(super) fn network(bytes: &[u8]) -> Result<Box<dyn Model + Send>> {
    Ok(Box::new(Network::from_bytes(bytes)?))
}
