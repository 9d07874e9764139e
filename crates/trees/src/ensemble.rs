//! The one tree-ensemble type, whatever library a model comes from.
//!
//! # Normal form
//!
//! Every format's rules are brought to one when a file is read, so that prediction and the oracles know a single rule. Let x̂ be a row's
//! value rounded to the [`Width`] that the library computes with.
//!
//! - A numeric split sends a row **left iff x̂ < threshold**. (`x̂ ≤ t` is `x̂ < t'` with t' the next number after t; a library
//!   that sends the satisfied side right has its children exchanged.)
//! - A categorical split sends a row **right iff ⌊x̂⌋ is in its set**; negative, huge and unknown categories go left.
//! - A missing value (NaN) goes where the split says, in both cases.
//!
//! Nodes of a tree are in breadth-first order with siblings adjacent, so a child's number is above its parent's and the right child's is
//! one above the left child's.

use crate::error::TreeError;

/// The width of floating-point number to which a library rounds a row before it compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Width {
    /// 32 bits: XGBoost, CatBoost, ONNX.
    Single,
}

impl Width {
    pub(crate) fn round(self, value: f64) -> f64 {
        match self {
            Self::Single => f64::from(value as f32),
        }
    }
}

const FEATURE: u32 = (1 << 30) - 1;
const DEFAULT_LEFT: u32 = 1 << 30;
const CATEGORICAL: u32 = 1 << 31;

/// Categories are below this: the whole numbers that `f32` tells apart.
const CATEGORIES: f64 = 16_777_216.0;

/// A split or a leaf, in 16 bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    /// Threshold of a numeric split, number of the set of a categorical one, value of a leaf.
    number: f64,
    /// Feature and flags of a split.
    tag: u32,
    /// Number of the left child within the tree; 0 for a leaf, as the root is nobody's child.
    left: u32,
}

impl Node {
    pub(crate) fn is_leaf(self) -> bool {
        self.left == 0
    }

    /// The value of a leaf.
    pub(crate) fn value(self) -> f64 {
        self.number
    }

    pub(crate) fn threshold(self) -> f64 {
        self.number
    }

    pub(crate) fn feature(self) -> usize {
        (self.tag & FEATURE) as usize
    }

    pub(crate) fn default_left(self) -> bool {
        self.tag & DEFAULT_LEFT != 0
    }

    pub(crate) fn is_categorical(self) -> bool {
        self.tag & CATEGORICAL != 0
    }

    pub(crate) fn left(self) -> usize {
        self.left as usize
    }

    pub(crate) fn right(self) -> usize {
        self.left as usize + 1
    }
}

/// One tree: where its nodes lie and which output it adds to.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    first: usize,
    count: usize,
    pub(crate) output: usize,
    pub(crate) depth: usize,
    pub(crate) leaves: usize,
    pub(crate) categorical: bool,
}

/// An additive ensemble of decision trees: `f_k(x) = base_k + Σ_{trees of output k} leaf(x)`.
///
/// Predictions are *margins*: sums of leaves before any link function, in `f64`. Read one with [`from_path`](Self::from_path) or
/// [`from_bytes`](Self::from_bytes); it is a [`Model`](apportion_games::Model), and
/// [`InterventionalOracle`](crate::InterventionalOracle) divides its predictions exactly.
///
/// Takes 24 bytes per node and some more per categorical split.
#[derive(Debug, Clone)]
pub struct Ensemble {
    pub(crate) nodes: Vec<Node>,
    /// NaN where the file gives none.
    cover: Vec<f64>,
    /// What is wrong with the first cover that does not fit, where there is one.
    cover_problem: Option<CoverProblem>,
    trees: Vec<Tree>,
    category_sets: Vec<Box<[u32]>>,
    pub(crate) width: Width,
    features: usize,
    feature_names: Option<Vec<String>>,
    base_margins: Vec<f64>,
    origin: Origin,
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
    tree: usize,
    /// By the file's numbering.
    node: usize,
    problem: String,
}

/// How far the covers of two siblings may be from that of their parent, relative to it. The covers in a file are sums rounded to
/// `f32`, which leaves 2e-7; sums that were added up in `f32` over a million rows would leave 1e-4.
const COVER_TOLERANCE: f64 = 1e-3;

