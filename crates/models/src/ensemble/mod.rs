//! Tree ensembles, represented by a single type for all libraries.
//!
//! When a file is read, the rules of its format are converted to the normal form described in [`tree`], so
//! that prediction and explanation implement a single rule. For example, `x̂ ≤ t` becomes `x̂ < t'` with t'
//! the next number after t. If a library sends values that meet the condition to the right, the children are
//! swapped. If a library treats missing values as a number, missing values go where this number goes. The
//! ensemble and its nodes store the width of the numbers, and the rules for missing values and categories, so
//! that the algorithms for trees do not depend on the library.

mod build;
mod builder;
mod categories;
mod category;
mod covers;
mod fingerprint;
mod joint;
mod linear;
mod link;
mod loss;
mod mean;
mod node;
mod of_rounds;
mod rounds;
mod rule;
mod scale;
mod statistic;
pub mod tree;
mod vector_tree;
mod width;

pub(crate) use self::build::{EnsembleParts, TreeParts, at_most, at_most_infinity};
pub use self::builder::{EnsembleBuilder, SplitCondition, TreeNode};
pub use self::categories::{Categories, Category, UnknownCategory};
pub(crate) use self::category::category_hash;
pub(crate) use self::joint::JointTrees;
pub(crate) use self::linear::LinearLeaf;
pub use self::link::Link;
pub(crate) use self::node::{Node, Tree};
pub use self::rounds::Rounds;
pub(crate) use self::rule::{CategorySet, Rule, ZERO};
pub(crate) use self::statistic::{Counts, Part, Rate, RateKind, Statistic};
pub(crate) use self::vector_tree::{Split, VectorTree};
pub(crate) use self::width::Width;
use crate::error::ModelError;

/// An additive ensemble of decision trees: `f_k(x) = base_k + Σ_{trees of output k} leaf(x)`.
///
/// Predictions are *margins*, i.e. sums of leaves before any link function, in `f64`. Read a model with
/// [`from_path`](Self::from_path) or [`from_bytes`](Self::from_bytes). It is a
/// [`Model`](apportion_games::Model), and the crate `apportion-trees` computes exact attributions for its
/// predictions.
///
/// Takes 24 bytes per node, plus memory for each categorical split and linear leaf.
#[derive(Debug, Clone)]
pub struct Ensemble {
    nodes: Vec<Node>,
    /// Cover of each node; NaN if the file does not store it.
    cover: Vec<f64>,
    /// For each tree with invalid cover, the first problem.
    cover_problems: Vec<CoverProblem>,
    trees: Vec<Tree>,
    rounds: rounds::Counted,
    rules: Vec<Rule>,
    /// The trees with splits on several features at once. They are not in the lists above.
    joint: Option<Box<JointTrees>>,
    linear_leaves: Vec<LinearLeaf>,
    /// The index of each tree with linear leaves, with its first linear leaf as numbered in the file.
    linear_trees: Vec<(usize, usize)>,
    /// Sum over all trees of the largest absolute leaf value.
    largest_sum: f64,
    width: Width,
    features: usize,
    feature_names: Option<Vec<String>>,
    /// Categories of each feature, at least up to the last feature that has categories.
    categories: Vec<Option<Categories>>,
    /// Whether each feature is required, i.e. must not be missing. Empty if every feature may be missing.
    wanted: Vec<bool>,
    base_margins: Vec<f64>,
    /// One name per output, or empty.
    output_names: Vec<String>,
    /// The names of the two classes of a single margin, or empty.
    class_names: Vec<String>,
    link: Option<Link>,
    origin: Origin,
    notes: Vec<String>,
}

/// The origin of a model, for display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The library and its file format, such as `XGBoost JSON`.
    pub format: String,
    /// The release that saved the model, such as `3.2.0`.
    pub version: String,
    /// The kind of booster, such as `gbtree` or `dart`.
    pub booster: String,
    /// The training objective, such as `binary:logistic`.
    pub objective: String,
}

/// A problem with the cover of a tree, because of which it does not define the path-dependent game.
#[derive(Debug, Clone)]
struct CoverProblem {
    /// The index of the tree in the file.
    tree: usize,
    /// The index of the node in the file.
    node: usize,
    problem: String,
}

