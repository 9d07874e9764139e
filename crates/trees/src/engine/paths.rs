//! The features on which a leaf depends, and the tests on its path that a row passes.
//!
//! The *path features* of a node are the distinct features of the splits above it, in the order of their
//! first split. The *pattern* of a row at the node has bit j set iff the row passes every test above the node
//! on the j-th path feature. The patterns of two rows at a leaf determine whether a mixture of the rows
//! reaches the leaf. The mixture reaches it iff every path feature's bit is set in the pattern of the row
//! from which the feature is taken.
//!
//! If whole groups of features are the players, "feature" means a group here, whose tests are the tests of
//! all its features.

use std::ops::{BitAnd, BitOr, BitXor, Not, Shl};

use apportion_models::Ensemble;
use apportion_models::tree::{Node, Width};

/// The number of rows whose patterns are computed together.
pub(crate) const BLOCK: usize = 64;

/// The maximum number of path features in a pattern.
pub(crate) const MAX_FEATURES: usize = 64;

/// An integer type for patterns.
pub(crate) trait Word:
    Copy
    + From<bool>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
    + Shl<u32, Output = Self>
{
}

impl Word for u16 {}
impl Word for u32 {}
impl Word for u64 {}

/// The integer type of table indices.
pub(crate) type Pattern = u16;

/// The path features of the nodes of one tree.
#[derive(Debug, Clone)]
pub(crate) struct Paths {
    /// For each split, the bit of its feature in the patterns of its children.
    bits: Vec<u32>,
    /// For each node, the start and the length of its path features in `features`.
    ranges: Vec<(usize, usize)>,
    features: Vec<u32>,
    /// The maximum number of path features of any leaf.
    pub(crate) max_width: usize,
}

impl Paths {
    /// Finds the path features of a tree. `players` maps each feature to its player. Returns `None` if a leaf
    /// depends on more features than a pattern has bits.
    pub(crate) fn new(nodes: &[Node], players: &[u32]) -> Option<Self> {
        let mut paths = Self {
            bits: vec![0; nodes.len()],
            ranges: vec![(0, 0); nodes.len()],
            features: Vec::new(),
            max_width: 0,
        };
        for (index, node) in nodes.iter().enumerate() {
            if node.is_leaf() {
                continue;
            }
            // Parents come before children, so the range of this node is known.
            let (start, count) = paths.ranges[index];
            let feature = players[node.feature()];
            let known = paths.features[start..start + count].iter().position(|&other| other == feature);
            paths.bits[index] = known.unwrap_or(count) as u32;
            let below = match known {
                Some(_) => (start, count),
                None if count == MAX_FEATURES => return None,
                None => {
                    let longer = paths.features.len();
                    paths.features.extend_from_within(start..start + count);
                    paths.features.push(feature);
                    (longer, count + 1)
                }
            };
            paths.ranges[node.left()] = below;
            paths.ranges[node.right()] = below;
            paths.max_width = paths.max_width.max(below.1);
        }
        Some(paths)
    }

    /// Returns the path features of a node.
    pub(crate) fn features(&self, node: usize) -> &[u32] {
        let (start, count) = self.ranges[node];
        &self.features[start..start + count]
    }

    /// Returns the bit of a split's feature in the patterns of its children.
    pub(crate) fn bit(&self, split: usize) -> u32 {
        self.bits[split]
    }

    /// Returns the pattern at a child of a split, from the pattern at the split and whether the split's test
    /// sends the row to that child.
    pub(crate) fn child_pattern(&self, split: usize, pattern: u64, passed: bool) -> u64 {
        let bit = 1 << self.bits[split];
        match (self.is_first(split), passed) {
            (true, true) => pattern | bit,
            (false, false) => pattern & !bit,
            _ => pattern,
        }
    }

    /// Returns whether a split is the first on its feature.
    pub(crate) fn is_first(&self, split: usize) -> bool {
        self.bits[split] as usize == self.ranges[split].1
    }
}

/// Rounded values of up to [`BLOCK`] rows, stored by feature, so that one split tests all rows at once.
pub(crate) struct Columns {
    values: Values,
    rows: usize,
}

/// The values in the precision in which the ensemble compares them with thresholds.
enum Values {
    Single(Vec<[f32; BLOCK]>),
    Double(Vec<[f64; BLOCK]>),
}

impl Columns {
    pub(crate) fn new(ensemble: &Ensemble) -> Self {
        let features = ensemble.feature_count();
        let values = match ensemble.width() {
            Width::Single => Values::Single(vec![[0.0; BLOCK]; features]),
            Width::Double => Values::Double(vec![[0.0; BLOCK]; features]),
        };
        Self { values, rows: 0 }
    }

    /// Loads `rows`, which are row-major and not yet rounded.
    pub(crate) fn fill(&mut self, ensemble: &Ensemble, rows: &[f64]) {
        let features = ensemble.feature_count();
        self.rows = rows.len() / features;
        for (index, row) in rows.chunks_exact(features).enumerate() {
            match &mut self.values {
                Values::Single(columns) => {
                    for (column, &value) in columns.iter_mut().zip(row) {
                        column[index] = ensemble.width().round(value) as f32;
                    }
                }
                Values::Double(columns) => {
                    for (column, &value) in columns.iter_mut().zip(row) {
                        column[index] = ensemble.width().round(value);
                    }
                }
            }
        }
    }