/// A tree as its file states it, nodes in the file's order, not yet checked. All lists have one element per node.
pub(crate) struct TreeParts {
    pub(crate) output: usize,
    /// Children per node, −1 for none.
    pub(crate) left: Vec<i64>,
    pub(crate) right: Vec<i64>,
    pub(crate) feature: Vec<i64>,
    /// Thresholds of splits, values of leaves.
    pub(crate) number: Vec<f64>,
    pub(crate) default_left: Vec<bool>,
    /// `None` where the file has no covers.
    pub(crate) cover: Option<Vec<f64>>,
    /// The set of each categorical split.
    pub(crate) categories: Vec<Option<Vec<u32>>>,
    /// Nodes that the file says are cut off from the root.
    pub(crate) deleted: usize,
    /// Factor of every leaf.
    pub(crate) scale: f64,
}

/// An ensemble as its file states it, without the trees.
pub(crate) struct EnsembleParts {
    pub(crate) width: Width,
    pub(crate) features: usize,
    pub(crate) feature_names: Option<Vec<String>>,
    pub(crate) base_margins: Vec<f64>,
    pub(crate) origin: Origin,
}

impl Ensemble {
    /// Number of features of a row.
    pub fn feature_count(&self) -> usize {
        self.features
    }

    /// The names of the features, where the file has them.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.feature_names.as_deref()
    }

    /// Number of outputs `k`: classes, targets, or 1.
    pub fn output_count(&self) -> usize {
        self.base_margins.len()
    }

    /// The margin of each output before any tree: the file's base score, taken through the link of its objective.
    pub fn base_margins(&self) -> &[f64] {
        &self.base_margins
    }

    /// Number of trees.
    pub fn tree_count(&self) -> usize {
        self.trees.len()
    }

    /// Number of leaves of all trees.
    pub fn leaf_count(&self) -> usize {
        self.trees.iter().map(|tree| tree.leaves).sum()
    }

    /// Splits on the longest way from a root to a leaf; 0 where every tree is a single leaf.
    pub fn depth(&self) -> usize {
        self.trees.iter().map(|tree| tree.depth).max().unwrap_or(0)
    }

    /// Library, format, version and objective.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    pub(crate) fn trees(&self) -> &[Tree] {
        &self.trees
    }

    pub(crate) fn nodes_of(&self, tree: &Tree) -> &[Node] {
        &self.nodes[tree.first..tree.first + tree.count]
    }

    /// Refuses an ensemble whose covers do not define the path-dependent game: in every tree that splits, each node's must be there,
    /// finite and positive, and those of two siblings must add up to their parent's within one part in a thousand.
    ///
    /// The constructors of that game ask this; whatever needs no covers does not. They are looked at when a model is read, so
    /// asking takes no time.
    ///
    /// # Errors
    ///
    /// [`TreeError::Cover`] with the first tree and node where that is not so.
    pub fn check_covers(&self) -> Result<(), TreeError> {
        match self.cover_problem.clone() {
            None => Ok(()),
            Some(CoverProblem { tree, node, problem }) => Err(TreeError::Cover { tree, node, problem }),
        }
    }

    /// Training cover of every node of a tree (the sum of hessians for XGBoost). Positive where [covers are
    /// sound](Self::check_covers).
    pub(crate) fn cover_of(&self, tree: &Tree) -> &[f64] {
        &self.cover[tree.first..tree.first + tree.count]
    }

    /// Whether a row whose rounded value of the split's feature is `value` goes left.
    #[inline]
    pub(crate) fn goes_left(&self, split: Node, value: f64) -> bool {
        if value.is_nan() {
            split.default_left()
        } else if split.is_categorical() {
            !self.in_set(split, value)
        } else {
            value < split.number
        }
    }

    /// Whether the category `value` is in the set of a categorical split.
    fn in_set(&self, split: Node, value: f64) -> bool {
        (0.0..CATEGORIES).contains(&value)
            && self.category_sets[split.number as usize].binary_search(&(value as u32)).is_ok()
    }

    /// An ensemble without trees, with room for so many nodes.
    pub(crate) fn new(parts: EnsembleParts, nodes: usize) -> Self {
        Self {
            nodes: Vec::with_capacity(nodes),
            cover: Vec::with_capacity(nodes),
            cover_problem: None,
            trees: Vec::new(),
            category_sets: Vec::new(),
            width: parts.width,
            features: parts.features,
            feature_names: parts.feature_names,
            base_margins: parts.base_margins,
            origin: parts.origin,
        }
    }

    /// Checks the next tree, brings it to the normal form and appends it. Trees come one by one, as they take several times the memory
    /// before.
    pub(crate) fn push(&mut self, parts: TreeParts) -> Result<(), TreeError> {
        let tree = self.trees.len();
        self.append(parts).map_err(|problem| TreeError::Tree { tree, problem })
    }

    /// Checks one tree and appends it, breadth first.
    fn append(&mut self, mut parts: TreeParts) -> Result<(), String> {
        let count = parts.left.len();
        if count == 0 {
            return Err("it has no nodes, so no leaf".to_owned());
        }
        if parts.output >= self.base_margins.len() {
            return Err(format!("it adds to output {} of {}", parts.output, self.base_margins.len()));
        }
        let first = self.nodes.len();
        // Nodes of the file in the order of their new numbers, each with its depth. A node is listed when its parent is reached.
        let mut order: Vec<(usize, usize)> = vec![(0, 0)];
        let mut listed = vec![false; count];
        listed[0] = true;
        let (mut depth, mut leaves, mut categorical, mut next) = (0, 0, false, 0);
        while let Some(&(node, level)) = order.get(next) {
            next += 1;
            self.cover.push(parts.cover.as_ref().map_or(f64::NAN, |cover| cover[node]));
            if parts.left[node] == -1 && parts.right[node] == -1 {
                let value = parts.number[node] * parts.scale;
                if !value.is_finite() {
                    return Err(format!("leaf {node} has the value {value}"));
                }
                leaves += 1;
                depth = depth.max(level);
                self.nodes.push(Node { number: value, tag: 0, left: 0 });
                continue;
            }
            let left = u32::try_from(order.len()).map_err(|_| "it has too many nodes".to_owned())?;
            for child in [parts.left[node], parts.right[node]] {
                let child = usize::try_from(child).ok().filter(|&child| child < count).ok_or_else(|| {
                    format!(
                        "node {node} has the child {child}, but there are {count} nodes and leaves have none"
                    )
                })?;
                if std::mem::replace(&mut listed[child], true) {
                    return Err(format!("node {child} is reached twice, so this is a cycle or no tree"));
                }
                order.push((child, level + 1));
            }
            let split = self.split(&mut parts, node, left)?;
            categorical |= split.is_categorical();
            self.nodes.push(split);
        }
        if count - order.len() != parts.deleted {
            return Err(format!(
                "{} of {count} nodes are not reached from the root, but {} are said to be deleted",
                count - order.len(),
                parts.deleted
            ));
        }
        self.trees.push(Tree { first, count: order.len(), output: parts.output, depth, leaves, categorical });
        if self.cover_problem.is_none() {
            let tree = self.trees.len() - 1;
            self.cover_problem =
                self.cover_fault(tree).map(|(at, problem)| CoverProblem { tree, node: order[at].0, problem });
        }
        Ok(())
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
            if !(own.is_finite() && own > 0.0) {
                return Some((at, format!("its cover is {own}, where a finite positive number is wanted")));
            }
            let node = nodes[at];
            if node.is_leaf() {
                return None;
            }
            let (left, right) = (cover[node.left()], cover[node.right()]);
            // A child whose own cover does not fit is the one to name.
            let sound = left > 0.0 && right > 0.0 && (left + right).is_finite();
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

    /// Checks what a split decides by, and takes in its set of categories. Its left child has the new number `left`.
    fn split(&mut self, parts: &mut TreeParts, node: usize, left: u32) -> Result<Node, String> {
        let feature = u32::try_from(parts.feature[node])
            .ok()
            .filter(|&feature| feature <= FEATURE && (feature as usize) < self.features);
        let Some(feature) = feature else {
            return Err(format!(
                "node {node} splits on feature {}, but there are {} features",
                parts.feature[node], self.features
            ));
        };
        let mut tag = feature | if parts.default_left[node] { DEFAULT_LEFT } else { 0 };
        let number = match parts.categories[node].take() {
            Some(mut set) => {
                set.sort_unstable();
                set.dedup();
                tag |= CATEGORICAL;
                self.category_sets.push(set.into_boxed_slice());
                (self.category_sets.len() - 1) as f64
            }
            None => parts.number[node],
        };
        // An infinite threshold has all values on one side. XGBoost 3.4 writes some where weights differ widely.
        if number.is_nan() {
            return Err(format!("node {node} has the threshold {number}"));
        }
        Ok(Node { number, tag, left })
    }
}
