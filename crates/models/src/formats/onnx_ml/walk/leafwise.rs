//! Operators on scores that are determined by one tree, so that their results can be computed for each of its
//! leaves.
//!
//! For example, isolation forests look up path lengths by the index of the leaf, and voting classifiers
//! compare the scores of a leaf. This module evaluates these operators for each leaf, rounding to `f32` as
//! the runtime does.

use super::columns::{Column, Columns, Leaves};
use super::encoder::Encoder;
use super::follow::{Walk, row_of};
use super::prepared::Datum;
use super::stop::Stop;
use super::value::{Scores, Value};
use crate::ensemble::Link;
use crate::formats::onnx_ml::attributes::Attributes;
use crate::formats::onnx_ml::draft::Draft;
use crate::formats::onnx_ml::messages::{BOOL, INT32, INT64, NodeProto};
use crate::formats::onnx_ml::tensor::Tensor;

/// Columns of numbers. Each has one number per leaf, or a single number for all leaves.
type Numbers = Vec<Vec<f64>>;

impl Walk<'_> {
    /// Computes the value of a node for the leaves of one tree. Returns `None` if the operator is handled
    /// elsewhere, or if its inputs are not determined by one tree.
    pub(super) fn leafwise(&mut self, node: &NodeProto) -> Result<Option<Value>, Stop> {
        let attributes = Attributes::new(node)?;
        if let Some(value) = self.shape_value(node, attributes)? {
            return Ok(Some(value));
        }
        let Some((forest, inputs)) = self.of_one_tree(node)? else { return Ok(None) };
        let round = |value: f64| match self.forests[forest].is_single {
            true => f64::from(value as f32),
            false => value,
        };
        let truth = |holds: bool| f64::from(u8::from(holds));
        let unary = |of: &dyn Fn(f64) -> f64| combined(&inputs[..1], |values| round(of(values[0])));
        let binary = |of: &dyn Fn(f64, f64) -> f64| match inputs.len() {
            2 => combined(&inputs, |values| round(of(values[0], values[1]))),
            _ => Err(Stop::Other),
        };
        let numbers = match (&*node.op_type, inputs.len()) {
            ("Log", _) => unary(&f64::ln)?,
            ("Sqrt", _) => unary(&f64::sqrt)?,
            ("Floor", _) => unary(&f64::floor)?,
            ("Ceil", _) => unary(&f64::ceil)?,
            ("Abs", _) => unary(&f64::abs)?,
            ("Not", _) => unary(&|value| truth(value == 0.0))?,
            ("Cast", _) => match attributes.integer("to")?.and_then(|to| i32::try_from(to).ok()) {
                Some(INT32 | INT64) => unary(&f64::trunc)?,
                Some(BOOL) => unary(&|value| truth(value != 0.0))?,
                _ => return Ok(None),
            },
            ("LabelEncoder", _) => {
                let encoder = Encoder::read(attributes)?;
                self.allowance.spend(encoder.keys.len())?;
                let of = |value: f64| match encoder.value(value) {
                    Datum::Number(number) => *number,
                    Datum::Text(_) => f64::NAN,
                };
                unary(&of)?
            }
            ("Max", _) => binary(&f64::max)?,
            ("Min", _) => binary(&f64::min)?,
            ("Mul", _) if self.mixes(node)? => binary(&|one, other| one * other)?,
            ("Div", _) if self.mixes(node)? || matches!(self.get(node, 0)?, Value::Constant(_)) => {
                binary(&|one, other| one / other)?
            }
            ("Equal", _) => binary(&|one, other| truth(one == other))?,
            ("Less", _) => binary(&|one, other| truth(one < other))?,
            ("LessOrEqual", _) => binary(&|one, other| truth(one <= other))?,
            ("Greater", _) => binary(&|one, other| truth(one > other))?,
            ("GreaterOrEqual", _) => binary(&|one, other| truth(one >= other))?,
            ("And", _) => binary(&|one, other| truth(one != 0.0 && other != 0.0))?,
            ("Or", _) => binary(&|one, other| truth(one != 0.0 || other != 0.0))?,
            ("Where", 3) => combined(&inputs, |values| if values[0] != 0.0 { values[1] } else { values[2] })?,
            ("ArgMax", 1) if matches!(attributes.integer("axis")?, Some(1 | -1)) => {
                vec![places_of_largest(&inputs[0])]
            }
            _ => return Ok(None),
        };
        if numbers.iter().flatten().any(|value| !value.is_finite()) {
            return Err(Stop::because("it maps the leaves of a tree to values that are not finite"));
        }
        let leaves = self.forests[forest].drafts.first().map_or(0, Draft::leaf_count);
        let column = |values: Vec<f64>| match values.len() {
            1 if leaves != 1 => Column { constant: values[0], ..Column::default() },
            _ => Column::leaves(0.0, forest, Leaves::Mapped(values.into())),
        };
        let margins = Columns(numbers.into_iter().map(column).collect());
        Ok(Some(Value::Scores(Scores::affine(margins))))
    }

    /// Returns whether both inputs of a node depend on the row.
    fn mixes(&self, node: &NodeProto) -> Result<bool, Stop> {
        let is_scores = |index| self.get(node, index).map(|value| matches!(value, Value::Scores(_)));
        Ok(is_scores(0)? && is_scores(1)?)
    }

    /// Returns the index of the forest whose only tree determines all inputs of a node, and the numbers of
    /// these inputs. Returns `None` if there is no such tree.
    fn of_one_tree(&mut self, node: &NodeProto) -> Result<Option<(usize, Vec<Numbers>)>, Stop> {
        let mut forest = None;
        for index in 0..node.input.len() {
            match self.get(node, index)? {
                Value::Constant(_) => {}
                Value::Scores(scores) if scores.link == Some(Link::Identity) => match scores.margins.tree() {
                    Some(tree) if *forest.get_or_insert(tree) == tree => {}
                    _ => return Ok(None),
                },
                _ => return Ok(None),
            }
        }
        let Some(forest) = forest else { return Ok(None) };
        let mut inputs = Vec::with_capacity(node.input.len());
        let mut terms = 0usize;
        for index in 0..node.input.len() {
            inputs.push(match self.get(node, index)? {
                Value::Scores(scores) => {
                    terms = terms.saturating_add(scores.margins.terms());
                    scores.margins.0.iter().map(numbers_of).collect()
                }
                Value::Constant(tensor) if tensor.numbers.len() < 1 << 16 => {
                    row_of(tensor, tensor.numbers.len())?.into_iter().map(|number| vec![number]).collect()
                }
                _ => return Ok(None),
            });
        }
        self.allowance.spend(terms.saturating_mul(2))?;
        Ok(Some((forest, inputs)))
    }

    /// Handles operators that return the shape of scores, or a constant tensor of that shape.
    fn shape_value(&self, node: &NodeProto, attributes: Attributes<'_>) -> Result<Option<Value>, Stop> {
        match (&*node.op_type, node.input.len()) {
            ("Shape", 1) => Ok(match self.get(node, 0)? {
                Value::Scores(_) | Value::Table(_) => Some(Value::Shape),
                _ => None,
            }),
            ("ConstantOfShape", 1) => match self.get(node, 0)? {
                // A scalar represents a column of equal numbers.
                Value::Shape => {
                    let numbers = attributes.tensor("value")?;
                    let number = numbers.first().copied().unwrap_or(0.0);
                    let tensor = Tensor { dims: vec![], numbers: vec![number] };
                    Ok(Some(Value::Constant(tensor)))
                }
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }
}

/// Returns the value of a column for each leaf.
fn numbers_of(column: &Column) -> Vec<f64> {
    match column.trees.first_key_value() {
        Some((_, Leaves::Mapped(values))) => values.iter().map(|value| value + column.constant).collect(),
        _ => vec![column.constant],
    }
}

/// Applies a function elementwise. Inputs with one column are broadcast to the number of columns of the other
/// inputs, and columns with a single number are broadcast to all leaves.
fn combined(inputs: &[Numbers], of: impl Fn(&[f64]) -> f64) -> Result<Numbers, Stop> {
    let columns = inputs.iter().map(Vec::len).max().unwrap_or(0);
    let leaves = inputs.iter().flatten().map(Vec::len).max().unwrap_or(0);
    if inputs.iter().any(|input| input.len() != columns && input.len() != 1) {
        return Err(Stop::Other);
    }
    let mut made = Vec::with_capacity(columns);
    for column in 0..columns {
        let of_column: Vec<&Vec<f64>> =
            inputs.iter().map(|input| &input[if input.len() == 1 { 0 } else { column }]).collect();
        let number = |leaf: usize| {
            let values: Vec<f64> =
                of_column.iter().map(|values| values[if values.len() == 1 { 0 } else { leaf }]).collect();
            of(&values)
        };
        made.push((0..leaves).map(number).collect());
    }
    Ok(made)
}

/// Returns for each leaf the index of the column with the largest number, the first such column in case of
/// ties.
fn places_of_largest(columns: &Numbers) -> Vec<f64> {
    let leaves = columns.iter().map(Vec::len).max().unwrap_or(0);
    let largest = |leaf: usize| {
        let value = |column: usize| columns[column][if columns[column].len() == 1 { 0 } else { leaf }];
        (1..columns.len()).fold(0, |best, column| if value(column) > value(best) { column } else { best })
            as f64
    };
    (0..leaves).map(largest).collect()
}
