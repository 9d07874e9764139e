//! Support vector machines: the operators `SVMRegressor` and `SVMClassifier` with an RBF or linear kernel.
//!
//! The nodes before the machine are evaluated symbolically, as for linear models. Each column of its input
//! must be an affine function z = w x + c of one column x of the table. A difference z − s from a support
//! vector, in a kernel of rate γ, then equals the difference x − (s − c) / w with the rate γ w². Nodes after
//! the machine may only change the shape or the type of the scores, or compute labels.
//!
//! # Signs
//!
//! For two classes, the coefficients are those of libsvm: their weighted sum of kernels, plus the intercept,
//! is positive for the first class. Runtimes return the negative of this sum as the first score and the sum
//! as the second score, and predict the second class if the first score is positive. The function here is the
//! first score. It is the decision function of the second class, as in scikit-learn and as for tree
//! ensembles.

use std::collections::HashMap;

use prost::Message;

use super::columns::{Column, Columns, Term};
use super::follow::Walk;
use super::stop::Stop;
use super::value::Value;
use super::{refused, unfollowed};
use crate::error::ModelError;
use crate::formats::onnx_ml::attributes::Attributes;
use crate::formats::onnx_ml::graph::{DOMAIN, is_ensemble, is_label};
use crate::formats::onnx_ml::messages::{DOUBLE, FLOAT, GraphProto, ModelProto, ModelWeights, NodeProto};
use crate::formats::onnx_ml::origin::{operator_set, origin};
use crate::formats::onnx_ml::outputs::output_count;
use crate::support_vectors::{SupportVectorKernel, SupportVectorMachine};

/// The subject of errors about graphs.
const SUBJECT: &str = "a support vector machine";

/// Reads the support vector machine in a graph; returns `None` if there is none, or if there are also trees.
/// `bytes` is the content of the whole file.
pub(in super::super) fn support_vectors(
    model: &ModelProto,
    bytes: &[u8],
) -> Result<Option<SupportVectorMachine>, ModelError> {
    let Some(graph) = &model.graph else { return Ok(None) };
    let places: Vec<usize> = (0..graph.node.len()).filter(|&place| is_machine(&graph.node[place])).collect();
    let Some(&place) = places.first() else { return Ok(None) };
    if graph.node.iter().any(is_ensemble) {
        return Ok(None);
    }
    if places.len() > 1 {
        return Err(unfollowed(format!("an ONNX graph with {} support vector machines", places.len())));
    }
    let version = format!("{DOMAIN} {}", operator_set(model)?);
    let weights =
        ModelWeights::decode(bytes).map_err(|error| ModelError::Onnx { problem: error.to_string() })?;
    let weights = weights.graph.map(|graph| graph.initializer).unwrap_or_default();
    let node = &graph.node[place];
    let read = || -> Result<SupportVectorMachine, Stop> {
        let (mut walk, rows) = Walk::new(graph, &weights, bytes.len())?;
        for node in &graph.node[..place] {
            walk.follow(node)?;
        }
        if let Value::Refused(refusal) = walk.get(node, 0)? {
            return Err(refused(SUBJECT, refusal).into());
        }
        let columns = walk.columns(node, 0)?;
        let machine = Machine::read(node, columns.len())?;
        check_outputs(graph, place)?;
        // A short file may declare many columns although its machine uses few, so the size of the dense array
        // is limited.
        let numbers = machine.coefficients.len().saturating_mul(rows.columns);
        walk.allowance
            .spend(numbers)
            .map_err(|_| Stop::because(format!("has {} columns, but few numbers for them,", rows.columns)))?;
        let kind = if node.op_type == "SVMClassifier" { "classification" } else { "regression" };
        let empty = SupportVectorMachine {
            features: rows.columns,
            feature_names: rows.names,
            kernel: SupportVectorKernel::Linear,
            vectors: Vec::new(),
            coefficients: Vec::new(),
            intercept: 0.0,
            origin: origin(model, &node.op_type, kind, version.clone()),
        };
        machine.in_table(&columns, empty)
    };
    match read() {
        Ok(machine) => Ok(Some(machine)),
        Err(Stop::Error(error)) => Err(error),
        Err(Stop::Because(reason)) => Err(unfollowed(format!("an ONNX graph with {SUBJECT} that {reason}"))),
        Err(Stop::Other) => Err(unfollowed(format!(
            "an ONNX graph with {SUBJECT} whose inputs are not affine functions of columns"
        ))),
    }
}

fn is_machine(node: &NodeProto) -> bool {
    node.domain == DOMAIN && matches!(&*node.op_type, "SVMRegressor" | "SVMClassifier")
}

