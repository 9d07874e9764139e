//! The predicted time of the recursion.

use super::block::block_counts;
use super::lanes::MAX_NODES;

/// The time of a split in nanoseconds, per traversal of the tree and per node of the rule: for a block of 64
/// rows, a block of 8, and a single row.
const SPLIT: [(f64, f64); 3] = [(12.0, 22.0), (8.0, 4.0), (8.5, 0.5)];
/// Maximum number of splits for which the branch predictor learns the traversal of a program. With more
/// splits, a block of 8 rows takes longer than two single rows.
const LEARNED: usize = 100_000;

/// The cost of quadrature for some rows, tree by tree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    /// The number of wide blocks, narrow blocks and single rows.
    counts: [usize; 3],
}

impl Cost {
    /// Creates the cost for this number of rows, and trees with this number of splits in total and on the
    /// longest path.
    pub(crate) fn new(rows: usize, splits: usize, levels: usize) -> Self {
        // All blocks of a task except the last are full.
        Self { counts: block_counts(rows, levels, Self::few(splits)) }
    }

    /// Returns, for this number of splits, the maximum number of remaining rows that are processed one by one
    /// rather than in a block of 8.
    pub(super) fn few(splits: usize) -> usize {
        if splits > LEARNED { 2 } else { 1 }
    }

    /// Returns the predicted time of a tree with this number of splits and a rule with this number of nodes.
    pub(crate) fn nanoseconds(self, splits: usize, nodes: usize) -> f64 {
        let ways = nodes.div_ceil(MAX_NODES) as f64;
        let of_block = |(way, node): (f64, f64)| way * ways + node * nodes as f64;
        let blocks = self.counts.iter().zip(SPLIT);
        splits as f64 * blocks.map(|(&count, costs)| count as f64 * of_block(costs)).sum::<f64>()
    }
}
