//! The graph, node by node: what each makes of affine functions of the row.

use std::collections::HashMap;

use super::columns::{Allowance, Columns};
use super::operators;
use super::stop::Stop;
use super::value::{Scores, Value};
use crate::ensemble::Link;
use crate::error::ModelError;
use crate::formats::onnx_ml::attributes::Attributes;
use crate::formats::onnx_ml::graph::{DOMAIN, describe};
use crate::formats::onnx_ml::messages::{DOUBLE, FLOAT, GraphProto, NodeProto, TensorProto};
use crate::formats::onnx_ml::tensor::Tensor;

/// Terms that any file may make, and columns that it may have; longer ones more.
const TERMS: usize = 1 << 22;
const COLUMNS: usize = 1 << 16;

/// The operators that may be in the graph of a linear model.
const KNOWN: [&str; 39] = [
    "Abs",
    "Add",
    "ArgMax",
    "ArrayFeatureExtractor",
    "Cast",
    "Concat",
    "Constant",
    "Div",
    "Dropout",
    "Equal",
    "Exp",
    "Flatten",
    "Gather",
    "Gemm",
    "Greater",
    "GreaterOrEqual",
    "Identity",
    "Imputer",
    "Less",
    "LinearClassifier",
    "LinearRegressor",
    "MatMul",
    "Mul",
    "Neg",
    "Normalizer",
    "ReduceSum",
    "Reshape",
    "SVMRegressor",
    "Scaler",
    "Sigmoid",
    "Slice",
    "Softmax",
    "Softplus",
    "Squeeze",
    "Sub",
    "Sum",
    "Unsqueeze",
    "Where",
    "ZipMap",
];

/// Operators that only a graph with operators of `ai.onnx.ml` for other models has: such a graph is no network.
const REFUSED: [&str; 6] =
    ["Binarizer", "FeatureVectorizer", "LabelEncoder", "OneHotEncoder", "SVMClassifier", "TfIdfVectorizer"];

pub(super) fn is_known(node: &NodeProto) -> bool {
    let of_standard = ["", "ai.onnx", DOMAIN].contains(&&*node.domain);
    of_standard && (KNOWN.contains(&&*node.op_type) || REFUSED.contains(&&*node.op_type))
}

/// What rows are.
pub(super) struct Rows {
    pub(super) columns: usize,
    /// Where each column is an input by itself.
    pub(super) names: Option<Vec<String>>,
}

/// The columns of the graph, and its scores. The file has `length` bytes.
pub(super) fn follow(
    graph: &GraphProto,
    weights: &[TensorProto],
    length: usize,
) -> Result<(Rows, Scores), Stop> {
    let mut walk =
        Walk { values: HashMap::new(), allowance: Allowance(TERMS.max(length.saturating_mul(16))) };
    for tensor in weights {
        let read = Tensor::read(tensor, &tensor.name, |problem| {
            damaged(format!("the tensor {}: {problem}", tensor.name))
        });
        walk.values.insert(&tensor.name, Value::Constant(read?));
    }
    let rows = walk.inputs(graph, COLUMNS.max(length))?;
    for node in &graph.node {
        walk.follow(node)?;
    }
    // A label is said beside the scores.
    let mut scores = None;
    for output in &graph.output {
        match walk.values.remove(&*output.name) {
            Some(Value::Label) => {}
            Some(Value::Scores(found)) if scores.is_none() => scores = Some(found),
            Some(_) => return Err(Stop::Other),
            None => return Err(damaged(format!("nothing makes the output {:?}", output.name)).into()),
        }
    }
    Ok((rows, scores.ok_or(Stop::Other)?))
}

fn damaged(problem: String) -> ModelError {
    ModelError::Schema { at: "graph".to_owned(), problem }
}

struct Walk<'a> {
    values: HashMap<&'a str, Value>,
    allowance: Allowance,
}

