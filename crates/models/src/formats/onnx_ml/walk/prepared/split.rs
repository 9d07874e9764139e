//! Tests on a preprocessed column, translated to the table's column.

use super::region::Region;
use crate::formats::onnx_ml::walk::stop::Stop;

/// A test on a preprocessed column, translated to the table's column.
#[derive(Debug)]
pub(in crate::formats::onnx_ml) struct Split {
    /// The index of the table's column.
    pub(in crate::formats::onnx_ml) feature: u32,
    /// The values for which the test holds.
    pub(in crate::formats::onnx_ml) region: Region,
    /// Whether the test holds for a missing value.
    pub(in crate::formats::onnx_ml) missing_holds: bool,
}

/// Returns the error for a test that no single split on the table's column can represent.
pub(super) fn no_rule() -> Stop {
    Stop::because(
        "a split on its output corresponds to several intervals of the input, not to a single split",
    )
}
