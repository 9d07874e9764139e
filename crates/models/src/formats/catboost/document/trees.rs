//! Trees in a JSON document.

use std::collections::VecDeque;

use super::statistics::Borders;
use crate::ensemble::{Ensemble, Split, VectorTree};
use crate::error::ModelError;
use crate::formats::catboost::splits::{Condition, Frame, Grove, Splits, refuse_computed};
use crate::formats::catboost::trees::{self, MAX_SPLITS};
use crate::formats::document::Field;

/// The trees of a document, ready to be converted to trees of an ensemble.
pub(super) struct Trees<'a> {
    kind: &'static str,
    trees: Vec<Field<'a>>,
    splits: Splits,
    borders: Borders,
    oblivious: bool,
    outputs: Option<usize>,
    nodes: usize,
}

impl<'a> Trees<'a> {
    pub(super) fn read(root: &Field<'a>, splits: Splits, borders: Borders) -> Result<Self, ModelError> {
        let oblivious = root.has("oblivious_trees") || !root.has("trees");
        let trees = root.get(if oblivious { "oblivious_trees" } else { "trees" })?.elements()?;
        let kind = if oblivious { "oblivious trees" } else { "nested trees" };
        let mut trees = Self { kind, trees, splits, borders, oblivious, outputs: None, nodes: 0 };
        if oblivious {
            // Check the number of leaves before allocating memory for them.
            let leaves = trees.trees.iter().map(|tree| tree.get("leaf_values")?.number_count());
            trees.nodes = 2 * leaves.sum::<Result<usize, ModelError>>()?;
        }
        trees.outputs = trees.trees.first().map(|tree| trees.outputs_of(tree)).transpose()?;
        Ok(trees)
    }

    /// Returns a description of the kind of trees, for display.
    pub(super) fn kind(&self) -> &'static str {
        self.kind
    }

    /// Returns the number of outputs, or `None` for a model without trees.
    pub(super) fn outputs(&self) -> Option<usize> {
        self.outputs
    }

    /// Returns an estimate of the number of nodes, to reserve memory.
    pub(super) fn node_count(&self) -> usize {
        self.nodes
    }

    /// Returns the number of outputs, which is the number of values per leaf.
    fn outputs_of(&self, tree: &Field<'a>) -> Result<usize, ModelError> {
        if self.oblivious {
            let values = tree.get("leaf_values")?;
            let (count, leaves) = (values.number_count()?, 1 << split_count(tree)?);
            return match count / leaves {
                outputs if outputs > 0 && outputs * leaves == count => Ok(outputs),
                _ => Err(values.error(format!("{count} values do not match {leaves} leaves"))),
            };
        }
        let mut leaf = tree.clone();
        while let Some(left) = leaf.find("left")? {
            leaf = left;
        }
        let values = leaf.get("value")?;
        match values.loose_numbers()?.len() {
            0 => Err(values.error("the leaf has no values")),
            outputs => Ok(outputs),
        }
    }

    /// Builds the model of all trees, with leaves multiplied by `scale`.
    pub(super) fn model(self, frame: Frame, scale: f64) -> Result<Ensemble, ModelError> {
        let Self { trees, mut splits, borders, oblivious, .. } = self;
        let conditions = trees.iter().map(|tree| conditions(tree, oblivious, &splits, &borders));
        let conditions = conditions.collect::<Result<Vec<_>, ModelError>>()?;
        for &(_, condition) in conditions.iter().flatten() {
            if let Condition::Exactly { column, hash } = condition {
                splits.know(column, hash);
            }
        }
        splits.model(frame, |splits, grove| {
            for (number, (tree, conditions)) in trees.iter().zip(&conditions).enumerate() {
                let is_joint = conditions.iter().any(|&(_, condition)| splits.is_joint(condition));
                let conditions = conditions.iter();
                let read = conditions.map(|(field, condition)| {
                    splits.split(*condition).map_err(|problem| field.error(problem))
                });
                let read = read.collect::<Result<Vec<Split>, ModelError>>()?;
                let tree = if oblivious {
                    self::oblivious(tree, &read, grove.outputs())?
                } else {
                    nested(tree, read, grove)?
                };
                grove.push(tree, number, is_joint, scale)?;
            }
            Ok(())
        })
    }
}

