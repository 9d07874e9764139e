//! Trees on bins, and their predictions.

use apportion_games::Cancellation;
use apportion_models::{Ensemble, EnsembleBuilder, ModelError, SplitCondition, TreeNode};

use super::bins::{Bins, FeatureBins, MISSING};

/// The number of rows that pass through a tree together, so that their memory accesses overlap.
const LANES: usize = 16;

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
        // Every bin is below `u16::MAX`, so that a row stays in its leaf.
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
    pub(crate) depth: usize,
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

    /// Returns the index of the leaf that a row of bins reaches.
    fn leaf(&self, row: &[u8]) -> usize {
        let mut at = 0;
        while !self.is_leaf(at) {
            let node = self.nodes[at];
            let is_left = self.goes_left(node, row[node.feature as usize]);
            at = usize::from(node.left) + usize::from(!is_left);
        }
        at
    }

    /// Adds the values of the leaves that rows of bins reach to `out`, which has `outputs` numbers per row.
    pub(crate) fn add(&self, rows: &[u8], features: usize, out: &mut [f64], outputs: usize) {
        let lanes = if self.sets.is_empty() { rows.len() / features / LANES * LANES } else { 0 };
        let (together, alone) = rows.split_at(lanes * features);
        let (out_together, out_alone) = out.split_at_mut(lanes * outputs);
        let chunks =
            together.chunks_exact(LANES * features).zip(out_together.chunks_exact_mut(LANES * outputs));
        for (rows, out) in chunks {
            let mut at = [0u16; LANES];
            for _ in 0..self.depth {
                for (at, row) in at.iter_mut().zip(rows.chunks_exact(features)) {
                    let node = self.nodes[usize::from(*at)];
                    let is_leaf = node.left == *at;
                    let bin = row[if is_leaf { 0 } else { node.feature as usize }];
                    let is_left = (u16::from(bin) < node.bin && bin != MISSING)
                        | (bin == MISSING && node.missing_goes_left);
                    *at = node.left + u16::from(!is_left);
                }
            }
            for (at, out) in at.iter().zip(out.chunks_exact_mut(outputs)) {
                self.add_leaf(usize::from(*at), out);
            }
        }
        for (row, out) in alone.chunks_exact(features).zip(out_alone.chunks_exact_mut(outputs)) {
            self.add_leaf(self.leaf(row), out);
        }
    }

    fn add_leaf(&self, leaf: usize, out: &mut [f64]) {
        let values = &self.values[self.nodes[leaf].feature as usize * self.outputs..][..self.outputs];
        for (out, value) in out[self.first_output..].iter_mut().zip(values) {
            *out += value;
        }
    }
}

fn contains(set: &BinSet, bin: u8) -> bool {
    set[usize::from(bin / 64)] >> (bin % 64) & 1 == 1
}

/// A sum of trees on bins: `g(x) = base + Σ leaf(x)`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Forest {
    pub(crate) bins: Bins,
    /// One number per output.
    pub(crate) base: Vec<f64>,
    pub(crate) trees: Vec<BinnedTree>,
}

impl Forest {
    /// Writes the predictions for rows of bins, rows × outputs.
    pub(crate) fn predict(&self, rows: &[u8], out: &mut [f64]) {
        let (features, outputs) = (self.bins.features.len(), self.base.len());
        // The rows of a block and a tree stay in the cache.
        let block = (1 << 14) / features.max(1) / LANES * LANES;
        let block = block.max(LANES);
        for (rows, out) in rows.chunks(block * features).zip(out.chunks_mut(block * outputs)) {
            Cancellation::check();
            out.chunks_exact_mut(outputs).for_each(|out| out.copy_from_slice(&self.base));
            self.trees.iter().for_each(|tree| tree.add(rows, features, out, outputs));
        }
    }

    /// Converts the trees to an ensemble with the same predictions.
    pub(crate) fn ensemble(&self) -> Result<Ensemble, ModelError> {
        let mut builder =
            EnsembleBuilder::new(self.bins.features.len(), self.base.clone(), "Apportion surrogate")?;
        for tree in &self.trees {
            let nodes = tree.nodes.iter().enumerate().map(|(at, node)| match tree.is_leaf(at) {
                true => TreeNode::Leaf {
                    values: tree.values[node.feature as usize * tree.outputs..][..tree.outputs].to_vec(),
                },
                false => TreeNode::Split {
                    feature: node.feature as usize,
                    condition: self.condition(tree, node),
                    missing_goes_left: node.missing_goes_left,
                    children: [usize::from(node.left), usize::from(node.left) + 1],
                },
            });
            builder.push_tree(&nodes.collect::<Vec<_>>(), tree.first_output)?;
        }
        Ok(builder.build())
    }

    fn condition(&self, tree: &BinnedTree, node: &Node) -> SplitCondition {
        match &self.bins.features[node.feature as usize] {
            FeatureBins::Ordered(thresholds) => {
                // A split that sends no number left separates missing values from all numbers.
                let threshold = usize::from(node.bin).checked_sub(1).and_then(|at| thresholds.get(at));
                SplitCondition::Below(threshold.copied().unwrap_or(f64::NEG_INFINITY))
            }
            FeatureBins::Categories(codes) => {
                let set = &tree.sets[usize::from(node.bin)];
                let members = (0..codes.len()).filter(|&bin| contains(set, bin as u8));
                SplitCondition::OneOf(members.map(|bin| codes[bin]).collect())
            }
        }
    }
}
