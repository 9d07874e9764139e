//! Models saved by LightGBM as text.
//!
//! # The file
//!
//! ```text
//! tree                            the header: lines `key=value`
//! version=v4
//! num_class=1 …
//! tree_sizes=495 509              bytes of each tree's block
//!
//! Tree=0                          a block per tree: lines `key=value`, lists parted by blanks
//! num_leaves=4 …
//!
//! end of trees
//! …                               importances and parameters, which end with `end of parameters`
//! ```
//!
//! A tree of L leaves has L − 1 splits, the root first. Children are numbers of splits, or −1 − l for leaf l. Here leaf l is
//! node L − 1 + l.
//!
//! # How LightGBM decides
//!
//! Compared with LightGBM 4.7 (see the tests), which computes in `f64`:
//!
//! - Every number up to [`ZERO`](crate::ensemble::ZERO) in size is 0 before anything is decided.
//! - A numeric split sends left iff x ≤ threshold. Where its missing type is none, a missing value is 0; where it is NaN, a missing value
//!   goes to the default side; where it is zero, missing values and 0 both do.
//! - A categorical split sends left iff ⌊x⌋, toward zero, is in its set. Missing, negative, huge and unknown categories go right,
//!   whatever the missing type; a fraction between −1 and 0 is category 0.
//! - A linear leaf adds `leaf_const` and its coefficients times the values of its features; `leaf_value` where one of these is missing.
//! - With `average_output` (random forests) the sum over the iterations is divided by their number.
//!
//! The margin has no other part: the mean that boosting starts from is in the leaves of the first tree.

mod dump;
mod header;
mod objective;
mod section;
mod text;
mod tree;
mod words;

use crate::ensemble::Ensemble;
use crate::error::ModelError;
use crate::formats::document::{Field, Value};

/// Whether a file starts as one of LightGBM's does.
pub(crate) fn is_text(start: &[u8]) -> bool {
    start.strip_prefix(b"tree").is_some_and(|rest| rest.starts_with(b"\n") || rest.starts_with(b"\r\n"))
}

pub(crate) fn from_text(bytes: &[u8]) -> Result<Ensemble, ModelError> {
    text::read(bytes)
}

/// The JSON of `dump_model`, which LightGBM itself does not read.
pub(crate) fn from_dump(document: &Value<'_>) -> Result<Ensemble, ModelError> {
    dump::read(&Field::root(document))
}
