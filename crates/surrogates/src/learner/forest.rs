//! A sum of trees on bins, its predictions and its ensemble.

use apportion_games::Cancellation;
use apportion_models::{Ensemble, EnsembleBuilder, ModelError, SplitCondition, TreeNode};

use super::bins::{Bins, FeatureBins};
use super::masks::LeafMasks;
use super::pairs::{PairMasks, Pairs};
use super::tree::{BinnedTree, Node, contains};

/// The size in bytes of a block of rows, which stays in the cache together with the masks of a tree.
const BLOCK: usize = 1 << 14;

/// A sum of trees on bins: `g(x) = base + Σ leaf(x)`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Forest {
    pub(crate) bins: Bins,
    /// The constant: one number per output.
    pub(crate) base: Vec<f64>,
    pub(crate) trees: Vec<BinnedTree>,
    masks: Vec<LeafMasks>,
}

impl Forest {
    pub(crate) fn new(bins: Bins, base: Vec<f64>, trees: Vec<BinnedTree>) -> Self {
        let masks = trees.iter().map(LeafMasks::new).collect();
        Self { bins, base, trees, masks }
    }

    /// Writes the predictions for rows of bins, rows × outputs.
    pub(crate) fn predict(&self, rows: &[u8], out: &mut [f64]) {
        let (features, outputs) = (self.bins.features.len(), self.base.len());
        let block = (BLOCK / features.max(1)).max(1);
        for (rows, out) in rows.chunks(block * features).zip(out.chunks_mut(block * outputs)) {
            Cancellation::check();
            out.chunks_exact_mut(outputs).for_each(|out| out.copy_from_slice(&self.base));
            for (tree, masks) in self.trees.iter().zip(&self.masks) {
                masks.add(tree, rows, features, out, outputs);
            }
        }
    }

    /// Writes the predictions for pairs of hybrids, pairs × 2 × outputs. `own` contains the bins of the
    /// explicand, and `others` the bins of the background rows that occur in `pairs`: rows × features. The
    /// predictions equal those of [`predict`](Self::predict) bit for bit.
    pub(crate) fn predict_pairs(&self, pairs: &Pairs, own: &[u8], others: &[u8], out: &mut [f64]) {
        let outputs = self.base.len();
        Cancellation::check();
        out.chunks_exact_mut(outputs).for_each(|out| out.copy_from_slice(&self.base));
        let mut masks_of_pairs = PairMasks::default();
        for (tree, masks) in self.trees.iter().zip(&self.masks) {
            masks_of_pairs.look_up(masks, pairs, own, others);
            for (pair, out) in out.chunks_exact_mut(2 * outputs).enumerate() {
                let (first, second) = out.split_at_mut(outputs);
                let leaves = masks_of_pairs.leaves(pairs, pair);
                for (leaf, out) in leaves.into_iter().zip([first, second]) {
                    let values = &tree.values[leaf * tree.outputs..][..tree.outputs];
                    for (out, value) in out[tree.first_output..].iter_mut().zip(values) {
                        *out += value;
                    }
                }
            }
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