/// A value that depends on the outputs of the machine.
#[derive(Clone, Copy)]
enum After<'a> {
    /// The scores, possibly with another shape or type.
    Scores,
    /// The label, or the result of another operator, with the name of the operator.
    Other(&'a str),
}

/// Checks that the outputs of the graph are the scores of the machine and labels.
fn check_outputs(graph: &GraphProto, place: usize) -> Result<(), ModelError> {
    let machine = &graph.node[place];
    let labels = usize::from(machine.op_type == "SVMClassifier");
    let mut values: HashMap<&str, After<'_>> = HashMap::new();
    for (index, name) in machine.output.iter().enumerate() {
        let value = if index < labels { After::Other(&machine.op_type) } else { After::Scores };
        values.insert(name, value);
    }
    for node in &graph.node[place + 1..] {
        if !node.input.iter().any(|name| values.contains_key(&**name)) {
            continue;
        }
        let first = node.input.first().and_then(|name| values.get(&**name));
        let value = match first {
            Some(After::Scores) if keeps_scores(node)? => After::Scores,
            _ => After::Other(&node.op_type),
        };
        values.extend(node.output.iter().map(|name| (&**name, value)));
    }
    let mut has_scores = false;
    for output in &graph.output {
        match values.get(&*output.name) {
            Some(After::Scores) => has_scores = true,
            _ if is_label(output) => {}
            Some(After::Other(operator)) => {
                return Err(unfollowed(format!(
                    "an ONNX graph with the operator {operator} after {SUBJECT}"
                )));
            }
            None => {
                return Err(unfollowed(format!(
                    "an ONNX graph whose output {:?} is not computed by {SUBJECT}",
                    output.name
                )));
            }
        }
    }
    match has_scores {
        true => Ok(()),
        false => Err(unfollowed(format!("an ONNX graph with {SUBJECT} that returns only labels"))),
    }
}

/// Returns whether a node only changes the shape or the type of scores.
fn keeps_scores(node: &NodeProto) -> Result<bool, ModelError> {
    Ok(match &*node.op_type {
        "Identity" | "Reshape" | "Flatten" | "Squeeze" | "Unsqueeze" | "ZipMap" => true,
        "Cast" => {
            let to = Attributes::new(node)?.integer("to")?;
            [FLOAT, DOUBLE].iter().any(|&kind| to == Some(i64::from(kind)))
        }
        _ => false,
    })
}

/// A machine as stored in the file, as a function of its input columns.
struct Machine {
    /// The rate of the RBF kernel; `None` for the linear kernel.
    rate: Option<f64>,
    vectors: Vec<f64>,
    coefficients: Vec<f64>,
    intercept: f64,
}

