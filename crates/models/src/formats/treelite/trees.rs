//! Trees of a treelite dump: lists of nodes with IDs, in any order.
//!
//! A numeric split sends a row left if `x̂ op threshold` is true, for any of five operators, and right
//! otherwise. In normal form:
//!
//! | operator | left child | right child | rule |
//! |---|---|---|---|
//! | `<` | left | right | x̂ < t |
//! | `<=` | left | right | x̂ < the next number after t |
//! | `>` | right | left | x̂ < the next number after t |
//! | `>=` | right | left | x̂ < t |
//! | `==` | left | right | x̂ equals t |
//!
//! A categorical split sends members of its list right if `category_list_right_child` is set, and left
//! otherwise. All other values go to the other side. Missing values follow `default_left` in each case.

use std::collections::HashMap;

use crate::ensemble::{CategorySet, Rule, Split, VectorTree, at_most, at_most_infinity};
use crate::error::ModelError;
use crate::formats::document::Field;

/// The precision of the thresholds or of the leaf values in a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Precision {
    Single,
    Double,
}

impl Precision {
    pub(super) fn read(field: &Field<'_>) -> Result<Self, ModelError> {
        match field.text()? {
            "float32" => Ok(Self::Single),
            "float64" => Ok(Self::Double),
            other => Err(field.error(format!("expected float32 or float64, got {other:?}"))),
        }
    }

    fn round(self, number: f64) -> f64 {
        match self {
            Self::Single => f64::from(number as f32),
            Self::Double => number,
        }
    }
}

/// Reads a tree whose leaves have `values` values each. Its nodes are in the order of the file, except that
/// the root is first.
pub(super) fn read_tree(
    tree: &Field<'_>,
    values: usize,
    threshold: Precision,
    leaf: Precision,
) -> Result<VectorTree, ModelError> {
    let list = tree.get("nodes")?;
    let mut nodes = list.elements()?;
    if let Some(announced) = tree.find("num_nodes")? {
        announced.check_says(nodes.len(), "nodes")?;
    }
    root_first(&list, &mut nodes)?;
    let mut places = HashMap::with_capacity(nodes.len());
    for (place, node) in nodes.iter().enumerate() {
        let id = node.get("node_id")?;
        if places.insert(id.integer()?, place as i64).is_some() {
            return Err(id.error("duplicate node_id"));
        }
    }
    let mut shape = VectorTree::default();
    shape.set_covers(covers(&nodes)?);
    for node in &nodes {
        if let Some(field) = node.find("leaf_value")? {
            let numbers = field.loose_numbers()?;
            if numbers.len() != values {
                return Err(field.error(format!("expected {values} values, got {}", numbers.len())));
            }
            shape.add_leaf(numbers.into_iter().map(|number| leaf.round(number)));
            continue;
        }
        let child = |key| {
            let field = node.get(key)?;
            let known = places.get(&field.integer()?).copied();
            known.ok_or_else(|| field.error("the tree does not contain this node"))
        };
        let (left, right) = (child("left_child")?, child("right_child")?);
        let default_left = node.get("default_left")?.flag()?;
        let (split, exchanged) = read_split(node, threshold)?;
        let split = Split {
            feature: node.get("split_feature_id")?.integer()?,
            default_left: default_left != exchanged,
            ..split
        };
        shape.add_split(if exchanged { [right, left] } else { [left, right] }, split);
    }
    Ok(shape)
}

/// Moves the root, which is not a child of any node, to the front.
fn root_first(list: &Field<'_>, nodes: &mut [Field<'_>]) -> Result<(), ModelError> {
    let mut children = std::collections::HashSet::with_capacity(nodes.len());
    for node in nodes.iter().filter(|node| !node.has("leaf_value")) {
        for key in ["left_child", "right_child"] {
            children.insert(node.get(key)?.integer()?);
        }
    }
    let mut root = None;
    for (place, node) in nodes.iter().enumerate() {
        if !children.contains(&node.get("node_id")?.integer()?) && root.replace(place).is_some() {
            return Err(node.error(
                "the tree has several roots: neither this node nor an earlier one is a child of another node",
            ));
        }
    }
    let Some(root) = root else {
        return Err(list.error("the tree has no root: it is empty, or every node is the child of another"));
    };
    nodes[..=root].rotate_right(1);
    Ok(())
}

/// Returns sums of hessians if all nodes have them, otherwise counts of rows if all nodes have them,
/// otherwise `None`.
fn covers(nodes: &[Field<'_>]) -> Result<Option<Vec<f64>>, ModelError> {
    for key in ["sum_hess", "data_count"] {
        let covers = nodes.iter().map(|node| node.find(key)?.map(|cover| cover.number()).transpose());
        let covers: Option<Vec<f64>> = covers.collect::<Result<_, ModelError>>()?;
        if covers.is_some() {
            return Ok(covers);
        }
    }
    Ok(None)
}

/// Returns the split of a node, and whether its children are swapped in normal form.
fn read_split(node: &Field<'_>, threshold: Precision) -> Result<(Split, bool), ModelError> {
    let kind = node.get("node_type")?;
    match kind.text()? {
        "numerical_test_node" => {
            let field = node.get("threshold")?;
            let threshold = threshold.round(field.number()?);
            if threshold.is_nan() {
                return Err(field.error("invalid threshold NaN"));
            }
            let compares = |threshold, exchanged| (Split { threshold, ..Split::default() }, exchanged);
            let operator = node.get("comparison_op")?;
            Ok(match operator.text()? {
                "<" => compares(threshold, false),
                "<=" => (at_most_split(threshold), false),
                ">" => (at_most_split(threshold), true),
                ">=" => compares(threshold, true),
                "==" => (ruled(Rule::exactly(vec![threshold])), false),
                other => {
                    return Err(operator
                        .error(format!("unknown operator {other:?}; expected one of: <, <=, >, >=, ==")));
                }
            })
        }
        "categorical_test_node" => {
            let rule = Rule::Set {
                members: CategorySet::new(node.get("category_list")?.categories()?),
                members_go_left: !node.get("category_list_right_child")?.flag()?,
                negative_fraction_is_zero: false,
            };
            Ok((ruled(rule), false))
        }
        other => Err(kind.error(format!(
            "expected numerical_test_node, categorical_test_node or a leaf_value, got {other:?}"
        ))),
    }
}

fn at_most_split(threshold: f64) -> Split {
    Split { threshold: at_most(threshold), rule: at_most_infinity(threshold), ..Split::default() }
}

fn ruled(rule: Rule) -> Split {
    Split { rule: Some(rule), ..Split::default() }
}
