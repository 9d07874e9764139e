//! Trees of a CatBoost file.
//!
//! # Oblivious trees
//!
//! All nodes of a level ask the same question. With the splits s_0..s_{d−1} a row comes to the leaf
//!
//! ```text
//! Σ_k 2^k [x passes s_k],
//! ```
//!
//! where passing is `x̂ > border`, or for one-hot splits that the category is the split's. Predictions do not depend on the order in
//! which the questions are asked, but the path-dependent game does. CatBoost asks the last one first, when it computes Shapley values.
//! So a node of level l asks s_{d−1−l}, rows that pass go right, and leaves are in the file's order from left to right.
//!
//! The values of leaf i are `leaf_values[i k..(i + 1) k]` for k outputs. Weights are of leaves; a node's cover is the sum below it. Many
//! leaves have weight 0: no row can come to them, or none did.
//!
//! # Nested trees
//!
//! Grown leaf by leaf or level by level: objects with `left`, `right` and `split`, leaves with `value` and `weight`. Rows that pass go
//! right.

use super::categories::{Categories, MOST};
use super::features::Features;
use crate::ensemble::{Ensemble, Rule, TreeParts, at_most};
use crate::error::ModelError;
use crate::formats::document::Field;

/// CatBoost grows trees to this depth. More splits would have more leaves than a file can hold.
const MOST_SPLITS: usize = 16;

/// The trees, ready to be taken into an ensemble.
pub(super) struct Trees<'a> {
    kind: &'static str,
    trees: Vec<Field<'a>>,
    splits: Splits<'a>,
    oblivious: bool,
    outputs: Option<usize>,
    nodes: usize,
}

impl<'a> Trees<'a> {
    pub(super) fn read(root: &Field<'a>, features: &'a Features) -> Result<Self, ModelError> {
        let oblivious = root.has("oblivious_trees") || !root.has("trees");
        let trees = root.get(if oblivious { "oblivious_trees" } else { "trees" })?.elements()?;
        let splits = Splits { features, categories: Categories::default() };
        let kind = if oblivious { "oblivious trees" } else { "nested trees" };
        let mut trees = Self { kind, trees, splits, oblivious, outputs: None, nodes: 0 };
        if oblivious {
            // Checked before anything is reserved for it.
            let leaves = trees.trees.iter().map(|tree| tree.get("leaf_values")?.number_count());
            trees.nodes = 2 * leaves.sum::<Result<usize, ModelError>>()?;
        }
        trees.outputs = trees.trees.first().map(|tree| trees.outputs_of(tree)).transpose()?;
        Ok(trees)
    }

