//! Conversion of the contents of a model file to an [`Ensemble`] in normal form.

use std::collections::HashSet;

use super::rounds::Counted;
use super::{
    Categories, CoverProblem, Ensemble, JointTrees, LinearLeaf, Link, Node, Origin, Rule, Tree, Width,
};
use crate::error::ModelError;

/// The contents of a model file, except for the trees.
pub(crate) struct EnsembleParts {
    pub(crate) width: Width,
    pub(crate) features: usize,
    pub(crate) feature_names: Option<Vec<String>>,
    pub(crate) base_margins: Vec<f64>,
    /// The link function; `None` if the file does not specify a link, or specifies an unsupported link.
    pub(crate) link: Option<Link>,
    pub(crate) origin: Origin,
}

/// A tree as stored in a file, not yet checked. Nodes are in the order of the file, with the root first. All
/// lists have one element per node, except that some may be empty as documented.
///
/// A tree whose leaves have values for several outputs is represented as one tree per output.
#[derive(Debug, Clone, Default)]
pub(crate) struct TreeParts {
    pub(crate) output: usize,
    /// Left child of each node, or −1 if the node is a leaf.
    pub(crate) left: Vec<i64>,
    pub(crate) right: Vec<i64>,
    pub(crate) feature: Vec<i64>,
    /// Threshold of each split that compares, or value of each leaf.
    pub(crate) number: Vec<f64>,
    /// Whether missing values go left at each split.
    pub(crate) default_left: Vec<bool>,
    /// Cover of each node; `None` if the file does not store it.
    pub(crate) cover: Option<Vec<f64>>,
    /// The rules of splits other than the comparison x̂ < number. May be empty if all splits compare.
    pub(crate) rules: Vec<Option<Rule>>,
    /// The linear models of linear leaves. The `number` of such a leaf is its value if a feature is missing.
    /// May be empty if no leaf is linear.
    pub(crate) linear: Vec<Option<LinearLeaf>>,
    /// The number of nodes that the file declares as deleted. These nodes cannot be reached from the root.
    pub(crate) deleted: usize,
    /// Factor by which the value of every leaf is multiplied.
    pub(crate) scale: f64,
}

impl TreeParts {
    /// Swaps the children of splits that send every number left. Such a split then becomes a plain comparison
    /// without a rule, because x̂ < −∞ does not hold for any number.
    fn compare_with_infinity(&mut self) {
        for (node, rule) in self.rules.iter_mut().enumerate() {
            if *rule == Some(Rule::ANY_NUMBER) && self.left[node] != self.right[node] {
                *rule = None;
                self.number[node] = f64::NEG_INFINITY;
                std::mem::swap(&mut self.left[node], &mut self.right[node]);
                self.default_left[node] = !self.default_left[node];
            }
        }
    }

    /// Appends a node, initially a leaf of value 0, and returns its index. Also extends the lists of rules
    /// and linear models.
    pub(crate) fn add_node(&mut self) -> usize {
        let number = self.left.len();
        self.left.push(-1);
        self.right.push(-1);
        self.feature.push(0);
        self.number.push(0.0);
        self.default_left.push(false);
        self.rules.push(None);
        self.linear.push(None);
        number
    }
}

/// Returns the threshold t' for which `x̂ < t'` is equivalent to `x̂ ≤ t`. For t = ∞ no such threshold
/// exists: see [`at_most_infinity`].
pub(crate) fn at_most(threshold: f64) -> f64 {
    threshold.next_up()
}

/// Returns the rule of the split `x̂ ≤ t` if t is ∞: all numbers go left, including ∞, and only missing
/// values may go right.
pub(crate) fn at_most_infinity(threshold: f64) -> Option<Rule> {
    (threshold == f64::INFINITY).then_some(Rule::ANY_NUMBER)
}

/// Maximum of the sum over all trees, in which each tree counts with its largest absolute leaf value. This
/// limit prevents overflow in sums of differences of margins.
const MAX_SUM: f64 = 1e300;