    /// Returns the number of loaded rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Writes to `left` which of the rows go left at a split.
    pub(crate) fn decide<W: Word>(&self, ensemble: &Ensemble, split: Node, left: &mut [W; BLOCK]) {
        if self.rows > BLOCK / 8 {
            self.decide_all(ensemble, split, left);
        } else {
            self.decide_some(ensemble, split, &mut left[..self.rows]);
        }
    }

    /// Writes to `left` which rows of a whole block go left at a split. Positions beyond the loaded rows are
    /// included, because a constant number of steps is faster.
    #[inline(always)]
    pub(crate) fn decide_all<W: Word>(&self, ensemble: &Ensemble, split: Node, left: &mut [W; BLOCK]) {
        self.decide_some(ensemble, split, left);
    }

    #[inline(always)]
    fn decide_some<W: Word>(&self, ensemble: &Ensemble, split: Node, left: &mut [W]) {
        let (feature, threshold) = (split.feature(), split.threshold());
        if split.is_ruled() {
            for (row, left) in left.iter_mut().enumerate() {
                let value = match &self.values {
                    Values::Single(columns) => f64::from(columns[feature][row]),
                    Values::Double(columns) => columns[feature][row],
                };
                *left = W::from(ensemble.goes_left(split, value));
            }
            return;
        }
        match &self.values {
            Values::Single(columns) => {
                // An `f32` value is below the threshold iff it is below the next `f32` at or above the
                // threshold.
                let nearest = threshold as f32;
                let threshold = if f64::from(nearest) < threshold { nearest.next_up() } else { nearest };
                if split.default_left() {
                    for (left, &value) in left.iter_mut().zip(&columns[feature]) {
                        *left = W::from((value < threshold) | value.is_nan());
                    }
                } else {
                    for (left, &value) in left.iter_mut().zip(&columns[feature]) {
                        *left = W::from(value < threshold);
                    }
                }
            }
            Values::Double(columns) => {
                if split.default_left() {
                    for (left, &value) in left.iter_mut().zip(&columns[feature]) {
                        *left = W::from((value < threshold) | value.is_nan());
                    }
                } else {
                    for (left, &value) in left.iter_mut().zip(&columns[feature]) {
                        *left = W::from(value < threshold);
                    }
                }
            }
        }
    }
}

/// Computes the patterns of a whole block at a child of a split from the patterns at the split. `passes` is
/// `true` for the left child, whose test a row passes if it goes left, and `false` for the right child.
#[inline(always)]
pub(crate) fn descend<W: Word>(
    patterns: &[W; BLOCK],
    left: &[W; BLOCK],
    bit: u32,
    is_first: bool,
    passes: bool,
    child: &mut [W; BLOCK],
) {
    let mask = W::from(true) << bit;
    let rows = child.iter_mut().zip(patterns).zip(left);
    match (is_first, passes) {
        (true, true) => rows.for_each(|((child, &pattern), &left)| *child = pattern | left << bit),
        (true, false) => rows.for_each(|((child, &pattern), &left)| *child = pattern | (left << bit ^ mask)),
        (false, true) => rows.for_each(|((child, &pattern), &left)| *child = pattern & !(left << bit ^ mask)),
        (false, false) => rows.for_each(|((child, &pattern), &left)| *child = pattern & !(left << bit)),
    }
}

/// The patterns of up to [`BLOCK`] rows at every node of a tree.
pub(crate) struct Patterns<W> {
    words: Vec<[W; BLOCK]>,
}

impl<W: Word> Patterns<W> {
    pub(crate) fn new() -> Self {
        Self { words: Vec::new() }
    }

    /// Prepares the memory for the patterns of a tree with `nodes` nodes.
    pub(crate) fn begin(&mut self, nodes: usize) {
        let none = [W::from(false); BLOCK];
        if self.words.len() < nodes {
            self.words.resize(nodes, none);
        }
        self.words[0] = none;
    }

    /// Returns the patterns at a node whose parent has been [descended](Self::descend).
    pub(crate) fn at(&self, node: usize) -> &[W; BLOCK] {
        &self.words[node]
    }

    /// Computes the patterns at both children of a split from the patterns at the split.
    pub(crate) fn descend(
        &mut self,
        paths: &Paths,
        split: usize,
        node: Node,
        left: &[W; BLOCK],
        rows: usize,
    ) {
        let bit = paths.bit(split);
        let (above, below) = self.words.split_at_mut(node.left());
        let parent = &above[split][..rows];
        let [left_child, right_child, ..] = below else { unreachable!("a split has two children") };
        let mask = W::from(true) << bit;
        let children = left_child.iter_mut().zip(right_child.iter_mut());
        let rows = parent.iter().zip(left).zip(children);
        if paths.is_first(split) {
            for ((&pattern, &left), (left_child, right_child)) in rows {
                let passed = left << bit;
                *left_child = pattern | passed;
                *right_child = pattern | (passed ^ mask);
            }
        } else {
            for ((&pattern, &left), (left_child, right_child)) in rows {
                let passed = left << bit;
                *left_child = pattern & !(passed ^ mask);
                *right_child = pattern & !passed;
            }
        }
    }
}
