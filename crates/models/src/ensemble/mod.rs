//! The one tree-ensemble type, whatever library a model comes from.
//!
//! Every format's rules are brought to the one normal form of [`tree`] when a file is read, so that prediction and the oracles know a
//! single rule. (`x̂ ≤ t` is `x̂ < t'` with t' the next number after t; a library that sends the satisfied side right has its children
//! exchanged; one that takes a missing value for a number has it go where that goes.) Operator, width, missing and category rules are data
//! of the ensemble and its nodes, and no kernel asks which library it was.

mod build;
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
mod words;

pub(crate) use self::build::{EnsembleParts, TreeParts, at_most, at_most_infinity};
pub(crate) use self::category::category_hash;
pub(crate) use self::joint::JointTrees;
pub(crate) use self::linear::LinearLeaf;
pub use self::link::Link;
pub(crate) use self::node::{Node, Tree};
pub use self::rounds::Rounds;
pub(crate) use self::rule::{Categories, Rule, ZERO};
pub(crate) use self::statistic::{Counts, Part, Rate, RateKind, Statistic};
pub(crate) use self::vector_tree::{Split, VectorTree};
pub(crate) use self::width::Width;
pub use self::words::{Category, UnknownWord, Words};
use crate::error::ModelError;

/// An additive ensemble of decision trees: `f_k(x) = base_k + Σ_{trees of output k} leaf(x)`.
///
/// Predictions are *margins*: sums of leaves before any link function, in `f64`. Read one with [`from_path`](Self::from_path) or
/// [`from_bytes`](Self::from_bytes); it is a [`Model`](apportion_games::Model), and the crate
/// `apportion-trees` divides its predictions exactly.
///
/// Takes 24 bytes per node and some more per categorical split and linear leaf.
#[derive(Debug, Clone)]
pub struct Ensemble {
    nodes: Vec<Node>,
    /// NaN where the file gives none.
    cover: Vec<f64>,
    /// What is wrong with the first cover that does not fit, of each tree that has one.
    cover_problems: Vec<CoverProblem>,
    trees: Vec<Tree>,
    rounds: rounds::Counted,
    rules: Vec<Rule>,
    /// The trees with splits on several features at once, which are in none of the lists above.
    joint: Option<Box<JointTrees>>,
    linear_leaves: Vec<LinearLeaf>,
    /// The trees that have one of these, and the first of their nodes that is one, by the file's numbering.
    linear_trees: Vec<(usize, usize)>,
    /// Of the largest leaf of every tree, as a positive number.
    largest_sum: f64,
    width: Width,
    features: usize,
    feature_names: Option<Vec<String>>,
    /// Of each feature, at least up to the last that has any.
    words: Vec<Option<Words>>,
    /// Which features may not be missing; empty where all may.
    wanted: Vec<bool>,
    base_margins: Vec<f64>,
    /// One for each output, or none.
    output_names: Vec<String>,
    /// The two classes of a single margin, or empty.
    class_names: Vec<String>,
    link: Option<Link>,
    origin: Origin,
    notes: Vec<String>,
}

/// Where a model comes from, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The library and its file format: `XGBoost JSON`.
    pub format: String,
    /// The release that saved it: `3.2.0`.
    pub version: String,
    /// The kind of booster: `gbtree`, `dart`.
    pub booster: String,
    /// What it was trained for: `binary:logistic`.
    pub objective: String,
}

/// Why covers do not define the path-dependent game.
#[derive(Debug, Clone)]
struct CoverProblem {
    /// Of the file.
    tree: usize,
    /// By the file's numbering.
    node: usize,
    problem: String,
}

/// How far the covers of two siblings may be from that of their parent, relative to it. The covers in a file are sums rounded to
/// `f32`, which leaves 2e-7; sums that were added up in `f32` over a million rows would leave 1e-4.
const COVER_TOLERANCE: f64 = 1e-3;

/// The share of an empty child beside one that is not. Far below what rounding leaves of any sum, and far above where products of
/// shares underflow. (XGBoost has 1e-12 here, and halves below an empty node as well.)
const EMPTY_SHARE: f64 = 1.0 / (1u128 << 127) as f64;

impl Ensemble {
    /// Number of features of a row.
    #[inline]
    pub fn feature_count(&self) -> usize {
        self.features
    }