impl Ensemble {
    /// Creates an ensemble without trees, with capacity for `nodes` nodes.
    pub(crate) fn new(parts: EnsembleParts, nodes: usize) -> Self {
        Self {
            nodes: Vec::with_capacity(nodes),
            cover: Vec::with_capacity(nodes),
            cover_problems: Vec::new(),
            trees: Vec::new(),
            rounds: Counted::default(),
            rules: Vec::new(),
            joint: None,
            linear_leaves: Vec::new(),
            linear_trees: Vec::new(),
            largest_sum: 0.0,
            width: parts.width,
            features: parts.features,
            output_names: Vec::new(),
            class_names: Vec::new(),
            feature_names: parts.feature_names,
            categories: Vec::new(),
            wanted: Vec::new(),
            base_margins: parts.base_margins,
            link: parts.link,
            origin: parts.origin,
            notes: Vec::new(),
        }
    }

    /// Adds a note about the file for the user.
    pub(crate) fn add_note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// Sets the categories of the features: one element per feature, at least up to the last feature that has
    /// categories.
    pub(crate) fn set_categories(&mut self, words: Vec<Option<Categories>>) {
        self.categories = words;
    }

    /// Sets the names of the outputs, or of the two classes of a single margin. If the number of names
    /// matches neither, the names are ignored.
    pub(crate) fn set_output_names(&mut self, names: Vec<String>) {
        if names.len() == self.output_count() {
            self.output_names = names;
        } else if names.len() == 2 && self.output_count() == 1 {
            self.class_names = names;
        }
    }

    /// Sets the joint trees, which split on several features at once.
    pub(crate) fn set_joint(&mut self, joint: JointTrees) {
        self.joint = Some(Box::new(joint));
    }

    /// Appends a tree with one leaf, which adds `coefficient · x̂_feature` to an output, or `missing` if the
    /// value of the feature is missing.
    ///
    /// A linear model consists of one tree per feature, so that the term of one feature does not depend on
    /// whether others are missing.
    pub(crate) fn push_term(
        &mut self,
        output: usize,
        (feature, coefficient): (u32, f64),
        missing: f64,
    ) -> Result<(), ModelError> {
        self.push(TreeParts {
            output,
            left: vec![-1],
            right: vec![-1],
            feature: vec![0],
            number: vec![missing],
            default_left: vec![false],
            linear: vec![Some(LinearLeaf { constant: 0.0, terms: Box::new([(feature, coefficient)]) })],
            scale: 1.0,
            ..TreeParts::default()
        })
    }

    /// Checks a tree, converts it to the normal form and appends it. Trees are passed one by one, because a
    /// [`TreeParts`] takes several times the memory of the final tree.
    pub(crate) fn push(&mut self, parts: TreeParts) -> Result<(), ModelError> {
        let tree = self.trees.len();
        self.append(parts).map_err(|problem| ModelError::Tree { tree, problem })
    }

    /// Checks a tree and appends its nodes in breadth-first order.
    fn append(&mut self, mut parts: TreeParts) -> Result<(), String> {
        parts.compare_with_infinity();
        let count = parts.left.len();
        if count == 0 {
            return Err("expected at least one node".to_owned());
        }
        if parts.output >= self.base_margins.len() {
            return Err(format!(
                "output {} is out of range (outputs: {})",
                parts.output,
                self.base_margins.len()
            ));
        }
        let first = self.nodes.len();
        let (rules, linear_leaves) = (self.rules.len(), self.linear_leaves.len());
        // Nodes as numbered in the file, each with its depth, in the order of their new indices. Visiting a
        // node appends its children.
        let mut order: Vec<(usize, usize)> = vec![(0, 0)];
        let mut listed = vec![false; count];
        listed[0] = true;
        let (mut depth, mut leaves, mut next) = (0, 0, 0);
        let (mut largest, mut largest_at) = (0.0, 0);
        while let Some(&(node, level)) = order.get(next) {
            next += 1;
            self.cover.push(parts.cover.as_ref().map_or(f64::NAN, |cover| cover[node]));
            if parts.left[node] == -1 && parts.right[node] == -1 {
                leaves += 1;
                depth = depth.max(level);
                let leaf = self.leaf(&mut parts, node)?;
                if leaf.value().abs() > largest {
                    (largest, largest_at) = (leaf.value().abs(), node);
                }
                self.nodes.push(leaf);
                continue;
            }
            let left = u32::try_from(order.len()).map_err(|_| "too many nodes".to_owned())?;
            for child in [parts.left[node], parts.right[node]] {
                let child = usize::try_from(child).ok().filter(|&child| child < count).ok_or_else(|| {
                    format!(
                        "node {node} has the child {child}, which is out of range (nodes: {count}, and \
                         leaves have no children)"
                    )
                })?;
                if std::mem::replace(&mut listed[child], true) {
                    return Err(format!("node {child} is reached twice, so the nodes do not form a tree"));
                }
                order.push((child, level + 1));
            }
            let split = self.split(&mut parts, node, left)?;
            self.nodes.push(split);
        }
        if count - order.len() != parts.deleted {
            return Err(format!(
                "{} of {count} nodes are not reached from the root, but {} are marked as deleted",
                count - order.len(),
                parts.deleted
            ));
        }
        self.largest_sum += largest;
        if self.largest_sum > MAX_SUM {
            let value = parts.number[largest_at] * parts.scale;
            return Err(format!(
                "leaf {largest_at} has the value {value:e}, so the sum over all trees can exceed \
                 {MAX_SUM:e}; scale the target down and train the model again"
            ));
        }
        self.trees.push(Tree {
            first,
            count: order.len(),
            output: parts.output,
            depth,
            leaves,
            ruled: self.rules.len() > rules,
            linear: self.linear_leaves.len() > linear_leaves,
        });
        let tree = self.trees.len() - 1;
        let fault = self.cover_fault(tree).or_else(|| self.fill_empty(tree));
        self.cover_problems.extend(fault.map(|(at, problem)| CoverProblem {
            tree,
            node: order[at].0,
            problem,
        }));
        Ok(())
    }