    /// For people.
    pub(super) fn kind(&self) -> &'static str {
        self.kind
    }

    /// `None` for a model without trees.
    pub(super) fn outputs(&self) -> Option<usize> {
        self.outputs
    }

    /// About how many nodes to make room for.
    pub(super) fn node_count(&self) -> usize {
        self.nodes
    }

    /// As many outputs as a tree has values per leaf.
    fn outputs_of(&self, tree: &Field<'a>) -> Result<usize, ModelError> {
        if self.oblivious {
            let values = tree.get("leaf_values")?;
            let (count, leaves) = (values.number_count()?, 1 << split_count(tree)?);
            return match count / leaves {
                outputs if outputs > 0 && outputs * leaves == count => Ok(outputs),
                _ => Err(values.error(format!("{count} values of {leaves} leaves"))),
            };
        }
        let mut leaf = tree.clone();
        while let Some(left) = leaf.find("left")? {
            leaf = left;
        }
        let values = leaf.get("value")?;
        match values.loose_numbers()?.len() {
            0 => Err(values.error("a leaf without values")),
            outputs => Ok(outputs),
        }
    }

    /// Appends all trees, with leaves times `scale`.
    pub(super) fn push_to(&self, ensemble: &mut Ensemble, scale: f64) -> Result<(), ModelError> {
        let outputs = ensemble.output_count();
        for (number, tree) in self.trees.iter().enumerate() {
            let shape =
                if self.oblivious { self.oblivious(tree, outputs)? } else { self.nested(tree, outputs)? };
            for output in 0..outputs {
                ensemble.push(shape.parts(output, outputs, scale)).map_err(|error| match error {
                    // Counted as the file does, which has one tree for all outputs.
                    ModelError::Tree { problem, .. } => ModelError::Tree { tree: number, problem },
                    other => other,
                })?;
            }
        }
        Ok(())
    }

    fn oblivious(&self, tree: &Field<'a>, outputs: usize) -> Result<Shape, ModelError> {
        let depth = split_count(tree)?;
        let splits = match splits_of(tree)? {
            Some(splits) => splits.elements()?.iter().map(|split| self.splits.read(split)).collect(),
            None => Ok(Vec::new()),
        };
        let splits: Vec<Split> = splits?;
        let leaves = 1usize << depth;
        let values = tree.get("leaf_values")?.numbers_of(leaves * outputs)?.into_owned();
        let weights = match tree.find("leaf_weights")?.filter(|weights| !weights.is_empty_list()) {
            Some(weights) => Some(weights.numbers_of(leaves)?.into_owned()),
            None => None,
        };
        let mut shape = Shape::default();
        // Node i of the heap has the children 2 i + 1 and 2 i + 2, and the leaves come last.
        for level in 0..depth {
            for node in (1 << level) - 1..(1 << (level + 1)) - 1 {
                shape.add_split(&splits[depth - 1 - level], [2 * node + 1, 2 * node + 2]);
            }
        }
        for leaf in 0..leaves {
            let weight = weights.as_ref().map_or(f64::NAN, |weights| weights[leaf]);
            shape.add_leaf(&values[leaf * outputs..(leaf + 1) * outputs], weight);
        }
        shape.has_covers = weights.is_some();
        shape.sum_covers();
        Ok(shape)
    }

    fn nested(&self, tree: &Field<'a>, outputs: usize) -> Result<Shape, ModelError> {
        let mut shape = Shape { has_covers: true, ..Shape::default() };
        // In the order of their numbers, level by level. Nesting is bounded, so this ends.
        let mut queue = std::collections::VecDeque::from([tree.clone()]);
        let mut listed = 1;
        while let Some(node) = queue.pop_front() {
            if let Some(split) = node.find("split")? {
                let split = self.splits.read(&split)?;
                shape.add_split(&split, [listed, listed + 1]);
                queue.extend([node.get("left")?, node.get("right")?]);
                listed += 2;
                continue;
            }
            let field = node.get("value")?;
            let values = field.loose_numbers()?;
            if values.len() != outputs {
                return Err(field.error(format!("{} values of {outputs} outputs", values.len())));
            }
            let weight = node.find("weight")?.map(|weight| weight.number()).transpose()?;
            shape.has_covers &= weight.is_some();
            shape.add_leaf(&values, weight.unwrap_or(f64::NAN));
        }
        shape.sum_covers();
        Ok(shape)
    }
}

/// The splits of an oblivious tree. Some releases write null for a list that is empty.
fn splits_of<'a>(tree: &Field<'a>) -> Result<Option<Field<'a>>, ModelError> {
    Ok(tree.find("splits")?.filter(|splits| !splits.is_null()))
}

/// How many splits an oblivious tree has.
fn split_count(tree: &Field<'_>) -> Result<usize, ModelError> {
    let Some(splits) = splits_of(tree)? else { return Ok(0) };
    match splits.elements()?.len() {
        count if count <= MOST_SPLITS => Ok(count),
        count => Err(splits.error(format!("{count} splits, where {MOST_SPLITS} are the most"))),
    }
}

/// A tree for all outputs. Children come after their parents.
#[derive(Default)]
struct Shape {
    left: Vec<i64>,
    right: Vec<i64>,
    feature: Vec<i64>,
    threshold: Vec<f64>,
    default_left: Vec<bool>,
    rules: Vec<Option<Rule>>,
    cover: Vec<f64>,
    has_covers: bool,
    ruled: bool,
    /// Of leaves: where their values begin.
    first_value: Vec<usize>,
    values: Vec<f64>,
}

