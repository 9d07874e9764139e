//! Operators on scores, which are sums of leaves and affine functions of features, with a link.

use super::columns::{Column, Columns};
use super::follow::{Walk, places_in, row_of};
use super::forest::Forest;
use super::operators;
use super::prepare::{imputer, scaler};
use super::prepared::{Chain, Operation, Prepared, Step};
use super::stop::Stop;
use super::table::Table;
use super::value::{Scores, Value};
use crate::ensemble::Link;
use crate::error::ModelError;
use crate::formats::onnx_ml::attributes::Attributes;
use crate::formats::onnx_ml::messages::{DOUBLE, FLOAT, NodeProto};
use crate::formats::onnx_ml::tensor::Tensor;

impl Walk<'_> {
    /// Returns an input of a node as scores. Columns of the table are converted to scores.
    fn scores(&mut self, node: &NodeProto, index: usize) -> Result<Scores, Stop> {
        match self.get(node, index)? {
            Value::Scores(scores) => Ok(scores.clone()),
            Value::Table(table) => {
                let table = table.clone();
                self.as_scores(&table)
            }
            _ => Err(Stop::Other),
        }
    }

    /// Returns the columns of an input of a node. No link may have been applied to the columns.
    pub(super) fn columns(&mut self, node: &NodeProto, index: usize) -> Result<Columns, Stop> {
        Ok(self.scores(node, index)?.columns()?.clone())
    }

    /// Converts columns of the table to scores.
    pub(super) fn as_scores(&mut self, table: &Table) -> Result<Scores, Stop> {
        let mut columns = Vec::with_capacity(table.len().min(self.allowance.0));
        for column in table.columns(&mut self.allowance)? {
            columns.push(match column {
                Prepared::Chain(chain) => affine(&chain)?,
                Prepared::Pieces(pieces) => {
                    self.allowance.spend(3 * pieces.len())?;
                    if pieces.missing().is_nan() {
                        self.refused.insert(pieces.feature());
                    }
                    let (forest, leaves) = Forest::of_pieces(&pieces, self.grid)?;
                    self.step_tree(forest, leaves)
                }
                Prepared::Cases(cases) => {
                    let (forest, leaves) = Forest::of_cases(&cases)?;
                    self.step_tree(forest, leaves)
                }
            });
        }
        Ok(Scores::affine(Columns(columns)))
    }

    fn step_tree(&mut self, forest: Forest, leaves: super::columns::Leaves) -> Column {
        self.forests.push(forest);
        Column::leaves(0.0, self.forests.len() - 1, leaves)
    }

    /// Evaluates a node on scores.
    pub(super) fn scored(&mut self, node: &NodeProto) -> Result<Value, Stop> {
        let attributes = Attributes::new(node)?;
        let count = node.input.len();
        let scores = match (&*node.op_type, count) {
            ("Identity" | "Dropout" | "ZipMap", _) if node.output.len() == 1 => {
                return Ok(self.get(node, 0)?.clone());
            }
            ("Cast", _) => match attributes.integer("to")? {
                Some(to) if to == i64::from(FLOAT) || to == i64::from(DOUBLE) => {
                    return Ok(self.get(node, 0)?.clone());
                }
                // The sum is compared with zero before it is used as a divisor.
                Some(_) if matches!(self.get(node, 0)?, Value::Total(_)) => return Ok(Value::Label),
                _ => return Err(Stop::Other),
            },
            ("Reshape", 2) => return self.reshaped(node),
            ("Flatten", _) if attributes.integer("axis")?.unwrap_or(1) == 1 => self.scores(node, 0)?,
            ("Squeeze" | "Unsqueeze", _) => match self.scores(node, 0)? {
                scores if scores.margins.len() == 1 => scores,
                _ => return Err(Stop::Other),
            },
            ("Add" | "Sub" | "Mul" | "Div", 2) => return self.arithmetic(node),
            ("Sum", 1..) => self.summed(node, 1.0)?,
            ("Mean", 1..) => self.summed(node, 1.0 / count as f64)?,
            ("Neg", _) => match self.scores(node, 0)? {
                scores if matches!(scores.link, Some(Link::HalfPower { .. })) => self.mirrored_score(scores),
                scores => {
                    let divisor = scores.divisor;
                    Scores { divisor, ..Scores::affine(scores.columns()?.affine(|_| [0.0, -1.0, 0.0])) }
                }
            },
            ("Pow", 2) => self.half_power(node)?,
            ("MatMul", 2) => {
                let columns = self.columns(node, 0)?;
                let weights = self.constant(node, 1)?.clone();
                let count = matrix(&weights, columns.len(), false)?;
                let product =
                    columns.times(count, |i, k| weights.numbers[i * count + k], |_| 0.0, &mut self.allowance);
                Scores::affine(product?)
            }
            ("Gemm", 2 | 3) => self.gemm(node, attributes)?,
            ("Concat", _) if attributes.integer("axis")? == Some(0) => return self.stacked(node),
            ("Concat", _) => self.beside(node, attributes)?,
            ("ArrayFeatureExtractor", 2) => self.chosen(node, &self.places(node, 1)?)?,
            ("Gather", 2) if matches!(attributes.integer("axis")?, Some(1 | -1)) => {
                if self.constant(node, 1)?.dims.len() != 1 {
                    return Err(Stop::Other);
                }
                self.chosen(node, &self.places(node, 1)?)?
            }
            ("Slice", 4 | 5) => {
                let count = self.scores(node, 0)?.margins.len();
                self.chosen(node, &self.slice(node, count)?)?
            }
            ("Sigmoid", _) => self.behind(node, Link::Logistic { steepness: 1.0 })?,
            ("Exp", _) => self.behind(node, Link::Exponential)?,
            ("Softplus", _) => self.behind(node, Link::Softplus)?,
            ("Softmax", _) if matches!(attributes.integer("axis")?, None | Some(1 | -1)) => {
                self.behind(node, Link::Softmax)?
            }
            // Probabilities are non-negative, so `Abs` does not change them.
            ("Abs", _) => match self.scores(node, 0)? {
                scores if matches!(scores.link, Some(Link::Logistic { .. } | Link::Softmax)) => scores,
                _ => return Err(Stop::Other),
            },
            ("ReduceSum" | "ReduceMean", _) => return self.reduced(node, attributes),
            ("Scaler", _) => {
                let columns = self.columns(node, 0)?;
                let [offset, scale] = scaler(attributes, columns.len())?;
                Scores::affine(columns.affine(|index| [-offset[index], scale[index], 0.0]))
            }
            ("Imputer", _) => {
                let columns = self.columns(node, 0)?;
                let fills = imputer(attributes, columns.len())?;
                let filled =
                    columns.0.iter().zip(fills).map(|(column, fill)| column.filled(fill).ok_or(Stop::Other));
                Scores::affine(Columns(filled.collect::<Result<_, _>>()?))
            }
            ("Normalizer", _) => match (attributes.text("norm")?.unwrap_or("MAX"), self.get(node, 0)?) {
                (_, Value::Table(_)) => return Err(unsupported(node)),
                ("L1", _) => self.scores(node, 0)?.shares().map_err(|_| unsupported(node))?,
                // Scores divided by any other norm cannot be represented by a link.
                (_, Value::Scores(scores))
                    if scores.margins.0.iter().all(|column| column.terms.is_empty()) =>
                {
                    Scores { link: None, ..scores.clone() }
                }
                _ => return Err(unsupported(node)),
            },
            ("LpNormalization", _) if attributes.integer("p")? == Some(1) => {
                self.scores(node, 0)?.shares().map_err(|_| unsupported(node))?
            }
            ("LinearRegressor", _) => {
                let columns = self.columns(node, 0)?;
                operators::regressor(attributes, &columns, &mut self.allowance)?
            }
            ("LinearClassifier", _) => {
                let columns = self.columns(node, 0)?;
                operators::classifier(attributes, &columns, &mut self.allowance)?
            }
            ("SVMRegressor", _) => {
                let columns = self.columns(node, 0)?;
                operators::support_vectors(attributes, &columns, &mut self.allowance)?
            }
            ("Binarizer" | "SVMClassifier" | "TfIdfVectorizer" | "OneHotEncoder" | "LabelEncoder", _) => {
                return Err(unsupported(node));
            }
            _ => return Err(Stop::Other),
        };
        Ok(Value::Scores(scores))
    }

    /// Evaluates operators that only compute the label: the index of the largest score, a comparison, and
    /// operators on their results.
    pub(super) fn label(&self, node: &NodeProto) -> Result<Option<Value>, Stop> {
        let begins = matches!(
            &*node.op_type,
            "ArgMax" | "TopK" | "Greater" | "GreaterOrEqual" | "Less" | "LessOrEqual" | "Equal"
        );
        let mut of_label = false;
        for index in (0..node.input.len()).filter(|&index| !node.input[index].is_empty()) {
            match self.get(node, index)? {
                Value::Label => of_label = true,
                Value::Constant(_) | Value::Text(_) => {}
                Value::Scores(_) | Value::Total(_) | Value::Table(_) if begins => {}
                _ => return Ok(None),
            }
        }
        Ok((begins || of_label).then_some(Value::Label))
    }

    fn behind(&mut self, node: &NodeProto, link: Link) -> Result<Scores, Stop> {
        let scores = self.scores(node, 0)?;
        // The composition of two links is not supported, but the margins are the same.
        match scores.link {
            Some(Link::Identity) => Ok(Scores { is_pair: scores.is_pair, ..scores.behind(link)? }),
            _ if scores.margins.0.iter().all(|column| column.terms.is_empty()) => {
                Ok(Scores { link: None, ..scores })
            }
            _ => Err(Stop::Other),
        }
    }

    /// Evaluates a `Reshape` that keeps the shape or adds an axis in front.
    fn reshaped(&mut self, node: &NodeProto) -> Result<Value, Stop> {
        if let Value::Total(total) = self.get(node, 0)? {
            return Ok(Value::Total(total.clone()));
        }
        let scores = self.scores(node, 0)?;
        let count = scores.margins.len() as i64;
        match self.places(node, 1)?[..] {
            [1, -1, columns] if columns == count => Ok(Value::Stack(vec![scores])),
            _ if self.keeps_columns(node, scores.margins.len())? => Ok(Value::Scores(scores)),
            _ => Err(Stop::Other),
        }
    }

    /// Stacks scores along a new first axis.
    fn stacked(&mut self, node: &NodeProto) -> Result<Value, Stop> {
        let mut all = Vec::new();
        for index in 0..node.input.len() {
            let Value::Stack(stack) = self.get(node, index)? else {
                return Err(Stop::because("it concatenates scores by row"));
            };
            let terms = stack.iter().map(|scores| scores.margins.terms()).fold(0, usize::saturating_add);
            let stack = stack.clone();
            self.allowance.spend(terms)?;
            all.extend(stack);
        }
        Ok(Value::Stack(all))
    }

    /// Evaluates sums and means over an axis.
    fn reduced(&mut self, node: &NodeProto, attributes: Attributes<'_>) -> Result<Value, Stop> {
        let axes = match node.input.get(1) {
            Some(_) => self.places(node, 1)?,
            None => attributes.integers("axes").to_vec(),
        };
        let keeps = attributes.integer("keepdims")?.unwrap_or(1) == 1;
        let is_mean = node.op_type == "ReduceMean";
        match (self.get(node, 0)?, &axes[..]) {
            (Value::Stack(stack), [0]) if !keeps => {
                let columns =
                    stack.iter().map(|scores| scores.columns().cloned()).collect::<Result<Vec<_>, _>>();
                let columns = columns.map_err(|_| mixes_links())?;
                let share = if is_mean { 1.0 / columns.len() as f64 } else { 1.0 };
                Ok(Value::Scores(Scores::affine(self.sum_of(&columns, share)?)))
            }
            (Value::Scores(scores), [1 | -1]) if is_mean => {
                let columns = scores.columns()?.clone();
                let share = 1.0 / columns.len() as f64;
                Ok(Value::Scores(Scores::affine(columns.times(
                    1,
                    |_, _| share,
                    |_| 0.0,
                    &mut self.allowance,
                )?)))
            }
            (Value::Scores(_) | Value::Table(_), [1 | -1]) if keeps && !is_mean => {
                Ok(Value::Total(self.scores(node, 0)?))
            }
            // Sums of exponentials are only used as divisors.
            (Value::Scores(scores), [1 | -1]) if !is_mean && scores.link != Some(Link::Identity) => {
                Ok(Value::Total(scores.clone()))
            }
            _ => Err(Stop::Other),
        }
    }

    /// Computes the sum of inputs with the same number of columns, times a factor.
    fn summed(&mut self, node: &NodeProto, factor: f64) -> Result<Scores, Stop> {
        let mut all = Vec::with_capacity(node.input.len());
        for index in 0..node.input.len() {
            let scores = match self.get(node, index)? {
                Value::Constant(constant) => {
                    let numbers = row_of(constant, constant.numbers.len())?;
                    let column = |constant| Column { constant, ..Column::default() };
                    Scores::affine(Columns(numbers.into_iter().map(column).collect()))
                }
                _ => self.scores(node, index)?,
            };
            all.push(scores.columns().cloned().map_err(|_| mixes_links())?);
        }
        Ok(Scores::affine(self.sum_of(&all, factor)?))
    }

    /// Computes the sum of columns, times a factor.
    fn sum_of(&mut self, all: &[Columns], factor: f64) -> Result<Columns, Stop> {
        let count = all.iter().map(Columns::len).max().unwrap_or(0);
        if count == 0 || all.iter().any(|columns| columns.len() != count && columns.len() != 1) {
            return Err(Stop::Other);
        }
        let mut sums = Vec::with_capacity(count);
        for place in 0..count {
            let parts =
                all.iter().map(|columns| columns.0[if columns.len() == 1 { 0 } else { place }].clone());
            let parts = Columns(parts.collect());
            sums.extend(parts.times(1, |_, _| factor, |_| 0.0, &mut self.allowance)?.0);
        }
        Ok(Columns(sums))
    }

    /// Evaluates a concatenation of columns.
    fn beside(&mut self, node: &NodeProto, attributes: Attributes<'_>) -> Result<Scores, Stop> {
        let mut parts = Vec::with_capacity(node.input.len());
        let mut terms = 0usize;
        for index in 0..node.input.len() {
            let part = self.scores(node, index)?;
            terms = terms.saturating_add(part.margins.terms());
            if terms > self.allowance.0 {
                return Err(Stop::Other);
            }
            parts.push(part);
        }
        let link = parts.first().ok_or(Stop::Other)?.link;
        if !matches!(attributes.integer("axis")?, Some(1 | -1)) {
            return Err(Stop::Other);
        }
        if let [part] = &parts[..] {
            return Ok(part.clone());
        }
        if link.is_none_or(Link::mixes) || parts.iter().any(|part| part.link != link) {
            return Err(mixes_links());
        }
        let margins = Columns(parts.into_iter().flat_map(|part| part.margins.0).collect());
        Ok(Scores::linked(margins, link))
    }

    /// Computes sums, differences, products and quotients with constants, and sums and differences of
    /// columns.
    fn arithmetic(&mut self, node: &NodeProto) -> Result<Value, Stop> {
        let operator = &*node.op_type;
        let value = |walk: &mut Self, index| match walk.get(node, index)?.clone() {
            Value::Table(table) => Ok::<_, Stop>(Value::Scores(walk.as_scores(&table)?)),
            other => Ok(other),
        };
        let (first, second) = (value(self, 0)?, value(self, 1)?);
        let scores = match (operator, first, second) {
            ("Div", Value::Scores(scores), Value::Total(total)) if scores.same(&total) => scores.shares()?,
            // The graph adds 1 if a sum of exponentials is zero, which cannot occur.
            ("Add", Value::Total(total), Value::Label) => return Ok(Value::Total(total)),
            ("Add" | "Sub", Value::Scores(scores), Value::Constant(constant))
                if matches!(scores.link, Some(Link::HalfPower { .. })) && constant.numbers.len() == 1 =>
            {
                scores
            }
            ("Sub", Value::Constant(one), Value::Scores(scores))
                if scores.link != Some(Link::Identity) && one.numbers.iter().all(|&number| number == 1.0) =>
            {
                row_of(&one, scores.margins.len())?;
                scores.opposite()?
            }
            ("Add", Value::Scores(one), Value::Scores(other)) => {
                Scores::affine(before_links(&one)?.plus(before_links(&other)?, 1.0, &mut self.allowance)?)
            }
            ("Sub", Value::Scores(one), Value::Scores(other)) => {
                Scores::affine(before_links(&one)?.plus(before_links(&other)?, -1.0, &mut self.allowance)?)
            }
            (_, Value::Scores(scores), Value::Constant(constant)) => {
                let (columns, constant) = (before_links(&scores)?, row_of(&constant, scores.margins.len())?);
                let divisor = (operator == "Div" && constant.len() == 1).then(|| constant[0]);
                let margins = columns.affine(|index| {
                    let number = constant[if constant.len() == 1 { 0 } else { index }];
                    match operator {
                        "Sub" => [0.0, 1.0, -number],
                        "Mul" => [0.0, number, 0.0],
                        "Div" => [0.0, 1.0 / number, 0.0],
                        _ => [0.0, 1.0, number],
                    }
                });
                Scores { divisor, ..Scores::affine(margins) }
            }
            ("Add" | "Sub" | "Mul", Value::Constant(constant), Value::Scores(scores)) => {
                let (columns, constant) = (before_links(&scores)?, row_of(&constant, scores.margins.len())?);
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

    /// Evaluates `2^(−m / c)`, where m is the mean path length of an isolation forest. In the graph, the sum
    /// of path lengths is divided by c times the number of trees.
    fn half_power(&mut self, node: &NodeProto) -> Result<Scores, Stop> {
        if self.constant(node, 0)?.numbers != [2.0] {
            return Err(Stop::Other);
        }
        let scores = self.scores(node, 1)?;
        let columns = scores.columns()?;
        let [column] = &columns.0[..] else { return Err(Stop::Other) };
        let trees = column.trees.len().max(1) as f64;
        let unit = scores.divisor.map_or(1.0, |divisor| divisor / trees);
        if !(unit.is_finite() && unit > 0.0) {
            return Err(Stop::because("its exponent is divided by a number that is not positive"));
        }
        Ok(Scores::linked(columns.affine(|_| [0.0, -unit, 0.0]), Some(Link::HalfPower { unit })))
    }

    /// Handles the negative of an anomaly score: adds a note, and returns the anomaly score, which is
    /// explained instead.
    fn mirrored_score(&mut self, scores: Scores) -> Scores {
        let note = "the margin is the mean path length m, and the output is the anomaly score 2^(−m/c), \
                    which is higher for anomalies; the scores in the file are a constant minus the anomaly \
                    score"
            .to_owned();
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
        scores
    }

    /// Computes `alpha · A B + beta · C`.
    fn gemm(&mut self, node: &NodeProto, attributes: Attributes<'_>) -> Result<Scores, Stop> {
        let columns = self.columns(node, 0)?;
        let weights = self.constant(node, 1)?.clone();
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
        let scores = self.scores(node, 0)?;
        let places = places_in(places, scores.margins.len())?;
        scores.chosen(&places, &mut self.allowance)
    }
}

/// Converts a sequence of steps to an affine function. Rounding steps are omitted, because they change a sum
/// only slightly.
fn affine(chain: &Chain) -> Result<Column, Stop> {
    let mut column = Column::feature(chain.feature());
    for step in chain.steps() {
        column = match *step {
            Step::Single => column,
            Step::Fill(fill) => match column.filled(fill) {
                Some(filled) => filled,
                // Missing values are already imputed.
                None => column,
            },
            Step::Arithmetic { operation, constant, .. } => match operation {
                Operation::Add => column.affine(0.0, 1.0, constant),
                Operation::Subtract => column.affine(-constant, 1.0, 0.0),
                Operation::SubtractFrom => column.affine(0.0, -1.0, constant),
                Operation::Multiply => column.affine(0.0, constant, 0.0),
                Operation::Divide => column.affine(0.0, 1.0 / constant, 0.0),
            },
            Step::Whole | Step::Clip { .. } => {
                return Err(Stop::because("its input is rounded or clipped, which is not affine"));
            }
        };
    }
    Ok(column)
}

/// Returns the columns of scores to which no link has been applied, otherwise an error.
fn before_links(scores: &Scores) -> Result<&Columns, Stop> {
    scores.columns().map_err(|_| mixes_links())
}

fn mixes_links() -> Stop {
    Stop::because(
        "it combines scores after a logistic, softmax or exponential function, which is not a sum of trees",
    )
}

fn unsupported(node: &NodeProto) -> Stop {
    Stop::Error(ModelError::Unsupported {
        what: format!("an ONNX graph with the operator {}", node.op_type),
        help: super::OTHER_WAYS,
    })
}

/// Returns the number of columns of a product with `weights`.
fn matrix(weights: &Tensor, rows: usize, transposed: bool) -> Result<usize, Stop> {
    match (&weights.dims[..], transposed) {
        (&[own], false) if own == rows => Ok(1),
        (&[own, columns], false) | (&[columns, own], true) if own == rows && columns > 0 => Ok(columns),
        _ => Err(Stop::Other),
    }
}