impl<'a> Walk<'a> {
    /// Takes the inputs of the graph, the features in their order.
    fn inputs(&mut self, graph: &'a GraphProto, most: usize) -> Result<Rows, Stop> {
        let (mut columns, mut names) = (0usize, Vec::new());
        let mut singles = true;
        for input in &graph.input {
            if self.values.contains_key(&*input.name) {
                // A weight that may be given, too, as older files have it.
                continue;
            }
            let (_, count) = describe(input)?;
            let shape = input.r#type.as_ref().and_then(|kind| kind.tensor_type.as_ref()?.shape.as_ref());
            if shape.is_some_and(|shape| shape.dim.len() != 2) {
                return Err(Stop::Other);
            }
            let count = match count {
                Some(count) => count,
                None if graph.node.iter().any(|node| node.input.contains(&input.name)) => {
                    graph.node.iter().find_map(|node| self.width_for(node, &input.name)).ok_or(Stop::Other)?
                }
                None => return Err(Stop::Other),
            };
            let first = columns;
            columns = columns.saturating_add(count);
            if columns > most {
                return Err(damaged(format!(
                    "{columns} columns, and a file that is too short for so many coefficients"
                ))
                .into());
            }
            self.allowance.spend(2 * count)?;
            let features = Columns::input(first, count);
            self.values.insert(&input.name, Value::Scores(Scores::affine(features)));
            singles &= count == 1;
            names.push(input.name.clone());
        }
        match columns {
            0 => Err(Stop::Other),
            _ => Ok(Rows { columns, names: (singles && columns > 1).then_some(names) }),
        }
    }

    /// The columns of an input of which the graph does not say how many it has, as the operator that takes it wants them.
    fn width_for(&self, node: &NodeProto, input: &str) -> Option<usize> {
        if node.input.first().map(String::as_str) != Some(input) {
            return None;
        }
        let attributes = Attributes::new(node).ok()?;
        let count = |name: &str| attributes.numbers(name).ok().map(|numbers| numbers.len());
        let targets = || match &*node.op_type {
            "LinearRegressor" => usize::try_from(attributes.integer("targets").ok()?.unwrap_or(1)).ok(),
            _ => count("intercepts"),
        };
        let width = match &*node.op_type {
            "LinearRegressor" | "LinearClassifier" => count("coefficients")?.checked_div(targets()?)?,
            "Scaler" => count("offset")?,
            "Imputer" => count("imputed_value_floats")?,
            "MatMul" | "Gemm" => match self.values.get(&**node.input.get(1)?)? {
                Value::Constant(weights) => {
                    let side = usize::from(attributes.integer("transB").ok()? == Some(1));
                    *weights.dims.get(side)?
                }
                _ => return None,
            },
            _ => return None,
        };
        (width > 0).then_some(width)
    }

