//! The inside of an [`Ensemble`], for algorithms that walk its trees.
//!
//! Every format is brought to one normal form when a file is read, so there is a single rule to follow. Let x̂ be a row's value rounded to
//! the [`Width`] that the library computes with.
//!
//! - A split sends a row left or right by the value of one feature: [`Ensemble::goes_left`] decides. Most splits compare: **left iff
//!   x̂ < threshold**. Others decide by a rule of their own ([`Node::is_ruled`]): a set of categories, numbers to be met exactly, zeros that
//!   are missing. A missing value (NaN) goes where the split says, in both cases.
//! - A leaf adds a number, or for linear trees the value of a [`LinearLeaf`].
//! - Trees with splits that look at several features at once are apart, as [`JointTrees`]: trees as all others, of rows that have a column
//!   more for each [`Statistic`] of several features.
//!
//! Nodes of a tree are in breadth-first order with siblings adjacent: the root is node 0, a child's number is above its parent's, and the
//! right child's number is one above the left child's.
//!
//! | ask | for |
//! |---|---|
//! | [`Ensemble::trees`], [`Ensemble::nodes_of`], [`Ensemble::nodes`] | the trees, the nodes of one, the nodes of all |
//! | [`Ensemble::width`], [`Ensemble::check_rows`] | how to round a row, and whether it is one of this model |
//! | [`Ensemble::goes_left`], [`Ensemble::linear_leaf`], [`Ensemble::tree_value`] | what a split decides, what a leaf adds, what a tree does |
//! | [`Ensemble::joint`] | the trees that split on several features at once |
//! | [`Ensemble::cover_of`], [`Ensemble::check_covers`] | how many training rows came to each node |
//! | [`Ensemble::fingerprint`] | a number that tells models apart |
//!
//! ```
//! use apportion_models::{Ensemble, tree::Tree};
//!
//! /// The value of the leaf that a row reaches, written out.
//! fn leaf(model: &Ensemble, tree: &Tree, row: &[f64]) -> f64 {
//!     let nodes = model.nodes_of(tree);
//!     let mut node = nodes[0];
//!     while !node.is_leaf() {
//!         let value = model.width().round(row[node.feature()]);
//!         node = nodes[if model.goes_left(node, value) { node.left() } else { node.right() }];
//!     }
//!     node.value()
//! }
//!
//! let model = Ensemble::from_path("tests/fixtures/iris_xgb_softprob.json.gz")?;
//! let row = [5.9, 3.0, 5.1, 1.8];
//! let mut margins = model.base_margins().to_vec();
//! for tree in model.trees() {
//!     margins[tree.output] += leaf(&model, tree, &row);
//! }
//! assert_eq!(model.margins(apportion_games::Rows::new(&row, 4))?, margins);
//! # Ok::<(), apportion_models::ModelError>(())
//! ```

pub use super::joint::JointTrees;
pub use super::linear::LinearLeaf;
pub use super::node::{Node, Tree};
pub use super::statistic::Statistic;
pub use super::width::Width;
use crate::Ensemble;

/// The [inside](crate::tree), for algorithms that walk the trees.
impl Ensemble {
    /// The trees whose splits look at one feature each, in the order of the file. All others are [joint](Self::joint).
    #[inline]
    pub fn trees(&self) -> &[Tree] {
        &self.trees
    }

    /// The nodes of all trees, tree after tree. Children are numbered within their tree: see [`nodes_of`](Self::nodes_of).
    #[inline]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The nodes of a tree of this ensemble, the root first.
    #[inline]
    pub fn nodes_of(&self, tree: &Tree) -> &[Node] {
        &self.nodes[tree.nodes()]
    }

    /// The trees that split on several features at once, where there are any: they add to the margins as the others do.
    #[inline]
    pub fn joint(&self) -> Option<&JointTrees> {
        self.joint.as_deref()
    }

    /// The width to which values are rounded before splits and linear leaves see them.
    #[inline]
    pub fn width(&self) -> Width {
        self.width
    }

    /// Whether a row whose [rounded](Width::round) value of the split's feature is `value` goes left.
    #[inline]
    pub fn goes_left(&self, split: Node, value: f64) -> bool {
        if value.is_nan() {
            split.default_left()
        } else if split.is_ruled() {
            self.rules[split.rule()].goes_left(value, split.default_left())
        } else {
            value < split.threshold()
        }
    }

    /// The model of a leaf, where it is linear.
    #[inline]
    pub fn linear_leaf(&self, leaf: Node) -> Option<&LinearLeaf> {
        leaf.linear().map(|index| &self.linear_leaves[index])
    }

    /// What a tree of these nodes adds for a rounded row.
    pub fn tree_value(&self, nodes: &[Node], row: &[f64]) -> f64 {
        let mut at = 0;
        loop {
            let node = nodes[at];
            if node.is_leaf() {
                return self.leaf_value(node, row);
            }
            at = if self.goes_left(node, row[node.feature()]) { node.left() } else { node.right() };
        }
    }

    /// Terms of the longest model of a linear leaf; 0 where there is none.
    pub fn most_terms(&self) -> usize {
        self.linear_leaves.iter().map(|leaf| leaf.terms.len()).max().unwrap_or(0)
    }

    /// Training cover of every node of a tree (the sum of hessians for XGBoost); NaN where the file has none. Positive where [covers are
    /// sound](Self::check_covers): empty nodes have one that is too small to matter, so that shares can be taken and multiplied without
    /// asking.
    #[inline]
    pub fn cover_of(&self, tree: &Tree) -> &[f64] {
        &self.cover[tree.nodes()]
    }

    /// What a leaf adds for a rounded row.
    #[inline]
    fn leaf_value(&self, leaf: Node, row: &[f64]) -> f64 {
        match self.linear_leaf(leaf) {
            None => leaf.value(),
            Some(model) => model.value(row).unwrap_or(leaf.value()),
        }
    }
}
