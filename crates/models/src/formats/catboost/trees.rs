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
use crate::ensemble::{Ensemble, Split, VectorTree, at_most};
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
            let tree =
                if self.oblivious { self.oblivious(tree, outputs)? } else { self.nested(tree, outputs)? };
            tree.push_to(ensemble, number, 0..outputs, scale)?;
        }
        Ok(())
    }

    fn oblivious(&self, tree: &Field<'a>, outputs: usize) -> Result<VectorTree, ModelError> {
        let depth = split_count(tree)?;
        let splits = match splits_of(tree)? {
            Some(splits) => splits.elements()?.iter().map(|split| self.splits.read(split)).collect(),
            None => Ok(Vec::new()),
        };
        let splits: Vec<Test> = splits?;
        let leaves = 1usize << depth;
        let values = tree.get("leaf_values")?.numbers_of(leaves * outputs)?.into_owned();
        let weights = match tree.find("leaf_weights")?.filter(|weights| !weights.is_empty_list()) {
            Some(weights) => Some(weights.numbers_of(leaves)?.into_owned()),
            None => None,
        };
        let mut shape = VectorTree::default();
        // Node i of the heap has the children 2 i + 1 and 2 i + 2, and the leaves come last.
        for level in 0..depth {
            for node in (1 << level) - 1..(1 << (level + 1)) - 1 {
                splits[depth - 1 - level].add_to(&mut shape, [2 * node + 1, 2 * node + 2]);
            }
        }
        values.chunks_exact(outputs).for_each(|leaf| shape.add_leaf(leaf.iter().copied()));
        if let Some(weights) = weights {
            shape.set_covers_of_leaves(&weights);
        }
        Ok(shape)
    }

    fn nested(&self, tree: &Field<'a>, outputs: usize) -> Result<VectorTree, ModelError> {
        let mut shape = VectorTree::default();
        let mut weights = Vec::new();
        // In the order of their numbers, level by level. Nesting is bounded, so this ends.
        let mut queue = std::collections::VecDeque::from([tree.clone()]);
        let mut listed = 1;
        while let Some(node) = queue.pop_front() {
            if let Some(split) = node.find("split")? {
                self.splits.read(&split)?.add_to(&mut shape, [listed, listed + 1]);
                queue.extend([node.get("left")?, node.get("right")?]);
                listed += 2;
                continue;
            }
            let field = node.get("value")?;
            let values = field.loose_numbers()?;
            if values.len() != outputs {
                return Err(field.error(format!("{} values of {outputs} outputs", values.len())));
            }
            weights.push(node.find("weight")?.map(|weight| weight.number()).transpose()?);
            shape.add_leaf(values);
        }
        if let Some(weights) = weights.into_iter().collect::<Option<Vec<f64>>>() {
            shape.set_covers_of_leaves(&weights);
        }
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

/// What a split asks. A row that fails goes left, but a rule has what it names on its left.
struct Test {
    split: Split,
    passes_left: bool,
}

impl Test {
    fn add_to(&self, tree: &mut VectorTree, [fails, passes]: [i64; 2]) {
        let split = Split { rule: self.split.rule.clone(), ..self.split };
        tree.add_split(if self.passes_left { [passes, fails] } else { [fails, passes] }, split);
    }
}

/// What splits refer to.
struct Splits<'a> {
    features: &'a Features,
    categories: Categories,
}

impl Splits<'_> {
    fn read(&self, split: &Field<'_>) -> Result<Test, ModelError> {
        let kind_field = split.get("split_type")?;
        match kind_field.text()? {
            "FloatFeature" => {
                let feature = self.features.number(&split.get("float_feature_index")?)?;
                let border_field = split.get("border")?;
                let border = border_field.number()?;
                if border.is_nan() {
                    return Err(border_field.error("the border NaN"));
                }
                let split = Split {
                    feature: feature.column as i64,
                    threshold: at_most(f64::from(border as f32)),
                    default_left: !feature.missing_is_above,
                    rule: None,
                };
                Ok(Test { split, passes_left: false })
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
                let split = Split { feature: column as i64, rule: Some(rule), ..Split::default() };
                Ok(Test { split, passes_left: true })
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
