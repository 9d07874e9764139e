//! Growth of one tree, leaf by leaf: the node with the largest gain is split first.

use std::ops::Range;

use super::bins::Bins;
use super::histogram::{BestSplit, Entry, Histogram, SplitLimits};
use super::tree::{BinnedTree, Node};

/// Limits on the shape of a tree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TreeLimits {
    pub(crate) max_leaves: usize,
    pub(crate) max_depth: usize,
    pub(crate) split: SplitLimits,
}

/// The rows from which a tree is grown.
pub(crate) struct Training<'a, const L: usize> {
    /// The bins of all rows, row-major.
    pub(crate) rows: &'a [u8],
    pub(crate) bins: &'a Bins,
    /// The features that the tree may use.
    pub(crate) features: &'a [u32],
    /// The residuals of the rows, with a leading 1.
    pub(crate) entries: &'a mut [Entry<L>],
    /// The indices of the rows, which are sorted by leaf.
    pub(crate) order: &'a mut [u32],
    /// Scratch memory for the partition of rows.
    pub(crate) scratch: &'a mut Vec<u32>,
}

/// A leaf that may be split.
struct OpenLeaf<const L: usize> {
    at: usize,
    rows: Range<usize>,
    depth: usize,
    histogram: Option<Histogram<L>>,
    split: Option<BestSplit>,
}

impl<const L: usize> Training<'_, L> {
    fn histogram(&self, rows: Range<usize>) -> Histogram<L> {
        let columns = self.bins.features.len();
        Histogram::new(self.rows, columns, self.features, &self.order[rows], self.entries)
    }

    fn open(
        &self,
        (at, rows, depth): (usize, Range<usize>, usize),
        histogram: Option<Histogram<L>>,
        limits: &TreeLimits,
    ) -> OpenLeaf<L> {
        let split = match &histogram {
            Some(histogram) if depth < limits.max_depth => {
                histogram.best_split(self.bins, self.features, &limits.split)
            }
            _ => None,
        };
        let histogram = histogram.filter(|_| split.is_some());
        OpenLeaf { at, rows, depth, histogram, split }
    }

    /// Moves the rows that go left to the front of their range, in their order, and returns how many there
    /// are.
    fn partition(&mut self, rows: Range<usize>, tree: &BinnedTree, node: Node) -> usize {
        let columns = self.bins.features.len();
        self.scratch.clear();
        let order = &mut self.order[rows];
        let mut count = 0;
        for at in 0..order.len() {
            let index = order[at];
            let bin = self.rows[index as usize * columns + node.feature as usize];
            if tree.goes_left(node, bin) {
                order[count] = index;
                count += 1;
            } else {
                self.scratch.push(index);
            }
        }
        order[count..].copy_from_slice(self.scratch);
        count
    }

    /// Grows a tree, and subtracts its predictions from the residuals. The prediction of a leaf is `rate`
    /// times the mean of its residuals, shrunk by the penalty. Returns `None` if there is no split.
    pub(crate) fn grow(&mut self, limits: &TreeLimits, rate: f64) -> Option<BinnedTree> {
        let mut tree = BinnedTree {
            nodes: vec![Node::leaf(0, 0)],
            sets: Vec::new(),
            values: Vec::new(),
            first_output: 0,
            outputs: L - 1,
        };
        let whole = 0..self.order.len();
        let histogram = self.histogram(whole.clone());
        let mut leaves = vec![self.open((0, whole, 0), Some(histogram), limits)];
        while leaves.len() < limits.max_leaves {
            let gain = |leaf: &OpenLeaf<L>| leaf.split.map_or(0.0, |split| split.gain);
            // Choose the first leaf among those with the largest gain.
            let best = (0..leaves.len()).rev().max_by(|&a, &b| gain(&leaves[a]).total_cmp(&gain(&leaves[b])));
            let Some((best, split)) = best.and_then(|best| Some((best, leaves[best].split?))) else { break };
            let leaf = leaves.swap_remove(best);
            let mut node = Node {
                feature: split.feature,
                left: tree.nodes.len() as u16,
                bin: split.bin,
                missing_goes_left: split.missing_goes_left,
                is_set: split.set.is_some(),
            };
            if let Some(set) = split.set {
                node.bin = tree.sets.len() as u16;
                tree.sets.push(set);
            }
            tree.nodes[leaf.at] = node;
            let left_at = tree.nodes.len();
            tree.nodes.extend([Node::leaf(left_at, 0), Node::leaf(left_at + 1, 0)]);
            let middle = leaf.rows.start + self.partition(leaf.rows.clone(), &tree, node);
            let (left, right) = (leaf.rows.start..middle, middle..leaf.rows.end);
            let depth = leaf.depth + 1;
            // Histograms are only needed if another split may follow.
            let goes_on = leaves.len() + 2 < limits.max_leaves && depth < limits.max_depth;
            let (of_left, of_right) = match leaf.histogram.filter(|_| goes_on) {
                None => (None, None),
                Some(whole) if left.len() <= right.len() => {
                    let less = self.histogram(left.clone());
                    let more = whole.without(&less);
                    (Some(less), Some(more))
                }
                Some(whole) => {
                    let less = self.histogram(right.clone());
                    let more = whole.without(&less);
                    (Some(more), Some(less))
                }
            };
            leaves.push(self.open((left_at, left, depth), of_left, limits));
            leaves.push(self.open((left_at + 1, right, depth), of_right, limits));
        }
        if tree.nodes.len() == 1 {
            return None;
        }
        for (index, leaf) in leaves.iter().enumerate() {
            tree.nodes[leaf.at] = Node::leaf(leaf.at, index);
            tree.values.extend(self.settle(leaf.rows.clone(), limits, rate));
        }
        Some(tree)
    }

    /// Computes the values of a leaf, and subtracts them from the residuals of its rows.
    fn settle(&mut self, rows: Range<usize>, limits: &TreeLimits, rate: f64) -> Vec<f64> {
        let of_leaf = &self.order[rows];
        let mut sums = [0.0f64; L];
        for &index in of_leaf {
            for (sum, &entry) in sums.iter_mut().zip(&self.entries[index as usize]) {
                *sum += f64::from(entry);
            }
        }
        let factor = rate / (sums[0] + f64::from(limits.split.penalty));
        let values: Vec<f64> = sums[1..].iter().map(|sum| sum * factor).collect();
        for &index in of_leaf {
            for (entry, value) in self.entries[index as usize][1..].iter_mut().zip(&values) {
                *entry -= *value as f32;
            }
        }
        values
    }
}