    /// The names of the features, where the file has them.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.feature_names.as_deref()
    }

    /// The categories of a feature as its table held them, where the file has them. Rows hold their codes.
    pub fn words(&self, feature: usize) -> Option<&Words> {
        self.words.get(feature)?.as_ref()
    }

    /// The features that have words, with them.
    pub(crate) fn features_with_words(&self) -> impl Iterator<Item = (usize, &Words)> {
        let of_features = self.words.iter().take(self.features).enumerate();
        of_features.filter_map(|(feature, words)| Some((feature, words.as_ref()?)))
    }

    /// Whether rows are refused in which this feature is missing, because the model says nothing of them: in linear models, unless they come
    /// with an imputer or from XGBoost.
    pub fn refuses_missing(&self, feature: usize) -> bool {
        self.wanted.get(feature).copied().unwrap_or(false)
    }

    /// Whether some feature may not be missing.
    pub(crate) fn refuses_any_missing(&self) -> bool {
        self.wanted.contains(&true)
    }

    /// What the outputs are called, where the file says it: the classes, as text.
    pub fn output_names(&self) -> Option<&[String]> {
        Some(&*self.output_names).filter(|names| !names.is_empty())
    }

    /// The names of the classes, if the file stores them: one for each output, or the two that share a single margin, which is that of the
    /// second one.
    pub fn class_names(&self) -> Option<&[String]> {
        match self.class_names.is_empty() {
            true => self.output_names(),
            false => Some(&self.class_names),
        }
    }

    /// Number of outputs `k`: classes, targets, or 1.
    #[inline]
    pub fn output_count(&self) -> usize {
        self.base_margins.len()
    }

    /// The margin of each output before any tree: the file's base score, taken through the link of its objective.
    #[inline]
    pub fn base_margins(&self) -> &[f64] {
        &self.base_margins
    }

    /// Number of trees that are used, [joint](Self::joint) ones included.
    pub fn tree_count(&self) -> usize {
        self.trees.len() + self.joint().map_or(0, |joint| joint.ensemble().trees.len())
    }

    /// Number of leaves of all trees, [joint](Self::joint) ones included.
    pub fn leaf_count(&self) -> usize {
        let leaves = |ensemble: &Self| ensemble.trees.iter().map(|tree| tree.leaves).sum::<usize>();
        leaves(self) + self.joint().map_or(0, |joint| leaves(joint.ensemble()))
    }

    /// Splits on the longest way from a root to a leaf; 0 where every tree is a single leaf.
    pub fn depth(&self) -> usize {
        let depth = |ensemble: &Self| ensemble.trees.iter().map(|tree| tree.depth).max().unwrap_or(0);
        depth(self).max(self.joint().map_or(0, |joint| depth(joint.ensemble())))
    }

    /// How the library takes margins to its outputs: the inverse link of the objective. `None` where the file does not say, or names
    /// an objective whose link is not known here.
    pub fn link(&self) -> Option<Link> {
        self.link
    }

    /// What its user should know of the file: what it lacks, and what was taken for that.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Library, format, version and objective.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Refuses an ensemble whose covers do not define the path-dependent game: in every tree that splits, each node's must be there,
    /// finite and not negative, that of the root positive, and those of two siblings must add up to their parent's within one part
    /// in a thousand.
    ///
    /// A node may be empty, as many leaves of CatBoost are: with a cover of 0 it has no share in what the tree expects of a row whose
    /// feature is not told, and its own children, if it is a split, have half each of what is told to come there.
    ///
    /// The constructors of that game ask this; whatever needs no covers does not. They are looked at when a model is read, so
    /// asking takes no time.
    ///
    /// # Errors
    ///
    /// [`ModelError::LinearLeaves`] where leaves are linear: what they expect of absent features is not in a file.
    /// [`ModelError::JointSplits`] where [trees](Self::joint) split on several features at once: what such a split expects of some of
    /// them is not in a file. [`ModelError::Cover`] with the first tree and node where covers are not so.
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

    /// Refuses an ensemble with linear leaves, of whose models covers do not say what they expect.
    fn check_constant_leaves(&self) -> Result<(), ModelError> {
        match self.linear_trees.first() {
            None => Ok(()),
            Some(&(tree, node)) => Err(ModelError::LinearLeaves { tree, node }),
        }
    }

    /// The first node of a tree whose cover does not fit, and why.
    fn cover_fault(&self, tree: usize) -> Option<(usize, String)> {
        let tree = &self.trees[tree];
        let (nodes, cover) = (self.nodes_of(tree), self.cover_of(tree));
        if nodes.len() == 1 {
            return None; // Nothing to weigh.
        }
        let fault = |(at, &own): (usize, &f64)| {
            if own.is_nan() {
                return Some((at, "it has no cover".to_owned()));
            }
            if !(own.is_finite() && own >= 0.0) {
                return Some((
                    at,
                    format!("its cover is {own}, where a finite number that is not negative is wanted"),
                ));
            }
            if at == 0 && own == 0.0 {
                return Some((at, "its cover is 0, where the root's must be positive".to_owned()));
            }
            let node = nodes[at];
            if node.is_leaf() {
                return None;
            }
            let (left, right) = (cover[node.left()], cover[node.right()]);
            // A child whose own cover does not fit is the one to name.
            let sound = left >= 0.0 && right >= 0.0 && (left + right).is_finite();
            (sound && (left + right - own).abs() > COVER_TOLERANCE * own).then(|| {
                (
                    at,
                    format!(
                        "its cover is {own}, but those of its children, {left} and {right}, add up to {}",
                        left + right
                    ),
                )
            })
        };
        cover.iter().enumerate().find_map(fault)
    }

    /// Gives the empty nodes of a tree, whose covers are sound otherwise, covers that define their shares. The first node where
    /// that is below the range of numbers, and why.
    fn fill_empty(&mut self, tree: usize) -> Option<(usize, String)> {
        let tree = &self.trees[tree];
        let range = tree.nodes();
        let (nodes, cover) = (&self.nodes[range.clone()], &mut self.cover[range]);
        // Children have higher numbers than their parents.
        for (at, node) in nodes.iter().enumerate().filter(|(_, node)| !node.is_leaf()) {
            let children = [node.left(), node.right()];
            let empty = children.map(|child| cover[child] == 0.0);
            let share = if empty == [true; 2] { 0.5 } else { EMPTY_SHARE };
            for (child, _) in children.into_iter().zip(empty).filter(|(_, empty)| *empty) {
                cover[child] = cover[at] * share;
                if !cover[child].is_normal() {
                    return Some((child, format!("its cover is 0, and {} above", cover[at])));
                }
            }
        }
        None
    }
}
