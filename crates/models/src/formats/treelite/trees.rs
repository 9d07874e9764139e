//! Trees of a treelite dump: lists of nodes with numbers of their own, in any order.
//!
//! A numeric split sends a row left if `x̂ op threshold` is true, for any of five operators, and right if not. In the normal form:
//!
//! | operator | left child | right child | rule |
//! |---|---|---|---|
//! | `<` | left | right | x̂ < t |
//! | `<=` | left | right | x̂ < the number after t |
//! | `>` | right | left | x̂ < the number after t |
//! | `>=` | right | left | x̂ < t |
//! | `==` | left | right | x̂ is exactly t |
//!
//! A categorical split sends members of its list right if `category_list_right_child` says so, else left, and all other values to the
//! other side. Missing values go by `default_left` in each case.

use std::collections::HashMap;

use crate::ensemble::{Categories, Rule, TreeParts, at_most};
use crate::error::ModelError;
use crate::formats::document::Field;

/// Largest category: beyond, `f32` no longer tells whole numbers apart.
const MOST_CATEGORY: i64 = 16_777_215;

/// The type of a number in a file.
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
            other => Err(field.error(format!("{other:?}, where float32 or float64 is wanted"))),
        }
    }

    fn round(self, number: f64) -> f64 {
        match self {
            Self::Single => f64::from(number as f32),
            Self::Double => number,
        }
    }
}

/// A tree for all outputs that it adds to. Nodes are in the file's order, after the root.
pub(super) struct Shape {
    left: Vec<i64>,
    right: Vec<i64>,
    feature: Vec<i64>,
    threshold: Vec<f64>,
    default_left: Vec<bool>,
    rules: Vec<Option<Rule>>,
    cover: Option<Vec<f64>>,
    /// One per leaf and output.
    leaves: Vec<Vec<f64>>,
}

impl Shape {
    /// The tree of the output at this place of its leaves.
    pub(super) fn parts(&self, place: usize, output: usize, scale: f64) -> TreeParts {
        let mut number = self.threshold.clone();
        for (number, leaf) in number.iter_mut().zip(&self.leaves) {
            if let Some(value) = leaf.get(place) {
                *number = *value;
            }
        }
        TreeParts {
            output,
            left: self.left.clone(),
            right: self.right.clone(),
            feature: self.feature.clone(),
            number,
            default_left: self.default_left.clone(),
            cover: self.cover.clone(),
            rules: if self.rules.iter().any(Option::is_some) { self.rules.clone() } else { Vec::new() },
            linear: Vec::new(),
            deleted: 0,
            scale,
        }
    }
}

/// Reads a tree whose leaves have so many values.
pub(super) fn read_tree(
    tree: &Field<'_>,
    values: usize,
    threshold: Precision,
    leaf: Precision,
) -> Result<Shape, ModelError> {
    let list = tree.get("nodes")?;
    let mut nodes = list.elements()?;
    if let Some(announced) = tree.find("num_nodes")?
        && announced.count()? != nodes.len()
    {
        return Err(announced.error(format!(
            "says {}, but there are {} nodes",
            announced.count()?,
            nodes.len()
        )));
    }
    root_first(&list, &mut nodes)?;
    let mut places = HashMap::with_capacity(nodes.len());
    for (place, node) in nodes.iter().enumerate() {
        let id = node.get("node_id")?;
        if places.insert(id.integer()?, place as i64).is_some() {
            return Err(id.error("the number of two nodes"));
        }
    }
    let mut shape = Shape {
        left: Vec::with_capacity(nodes.len()),
        right: Vec::with_capacity(nodes.len()),
        feature: Vec::with_capacity(nodes.len()),
        threshold: Vec::with_capacity(nodes.len()),
        default_left: Vec::with_capacity(nodes.len()),
        rules: Vec::with_capacity(nodes.len()),
        cover: covers(&nodes)?,
        leaves: Vec::with_capacity(nodes.len()),
    };
    for node in &nodes {
        if let Some(field) = node.find("leaf_value")? {
            let numbers = field.loose_numbers()?;
            if numbers.len() != values {
                return Err(field.error(format!("{} values where {values} are wanted", numbers.len())));
            }
            shape.left.push(-1);
            shape.right.push(-1);
            shape.feature.push(0);
            shape.threshold.push(0.0);
            shape.default_left.push(false);
            shape.rules.push(None);
            shape.leaves.push(numbers.into_iter().map(|number| leaf.round(number)).collect());
            continue;
        }
        let child = |key| {
            let field = node.get(key)?;
            let known = places.get(&field.integer()?).copied();
            known.ok_or_else(|| field.error("no node of the tree has this number"))
        };
        let (left, right) = (child("left_child")?, child("right_child")?);
        let default_left = node.get("default_left")?.flag()?;
        let split = read_split(node, threshold)?;
        shape.left.push(if split.exchanged { right } else { left });
        shape.right.push(if split.exchanged { left } else { right });
        shape.feature.push(node.get("split_feature_id")?.integer()?);
        shape.threshold.push(split.threshold);
        shape.default_left.push(default_left != split.exchanged);
        shape.rules.push(split.rule);
        shape.leaves.push(Vec::new());
    }
    Ok(shape)
}

/// Brings the root, which is nobody's child, to the front.
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
            return Err(node.error("a second node that is nobody's child"));
        }
    }
    let Some(root) = root else { return Err(list.error("no root: every node is a child, or there is none")) };
    nodes[..=root].rotate_right(1);
    Ok(())
}

/// Sums of hessians where all nodes have them, else counts of rows, else nothing.
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

struct Split {
    threshold: f64,
    rule: Option<Rule>,
    /// Whether the normal form has the children the other way round.
    exchanged: bool,
}

fn read_split(node: &Field<'_>, threshold: Precision) -> Result<Split, ModelError> {
    let kind = node.get("node_type")?;
    match kind.text()? {
        "numerical_test_node" => {
            let field = node.get("threshold")?;
            let threshold = threshold.round(field.number()?);
            if threshold.is_nan() {
                return Err(field.error("the threshold NaN"));
            }
            let compares = |threshold, exchanged| Split { threshold, rule: None, exchanged };
            let operator = node.get("comparison_op")?;
            Ok(match operator.text()? {
                "<" => compares(threshold, false),
                "<=" => compares(at_most(threshold), false),
                ">" => compares(at_most(threshold), true),
                ">=" => compares(threshold, true),
                "==" => {
                    Split { threshold: 0.0, rule: Some(Rule::exactly(vec![threshold])), exchanged: false }
                }
                other => {
                    return Err(
                        operator.error(format!("the operator {other:?}, where <, <=, >, >= or == is wanted"))
                    );
                }
            })
        }
        "categorical_test_node" => {
            let list = node.get("category_list")?;
            let members = list.integers()?;
            if let Some(category) = members.iter().find(|category| !(0..=MOST_CATEGORY).contains(*category)) {
                return Err(list.error(format!("{category} is no category")));
            }
            let rule = Rule::Set {
                members: Categories::new(members.into_iter().map(|category| category as u32).collect()),
                members_go_left: !node.get("category_list_right_child")?.flag()?,
                negative_fraction_is_zero: false,
            };
            Ok(Split { threshold: 0.0, rule: Some(rule), exchanged: false })
        }
        other => Err(kind.error(format!(
            "{other:?}, where numerical_test_node, categorical_test_node or a leaf_value is wanted"
        ))),
    }
}
