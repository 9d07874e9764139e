//! Nodes and trees.

const FEATURE: u32 = (1 << 30) - 1;
const DEFAULT_LEFT: u32 = 1 << 30;
const RULED: u32 = 1 << 31;

/// A split or a leaf, in 16 bytes.
#[derive(Debug, Clone, Copy)]
pub struct Node {
    /// Threshold of a comparison, index of the rule of any other split, or value of a leaf.
    number: f64,
    /// Feature and flags of a split; for a linear leaf, its index among all linear leaves, plus one.
    tag: u32,
    /// Index of the left child within the tree; 0 for a leaf, since the root is not a child of any node.
    left: u32,
}

impl Node {
    pub(super) const MAX_FEATURES: usize = FEATURE as usize + 1;

    /// Creates a split that compares with `threshold`. The feature must be below
    /// [`MAX_FEATURES`](Self::MAX_FEATURES).
    pub(super) fn comparison(feature: u32, default_left: bool, threshold: f64, left: u32) -> Self {
        Self { number: threshold, tag: feature | if default_left { DEFAULT_LEFT } else { 0 }, left }
    }

    /// Creates a split that uses a rule of the ensemble.
    pub(super) fn ruled(feature: u32, default_left: bool, rule: usize, left: u32) -> Self {
        let mut node = Self::comparison(feature, default_left, rule as f64, left);
        node.tag |= RULED;
        node
    }

    pub(super) fn leaf(value: f64) -> Self {
        Self { number: value, tag: 0, left: 0 }
    }

    /// Creates a linear leaf, whose value is `value` if a feature of its model is missing.
    pub(super) fn linear_leaf(value: f64, index: u32) -> Self {
        Self { number: value, tag: index + 1, left: 0 }
    }

    /// Returns `true` for a leaf, `false` for a split.
    #[inline]
    pub fn is_leaf(self) -> bool {
        self.left == 0
    }

    /// Returns the value of a leaf; for a linear leaf, the value used if a feature of its model is missing.
    #[inline]
    pub fn value(self) -> f64 {
        self.number
    }

    /// Returns the index of a linear leaf among the linear leaves of the ensemble, or `None` for any other
    /// leaf.
    #[inline]
    pub(super) fn linear(self) -> Option<usize> {
        (self.tag as usize).checked_sub(1)
    }

    /// Returns the threshold of a split that compares. Meaningless if the split is [ruled](Self::is_ruled).
    #[inline]
    pub fn threshold(self) -> f64 {
        self.number
    }

    /// Returns the feature of a split.
    #[inline]
    pub fn feature(self) -> usize {
        (self.tag & FEATURE) as usize
    }

    /// Returns whether a missing value goes left at a split.
    #[inline]
    pub fn default_left(self) -> bool {
        self.tag & DEFAULT_LEFT != 0
    }

    /// Returns whether a split uses a rule, such as a set of categories, instead of a comparison.
    #[inline]
    pub fn is_ruled(self) -> bool {
        self.tag & RULED != 0
    }

    /// Returns the index of the rule of a ruled split.
    #[inline]
    pub(super) fn rule(self) -> usize {
        self.number as usize
    }

    /// Returns the index of a split's left child within its tree.
    #[inline]
    pub fn left(self) -> usize {
        self.left as usize
    }

    /// Returns the index of a split's right child within its tree.
    #[inline]
    pub fn right(self) -> usize {
        self.left as usize + 1
    }
}

/// A tree: the location of its nodes, and the output to which its leaves add.
#[derive(Debug, Clone)]
pub struct Tree {
    pub(super) first: usize,
    pub(super) count: usize,
    /// The output to which the leaves add.
    pub output: usize,
    /// The largest number of splits on a path from the root to a leaf.
    pub depth: usize,
    /// The number of leaves.
    pub leaves: usize,
    /// Whether any split uses a rule.
    pub ruled: bool,
    /// Whether any leaf is linear.
    pub linear: bool,
}

impl Tree {
    /// Returns the range of the tree's nodes in [`Ensemble::nodes`](crate::Ensemble::nodes).
    #[inline]
    pub fn nodes(&self) -> std::ops::Range<usize> {
        self.first..self.first + self.count
    }
}