/// Maximum difference between the cover of a node and the sum of the covers of its children, relative to the
/// cover of the node. Files store sums rounded to `f32`, with an error of 2e-7; sums added up in `f32` over a
/// million rows have an error of 1e-4.
const COVER_TOLERANCE: f64 = 1e-3;

/// Share of the parent's cover that is assigned to an empty child if its sibling is not empty. It is far
/// below the rounding error of any sum, and large enough that products of shares do not underflow. (XGBoost
/// assigns 1e-12. Below an empty node, it also assigns half of the weight to each child.)
const EMPTY_SHARE: f64 = 1.0 / (1u128 << 127) as f64;

impl Ensemble {
    /// Returns the number of features.
    #[inline]
    pub fn feature_count(&self) -> usize {
        self.features
    }

    /// Returns the names of the features, if the file stores them.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.feature_names.as_deref()
    }

    /// Returns the categories of a feature as they occur in the training table, if the file stores them. Rows
    /// contain their codes.
    pub fn categories(&self, feature: usize) -> Option<&Categories> {
        self.categories.get(feature)?.as_ref()
    }

    /// Iterates over the features that have categories.
    pub(crate) fn features_with_categories(&self) -> impl Iterator<Item = (usize, &Categories)> {
        let of_features = self.categories.iter().take(self.features).enumerate();
        of_features.filter_map(|(feature, words)| Some((feature, words.as_ref()?)))
    }

    /// Returns whether rows are rejected if this feature is missing, because the model cannot predict them.
    /// Examples are the features of linear models, unless they have an imputer or come from XGBoost, and
    /// features that an ONNX file encodes as categories.
    pub fn refuses_missing(&self, feature: usize) -> bool {
        self.wanted.get(feature).copied().unwrap_or(false)
    }

    /// Returns whether some feature is required.
    pub(crate) fn refuses_any_missing(&self) -> bool {
        self.wanted.contains(&true)
    }

    /// Returns the names of the outputs, i.e. the classes as text, if the file stores them.
    pub fn output_names(&self) -> Option<&[String]> {
        Some(&*self.output_names).filter(|names| !names.is_empty())
    }

    /// Returns the names of the classes, if the file stores them: one per output, or two if a single output
    /// is the margin of the second of two classes.
    pub fn class_names(&self) -> Option<&[String]> {
        match self.class_names.is_empty() {
            true => self.output_names(),
            false => Some(&self.class_names),
        }
    }

    /// Returns the number of outputs `k`: the number of classes or targets, or 1.
    #[inline]
    pub fn output_count(&self) -> usize {
        self.base_margins.len()
    }

    /// Returns the base margin of each output: the file's base score on the margin scale.
    #[inline]
    pub fn base_margins(&self) -> &[f64] {
        &self.base_margins
    }

    /// Returns the number of trees in use, including [joint](Self::joint) trees.
    pub fn tree_count(&self) -> usize {
        self.trees.len() + self.joint().map_or(0, |joint| joint.ensemble().trees.len())
    }

    /// Returns the number of leaves of all trees, including [joint](Self::joint) trees.
    pub fn leaf_count(&self) -> usize {
        let leaves = |ensemble: &Self| ensemble.trees.iter().map(|tree| tree.leaves).sum::<usize>();
        leaves(self) + self.joint().map_or(0, |joint| leaves(joint.ensemble()))
    }

    /// Returns the largest number of splits on a path from a root to a leaf, 0 if every tree is a single
    /// leaf.
    pub fn depth(&self) -> usize {
        let depth = |ensemble: &Self| ensemble.trees.iter().map(|tree| tree.depth).max().unwrap_or(0);
        depth(self).max(self.joint().map_or(0, |joint| depth(joint.ensemble())))
    }

    /// Returns the function from margins to outputs: the inverse link of the objective. Returns `None` if the
    /// file does not specify the objective, or if the link of the objective is not supported.
    pub fn link(&self) -> Option<Link> {
        self.link
    }

    /// Returns notes for the user: information that the file lacks, and the assumptions made instead.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns the origin of the model: library, format, version and objective.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Checks that the cover defines the path-dependent game. In every tree with a split, all covers must be
    /// finite and non-negative, and the cover of the root must be positive. The covers of two siblings must
    /// sum to the cover of their parent up to one part in a thousand.
    ///
    /// Nodes may be empty, like many leaves in CatBoost models. A node with cover 0 does not contribute to
    /// the expectation of the tree for an absent feature. If it is a split, its children share its weight
    /// equally.
    ///
    /// The cover is checked when a model is read, so this call takes no time. Only the path-dependent game
    /// calls it; other games do not use the cover.
    ///
    /// # Errors
    ///
    /// [`ModelError::LinearLeaves`] if leaves are linear, because files do not store their expectation for
    /// absent features. [`ModelError::JointSplits`] if [trees](Self::joint) split on several features at
    /// once, because files do not store the expectation if only some of these are absent.
    /// [`ModelError::Cover`] with the first tree and node whose cover is invalid.
    pub fn check_covers(&self) -> Result<(), ModelError> {
        self.check_constant_leaves()?;
        if self.joint.is_some() {
            return Err(ModelError::JointSplits);
        }
        match self.cover_problems.first().cloned() {
            None => Ok(()),
            Some(CoverProblem { tree, node, problem }) => Err(ModelError::Cover { tree, node, problem }),
        }
    }

    /// Rejects an ensemble with linear leaves, because their expectation does not follow from the cover.
    fn check_constant_leaves(&self) -> Result<(), ModelError> {
        match self.linear_trees.first() {
            None => Ok(()),
            Some(&(tree, node)) => Err(ModelError::LinearLeaves { tree, node }),
        }
    }

    /// Returns the first node with invalid cover in a tree, and the problem. Returns `None` if the cover of
    /// the tree is valid.
    fn cover_fault(&self, tree: usize) -> Option<(usize, String)> {
        let tree = &self.trees[tree];
        let (nodes, cover) = (self.nodes_of(tree), self.cover_of(tree));
        if nodes.len() == 1 {
            return None; // The cover of a single leaf is not used.
        }
        let fault = |(at, &own): (usize, &f64)| {
            if own.is_nan() {
                return Some((at, "missing cover".to_owned()));
            }
            if !(own.is_finite() && own >= 0.0) {
                return Some((at, format!("its cover is {own}, expected a finite number ≥ 0")));
            }
            if at == 0 && own == 0.0 {
                return Some((at, "its cover is 0, expected a positive number at the root".to_owned()));
            }
            let node = nodes[at];
            if node.is_leaf() {
                return None;
            }
            let (left, right) = (cover[node.left()], cover[node.right()]);
            // If the cover of a child itself is invalid, the error should name the child.
            let sound = left >= 0.0 && right >= 0.0 && (left + right).is_finite();
            (sound && (left + right - own).abs() > COVER_TOLERANCE * own).then(|| {
                (
                    at,
                    format!(
                        "its cover is {own}, but the covers of its children, {left} and {right}, sum to {}",
                        left + right
                    ),
                )
            })
        };
        cover.iter().enumerate().find_map(fault)
    }

    /// Sets the cover of the empty nodes of an otherwise valid tree, so that the shares of their children are
    /// defined. Returns the first node whose cover would underflow, and the problem.
    fn fill_empty(&mut self, tree: usize) -> Option<(usize, String)> {
        let tree = &self.trees[tree];
        let range = tree.nodes();
        let (nodes, cover) = (&self.nodes[range.clone()], &mut self.cover[range]);
        // Children have higher indices than their parents, so a single pass suffices.
        for (at, node) in nodes.iter().enumerate().filter(|(_, node)| !node.is_leaf()) {
            let children = [node.left(), node.right()];
            let empty = children.map(|child| cover[child] == 0.0);
            let share = if empty == [true; 2] { 0.5 } else { EMPTY_SHARE };
            for (child, _) in children.into_iter().zip(empty).filter(|(_, empty)| *empty) {
                cover[child] = cover[at] * share;
                if !cover[child].is_normal() {
                    return Some((
                        child,
                        format!("its cover is 0, and the cover of its parent ({}) is too small", cover[at]),
                    ));
                }
            }
        }
        None
    }
}