    /// Checks a leaf and appends its linear model, if any.
    fn leaf(&mut self, parts: &mut TreeParts, node: usize) -> Result<Node, String> {
        let value = parts.number[node] * parts.scale;
        if !value.is_finite() {
            return Err(format!("leaf {node} has the value {value}, expected a finite number"));
        }
        let Some(model) = parts.linear.get_mut(node).and_then(Option::take) else {
            return Ok(Node::leaf(value));
        };
        let scaled = |coefficient: f64| {
            let scaled = coefficient * parts.scale;
            let finite = scaled.is_finite().then_some(scaled);
            finite.ok_or_else(|| {
                format!(
                    "the linear model of leaf {node} contains the number {scaled}, expected finite numbers"
                )
            })
        };
        let mut terms = Vec::with_capacity(model.terms.len());
        let mut known = HashSet::with_capacity(model.terms.len());
        for &(feature, coefficient) in &model.terms {
            if feature as usize >= self.features {
                return Err(format!(
                    "the linear model of leaf {node} uses feature {feature}, which is out of range \
                     (features: {})",
                    self.features
                ));
            }
            if !known.insert(feature) {
                return Err(format!("the linear model of leaf {node} contains feature {feature} twice"));
            }
            terms.push((feature, scaled(coefficient)?));
        }
        let constant = scaled(model.constant)?;
        let tree = self.trees.len();
        if self.linear_trees.last().is_none_or(|&(last, _)| last < tree) {
            self.linear_trees.push((tree, node));
        }
        self.linear_leaves.push(LinearLeaf { constant, terms: terms.into_boxed_slice() });
        Ok(Node::linear_leaf(value, (self.linear_leaves.len() - 1) as u32))
    }

    /// Checks a split and appends its rule, if any. `left` is the new index of its left child.
    fn split(&mut self, parts: &mut TreeParts, node: usize, left: u32) -> Result<Node, String> {
        let feature = usize::try_from(parts.feature[node]).ok();
        let feature = feature.filter(|&feature| feature < Node::MAX_FEATURES && feature < self.features);
        let Some(feature) = feature else {
            return Err(format!(
                "node {node} splits on feature {}, which is out of range (features: {})",
                parts.feature[node], self.features
            ));
        };
        let (feature, default_left) = (feature as u32, parts.default_left[node]);
        if let Some(rule) = parts.rules.get_mut(node).and_then(Option::take) {
            if rule.has_nan() {
                return Err(format!("node {node} has the threshold NaN"));
            }
            self.rules.push(rule);
            return Ok(Node::ruled(feature, default_left, self.rules.len() - 1, left));
        }
        let threshold = parts.number[node];
        // Infinite thresholds are valid; they send all values to one side. XGBoost 3.4 writes such thresholds
        // if the row weights differ widely.
        if threshold.is_nan() {
            return Err(format!("node {node} has the threshold {threshold}"));
        }
        Ok(Node::comparison(feature, default_left, threshold, left))
    }
}
