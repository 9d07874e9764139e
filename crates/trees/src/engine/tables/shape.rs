//! How the tables of a tree are cut and laid out.
//!
//! A *region* is a split and some of the tree below it whose leaves share one table: the split alone with the
//! leaves right below it, or its whole subtree. Its table is indexed by the pattern at the split and one bit
//! for the decision of each split of the region, in the order of a walk that takes left before right. That
//! says all about every leaf below, so one lookup serves them all. A wider region has more entries and fewer
//! lookups: which pays is a matter of the number of rows.

use crate::engine::bits::MOST_BITS;
use crate::engine::pairs::{PairWeights, places};
use crate::engine::paths::Paths;
use crate::engine::weights::Weights;
use apportion_models::tree::Node;

/// In place of a slot or a region: there is none.
pub(crate) const NONE: u32 = u32::MAX;

/// Most players whose values an entry holds side by side.
const MOST_LANES: usize = 16;

/// What an entry of a table is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// The values of all players, with as many numbers: one load and one addition per lookup.
    Lanes(usize),
    /// A number in each of the columns of the players that the region's leaves depend on.
    Columns,
    /// The same of pairs of these players, which stand in the place of players.
    Pairs,
}

impl Layout {
    /// Of what is asked in a game of `players`.
    pub(crate) fn of(weights: &Weights, players: usize) -> Self {
        if weights.pairs().is_some() { Self::Pairs } else { Self::new(players) }
    }

    /// For the values of `players`.
    pub(crate) fn new(players: usize) -> Self {
        match players {
            0..=4 => Self::Lanes(4),
            5..=8 => Self::Lanes(8),
            9..=MOST_LANES => Self::Lanes(16),
            _ => Self::Columns,
        }
    }
}

/// A split that the patterns of rows are taken through.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub(crate) split: u32,
    /// Where the patterns at the split are kept.
    pub(crate) slot: u32,
    /// Where those at its children are written; [`NONE`] where nobody asks for them.
    pub(crate) left: u32,
    pub(crate) right: u32,
    /// The region that begins here, if one does.
    pub(crate) region: u32,
    /// Bits of the patterns at the split.
    pub(crate) above: u32,
    /// The bit of its own feature in the patterns at its children.
    pub(crate) bit: u32,
    /// Whether no split above has its feature.
    pub(crate) is_first: bool,
}

/// Leaves that share a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Region {
    /// Of an index.
    pub(crate) bits: u32,
    /// Where the table begins among the numbers of the tree's tables.
    pub(crate) start: usize,
    /// Numbers of an entry.
    pub(crate) width: usize,
    splits: (u32, u32),
    players: (u32, u32),
}

/// The regions of a tree, and the way to them.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    pub(crate) layout: Layout,
    /// Parents before children.
    pub(crate) steps: Vec<Step>,
    pub(crate) regions: Vec<Region>,
    /// Number of slots for patterns.
    pub(crate) slots: usize,
    /// Numbers in all tables.
    pub(crate) size: usize,
    splits: Vec<u32>,
    players: Vec<u32>,
    /// Splits at and below each node.
    below: Vec<u32>,
}

impl Shape {
    /// Regions are whole subtrees wherever an index then has at most `merged_bits`. `None` where an index of
    /// two leaves alone has more than [`MOST_BITS`].
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
            if shape.below[index] == 1 || merged <= merged_bits.min(MOST_BITS) {
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

    /// Begins a region of indices of as many bits.
    fn begin(
        &mut self,
        nodes: &[Node],
        paths: &Paths,
        weights: &Weights,
        root: usize,
        bits: usize,
    ) -> Option<u32> {
        if bits > MOST_BITS {
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

    /// The splits of a region, its own first, in the order of their bits.
    pub(crate) fn splits(&self, region: &Region) -> &[u32] {
        &self.splits[region.splits.0 as usize..region.splits.1 as usize]
    }

    /// The players, or pairs of them, that the leaves of a region give something.
    pub(crate) fn players(&self, region: &Region) -> &[u32] {
        &self.players[region.players.0 as usize..region.players.1 as usize]
    }

    /// Splits at and below a node.
    pub(crate) fn splits_below(&self, node: usize) -> usize {
        self.below[node] as usize
    }
}

/// Whom a leaf with these path features gives something: the players, or the pairs of them.
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

/// Up to how many bits regions are merged where this many rows look them up.
pub(crate) fn merged_bits(rows: usize) -> usize {
    // An entry is put together in the time of some lookups; tables beyond 2^8 entries are far from the core.
    (rows / 8 + 1).ilog2().min(8) as usize
}

/// Numbers that the tables of a tree hold where no regions are merged, and lookups that a row takes; `None`
/// where an index would have too many bits.
pub(crate) fn size(nodes: &[Node], paths: &Paths, layout: Layout) -> Option<(usize, usize)> {
    let (mut size, mut lookups) = (0, 0);
    for (index, node) in nodes.iter().enumerate() {
        if node.is_leaf() {
            continue;
        }
        let leaf = [node.left(), node.right()].into_iter().find(|&child| nodes[child].is_leaf());
        if let Some(leaf) = leaf {
            let bits = paths.features(index).len() + 1;
            if bits > MOST_BITS {
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
