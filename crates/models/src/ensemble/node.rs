//! Nodes and trees.

const FEATURE: u32 = (1 << 30) - 1;
const DEFAULT_LEFT: u32 = 1 << 30;
const RULED: u32 = 1 << 31;

/// A split or a leaf, in 16 bytes.
#[derive(Debug, Clone, Copy)]
pub struct Node {
    /// Threshold of a comparison, number of the rule of another split, value of a leaf.
    number: f64,
    /// Feature and flags of a split; of a linear leaf one more than its number among those.
    tag: u32,
    /// Number of the left child within the tree; 0 for a leaf, as the root is nobody's child.
    left: u32,
}

impl Node {
    pub(super) const MOST_FEATURES: usize = FEATURE as usize + 1;

    /// A split that compares with `threshold`. The feature must be below [`MOST_FEATURES`](Self::MOST_FEATURES).
    pub(super) fn comparison(feature: u32, default_left: bool, threshold: f64, left: u32) -> Self {
        Self { number: threshold, tag: feature | if default_left { DEFAULT_LEFT } else { 0 }, left }
    }

    /// A split that decides by a rule of the ensemble.
    pub(super) fn ruled(feature: u32, default_left: bool, rule: usize, left: u32) -> Self {
        let mut node = Self::comparison(feature, default_left, rule as f64, left);
        node.tag |= RULED;
        node
    }

    pub(super) fn leaf(value: f64) -> Self {
        Self { number: value, tag: 0, left: 0 }
    }

    /// A leaf whose value is that of a linear model; `value` where a feature of the model is missing.
    pub(super) fn linear_leaf(value: f64, index: u32) -> Self {
        Self { number: value, tag: index + 1, left: 0 }
    }

    /// Whether it is a leaf, and not a split.
    #[inline]
    pub fn is_leaf(self) -> bool {
        self.left == 0
    }

    /// The value of a leaf; of a linear one, where a feature of its model is missing.
    #[inline]
    pub fn value(self) -> f64 {
        self.number
    }

    /// The number of a linear leaf among those of the ensemble; `None` for any other leaf.
    #[inline]
    pub(super) fn linear(self) -> Option<usize> {
        (self.tag as usize).checked_sub(1)
    }

    /// The threshold of a split that compares; without meaning where it is [ruled](Self::is_ruled).
    #[inline]
    pub fn threshold(self) -> f64 {
        self.number
    }

    /// The feature that a split asks for.
    #[inline]
    pub fn feature(self) -> usize {
        (self.tag & FEATURE) as usize
    }

    /// Whether a missing value goes left at a split.
    #[inline]
    pub fn default_left(self) -> bool {
        self.tag & DEFAULT_LEFT != 0
    }

    /// Whether a split decides by a rule of its own, a set of categories for example, instead of a comparison.
    #[inline]
    pub fn is_ruled(self) -> bool {
        self.tag & RULED != 0
    }

    /// The number of a ruled split's rule.
    #[inline]
    pub(super) fn rule(self) -> usize {
        self.number as usize
    }

    /// The number of a split's left child within its tree.
    #[inline]
    pub fn left(self) -> usize {
        self.left as usize
    }

    /// The number of a split's right child within its tree.
    #[inline]
    pub fn right(self) -> usize {
        self.left as usize + 1
    }
}

/// One tree: where its nodes lie and which output it adds to.
#[derive(Debug, Clone)]
pub struct Tree {
    pub(super) first: usize,
    pub(super) count: usize,
    /// The output that its leaves add to.
    pub output: usize,
    /// Splits on the longest way from the root to a leaf.
    pub depth: usize,
    /// Number of leaves.
    pub leaves: usize,
    /// Whether a split decides by a rule.
    pub ruled: bool,
    /// Whether a leaf is linear.
    pub linear: bool,
}

impl Tree {
    /// The numbers of its nodes among [those of the ensemble](crate::Ensemble::nodes).
    #[inline]
    pub fn nodes(&self) -> std::ops::Range<usize> {
        self.first..self.first + self.count
    }
}
