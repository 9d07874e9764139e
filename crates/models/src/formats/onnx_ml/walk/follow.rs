//! Evaluation of a graph, node by node, on symbolic columns of the table.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::columns::Allowance;
use super::encoder::Encoder;
use super::ensembles;
use super::forest::Forest;
use super::inputs::{Rows, inputs};
use super::prepared::{Datum, Grid, Texts};
use super::stop::{Stop, damaged};
use super::table::Splitter;
use super::value::{Reason, Refusal, Scores, Value};
use crate::ensemble::Link;
use crate::error::ModelError;
use crate::formats::onnx_ml::attributes::Attributes;
use crate::formats::onnx_ml::graph::{Element, is_ensemble, is_label};
use crate::formats::onnx_ml::messages::{GraphProto, NodeProto, TensorProto};
use crate::formats::onnx_ml::tensor::Tensor;

/// Number of terms that a file of any length may create. Long files may create more terms.
const TERMS: usize = 1 << 22;

/// The result of evaluating a graph.
pub(super) struct GraphResult {
    pub(super) rows: Rows,
    pub(super) scores: Scores,
    pub(super) forests: Vec<Forest>,
    /// The categories of text columns.
    pub(super) texts: HashMap<u32, Texts>,
    /// Features that must not be missing.
    pub(super) refused: HashSet<u32>,
    pub(super) notes: Vec<String>,
}

/// Evaluates a graph from its inputs to its scores. The file has `length` bytes.
pub(super) fn follow(
    graph: &GraphProto,
    weights: &[TensorProto],
    length: usize,
) -> Result<Result<GraphResult, Rc<Refusal>>, Stop> {
    let (mut walk, rows) = Walk::new(graph, weights, length)?;
    for node in &graph.node {
        walk.follow(node)?;
    }
    let scores = match walk.scores_of_outputs(graph)? {
        Ok(scores) => scores,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let Walk { forests, texts, refused, notes, .. } = walk;
    Ok(Ok(GraphResult { rows, scores, forests, texts, refused, notes }))
}

fn text_constant(tensor: &TensorProto) -> Value {
    match &tensor.string_data[..] {
        [text] => match std::str::from_utf8(text) {
            Ok(text) => Value::Text(text.into()),
            Err(_) => Value::Label,
        },
        _ => Value::Label,
    }
}

pub(super) struct Walk<'a> {
    values: HashMap<&'a str, Value>,
    pub(super) allowance: Allowance,
    pub(super) grid: Grid,
    pub(super) forests: Vec<Forest>,
    pub(super) texts: HashMap<u32, Texts>,
    pub(super) refused: HashSet<u32>,
    pub(super) notes: Vec<String>,
    /// Length of the file in bytes.
    length: usize,
}

impl<'a> Walk<'a> {
    /// Returns the state of the evaluation before the first node, and the columns of the table. The file has
    /// `length` bytes.
    pub(super) fn new(
        graph: &'a GraphProto,
        weights: &'a [TensorProto],
        length: usize,
    ) -> Result<(Self, Rows), Stop> {
        let mut values = HashMap::new();
        for tensor in weights {
            let read = Tensor::read(tensor, &tensor.name, |problem| {
                damaged(format!("the tensor {}: {problem}", tensor.name))
            });
            let value = match read {
                Ok(tensor) => Value::Constant(tensor),
                Err(error @ ModelError::Unsupported { .. }) => return Err(error.into()),
                // A text tensor may be used only for values that are not evaluated, such as labels.
                Err(_) if !tensor.string_data.is_empty() => text_constant(tensor),
                Err(error) => return Err(error.into()),
            };
            values.insert(&*tensor.name, value);
        }
        let found = inputs(graph, &values, length)?;
        values.extend(found.values);
        let walk = Self {
            values,
            allowance: Allowance(TERMS.max(length.saturating_mul(16))),
            grid: found.rows.grid,
            forests: Vec::new(),
            texts: found.texts,
            refused: HashSet::new(),
            notes: Vec::new(),
            length,
        };
        Ok((walk, found.rows))
    }

