//! Finding the leaves of many rows: bit masks instead of walks from node to node.
//!
//! Every leaf is a bit. For each feature and bin, a mask contains the leaves that a row with this bin can
//! still reach: at each split on the feature, the leaves on the other side are removed. The intersection of
//! the masks of a row's bins contains only the leaf that the row reaches.
//!
//! # Source
//!
//! Lucchese et al., *QuickScorer: A Fast Algorithm to Rank Documents with Additive Ensembles of Regression
//! Trees*, SIGIR 2015; here with one mask for each bin.

use super::tree::BinnedTree;

/// The maximum number of leaves of a tree.
pub(crate) const MAX_LEAVES: usize = u32::BITS as usize;
/// The number of bins, including that of missing values.
const BINS: usize = 1 << 8;

/// The masks of a tree.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LeafMasks {
    /// The features of the tree's splits, in ascending order.
    features: Vec<u32>,
    /// Features × bins.
    masks: Vec<[u32; BINS]>,
}

impl LeafMasks {
    /// Computes the masks of a tree with at most [`MAX_LEAVES`] leaves.
    pub(crate) fn new(tree: &BinnedTree) -> Self {
        let below = leaves_below(tree);
        let is_split = |at: &usize| !tree.is_leaf(*at);
        let splits: Vec<usize> = (0..tree.nodes.len()).filter(is_split).collect();
        let mut features: Vec<u32> = splits.iter().map(|&at| tree.nodes[at].feature).collect();
        features.sort_unstable();
        features.dedup();
        let mut masks = vec![[u32::MAX; BINS]; features.len()];
        for &at in &splits {
            let node = tree.nodes[at];
            let (left, right) = (below[usize::from(node.left)], below[usize::from(node.left) + 1]);
            let slot = features.partition_point(|&feature| feature < node.feature);
            for (bin, mask) in masks[slot].iter_mut().enumerate() {
                *mask &= if tree.goes_left(node, bin as u8) { !right } else { !left };
            }
        }
        Self { features, masks }
    }

    /// Writes the masks of a row of bins for the features of the tree's splits. Masks of other features are
    /// not changed.
    pub(crate) fn of_row(&self, row: &[u8], out: &mut [u32]) {
        for (&feature, of_feature) in self.features.iter().zip(&self.masks) {
            out[feature as usize] = of_feature[usize::from(row[feature as usize])];
        }
    }

    /// Returns the index of the values of the leaf that a row of bins reaches.
    pub(crate) fn leaf(&self, row: &[u8]) -> usize {
        let mut mask = u32::MAX;
        for (&feature, of_feature) in self.features.iter().zip(&self.masks) {
            mask &= of_feature[usize::from(row[feature as usize])];
        }
        mask.trailing_zeros() as usize
    }

    /// Adds the values of the leaves of `tree` that rows of bins reach to `out`, which has `outputs` numbers
    /// per row.
    pub(crate) fn add(
        &self,
        tree: &BinnedTree,
        rows: &[u8],
        features: usize,
        out: &mut [f64],
        outputs: usize,
    ) {
        for (row, out) in rows.chunks_exact(features).zip(out.chunks_exact_mut(outputs)) {
            let values = &tree.values[self.leaf(row) * tree.outputs..][..tree.outputs];
            for (out, value) in out[tree.first_output..].iter_mut().zip(values) {
                *out += value;
            }
        }
    }
}

/// Returns for each node the bits of the leaves below it. The bit of a leaf is the index of its values.
fn leaves_below(tree: &BinnedTree) -> Vec<u32> {
    let mut below = vec![0; tree.nodes.len()];
    // Children follow their parents.
    for at in (0..tree.nodes.len()).rev() {
        let node = tree.nodes[at];
        below[at] = match tree.is_leaf(at) {
            true => 1 << node.feature,
            false => below[usize::from(node.left)] | below[usize::from(node.left) + 1],
        };
    }
    below
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learner::bins::MISSING;
    use crate::learner::tree::{BinSet, Node};

    /// Walks from the root to the leaf.
    fn walked(tree: &BinnedTree, row: &[u8]) -> usize {
        let mut at = 0;
        while !tree.is_leaf(at) {
            let node = tree.nodes[at];
            let is_left = tree.goes_left(node, row[node.feature as usize]);
            at = usize::from(node.left) + usize::from(!is_left);
        }
        tree.nodes[at].feature as usize
    }

    /// Returns a random tree with this number of leaves.
    fn random_tree(leaves: usize, mut number: impl FnMut(usize) -> usize) -> BinnedTree {
        let mut tree = BinnedTree {
            nodes: vec![Node::leaf(0, 0)],
            sets: Vec::new(),
            values: (0..leaves).map(|leaf| leaf as f64).collect(),
            first_output: 0,
            outputs: 1,
        };
        for _ in 1..leaves {
            let open: Vec<usize> = (0..tree.nodes.len()).filter(|&at| tree.is_leaf(at)).collect();
            let at = open[number(open.len())];
            let left = tree.nodes.len();
            let is_set = number(3) == 0;
            tree.nodes[at] = Node {
                feature: number(5) as u32,
                left: left as u16,
                bin: if is_set { tree.sets.len() as u16 } else { number(255) as u16 },
                missing_goes_left: number(2) == 0,
                is_set,
            };
            if is_set {
                let set: BinSet = [0; 4].map(|_: u64| number(1 << 60) as u64);
                tree.sets.push(set);
            }
            tree.nodes.extend([Node::leaf(left, 0), Node::leaf(left + 1, 0)]);
        }
        let ends: Vec<usize> = (0..tree.nodes.len()).filter(|&at| tree.is_leaf(at)).collect();
        for (leaf, at) in ends.into_iter().enumerate() {
            tree.nodes[at] = Node::leaf(at, leaf);
        }
        tree
    }

    #[test]
    fn masks_find_the_leaves_that_walks_find() {
        let mut state = 7u64;
        let mut number = |limit: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 3) as usize % limit
        };
        for leaves in [1, 2, 3, 7, 31, MAX_LEAVES] {
            for _ in 0..20 {
                let tree = random_tree(leaves, &mut number);
                let masks = LeafMasks::new(&tree);
                for _ in 0..50 {
                    let row: Vec<u8> =
                        (0..5).map(|_| if number(6) == 0 { MISSING } else { number(255) as u8 }).collect();
                    assert_eq!(masks.leaf(&row), walked(&tree, &row), "{tree:?} {row:?}");
                }
            }
        }
    }
}