/// Returns the conditions of a tree with their fields: level by level for an oblivious tree, in the order of
/// nodes for a nested one.
fn conditions<'a>(
    tree: &Field<'a>,
    oblivious: bool,
    splits: &Splits,
    borders: &Borders,
) -> Result<Vec<(Field<'a>, Condition)>, ModelError> {
    let fields = if oblivious {
        split_count(tree)?;
        splits_of(tree)?.map_or(Ok(Vec::new()), |splits| splits.elements())?
    } else {
        in_order(tree)?.into_iter().filter_map(|(_, split)| split).collect()
    };
    fields.into_iter().map(|field| Ok((field.clone(), condition(&field, splits, borders)?))).collect()
}

/// Returns the nodes of a nested tree, level by level, each with its split unless it is a leaf. The loop ends
/// because the nesting is limited.
fn in_order<'a>(tree: &Field<'a>) -> Result<Vec<(Field<'a>, Option<Field<'a>>)>, ModelError> {
    let mut queue = VecDeque::from([tree.clone()]);
    let mut nodes = Vec::new();
    while let Some(node) = queue.pop_front() {
        let split = node.find("split")?;
        if split.is_some() {
            queue.extend([node.get("left")?, node.get("right")?]);
        }
        nodes.push((node, split));
    }
    Ok(nodes)
}

fn oblivious(tree: &Field<'_>, splits: &[Split], outputs: usize) -> Result<VectorTree, ModelError> {
    let leaves = 1usize << splits.len();
    let values = tree.get("leaf_values")?.numbers_of(leaves * outputs)?;
    let weights = match tree.find("leaf_weights")?.filter(|weights| !weights.is_empty_list()) {
        Some(weights) => Some(weights.numbers_of(leaves)?),
        None => None,
    };
    Ok(trees::oblivious(splits, &values, weights.as_deref(), outputs))
}

fn nested(tree: &Field<'_>, splits: Vec<Split>, grove: &Grove) -> Result<VectorTree, ModelError> {
    let (mut shape, mut weights, outputs) = (VectorTree::default(), Vec::new(), grove.outputs());
    let (mut listed, mut splits) = (1, splits.into_iter());
    for (node, split) in in_order(tree)? {
        if split.is_some() {
            shape.add_split([listed, listed + 1], splits.next().unwrap_or_default());
            listed += 2;
            continue;
        }
        let field = node.get("value")?;
        let values = field.loose_numbers()?;
        if values.len() != outputs {
            return Err(
                field.error(format!("expected {outputs} values (one per output), got {}", values.len()))
            );
        }
        weights.push(node.find("weight")?.map(|weight| weight.number()).transpose()?);
        shape.add_leaf(values);
    }
    if let Some(weights) = weights.into_iter().collect::<Option<Vec<f64>>>() {
        shape.set_covers_of_leaves(&weights);
    }
    Ok(shape)
}

/// Returns the splits of an oblivious tree. Some releases write null for an empty list.
fn splits_of<'a>(tree: &Field<'a>) -> Result<Option<Field<'a>>, ModelError> {
    Ok(tree.find("splits")?.filter(|splits| !splits.is_null()))
}

/// Returns the number of splits of an oblivious tree.
fn split_count(tree: &Field<'_>) -> Result<usize, ModelError> {
    let Some(splits) = splits_of(tree)? else { return Ok(0) };
    match splits.elements()?.len() {
        count if count <= MAX_SPLITS => Ok(count),
        count => Err(splits.error(format!("{count} splits exceed the maximum of {MAX_SPLITS}"))),
    }
}

/// Returns the condition of a split.
fn condition(split: &Field<'_>, splits: &Splits, borders: &Borders) -> Result<Condition, ModelError> {
    let kind = split.get("split_type")?;
    Ok(match kind.text()? {
        "FloatFeature" => {
            let index = split.get("float_feature_index")?;
            let number = splits.features().number(index.count()?).map_err(|problem| index.error(problem))?;
            Condition::Above { number, border: split.get("border")?.number()? as f32 }
        }
        "OneHotFeature" => {
            let index = split.get("cat_feature_index")?;
            let column =
                splits.features().category(index.count()?).map_err(|problem| index.error(problem))?;
            Condition::Exactly { column, hash: split.get("value")?.integer()? as u32 }
        }
        "OnlineCtr" => {
            let (place, border) = borders.find(split)?;
            Condition::Statistic { place, border }
        }
        other @ ("EstimatedFeature" | "TextFeature" | "EmbeddingFeature") => {
            return Err(refuse_computed(other));
        }
        other => {
            return Err(
                kind.error(format!("expected FloatFeature, OneHotFeature or OnlineCtr, got {other:?}"))
            );
        }
    })
}