    fn follow(&mut self, node: &'a NodeProto) -> Result<(), Stop> {
        let value = self.value(node)?;
        if let Value::Scores(scores) | Value::Total(scores) = &value {
            self.allowance.spend(scores.margins.terms())?;
        }
        // A classifier's first output is the label.
        let labels = usize::from(node.op_type == "LinearClassifier");
        for (index, name) in node.output.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
            let value = if index < labels { Value::Label } else { value.clone() };
            self.values.insert(name, value);
        }
        Ok(())
    }

    /// The value of an input that must be there.
    fn get(&self, node: &NodeProto, index: usize) -> Result<&Value, Stop> {
        let name = node.input.get(index).filter(|name| !name.is_empty()).ok_or(Stop::Other)?;
        let unknown = || damaged(format!("nothing makes {name:?}, an input of {}", node.op_type)).into();
        self.values.get(&**name).ok_or_else(unknown)
    }

    fn scores(&self, node: &NodeProto, index: usize) -> Result<&Scores, Stop> {
        match self.get(node, index)? {
            Value::Scores(scores) => Ok(scores),
            _ => Err(Stop::Other),
        }
    }

    fn constant(&self, node: &NodeProto, index: usize) -> Result<&Tensor, Stop> {
        match self.get(node, index)? {
            Value::Constant(tensor) => Ok(tensor),
            _ => Err(Stop::Other),
        }
    }

    /// The places that a constant input says, or those of a list.
    fn places(&self, node: &NodeProto, index: usize) -> Result<Vec<i64>, Stop> {
        Ok(self.constant(node, index)?.numbers.iter().map(|&number| number as i64).collect())
    }

    /// What a node makes.
    fn value(&mut self, node: &NodeProto) -> Result<Value, Stop> {
        let attributes = Attributes::new(node)?;
        let operator = &*node.op_type;
        if REFUSED.contains(&operator) {
            return Err(unsupported(operator));
        }
        if let Some(value) = self.label(node)? {
            return Ok(value);
        }
        let scores = match (operator, node.input.len()) {
            ("Constant", _) => {
                return match node
                    .attribute
                    .iter()
                    .find(|attribute| attribute.name == "value")
                    .and_then(|value| value.t.as_ref())
                {
                    Some(tensor) => Ok(Value::Constant(Tensor::read(tensor, "value", |problem| {
                        attributes.error("value", problem)
                    })?)),
                    None => Err(Stop::Other),
                };
            }
            ("Identity" | "Dropout" | "ZipMap", _) if node.output.len() == 1 => {
                return Ok(self.get(node, 0)?.clone());
            }
            ("Cast", _) => match attributes.integer("to")? {
                Some(to) if to == i64::from(FLOAT) || to == i64::from(DOUBLE) => {
                    return Ok(self.get(node, 0)?.clone());
                }
                _ => return Err(Stop::Other),
            },
            ("Reshape", 2) => {
                let scores = self.scores(node, 0)?;
                let (shape, count) = (self.places(node, 1)?, scores.margins.len() as i64);
                match shape[..] {
                    [-1..=1, columns] if columns == count || columns == -1 && shape[0] != -1 => {
                        scores.clone()
                    }
                    [-1] if count == 1 => scores.clone(),
                    _ => return Err(Stop::Other),
                }
            }
            ("Flatten", _) if attributes.integer("axis")?.unwrap_or(1) == 1 => self.scores(node, 0)?.clone(),
            ("Squeeze", _) if self.scores(node, 0)?.margins.len() == 1 => self.scores(node, 0)?.clone(),
            ("Unsqueeze", _) if self.scores(node, 0)?.margins.len() == 1 => self.scores(node, 0)?.clone(),
            ("Add" | "Sub" | "Mul" | "Div", 2) => return self.arithmetic(node),
            ("Sum", 2) => return self.arithmetic(node),
            ("Neg", _) => Scores::affine(self.scores(node, 0)?.columns()?.affine(|_| [0.0, -1.0, 0.0])),
            ("MatMul", 2) => {
                let (columns, weights) =
                    (self.scores(node, 0)?.columns()?.clone(), self.constant(node, 1)?.clone());
                let count = matrix(&weights, columns.len(), false)?;
                let product =
                    columns.times(count, |i, k| weights.numbers[i * count + k], |_| 0.0, &mut self.allowance);
                Scores::affine(product?)
            }
            ("Gemm", 2 | 3) => self.gemm(node, attributes)?,
            ("Concat", _) => {
                let axis = attributes.integer("axis")?;
                let parts = (0..node.input.len())
                    .map(|index| self.scores(node, index))
                    .collect::<Result<Vec<_>, _>>()?;
                let terms = parts.iter().map(|part| part.margins.terms()).fold(0, usize::saturating_add);
                let link = parts.first().ok_or(Stop::Other)?.link;
                if !matches!(axis, Some(1 | -1))
                    || link.is_none_or(Link::mixes)
                    || parts.iter().any(|part| part.link != link)
                {
                    return Err(Stop::Other);
                }
                if terms > self.allowance.0 {
                    return Err(Stop::Other);
                }
                let margins = Columns(parts.iter().flat_map(|part| part.margins.0.iter().cloned()).collect());
                Scores { margins, link }
            }
            ("ArrayFeatureExtractor", 2) => self.chosen(node, &self.places(node, 1)?)?,
            ("Gather", 2) if matches!(attributes.integer("axis")?, Some(1 | -1)) => {
                if self.constant(node, 1)?.dims.len() != 1 {
                    return Err(Stop::Other);
                }
                self.chosen(node, &self.places(node, 1)?)?
            }
            ("Slice", 4 | 5) => self.slice(node)?,
            ("Sigmoid", _) => self.scores(node, 0)?.behind(Link::Logistic { steepness: 1.0 })?,
            ("Exp", _) => self.scores(node, 0)?.behind(Link::Exponential)?,
            ("Softplus", _) => self.scores(node, 0)?.behind(Link::Softplus)?,
            ("Softmax", _) if matches!(attributes.integer("axis")?, None | Some(1 | -1)) => {
                self.scores(node, 0)?.behind(Link::Softmax)?
            }
            // Of probabilities.
            ("Abs", _) => match self.scores(node, 0)? {
                scores if matches!(scores.link, Some(Link::Logistic { .. } | Link::Softmax)) => {
                    scores.clone()
                }
                _ => return Err(Stop::Other),
            },
            ("ReduceSum", _) => {
                let axes = match node.input.get(1) {
                    Some(_) => self.places(node, 1)?,
                    None => attributes.integers("axes").to_vec(),
                };
                match axes[..] {
                    [1 | -1] if attributes.integer("keepdims")?.unwrap_or(1) == 1 => {
                        return Ok(Value::Total(self.scores(node, 0)?.clone()));
                    }
                    _ => return Err(Stop::Other),
                }
            }
            ("Normalizer", _) => match (attributes.text("norm")?.unwrap_or("MAX"), self.scores(node, 0)?) {
                (_, scores) if scores.link == Some(Link::Identity) => return Err(unsupported(operator)),
                ("L1", scores) => scores.shares()?,
                _ => return Err(Stop::Other),
            },
            ("Scaler", _) => {
                let columns = self.scores(node, 0)?.columns()?;
                let [offset, scale] = ["offset", "scale"].map(|name| {
                    let numbers = attributes.numbers(name)?;
                    if numbers.len() != 1 {
                        attributes.check_count(name, numbers.len(), columns.len())?;
                    }
                    Ok::<_, ModelError>(numbers)
                });
                let (offset, scale) = (offset?, scale?);
                let of = |numbers: &[f64], index: usize| numbers[if numbers.len() == 1 { 0 } else { index }];
                Scores::affine(columns.affine(|index| [-of(&offset, index), of(&scale, index), 0.0]))
            }
            ("Imputer", _) => self.imputed(node, attributes)?,
            ("LinearRegressor", _) => {
                let columns = self.scores(node, 0)?.columns()?.clone();
                operators::regressor(attributes, &columns, &mut self.allowance)?
            }
            ("LinearClassifier", _) => {
                let columns = self.scores(node, 0)?.columns()?.clone();
                operators::classifier(attributes, &columns, &mut self.allowance)?
            }
            ("SVMRegressor", _) => {
                let columns = self.scores(node, 0)?.columns()?.clone();
                operators::support_vectors(attributes, &columns, &mut self.allowance)?
            }
            _ => return Err(Stop::Other),
        };
        Ok(Value::Scores(scores))
    }

    /// What is only said of the label: the place of the largest score, a comparison, and whatever is looked up by them.
    fn label(&self, node: &NodeProto) -> Result<Option<Value>, Stop> {
        let begins = matches!(&*node.op_type, "ArgMax" | "Greater" | "GreaterOrEqual" | "Less" | "Equal");
        let goes_on = matches!(
            &*node.op_type,
            "ArrayFeatureExtractor"
                | "Cast"
                | "Gather"
                | "Identity"
                | "Reshape"
                | "Squeeze"
                | "Unsqueeze"
                | "Where"
                | "Equal"
        );
        let mut of_label = false;
        for index in 0..node.input.len() {
            match self.get(node, index)? {
                Value::Label => of_label = true,
                Value::Constant(_) => {}
                Value::Scores(_) | Value::Total(_) if begins => {}
                _ => return Ok(None),
            }
        }
        Ok((begins || goes_on && of_label).then_some(Value::Label))
    }

    /// Sums, differences, products and quotients with constants; sums and differences of columns.
    fn arithmetic(&mut self, node: &NodeProto) -> Result<Value, Stop> {
        let operator = &*node.op_type;
        let (first, second) = (self.get(node, 0)?.clone(), self.get(node, 1)?.clone());
        let scores = match (operator, first, second) {
            ("Div", Value::Scores(scores), Value::Total(total)) if scores.same(&total) => scores.shares()?,
            ("Sub", Value::Constant(one), Value::Scores(scores))
                if scores.link != Some(Link::Identity) && one.numbers.iter().all(|&number| number == 1.0) =>
            {
                row_of(&one, scores.margins.len())?;
                scores.opposite()?
            }
            ("Add" | "Sum", Value::Scores(one), Value::Scores(other)) => {
                Scores::affine(one.columns()?.plus(other.columns()?, 1.0, &mut self.allowance)?)
            }
            ("Sub", Value::Scores(one), Value::Scores(other)) => {
                Scores::affine(one.columns()?.plus(other.columns()?, -1.0, &mut self.allowance)?)
            }
            (_, Value::Scores(scores), Value::Constant(constant)) => {
                let (columns, constant) = (scores.columns()?, row_of(&constant, scores.margins.len())?);
                Scores::affine(columns.affine(|index| {
                    let number = constant[if constant.len() == 1 { 0 } else { index }];
                    match operator {
                        "Sub" => [0.0, 1.0, -number],
                        "Mul" => [0.0, number, 0.0],
                        "Div" => [0.0, 1.0 / number, 0.0],
                        _ => [0.0, 1.0, number],
                    }
                }))
            }
            ("Add" | "Sum" | "Sub" | "Mul", Value::Constant(constant), Value::Scores(scores)) => {
                let (columns, constant) = (scores.columns()?, row_of(&constant, scores.margins.len())?);
                Scores::affine(columns.affine(|index| {
                    let number = constant[if constant.len() == 1 { 0 } else { index }];
                    match operator {
                        "Sub" => [0.0, -1.0, number],
                        "Mul" => [0.0, number, 0.0],
                        _ => [0.0, 1.0, number],
                    }
                }))
            }
            _ => return Err(Stop::Other),
        };
        Ok(Value::Scores(scores))
    }

    /// `alpha · A B + beta · C`.
    fn gemm(&mut self, node: &NodeProto, attributes: Attributes<'_>) -> Result<Scores, Stop> {
        let (columns, weights) = (self.scores(node, 0)?.columns()?.clone(), self.constant(node, 1)?.clone());
        let transposed = attributes.integer("transB")?.unwrap_or(0) != 0;
        if attributes.integer("transA")?.unwrap_or(0) != 0 || weights.dims.len() != 2 {
            return Err(Stop::Other);
        }
        let (alpha, beta) =
            (attributes.number("alpha")?.unwrap_or(1.0), attributes.number("beta")?.unwrap_or(1.0));
        let (rows, count) = (columns.len(), matrix(&weights, columns.len(), transposed)?);
        let added = match node.input.get(2).filter(|name| !name.is_empty()) {
            Some(_) => row_of(self.constant(node, 2)?, count)?,
            None => vec![0.0],
        };
        let weight = |i: usize, k: usize| {
            alpha * weights.numbers[if transposed { k * rows + i } else { i * count + k }]
        };
        let after = |k: usize| beta * added[if added.len() == 1 { 0 } else { k }];
        Ok(Scores::affine(columns.times(count, weight, after, &mut self.allowance)?))
    }

    fn chosen(&mut self, node: &NodeProto, places: &[i64]) -> Result<Scores, Stop> {
        let scores = self.scores(node, 0)?.clone();
        let count = scores.margins.len() as i64;
        let place = |&place: &i64| {
            usize::try_from(if place < 0 { place.saturating_add(count) } else { place })
                .map_err(|_| Stop::Other)
        };
        let places = places.iter().map(place).collect::<Result<Vec<_>, _>>()?;
        scores.chosen(&places, &mut self.allowance)
    }

    /// Columns from a start to an end, one after the other.
    fn slice(&mut self, node: &NodeProto) -> Result<Scores, Stop> {
        let count = self.scores(node, 0)?.margins.len() as i64;
        let [starts, ends, axes] = [1, 2, 3].map(|index| self.places(node, index));
        let steps = if node.input.len() > 4 { self.places(node, 4)? } else { vec![1] };
        let (&[start], &[end], &[1 | -1], &[1]) = (&starts?[..], &ends?[..], &axes?[..], &steps[..]) else {
            return Err(Stop::Other);
        };
        let place = |place: i64| if place < 0 { place.saturating_add(count) } else { place }.clamp(0, count);
        self.chosen(node, &(place(start)..place(end)).collect::<Vec<_>>())
    }

    /// Numbers in the place of missing values.
    fn imputed(&self, node: &NodeProto, attributes: Attributes<'_>) -> Result<Scores, Stop> {
        let columns = self.scores(node, 0)?.columns()?;
        let replaced = attributes.number("replaced_value_float")?;
        let fills = attributes.numbers("imputed_value_floats")?;
        if !replaced.is_some_and(f64::is_nan) {
            return Err(Stop::Error(ModelError::Unsupported {
                what: "an ONNX graph with an Imputer that takes anything but NaN for missing".to_owned(),
                wanted: "replace that value by NaN in the table, and convert a pipeline that takes NaN for missing",
            }));
        }
        if fills.len() != 1 {
            attributes.check_count("imputed_value_floats", fills.len(), columns.len())?;
        }
        Ok(Scores::affine(columns.filled(|index| fills[if fills.len() == 1 { 0 } else { index }])?))
    }
}

fn unsupported(operator: &str) -> Stop {
    Stop::Error(ModelError::Unsupported {
        what: format!("an ONNX graph with the operator {operator}"),
        wanted: "linear models behind affine steps (Scaler, Imputer, arithmetic with constants) can be explained: convert the steps after it, and \
                 explain prepared rows, or use the JSON that docs/scikit_learn_to_json.py writes",
    })
}

/// The columns that a product with `weights` has.
fn matrix(weights: &Tensor, rows: usize, transposed: bool) -> Result<usize, Stop> {
    match (&weights.dims[..], transposed) {
        (&[own], false) if own == rows => Ok(1),
        (&[own, columns], false) | (&[columns, own], true) if own == rows && columns > 0 => Ok(columns),
        _ => Err(Stop::Other),
    }
}

/// The numbers of a tensor that is the same for all rows: one, or one for each of `count` columns.
fn row_of(tensor: &Tensor, count: usize) -> Result<Vec<f64>, Stop> {
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
