//! The division of a tree into tables, and their layout.
//!
//! A *region* consists of a split and a part of the tree below it. Its leaves share one table. It is either
//! the split with its leaf children, or the whole subtree of the split. Its table is indexed by the pattern
//! at the split and one bit for the decision of each split of the region, in depth-first order with left
//! before right. The index determines the pattern at every leaf of the region, so one lookup covers them all.
//! A wider region has more entries, but requires fewer lookups. The number of rows determines which is
//! faster.

use crate::engine::bits::MAX_BITS;
use crate::engine::pairs::{PairWeights, places};
use crate::engine::paths::Paths;
use crate::engine::weights::Weights;
use apportion_models::tree::Node;

/// Marks a missing slot or region.
pub(crate) const NONE: u32 = u32::MAX;

/// The maximum number of players whose values are stored side by side in an entry.
const MAX_LANES: usize = 16;

/// The layout of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Entries with the values of all players, padded to this number of values: one load and one addition per
    /// lookup.
    Lanes(usize),
    /// One column for each player on which the region's leaves depend.
    Columns,
    /// One column for each pair of players on which the region's leaves depend.
    Pairs,
}

impl Layout {
    /// Returns the layout for these weights in a game of `players` players.
    pub(crate) fn for_weights(weights: &Weights, players: usize) -> Self {
        if weights.pairs().is_some() { Self::Pairs } else { Self::new(players) }
    }

    /// Returns the layout for tables with the values of `players` players.
    pub(crate) fn new(players: usize) -> Self {
        match players {
            0..=4 => Self::Lanes(4),
            5..=8 => Self::Lanes(8),
            9..=MAX_LANES => Self::Lanes(16),
            _ => Self::Columns,
        }
    }
}

/// A split at which the patterns of rows are computed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub(crate) split: u32,
    /// The slot of the patterns at the split.
    pub(crate) slot: u32,
    /// The slots for the patterns at its children; [`NONE`] if they are not needed.
    pub(crate) left: u32,
    pub(crate) right: u32,
    /// The region that starts here, or [`NONE`].
    pub(crate) region: u32,
    /// The number of bits of the patterns at the split.
    pub(crate) above: u32,
    /// The bit of the split's feature in the patterns at its children.
    pub(crate) bit: u32,
    /// Whether no split above tests the same feature.
    pub(crate) is_first: bool,
}

/// Leaves that share a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Region {
    /// The number of bits of an index.
    pub(crate) bits: u32,
    /// The index of the table's first number among the numbers of all tables of the tree.
    pub(crate) start: usize,
    /// The number of values in an entry.
    pub(crate) width: usize,
    splits: (u32, u32),
    players: (u32, u32),
}

/// The regions of a tree, and the steps that lead to them.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    pub(crate) layout: Layout,
    /// The steps in an order in which parents come before children.
    pub(crate) steps: Vec<Step>,
    pub(crate) regions: Vec<Region>,
    /// The number of slots for patterns.
    pub(crate) slots: usize,
    /// The number of values in all tables.
    pub(crate) size: usize,
    splits: Vec<u32>,
    players: Vec<u32>,
    /// For each node, the number of splits at and below it.
    below: Vec<u32>,
}

impl Shape {
    /// Divides a tree into regions. A subtree forms one region if the index then has at most `merged_bits`
    /// bits. Returns `None` if the index for the leaf children of a single split has more than [`MAX_BITS`]
    /// bits.
    pub(crate) fn new(
        nodes: &[Node],
        paths: &Paths,
        weights: &Weights,
        layout: Layout,
        merged_bits: usize,
    ) -> Option<Self> {
        let mut below = vec![0; nodes.len()];
        for (index, node) in nodes.iter().enumerate().rev().filter(|(_, node)| !node.is_leaf()) {
            below[index] = 1 + below[node.left()] + below[node.right()];
        }
        let mut shape = Self {
            layout,
            steps: Vec::new(),
            regions: Vec::new(),
            slots: 1,
            size: 0,
            splits: Vec::new(),
            players: Vec::new(),
            below,
        };
        let mut slots = vec![NONE; nodes.len()];
        slots[0] = 0;
        for (index, &node) in nodes.iter().enumerate() {
            if node.is_leaf() || slots[index] == NONE {
                continue;
            }
            let above = paths.features(index).len();
            let merged = above + shape.below[index] as usize;
            let mut step = Step {
                split: index as u32,
                slot: slots[index],
                left: NONE,
                right: NONE,
                region: NONE,
                above: above as u32,
                bit: paths.bit(index),
                is_first: paths.is_first(index),
            };
            if shape.below[index] == 1 || merged <= merged_bits.min(MAX_BITS) {
                step.region = shape.begin(nodes, paths, weights, index, merged)?;
            } else {
                if nodes[node.left()].is_leaf() || nodes[node.right()].is_leaf() {
                    step.region = shape.begin(nodes, paths, weights, index, above + 1)?;
                }
                for (child, slot) in [(node.left(), &mut step.left), (node.right(), &mut step.right)] {
                    if !nodes[child].is_leaf() {
                        *slot = shape.slots as u32;
                        slots[child] = *slot;
                        shape.slots += 1;
                    }
                }
            }
            shape.steps.push(step);
        }
        Some(shape)
    }

