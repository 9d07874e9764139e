//! Trees of CatBoost files.
//!
//! # Oblivious trees
//!
//! All nodes of a level ask the same question. With the splits s_0..s_{d−1} a row comes to the leaf
//!
//! ```text
//! Σ_k 2^k [x passes s_k],
//! ```
//!
//! where passing is `x̂ > border`, or for one-hot splits that the category is the split's. Predictions do not depend on the order in
//! which the questions are asked, but the path-dependent game does. CatBoost asks the last one first, when it computes Shapley values.
//! So a node of level l asks s_{d−1−l}, rows that pass go right, and leaves are in the file's order from left to right.
//!
//! The values of leaf i are `leaf_values[i k..(i + 1) k]` for k outputs. Weights are of leaves; a node's cover is the sum below it. Many
//! leaves have weight 0: no row can come to them, or none did.
//!
//! # Other trees
//!
//! Grown leaf by leaf or level by level: nested objects in a document, steps from node to node in a binary file. Rows that pass go right.

use crate::ensemble::{Split, VectorTree};

/// CatBoost grows trees to this depth. More splits would have more leaves than a file can hold.
pub(super) const MOST_SPLITS: usize = 16;

/// The tree of these splits, with `outputs` values and a weight for each leaf.
pub(super) fn oblivious(
    splits: &[Split],
    values: &[f64],
    weights: Option<&[f64]>,
    outputs: usize,
) -> VectorTree {
    let mut shape = VectorTree::default();
    // Node i of the heap has the children 2 i + 1 and 2 i + 2, and the leaves come last.
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
