//! A tree on bins.

use super::bins::MISSING;

/// A set of bins, as bits.
pub(crate) type BinSet = [u64; 4];

/// A node: a split, or a leaf. The right child of a split follows its left child.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Node {
    /// The feature of a split; for a leaf, the index of its values.
    pub(crate) feature: u32,
    /// The index of the left child; for a leaf, its own index.
    pub(crate) left: u16,
    /// A split sends bins below this number left. For a split on a set, the index of the set.
    pub(crate) bin: u16,
    pub(crate) missing_goes_left: bool,
    pub(crate) is_set: bool,
}

impl Node {
    /// Creates a leaf with this index, whose values have the index `values`.
    pub(crate) fn leaf(index: usize, values: usize) -> Self {
        Self {
            feature: values as u32,
            left: index as u16,
            bin: u16::MAX,
            missing_goes_left: true,
            is_set: false,
        }
    }
}

/// A tree, whose leaves have values for some consecutive outputs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BinnedTree {
    pub(crate) nodes: Vec<Node>,
    pub(crate) sets: Vec<BinSet>,
    /// The values of the leaves: leaves × outputs of the tree.
    pub(crate) values: Vec<f64>,
    pub(crate) first_output: usize,
    pub(crate) outputs: usize,
}

impl BinnedTree {
    /// Returns whether a node is a leaf.
    pub(crate) fn is_leaf(&self, at: usize) -> bool {
        usize::from(self.nodes[at].left) == at
    }

    /// Returns whether a bin goes left at a node.
    pub(crate) fn goes_left(&self, node: Node, bin: u8) -> bool {
        if bin == MISSING {
            node.missing_goes_left
        } else if node.is_set {
            contains(&self.sets[usize::from(node.bin)], bin)
        } else {
            u16::from(bin) < node.bin
        }
    }
}

/// Returns whether a set contains a bin.
pub(crate) fn contains(set: &BinSet, bin: u8) -> bool {
    set[usize::from(bin / 64)] >> (bin % 64) & 1 == 1
}