impl Machine {
    /// Reads the attributes of a machine with `count` input columns.
    fn read(node: &NodeProto, count: usize) -> Result<Self, Stop> {
        let attributes = Attributes::new(node)?;
        let operator = &node.op_type;
        let unsupported = |what: String, help: &'static str| {
            Stop::Error(ModelError::Unsupported { what: format!("an ONNX graph with an {what}"), help })
        };
        let rate = match attributes.text("kernel_type")?.unwrap_or("LINEAR") {
            "LINEAR" => None,
            "RBF" => {
                let parameters = attributes.numbers("kernel_params")?;
                match parameters.first() {
                    Some(&gamma) if gamma.is_finite() && gamma >= 0.0 => Some(gamma),
                    Some(gamma) => {
                        let problem = format!("the rate is {gamma}, expected a finite number ≥ 0");
                        return Err(attributes.error("kernel_params", problem).into());
                    }
                    None => return Err(attributes.error("kernel_params", "missing rate").into()),
                }
            }
            kernel => return Err(unsupported(format!("{operator} with kernel {kernel}"), OTHER_KERNELS)),
        };
        let is_classifier = operator == "SVMClassifier";
        let supports = match is_classifier {
            true => {
                let classes = attributes.texts("classlabels_strings").len();
                let classes = classes.max(attributes.integers("classlabels_ints").len());
                if classes != 2 {
                    let what = format!("{operator} of {classes} classes");
                    return Err(unsupported(what, "expected two classes; explain the model as a program"));
                }
                let counts = attributes.integers("vectors_per_class");
                if counts.is_empty() {
                    let what = format!("{operator} without support vectors");
                    return Err(unsupported(
                        what,
                        "expected support vectors; explain the model as a program",
                    ));
                }
                attributes.check_count("vectors_per_class", counts.len(), 2)?;
                counts.iter().fold(0, |sum: i64, &count| sum.saturating_add(count.max(0)))
            }
            false => attributes.integer("n_supports")?.unwrap_or(0),
        };
        if !attributes.numbers("prob_a")?.is_empty() || !attributes.numbers("prob_b")?.is_empty() {
            let what = format!("{operator} that returns probabilities");
            return Err(unsupported(
                what,
                "save the decision function (fit the model with probability=False)",
            ));
        }
        if attributes.integer("one_class")?.unwrap_or(0) != 0 {
            let what = format!("{operator} that returns only labels (one_class)");
            return Err(unsupported(what, "save the scores of the model"));
        }
        match attributes.text("post_transform")?.unwrap_or("NONE") {
            "NONE" => {}
            other => {
                let what = format!("{operator} with the post transform {other}");
                return Err(unsupported(what, "save the model without a post transform"));
            }
        }
        let name = if is_classifier { "vectors_per_class" } else { "n_supports" };
        let supports = output_count(attributes, name, supports)?;
        let coefficients = attributes.numbers("coefficients")?;
        attributes.check_count("coefficients", coefficients.len(), supports)?;
        let vectors = attributes.numbers("support_vectors")?;
        attributes.check_count("support_vectors", vectors.len(), supports.saturating_mul(count))?;
        let rho = attributes.numbers("rho")?;
        attributes.check_count("rho", rho.len(), 1)?;
        for (name, numbers) in [("coefficients", &coefficients), ("support_vectors", &vectors), ("rho", &rho)]
        {
            if let Some(number) = numbers.iter().find(|number| !number.is_finite()) {
                return Err(attributes.error(name, format!("{number}, expected finite numbers")).into());
            }
        }
        let sign = if is_classifier { -1.0 } else { 1.0 };
        Ok(Self {
            rate,
            vectors,
            coefficients: coefficients.iter().map(|coefficient| sign * coefficient).collect(),
            intercept: sign * rho[0],
        })
    }

    /// Returns the machine as a function of the columns of the table. `empty` contains everything except the
    /// numbers of the machine.
    fn in_table(self, columns: &Columns, empty: SupportVectorMachine) -> Result<SupportVectorMachine, Stop> {
        let (count, features) = (columns.len(), empty.features);
        let terms = columns.0.iter().map(only_term).collect::<Result<Vec<_>, _>>()?;
        let mut vectors = vec![0.0; self.coefficients.len() * features];
        let mut intercept = self.intercept;
        let pairs = || vectors_of(&self.vectors, count).zip(&self.coefficients);
        let kernel = match self.rate {
            None => {
                for ((vector, coefficient), own) in pairs().zip(vectors.chunks_exact_mut(features)) {
                    for (number, (column, term)) in vector.iter().zip(columns.0.iter().zip(&terms)) {
                        own[term.feature as usize] += number * term.coefficient;
                        intercept += coefficient * number * column.constant;
                    }
                }
                SupportVectorKernel::Linear
            }
            Some(rate) => {
                let mut rates = vec![0.0; features];
                let mut is_used = vec![false; features];
                for term in &terms {
                    let feature = term.feature as usize;
                    if std::mem::replace(&mut is_used[feature], true) {
                        return Err(Stop::because("uses a column of the table twice"));
                    }
                    rates[feature] = rate * term.coefficient * term.coefficient;
                }
                for (vector, own) in vectors_of(&self.vectors, count).zip(vectors.chunks_exact_mut(features))
                {
                    for (number, (column, term)) in vector.iter().zip(columns.0.iter().zip(&terms)) {
                        own[term.feature as usize] = (number - column.constant) / term.coefficient;
                    }
                }
                SupportVectorKernel::Rbf { rates }
            }
        };
        let machine =
            SupportVectorMachine { kernel, vectors, coefficients: self.coefficients, intercept, ..empty };
        let rates = match &machine.kernel {
            SupportVectorKernel::Rbf { rates } => &rates[..],
            SupportVectorKernel::Linear => &[],
        };
        let are_finite =
            rates.iter().chain(&machine.vectors).chain([&machine.intercept]).all(|number| number.is_finite());
        match are_finite {
            true => Ok(machine),
            false => Err(Stop::because("has numbers that overflow after preprocessing")),
        }
    }
}

const OTHER_KERNELS: &str = "use an RBF or linear kernel, or explain the model as a program";

fn vectors_of(vectors: &[f64], count: usize) -> impl Iterator<Item = &[f64]> {
    vectors.chunks_exact(count)
}

/// Returns the term of a column that is an affine function of one column of the table. Missing values must
/// not be imputed.
fn only_term(column: &Column) -> Result<Term, Stop> {
    match column.terms[..] {
        [term] if column.trees.is_empty() && term.coefficient != 0.0 => match term.missing.is_nan() {
            true => Ok(term),
            false => Err(Stop::because("imputes missing values")),
        },
        _ => Err(Stop::because("has an input that is not an affine function of one column")),
    }
}