impl Shape {
    fn add_split(&mut self, split: &Split, [fails, passes]: [usize; 2]) {
        // A rule has what it names on its left.
        let (left, right) = match split.test {
            Test::Above(_) => (fails, passes),
            Test::Is(_) => (passes, fails),
        };
        self.left.push(left as i64);
        self.right.push(right as i64);
        self.feature.push(split.column as i64);
        match &split.test {
            Test::Above(border) => {
                self.threshold.push(at_most(*border));
                self.rules.push(None);
            }
            Test::Is(rule) => {
                self.threshold.push(0.0);
                self.rules.push(Some(rule.clone()));
                self.ruled = true;
            }
        }
        self.default_left.push(split.missing_goes_left);
        self.cover.push(0.0);
        self.first_value.push(0);
    }

    fn add_leaf(&mut self, values: &[f64], weight: f64) {
        self.left.push(-1);
        self.right.push(-1);
        self.feature.push(0);
        self.threshold.push(0.0);
        self.rules.push(None);
        self.default_left.push(false);
        self.cover.push(weight);
        self.first_value.push(self.values.len());
        self.values.extend_from_slice(values);
    }

    /// Gives every split the sum of the covers below.
    fn sum_covers(&mut self) {
        for node in (0..self.left.len()).rev().filter(|&node| self.left[node] != -1) {
            self.cover[node] = self.cover[self.left[node] as usize] + self.cover[self.right[node] as usize];
        }
    }

    /// The tree of one output.
    fn parts(&self, output: usize, outputs: usize, scale: f64) -> TreeParts {
        let mut number = self.threshold.clone();
        for (node, number) in number.iter_mut().enumerate().filter(|&(node, _)| self.left[node] == -1) {
            *number = self.values[self.first_value[node] + output];
        }
        debug_assert!(output < outputs);
        TreeParts {
            output,
            left: self.left.clone(),
            right: self.right.clone(),
            feature: self.feature.clone(),
            number,
            default_left: self.default_left.clone(),
            cover: self.has_covers.then(|| self.cover.clone()),
            rules: if self.ruled { self.rules.clone() } else { Vec::new() },
            linear: Vec::new(),
            deleted: 0,
            scale,
        }
    }
}

struct Split {
    column: usize,
    test: Test,
    missing_goes_left: bool,
}

enum Test {
    /// Rows with a larger number pass.
    Above(f64),
    /// Rows with the category pass, which go left by the rule.
    Is(Rule),
}

/// What splits refer to.
struct Splits<'a> {
    features: &'a Features,
    categories: Categories,
}

impl Splits<'_> {
    fn read(&self, split: &Field<'_>) -> Result<Split, ModelError> {
        let kind_field = split.get("split_type")?;
        match kind_field.text()? {
            "FloatFeature" => {
                let feature = self.features.number(&split.get("float_feature_index")?)?;
                let border_field = split.get("border")?;
                let border = border_field.number()?;
                if border.is_nan() {
                    return Err(border_field.error("the border NaN"));
                }
                Ok(Split {
                    column: feature.column,
                    test: Test::Above(f64::from(border as f32)),
                    missing_goes_left: !feature.missing_is_above,
                })
            }
            "OneHotFeature" => {
                let column = self.features.category(&split.get("cat_feature_index")?)?;
                let hash = split.get("value")?.integer()?;
                let rule = self.categories.rule(hash as u32).ok_or_else(|| ModelError::Unsupported {
                    what: format!(
                        "{} has a category (of hash {hash}) that is no whole number from -{MOST} to {MOST}",
                        self.features.name(column)
                    ),
                    wanted: "rows are numbers, so number the categories before training: 0, 1, 2, …",
                })?;
                Ok(Split { column, test: Test::Is(rule), missing_goes_left: false })
            }
            "OnlineCtr" => Err(ModelError::Unsupported {
                what: format!(
                    "a split on statistics of categories (CTR), of one or more of the categorical features ({})",
                    self.features.category_names()
                ),
                wanted: "train with one_hot_max_size above the number of categories of each feature, or encode categories yourself",
            }),
            other @ ("EstimatedFeature" | "TextFeature" | "EmbeddingFeature") => {
                Err(ModelError::Unsupported {
                    what: format!("a split on what is computed from texts or embeddings ({other})"),
                    wanted: "compute numbers from them yourself, and train on these",
                })
            }
            other => Err(kind_field
                .error(format!("{other:?}, where FloatFeature, OneHotFeature or OnlineCtr is wanted"))),
        }
    }
}
