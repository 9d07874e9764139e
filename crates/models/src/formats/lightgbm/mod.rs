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
//! Tree=0                          a block per tree: lines `key=value`, lists separated by spaces
//! num_leaves=4 …
//!
//! end of trees
//! …                               importances and parameters, which end with `end of parameters`
//! ```
//!
//! A tree with L leaves has L − 1 splits, the root first. A child is the index of a split, or −1 − l for leaf
//! l. In this crate, leaf l becomes node L − 1 + l.
//!
//! # How LightGBM evaluates trees
//!
//! Verified against LightGBM 4.7 (see the tests), which computes in `f64`:
//!
//! - Every number up to [`ZERO`](crate::ensemble::ZERO) in absolute value is 0 in all comparisons.
//! - A numeric split sends a row left iff x ≤ threshold. If its missing type is `None`, a missing value
//!   counts as 0. If the type is `NaN`, missing values follow the default direction. If it is `Zero`, both
//!   missing values and 0 follow the default direction.
//! - A categorical split sends a row left iff x, rounded toward zero, is in its set. Missing, negative, huge
//!   and unknown categories go right for every missing type. A fraction between −1 and 0 is category 0.
//! - A linear leaf adds `leaf_const` and its coefficients times the values of its features, or `leaf_value`
//!   if one of these is missing.
//! - With `average_output` (random forests), the sum over the iterations is divided by their number.
//!
//! The margin does not have other terms: the mean from which boosting starts is included in the leaves of the
//! first tree.

mod categories;
mod dump;
mod header;
mod objective;
mod section;
mod text;
mod tree;

use crate::ensemble::Ensemble;
use crate::error::ModelError;
use crate::formats::document::{Field, Value};

/// Returns whether a file starts like a LightGBM model.
pub(crate) fn is_text(start: &[u8]) -> bool {
    start.strip_prefix(b"tree").is_some_and(|rest| rest.starts_with(b"\n") || rest.starts_with(b"\r\n"))
}

pub(crate) fn from_text(bytes: &[u8]) -> Result<Ensemble, ModelError> {
    text::read(bytes)
}

/// Reads the JSON of `dump_model`, which LightGBM itself cannot read.
pub(crate) fn from_dump(document: &Value<'_>) -> Result<Ensemble, ModelError> {
    dump::read(&Field::root(document))
}