    /// Starts a region whose indices have this many bits.
    fn begin(
        &mut self,
        nodes: &[Node],
        paths: &Paths,
        weights: &Weights,
        root: usize,
        bits: usize,
    ) -> Option<u32> {
        if bits > MAX_BITS {
            return None;
        }
        let (first_split, first_player) = (self.splits.len(), self.players.len());
        let whole = bits == paths.features(root).len() + self.below[root] as usize;
        let mut open = vec![root];
        while let Some(index) = open.pop() {
            let node = nodes[index];
            if node.is_leaf() {
                for_each_target(paths.features(index), weights, |target| {
                    if !self.players[first_player..].contains(&target) {
                        self.players.push(target);
                    }
                });
            } else if whole || index == root {
                self.splits.push(index as u32);
                open.extend([node.right(), node.left()]);
            }
        }
        let width = match self.layout {
            Layout::Lanes(width) => width,
            Layout::Columns | Layout::Pairs => self.players.len() - first_player,
        };
        self.regions.push(Region {
            bits: bits as u32,
            start: self.size,
            width,
            splits: (first_split as u32, self.splits.len() as u32),
            players: (first_player as u32, self.players.len() as u32),
        });
        self.size += width << bits;
        Some(self.regions.len() as u32 - 1)
    }

    /// Returns the splits of a region, its root first, in the order of their bits.
    pub(crate) fn splits(&self, region: &Region) -> &[u32] {
        &self.splits[region.splits.0 as usize..region.splits.1 as usize]
    }

    /// Returns the players, or pairs of players, to which the leaves of a region contribute.
    pub(crate) fn players(&self, region: &Region) -> &[u32] {
        &self.players[region.players.0 as usize..region.players.1 as usize]
    }

    /// Returns the number of splits at and below a node.
    pub(crate) fn splits_below(&self, node: usize) -> usize {
        self.below[node] as usize
    }
}

/// Calls `each` for every target to which a leaf with these path features contributes: its players, or pairs
/// of players.
pub(super) fn for_each_target(features: &[u32], weights: &Weights, mut each: impl FnMut(u32)) {
    match weights.pairs() {
        None => features.iter().copied().for_each(each),
        Some(PairWeights { pairs, .. }) => {
            for (low, high) in places(features.len()) {
                each(pairs.number(features[low], features[high]) as u32);
            }
        }
    }
}

/// Returns the maximum number of index bits for which regions are merged, for this number of rows.
pub(crate) fn merged_bits(rows: usize) -> usize {
    // Computing an entry takes as long as several lookups. Tables with more than 2^8 entries do not fit in
    // the first-level cache.
    (rows / 8 + 1).ilog2().min(8) as usize
}

/// Returns the size of a tree's tables if no regions are merged, and the number of lookups per row; `None` if
/// an index would have too many bits.
pub(crate) fn size(nodes: &[Node], paths: &Paths, layout: Layout) -> Option<(usize, usize)> {
    let (mut size, mut lookups) = (0, 0);
    for (index, node) in nodes.iter().enumerate() {
        if node.is_leaf() {
            continue;
        }
        let leaf = [node.left(), node.right()].into_iter().find(|&child| nodes[child].is_leaf());
        if let Some(leaf) = leaf {
            let bits = paths.features(index).len() + 1;
            if bits > MAX_BITS {
                return None;
            }
            let features = paths.features(leaf).len();
            let (width, loads) = match layout {
                Layout::Lanes(width) => (width, 1),
                Layout::Columns => (features, features),
                Layout::Pairs => (features * (features - 1) / 2, features * (features - 1) / 2),
            };
            size += width << bits;
            lookups += loads;
        }
    }
    Some((size, lookups))
}
