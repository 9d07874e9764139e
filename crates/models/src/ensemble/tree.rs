//! Nodes and trees of an [`Ensemble`], for algorithms that traverse them.
//!
//! When a file is read, its trees are converted to a normal form, so a traversal only has to implement a
//! single rule. Let x̂ be a value of a row, rounded to the [`Width`] in which the library computes.
//!
//! - A split sends a row left or right by the value of one feature, as determined by [`Ensemble::goes_left`].
//!   Most splits compare: **left iff x̂ < threshold**. The other splits have a rule ([`Node::is_ruled`]),
//!   such as a set of categories, a list of exact numbers, or a comparison that treats zero as missing. In
//!   both cases, a missing value (NaN) follows the default direction of the split.
//! - A leaf adds a number or, in linear trees, the value of a [`LinearLeaf`].
//! - Trees with splits on several features at once are stored separately, as [`JointTrees`]: ordinary trees
//!   over rows with an additional column for each [`Statistic`] of several features.
//!
//! Nodes of a tree are in breadth-first order with adjacent siblings. The root is node 0, the index of a
//! child is higher than the index of its parent, and the right child follows the left child.
//!
//! | method | returns |
//! |---|---|
//! | [`Ensemble::trees`], [`Ensemble::nodes_of`], [`Ensemble::nodes`] | the trees, the nodes of one tree, the nodes of all trees |
//! | [`Ensemble::width`], [`Ensemble::check_rows`] | how to round a row, and whether it fits the model |
//! | [`Ensemble::goes_left`], [`Ensemble::linear_leaf`], [`Ensemble::tree_value`] | the direction at a split, the model of a leaf, the value of a tree |
//! | [`Ensemble::joint`] | the trees that split on several features at once |
//! | [`Ensemble::cover_of`], [`Ensemble::check_covers`] | the cover of each node, and whether it is valid |
//! | [`Ensemble::fingerprint`] | a hash that identifies the model |
//!
//! ```
//! use apportion_models::{Ensemble, tree::Tree};
//!
//! /// Returns the value of the leaf that a row reaches.
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

/// Access to the [trees](crate::tree), for algorithms that traverse them.
impl Ensemble {
    /// Returns the trees whose splits depend on one feature each, in the order of the file. All others are
    /// [joint](Self::joint).
    #[inline]
    pub fn trees(&self) -> &[Tree] {
        &self.trees
    }

    /// Returns the nodes of all trees, tree after tree. Indices of children are relative to their tree: see
    /// [`nodes_of`](Self::nodes_of).
    #[inline]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the nodes of a tree of this ensemble, the root first.
    #[inline]
    pub fn nodes_of(&self, tree: &Tree) -> &[Node] {
        &self.nodes[tree.nodes()]
    }

    /// Returns the trees that split on several features at once, if any. They add to the margins like all
    /// other trees.
    #[inline]
    pub fn joint(&self) -> Option<&JointTrees> {
        self.joint.as_deref()
    }

    /// Returns the floating-point width to which values are rounded before they are used in splits and linear
    /// leaves.
    #[inline]
    pub fn width(&self) -> Width {
        self.width
    }

    /// Returns whether a row goes left at a split, given its [rounded](Width::round) value of the split's
    /// feature.
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

    /// Returns the model of a leaf, if the leaf is linear.
    #[inline]
    pub fn linear_leaf(&self, leaf: Node) -> Option<&LinearLeaf> {
        leaf.linear().map(|index| &self.linear_leaves[index])
    }

    /// Returns the value of the leaf that a rounded row reaches in a tree with these nodes.
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

    /// Returns the largest number of terms of a linear leaf, 0 if no leaf is linear.
    pub fn max_terms(&self) -> usize {
        self.linear_leaves.iter().map(|leaf| leaf.terms.len()).max().unwrap_or(0)
    }

    /// Returns the training cover of every node of a tree (for XGBoost, the sum of hessians), or NaN if the
    /// file does not store it. If the [cover is valid](Self::check_covers), all values are positive: empty
    /// nodes have a negligible positive cover, so that shares can be computed and multiplied without special
    /// cases.
    #[inline]
    pub fn cover_of(&self, tree: &Tree) -> &[f64] {
        &self.cover[tree.nodes()]
    }

    /// Returns the value of a leaf for a rounded row.
    #[inline]
    fn leaf_value(&self, leaf: Node, row: &[f64]) -> f64 {
        match self.linear_leaf(leaf) {
            None => leaf.value(),
            Some(model) => model.value(row).unwrap_or(leaf.value()),
        }
    }
}