    /// Evaluates a node, and stores its outputs.
    pub(super) fn follow(&mut self, node: &'a NodeProto) -> Result<(), Stop> {
        let value = match self.value(node) {
            Ok(value) => value,
            Err(stop) => Value::Refused(refusal(node, stop)?),
        };
        if let Value::Scores(scores) | Value::Total(scores) = &value
            && let Err(stop) = self.allowance.spend(scores.margins.terms())
        {
            let refused = Value::Refused(refusal(node, stop)?);
            self.values.extend(node.output.iter().map(|name| (&**name, refused.clone())));
            return Ok(());
        }
        // The first output of a classifier is the label.
        let labels = usize::from(matches!(&*node.op_type, "LinearClassifier" | "TreeEnsembleClassifier"));
        for (index, name) in node.output.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
            let value = if index < labels { Value::Label } else { value.clone() };
            self.values.insert(name, value);
        }
        Ok(())
    }

    /// Evaluates a node.
    fn value(&mut self, node: &NodeProto) -> Result<Value, Stop> {
        Attributes::new(node)?;
        let count = node.input.len();
        let mut constants = true;
        for index in (0..count).filter(|&index| !node.input[index].is_empty()) {
            match self.get(node, index)? {
                // Propagate the refusal instead of failing, because the value may be needed only for a label.
                Value::Refused(refusal) => return Ok(Value::Refused(refusal.clone())),
                Value::Constant(_) | Value::Text(_) => {}
                _ => constants = false,
            }
        }
        if constants && let Some(value) = self.constant_value(node)? {
            return Ok(value);
        }
        if is_ensemble(node) {
            return self.trees(node);
        }
        if let Some(value) = self.prepared(node)? {
            return Ok(value);
        }
        if let Some(value) = self.leafwise(node)? {
            return Ok(value);
        }
        if let Some(value) = self.label(node)? {
            return Ok(value);
        }
        self.scored(node)
    }

    /// Evaluates a node whose inputs are all constants. Returns `None` for other nodes.
    fn constant_value(&self, node: &NodeProto) -> Result<Option<Value>, Stop> {
        let attributes = Attributes::new(node)?;
        match (&*node.op_type, node.input.len()) {
            ("Constant", 0) => match attributes.raw_tensor("value") {
                Some(tensor) if !tensor.string_data.is_empty() => Ok(Some(text_constant(tensor))),
                Some(tensor) => Ok(Some(Value::Constant(Tensor::read(tensor, "value", |problem| {
                    attributes.error("value", problem)
                })?))),
                None => Err(Stop::Other),
            },
            ("Identity" | "Cast", 1) => Ok(Some(self.get(node, 0)?.clone())),
            ("LabelEncoder", 1) => match self.constant(node, 0)?.numbers[..] {
                [number] => Ok(Some(match Encoder::read(attributes)?.value(number) {
                    Datum::Text(text) => Value::Text(text.clone()),
                    &Datum::Number(number) => {
                        Value::Constant(Tensor { dims: vec![1], numbers: vec![number] })
                    }
                })),
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// Evaluates an operator with trees. Returns its scores.
    fn trees(&mut self, node: &NodeProto) -> Result<Value, Stop> {
        let table = match self.get(node, 0)? {
            Value::Table(table) => table.clone(),
            Value::Scores(_) | Value::Total(_) | Value::Stack(_) => {
                return Err(Stop::because("its input combines several columns of the table"));
            }
            _ => return Err(Stop::Other),
        };
        // Integers are compared as `f32`, unless thresholds are doubles.
        let table = match table.is_of(Element::Single)
            || table.is_of(Element::Double)
            || ensembles::compares_doubles(node)?
        {
            true => table,
            false => table.as_single(self.grid, &mut self.allowance)?,
        };
        let splitter = Splitter::new(&table, self.grid, self.length);
        let (forest, scores) = ensembles::read(node, &splitter, self.forests.len(), &mut self.allowance)?;
        self.forests.push(forest);
        Ok(Value::Scores(scores))
    }

    /// Returns the value of an input, which must be present.
    pub(super) fn get(&self, node: &NodeProto, index: usize) -> Result<&Value, Stop> {
        let name = node.input.get(index).filter(|name| !name.is_empty()).ok_or(Stop::Other)?;
        let unknown = || damaged(format!("the input {name:?} of {} is not defined", node.op_type)).into();
        self.values.get(&**name).ok_or_else(unknown)
    }

    pub(super) fn constant(&self, node: &NodeProto, index: usize) -> Result<&Tensor, Stop> {
        match self.get(node, index)? {
            Value::Constant(tensor) => Ok(tensor),
            _ => Err(Stop::Other),
        }
    }

    /// Returns the elements of a constant input as integers.
    pub(super) fn places(&self, node: &NodeProto, index: usize) -> Result<Vec<i64>, Stop> {
        Ok(self.constant(node, index)?.numbers.iter().map(|&number| number as i64).collect())
    }

    /// Returns the indices of the consecutive columns that a `Slice` selects from `count` columns.
    pub(super) fn slice(&self, node: &NodeProto, count: usize) -> Result<Vec<i64>, Stop> {
        let count = count as i64;
        let [starts, ends, axes] = [1, 2, 3].map(|index| self.places(node, index));
        let steps = if node.input.len() > 4 { self.places(node, 4)? } else { vec![1] };
        let (&[start], &[end], &[1 | -1], &[1]) = (&starts?[..], &ends?[..], &axes?[..], &steps[..]) else {
            return Err(Stop::Other);
        };
        let place = |place: i64| if place < 0 { place.saturating_add(count) } else { place }.clamp(0, count);
        let (start, end) = (place(start), place(end));
        // Inputs may have many columns that are not listed one by one.
        if usize::try_from(end - start).is_ok_and(|taken| taken > self.allowance.0) {
            return Err(Stop::Other);
        }
        Ok((start..end).collect())
    }

    /// Returns whether a `Reshape` does not change a tensor with this many columns.
    pub(super) fn keeps_columns(&self, node: &NodeProto, count: usize) -> Result<bool, Stop> {
        let (shape, count) = (self.places(node, 1)?, count as i64);
        Ok(match shape[..] {
            [-1..=1, columns] => columns == count || columns == -1 && shape[0] != -1,
            [-1] => count == 1,
            _ => false,
        })
    }

    /// Returns the scores among the outputs, or why there are no scores.
    fn scores_of_outputs(&mut self, graph: &GraphProto) -> Result<Result<Scores, Rc<Refusal>>, Stop> {
        let mut found: Option<Scores> = None;
        let mut labels: Option<Rc<Refusal>> = None;
        for output in &graph.output {
            match self.values.remove(&*output.name) {
                None => return Err(damaged(format!("the output {:?} is not defined", output.name)).into()),
                Some(Value::Label) => {}
                // Labels may be returned in addition to the scores.
                Some(Value::Scores(_) | Value::Table(_)) if is_label(output) => {}
                Some(Value::Refused(refusal)) if is_label(output) => drop(labels.get_or_insert(refusal)),
                Some(Value::Refused(refusal)) => return Ok(Err(refusal)),
                Some(Value::Scores(scores)) => match &found {
                    // The outputs may include the margins both before and after a link.
                    Some(known) if known.margins.same(&scores.margins) => {
                        if known.link == Some(Link::Identity) {
                            found = Some(scores);
                        }
                    }
                    Some(_) => {
                        return Err(Stop::because("has several outputs with different scores"));
                    }
                    None => found = Some(scores),
                },
                Some(Value::Table(table)) if found.is_none() => found = Some(self.as_scores(&table)?),
                Some(_) => return Err(Stop::Other),
            }
        }
        match (found, labels) {
            (Some(scores), _) => Ok(Ok(scores)),
            (None, Some(refusal)) => Ok(Err(refusal)),
            (None, None) => Err(Stop::because("returns only labels, not probabilities or scores,")),
        }
    }
}

/// Converts the reason why the value of a node is unknown to a [`Refusal`]. Errors about corrupt files are
/// returned as errors.
fn refusal(node: &NodeProto, stop: Stop) -> Result<Rc<Refusal>, Stop> {
    let why = match stop {
        Stop::Other => Reason::Unknown,
        Stop::Because(reason) => Reason::Because(reason),
        Stop::Error(ModelError::Unsupported { what, help }) => Reason::Unsupported { what, help },
        Stop::Error(error) => return Err(Stop::Error(error)),
    };
    Ok(Rc::new(Refusal { operator: node.op_type.clone(), name: node.name.clone(), why }))
}

/// Converts indices of columns to `usize`. Negative indices count from the end.
pub(super) fn places_in(places: &[i64], count: usize) -> Result<Vec<usize>, Stop> {
    let count = count as i64;
    let place = |&place: &i64| {
        usize::try_from(if place < 0 { place.saturating_add(count) } else { place }).map_err(|_| Stop::Other)
    };
    places.iter().map(place).collect()
}

/// Returns the numbers of a tensor that does not depend on the row: one number, or one number for each of
/// `count` columns.
pub(super) fn row_of(tensor: &Tensor, count: usize) -> Result<Vec<f64>, Stop> {
    let is_row = match tensor.dims[..] {
        [] => true,
        [columns] | [1, columns] => columns == 1 || columns == count,
        _ => false,
    };
    match is_row && !tensor.numbers.is_empty() {
        true => Ok(tensor.numbers.clone()),
        false => Err(Stop::Other),
    }
}
