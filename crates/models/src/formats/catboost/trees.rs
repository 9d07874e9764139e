//! Trees of CatBoost files.
//!
//! # Oblivious trees
//!
//! All nodes of a level have the same split. With the splits s_0..s_{d−1}, a row reaches the leaf
//!
//! ```text
//! Σ_k 2^k [x passes s_k],
//! ```
//!
//! where a row passes if `x̂ > border` or, for one-hot splits, if it has the category of the split.
//! Predictions do not depend on the order of the splits, but the path-dependent game does. To compute Shapley
//! values, CatBoost starts from the last split. Therefore a node of level l has split s_{d−1−l}, rows that
//! pass go right, and leaves are in the order of the file from left to right.
//!
//! The values of leaf i are `leaf_values[i k..(i + 1) k]` for k outputs. Files store the weights of leaves;
//! the cover of a node is the sum of the weights of the leaves below it. Many leaves have weight 0, because
//! training rows cannot or did not reach them.
//!
//! # Other trees
//!
//! Trees grown leaf-wise or depth-wise are stored as nested objects in JSON, and as steps from node to node
//! in a binary file. Rows that meet the condition of a split go right.

use crate::ensemble::{Split, VectorTree};

/// Maximum depth of trees in CatBoost. More splits would require more leaves than a file can contain.
pub(super) const MAX_SPLITS: usize = 16;

/// Builds a tree with these splits. Each leaf has `outputs` values and, unless `weights` is `None`, a weight.
pub(super) fn oblivious(
    splits: &[Split],
    values: &[f64],
    weights: Option<&[f64]>,
    outputs: usize,
) -> VectorTree {
    let mut shape = VectorTree::default();
    // As in a heap, node i has the children 2 i + 1 and 2 i + 2, and the leaves come last.
    for (level, split) in splits.iter().rev().enumerate() {
        for node in (1 << level) - 1..(1 << (level + 1)) - 1 {
            shape.add_split([2 * node + 1, 2 * node + 2], split.clone());
        }
    }
    values.chunks_exact(outputs).for_each(|leaf| shape.add_leaf(leaf.iter().copied()));
    if let Some(weights) = weights {
        shape.set_covers_of_leaves(weights);
    }
    shape
}
