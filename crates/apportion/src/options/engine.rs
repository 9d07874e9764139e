//! Options of the exact algorithms for trees.

#[cfg(feature = "trees")]
use apportion_trees::{Kernel, Precision, Settings};
use serde_json::json;

#[cfg(feature = "trees")]
use super::distribution::name_of;

/// Options of the exact algorithms for trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Engine {
    /// The kernel; `None` for the kernel with the shortest predicted time.
    #[cfg(feature = "trees")]
    pub kernel: Option<Kernel>,
    /// The floating-point precision of the lookup tables.
    #[cfg(feature = "trees")]
    pub precision: Precision,
    /// The number of rows for which the kernel is chosen; `None` for the number in each call.
    pub rows: Option<usize>,
}

#[cfg(feature = "trees")]
impl Engine {
    /// Returns the settings of the tree method.
    pub fn settings(&self) -> Settings {
        Settings::default().with_kernel(self.kernel).with_precision(self.precision).with_rows(self.rows)
    }

    /// Returns whether the kernel or the precision differs from the default.
    pub fn is_given(&self) -> bool {
        self.kernel.is_some() || self.precision != Precision::default()
    }
}

impl Engine {
    /// Returns these options as the text stored in checkpoints, with the number of rows only if it is set.
    pub(super) fn words(&self) -> String {
        #[cfg(feature = "trees")]
        let (kernel, precision) =
            (self.kernel.map_or("auto", Kernel::name), name_of(&PRECISIONS, self.precision));
        #[cfg(not(feature = "trees"))]
        let (kernel, precision) = ("auto", "f64");
        match self.rows {
            None => json!({"kernel": kernel, "precision": precision}).to_string(),
            Some(rows) => json!({"kernel": kernel, "precision": precision, "rows": rows}).to_string(),
        }
    }
}

/// The precisions with their names.
#[cfg(feature = "trees")]
pub(super) const PRECISIONS: [(&str, Precision); 2] =
    [("f64", Precision::Double), ("f32", Precision::Single)];
