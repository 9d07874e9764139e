//! How long the recursion takes.

use super::block::block_counts;
use super::lanes::MOST_NODES;

/// Nanoseconds that a split takes in a block of 64 rows, of 8, and with a single row: for each way through
/// the tree, and for each node of the rule.
const SPLIT: [(f64, f64); 3] = [(12.0, 22.0), (8.0, 4.0), (8.5, 0.5)];
/// The processor learns the ways through programs of fewer splits. Through others a block of 8 rows takes
/// longer than two single rows.
const LEARNED: usize = 100_000;

/// What quadrature costs for some rows, tree by tree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    /// Wide blocks, narrow ones, and single rows.
    counts: [usize; 3],
}

impl Cost {
    /// For so many rows, and trees with so many splits together and on the longest path.
    pub(crate) fn new(rows: usize, splits: usize, levels: usize) -> Self {
        // Those of a task are whole blocks, but for the last.
        Self { counts: block_counts(rows, levels, Self::few(splits)) }
    }

    /// Up to so many rows are taken one by one through so many splits, rather than in a block of 8.
    pub(super) fn few(splits: usize) -> usize {
        if splits > LEARNED { 2 } else { 1 }
    }

    /// Of a tree with so many splits, by a rule of so many nodes.
    pub(crate) fn nanoseconds(self, splits: usize, nodes: usize) -> f64 {
        let ways = nodes.div_ceil(MOST_NODES) as f64;
        let of_block = |(way, node): (f64, f64)| way * ways + node * nodes as f64;
        let blocks = self.counts.iter().zip(SPLIT);
        splits as f64 * blocks.map(|(&count, costs)| count as f64 * of_block(costs)).sum::<f64>()
    }
}
