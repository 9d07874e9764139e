//! Preprocessing operators on columns of the table. Each column remains a function of one column of the
//! table.

use std::collections::HashMap;
use std::rc::Rc;

use super::encoder::{Encoder, text_of};
use super::follow::{Walk, places_in, row_of};
use super::prepared::{Cases, Choice, Datum, Operation, Pieces, Prepared, Step};
use super::stop::Stop;
use super::table::Table;
use super::value::Value;
use crate::error::ModelError;
use crate::formats::onnx_ml::attributes::Attributes;
use crate::formats::onnx_ml::graph::Element;
use crate::formats::onnx_ml::messages::{BOOL, DOUBLE, FLOAT, INT32, INT64, NodeProto};

impl Walk<'_> {
    /// Evaluates a node on columns of the table. Returns `None` unless each result is a function of one
    /// column.
    pub(super) fn prepared(&mut self, node: &NodeProto) -> Result<Option<Value>, Stop> {
        let attributes = Attributes::new(node)?;
        let operator = &*node.op_type;
        let is_table = |value: &Value| matches!(value, Value::Table(_));
        let count = node.input.len();
        let tables =
            (0..count).map(|index| self.get(node, index).map(is_table)).collect::<Result<Vec<_>, _>>();
        let table = match (operator, tables) {
            ("Concat" | "FeatureVectorizer", Ok(tables)) if tables.iter().all(|&table| table) => {
                self.beside_each_other(node, attributes)?
            }
            ("Where", Ok(_)) if matches!(self.get(node, 0)?, Value::Table(_)) => self.choice(node)?,
            (_, Ok(tables)) if tables.iter().filter(|&&table| table).count() != 1 => return Ok(None),
            ("Add" | "Sub" | "Mul" | "Div", Ok(_)) if count == 2 => self.combined(node)?,
            ("Less" | "LessOrEqual" | "Greater" | "GreaterOrEqual" | "Equal", Ok(_)) if count == 2 => {
                self.compared(node)?
            }
            // For all other operators, the first input is the table, and all other inputs are constants, some
            // of them optional.
            _ => match node.input.first().map(|_| self.get(node, 0)) {
                Some(Ok(Value::Table(table))) => {
                    let table = table.clone();
                    return self.after(node, attributes, &table);
                }
                _ => return Ok(None),
            },
        };
        Ok(Some(Value::Table(table)))
    }

    /// Evaluates operators whose only non-constant input is a table.
    fn after(
        &mut self,
        node: &NodeProto,
        attributes: Attributes<'_>,
        table: &Table,
    ) -> Result<Option<Value>, Stop> {
        let operator = &*node.op_type;
        let table = match (operator, node.input.len()) {
            ("Identity" | "Dropout", _) if node.output.len() == 1 => table.clone(),
            ("Cast", _) => self.cast(table, attributes.integer("to")?)?,
            ("Neg", _) => self.arithmetic_on(table, |_| (Operation::Multiply, -1.0))?,
            ("ArrayFeatureExtractor", 2) => self.chosen_columns(table, &self.places(node, 1)?)?,
            ("Gather", 2) if matches!(attributes.integer("axis")?, Some(1 | -1)) => {
                if self.constant(node, 1)?.dims.len() != 1 {
                    return Err(Stop::Other);
                }
                self.chosen_columns(table, &self.places(node, 1)?)?
            }
            ("Slice", 4 | 5) => {
                let places = self.slice(node, table.len())?;
                self.chosen_columns(table, &places)?
            }
            ("Reshape", 2) if self.keeps_columns(node, table.len())? => table.clone(),
            ("Flatten", _) if attributes.integer("axis")?.unwrap_or(1) == 1 => table.clone(),
            ("Squeeze" | "Unsqueeze", _) if table.len() == 1 => table.clone(),
            ("Scaler", _) => self.scaled(table, attributes)?,
            ("Imputer", _) => self.imputed(table, attributes)?,
            ("Clip", _) => self.clipped(node, attributes, table)?,
            ("Binarizer", _) => {
                let threshold = attributes.number("threshold")?.unwrap_or(0.0);
                let element = if table.is_of(Element::Double) { Element::Double } else { Element::Single };
                self.tested(table, element, |value| value > threshold, true)?
            }
            ("IsNaN", _) => self.is_missing(table)?,
            ("Not", _) => table.map(&mut self.allowance, |_, column| negated(&column))?,
            ("ArgMax", 1) if matches!(attributes.integer("axis")?, Some(1 | -1)) => {
                match self.place_of_largest(table)? {
                    Some(table) => table,
                    None => return Ok(None),
                }
            }
            ("OneHotEncoder", _) => self.one_hot(table, attributes)?,
            ("LabelEncoder", _) => self.labelled(table, attributes)?,
            _ => return Ok(None),
        };
        Ok(Some(Value::Table(table)))
    }

    fn beside_each_other(&mut self, node: &NodeProto, attributes: Attributes<'_>) -> Result<Table, Stop> {
        let is_vectorizer = node.op_type == "FeatureVectorizer";
        if !is_vectorizer && !matches!(attributes.integer("axis")?, Some(1 | -1)) {
            return Err(Stop::because("it concatenates rows"));
        }
        let mut columns = Vec::new();
        for index in 0..node.input.len() {
            let Value::Table(table) = self.get(node, index)? else { return Err(Stop::Other) };
            let table = table.clone();
            let table = if is_vectorizer { table.as_single(self.grid, &mut self.allowance)? } else { table };
            columns.extend(table.columns(&mut self.allowance)?);
        }
        if columns.is_empty() {
            return Err(Stop::Other);
        }
        Ok(Table::Columns(columns.into()))
    }

    fn chosen_columns(&mut self, table: &Table, places: &[i64]) -> Result<Table, Stop> {
        table.chosen(&places_in(places, table.len())?, &mut self.allowance)
    }

    fn cast(&mut self, table: &Table, to: Option<i64>) -> Result<Table, Stop> {
        let to = to.and_then(|to| i32::try_from(to).ok());
        if table.is_of(Element::Text) {
            return Err(Stop::because("it parses numbers from text"));
        }
        match to {
            Some(FLOAT) if table.is_of(Element::Single) => Ok(table.clone()),
            Some(FLOAT) => table.as_single(self.grid, &mut self.allowance),
            Some(DOUBLE) => table.map(&mut self.allowance, |_, column| column.with_element(Element::Double)),
            Some(INT32 | INT64) if table.is_of(Element::Other) => Ok(table.clone()),
            Some(INT32 | INT64) => {
                self.refuse_missing(table)?;
                table.map(&mut self.allowance, |_, column| column.after(Step::Whole, Element::Other))
            }
            Some(BOOL) => table.map(&mut self.allowance, |_, column| {
                column.map_values(|value| f64::from(u8::from(value != 0.0)))
            }),
            _ => Err(Stop::because("it casts to a type other than float, double, int32, int64 or bool")),
        }
    }

    /// Computes a sum, difference, product or quotient with a constant.
    fn combined(&mut self, node: &NodeProto) -> Result<Table, Stop> {
        let (table, numbers, comes_first) = self.with_constant(node)?;
        let operation = match (&*node.op_type, comes_first) {
            ("Add", _) => Operation::Add,
            ("Sub", false) => Operation::Subtract,
            ("Sub", true) => Operation::SubtractFrom,
            ("Mul", _) => Operation::Multiply,
            ("Div", false) => Operation::Divide,
            _ => return Err(Stop::because("it divides by a column")),
        };
        if operation == Operation::Divide && table.is_of(Element::Other) {
            return Err(Stop::because("it divides integers"));
        }
        self.arithmetic_on(&table, |index| (operation, numbers[index]))
    }

    /// Returns a table and a constant with the same number of columns, and whether the constant is the first
    /// input.
    fn with_constant(&mut self, node: &NodeProto) -> Result<(Table, Vec<f64>, bool), Stop> {
        let (table, constant, comes_first) = match (self.get(node, 0)?, self.get(node, 1)?) {
            (Value::Table(table), Value::Constant(constant)) => (table.clone(), constant, false),
            (Value::Constant(constant), Value::Table(table)) => (table.clone(), constant, true),
            _ => return Err(Stop::Other),
        };
        // A single column is broadcast to the number of columns of the constant.
        let count = if table.len() == 1 { constant.numbers.len() } else { table.len() };
        let mut numbers = row_of(constant, count)?;
        let table =
            if table.len() == count { table } else { table.chosen(&vec![0; count], &mut self.allowance)? };
        self.allowance.spend(count)?;
        if numbers.len() == 1 {
            numbers.resize(count, numbers[0]);
        }
        Ok((table, numbers, comes_first))
    }

    fn arithmetic_on(
        &mut self,
        table: &Table,
        of: impl Fn(usize) -> (Operation, f64),
    ) -> Result<Table, Stop> {
        table.map(&mut self.allowance, |index, column| {
            let (operation, constant) = of(index);
            if !constant.is_finite() || operation == Operation::Divide && constant == 0.0 {
                return Err(Stop::because(format!("it combines a column with {constant}")));
            }
            let element = column.element();
            column.after(Step::Arithmetic { operation, constant, element }, element)
        })
    }

    /// Computes `(x − offset) · scale`. The result is `f32`.
    fn scaled(&mut self, table: &Table, attributes: Attributes<'_>) -> Result<Table, Stop> {
        self.allowance.spend(table.len())?;
        let [offset, scale] = scaler(attributes, table.len())?;
        // Integers are converted to `f32` before the computation, doubles after it.
        let table = match table.is_of(Element::Other) {
            true => table.as_single(self.grid, &mut self.allowance)?,
            false => table.clone(),
        };
        let table = self.arithmetic_on(&table, |index| (Operation::Subtract, offset[index]))?;
        let table = self.arithmetic_on(&table, |index| (Operation::Multiply, scale[index]))?;
        match table.is_of(Element::Single) {
            true => Ok(table),
            false => table.as_single(self.grid, &mut self.allowance),
        }
    }

    /// Evaluates an `Imputer`, which replaces missing values with numbers.
    fn imputed(&mut self, table: &Table, attributes: Attributes<'_>) -> Result<Table, Stop> {
        self.allowance.spend(table.len())?;
        let fills = imputer(attributes, table.len())?;
        table.map(&mut self.allowance, |index, column| {
            let element = column.element();
            column.after(Step::Fill(fills[index]), element)
        })
    }

    fn clipped(
        &mut self,
        node: &NodeProto,
        attributes: Attributes<'_>,
        table: &Table,
    ) -> Result<Table, Stop> {
        let limit =
            |index: usize, name: &str, none: f64| match node.input.get(index).filter(|name| !name.is_empty())
            {
                None => Ok::<_, Stop>(attributes.number(name)?.unwrap_or(none)),
                Some(_) => match self.constant(node, index)?.numbers[..] {
                    [limit] if !limit.is_nan() => Ok(limit),
                    _ => Err(Stop::because("its limits are not numbers")),
                },
            };
        let (lowest, highest) = (limit(1, "min", f64::NEG_INFINITY)?, limit(2, "max", f64::INFINITY)?);
        table.map(&mut self.allowance, |_, column| {
            let element = column.element();
            column.after(Step::Clip { lowest, highest }, element)
        })
    }

    /// Returns columns that are 1 for values that meet a condition, and 0 for all other values. If a value
    /// meets the condition, all larger values must meet it too. Rows with missing values are rejected if
    /// `refuses_missing` is set; otherwise, missing values do not meet the condition.
    fn tested(
        &mut self,
        table: &Table,
        element: Element,
        large: impl Fn(f64) -> bool,
        refuses_missing: bool,
    ) -> Result<Table, Stop> {
        if refuses_missing {
            self.refuse_missing(table)?;
        }
        let grid = self.grid;
        let as_number = |value: f64| f64::from(u8::from(large(value)));
        table.map(&mut self.allowance, |_, column| match &column {
            Prepared::Chain(chain) => {
                Ok(Prepared::Pieces(chain.above(&large, [0.0, 1.0], 0.0, element, grid)?))
            }
            _ => Ok(column.map_values(as_number)?.with_element(element)?),
        })
    }

    /// Compares columns with a constant. The result is false for NaN.
    fn compared(&mut self, node: &NodeProto) -> Result<Table, Stop> {
        let (table, numbers, comes_first) = self.with_constant(node)?;
        let operator = match (&*node.op_type, comes_first) {
            (operator, false) | (operator @ "Equal", true) => operator,
            ("Less", true) => "Greater",
            ("LessOrEqual", true) => "GreaterOrEqual",
            ("Greater", true) => "Less",
            _ => "LessOrEqual",
        };
        let grid = self.grid;
        table.map(&mut self.allowance, |index, column| {
            let number = numbers[index];
            let holds = |value: f64| match operator {
                "Less" => value < number,
                "LessOrEqual" => value <= number,
                "Greater" => value > number,
                "GreaterOrEqual" => value >= number,
                _ => value == number,
            };
            let Prepared::Chain(chain) = &column else {
                return column.map_values(|value| f64::from(u8::from(holds(value))));
            };
            let element = Element::Other;
            Ok(Prepared::Pieces(match operator {
                "Less" => chain.above(|value| value >= number, [1.0, 0.0], 0.0, element, grid)?,
                "LessOrEqual" => chain.above(|value| value > number, [1.0, 0.0], 0.0, element, grid)?,
                "Equal" => chain.encoded(&[(number, 1.0)], 0.0, 0.0, element, grid)?,
                _ => chain.above(holds, [0.0, 1.0], 0.0, element, grid)?,
            }))
        })
    }

    fn is_missing(&mut self, table: &Table) -> Result<Table, Stop> {
        let grid = self.grid;
        table.map(&mut self.allowance, |_, column| match &column {
            Prepared::Chain(chain) => {
                Ok(Prepared::Pieces(chain.encoded(&[], 0.0, 1.0, Element::Other, grid)?))
            }
            _ => column.map_values(|value| f64::from(u8::from(value.is_nan()))),
        })
    }

    /// Returns the index of the largest of several columns, or the first such column for ties. All must be
    /// piecewise constant functions of the same column, as in graphs that bin a feature; otherwise, returns
    /// `None`.
    fn place_of_largest(&mut self, table: &Table) -> Result<Option<Table>, Stop> {
        let listed = table.columns(&mut self.allowance)?;
        let Some(feature) = listed.iter().find_map(|column| match column {
            Prepared::Pieces(pieces) => Some(pieces.feature()),
            _ => None,
        }) else {
            return Ok(None);
        };
        let mut columns = Vec::with_capacity(listed.len());
        for column in &listed {
            columns.push(match column {
                Prepared::Pieces(pieces) => pieces.clone(),
                Prepared::Chain(chain) => match chain.as_constant(self.grid) {
                    // The constant may be computed from another column, whose missing values it propagates.
                    Some(value) => {
                        self.refuse_missing_in(column);
                        Pieces::new(feature, Vec::new(), value, value, Element::Single, self.grid)
                    }
                    None => return Ok(None),
                },
                Prepared::Cases(_) => return Ok(None),
            });
        }
        let parts: usize = columns.iter().map(Pieces::len).sum();
        self.allowance.spend(parts.saturating_mul(columns.len()))?;
        let largest = |values: &[f64]| {
            (1..values.len()).fold(0, |best, place| if values[place] > values[best] { place } else { best })
                as f64
        };
        let Some(pieces) = Pieces::combined(&columns, largest, Element::Other, self.grid) else {
            return Ok(None);
        };
        let column = Prepared::Pieces(pieces);
        self.refuse_missing_in(&column);
        Ok(Some(Table::Columns(Rc::new([column]))))
    }

    /// Returns a column for each category, which is 1 for this category and 0 for all other categories.
    fn one_hot(&mut self, table: &Table, attributes: Attributes<'_>) -> Result<Table, Stop> {
        let (numbers, texts) = (attributes.integers("cats_int64s"), attributes.texts("cats_strings"));
        let refuses_others = attributes.integer("zeros")?.unwrap_or(1) == 0;
        let columns = table.columns(&mut self.allowance)?;
        self.allowance.spend(columns.len().saturating_mul(numbers.len().max(texts.len())))?;
        let mut made = Vec::new();
        for column in columns {
            match &column {
                Prepared::Cases(cases) => {
                    for text in texts {
                        let table = HashMap::from([(text_of(text)?, Datum::Number(1.0))]);
                        let column =
                            self.encode(cases, &table, Some(&Datum::Number(0.0)), Element::Single)?;
                        made.push(Prepared::Cases(column));
                    }
                    if refuses_others && let Some(known) = self.texts.get_mut(&cases.feature()) {
                        known.refuses_others = true;
                    }
                }
                _ if numbers.is_empty() => {
                    return Err(Stop::because("its categories are text, but its input is numeric"));
                }
                _ => {
                    self.refuse_missing_in(&column);
                    // The runtime converts the values to integers before it looks them up.
                    let whole = match column.element() {
                        Element::Other => column,
                        _ => column.after(Step::Whole, Element::Other)?,
                    };
                    for &number in numbers {
                        made.push(self.encode_number(
                            &whole,
                            &[(number as f64, 1.0)],
                            0.0,
                            Element::Single,
                        )?);
                    }
                }
            }
        }
        match made.is_empty() {
            true => Err(Stop::because("it has no categories")),
            false => Ok(Table::Columns(made.into())),
        }
    }

    /// Applies the lookup table of a `LabelEncoder`.
    fn labelled(&mut self, table: &Table, attributes: Attributes<'_>) -> Result<Table, Stop> {
        let encoder = Encoder::read(attributes)?;
        let columns = table.columns(&mut self.allowance)?;
        self.allowance.spend(columns.len().saturating_mul(encoder.keys.len()))?;
        let mut made = Vec::with_capacity(columns.len());
        for column in columns {
            if let Prepared::Cases(cases) = &column {
                let keyed = encoder.keys.iter().zip(&encoder.values);
                let mut values = HashMap::new();
                for (key, value) in keyed {
                    if let Datum::Text(text) = key {
                        values.entry(text.clone()).or_insert_with(|| value.clone());
                    }
                }
                let column = self.encode(cases, &values, Some(&encoder.default), encoder.element)?;
                made.push(Prepared::Cases(column));
                continue;
            }
            let number = |datum: &Datum| match datum {
                Datum::Number(number) => Ok(*number),
                Datum::Text(_) => Err(Stop::because("its mapping involves text, but its input is numeric")),
            };
            let mut pairs = Vec::with_capacity(encoder.keys.len());
            for (key, value) in encoder.keys.iter().zip(&encoder.values) {
                pairs.push((number(key)?, number(value)?));
            }
            if pairs.iter().any(|pair| pair.0.is_nan()) {
                // Whether NaN is a valid key depends on the version of the runtime.
                self.refuse_missing_in(&column);
                pairs.retain(|pair| !pair.0.is_nan());
            }
            made.push(self.encode_number(&column, &pairs, number(&encoder.default)?, encoder.element)?);
        }
        Ok(Table::Columns(made.into()))
    }

    fn encode(
        &mut self,
        cases: &Cases,
        values: &HashMap<Rc<str>, Datum>,
        others: Option<&Datum>,
        element: Element,
    ) -> Result<Cases, Stop> {
        let feature = cases.feature();
        self.allowance.spend(cases.len() + values.len())?;
        self.refused.insert(feature);
        let texts = self.texts.get_mut(&feature).ok_or(Stop::Other)?;
        cases.encoded(values, others, texts, element)
    }

    fn encode_number(
        &mut self,
        column: &Prepared,
        values: &[(f64, f64)],
        others: f64,
        element: Element,
    ) -> Result<Prepared, Stop> {
        self.allowance.spend(column.len() + values.len())?;
        match column {
            Prepared::Chain(chain) => {
                Ok(Prepared::Pieces(chain.encoded(values, others, others, element, self.grid)?))
            }
            _ => {
                let of =
                    |number: f64| values.iter().find(|pair| pair.0 == number).map_or(others, |pair| pair.1);
                column.map_values(of)?.with_element(element)
            }
        }
    }

    /// Evaluates `Where`, which selects one of two values by a condition. Each value must be a constant or a
    /// function of the same column as the condition.
    fn choice(&mut self, node: &NodeProto) -> Result<Table, Stop> {
        if node.input.len() != 3 {
            return Err(Stop::Other);
        }
        let [condition, one, other] = [0, 1, 2].map(|index| self.get(node, index).cloned());
        let Value::Table(condition) = condition? else { return Err(Stop::Other) };
        let (one, other) = (one?, other?);
        let mut made = Vec::with_capacity(condition.len());
        for (index, column) in condition.columns(&mut self.allowance)?.into_iter().enumerate() {
            let Prepared::Cases(cases) = &column else {
                return Err(Stop::because("its condition is numeric"));
            };
            let sides =
                [self.side(&one, index, condition.len())?, self.side(&other, index, condition.len())?];
            let [one, other] = sides.each_ref().map(|side| match side {
                Side::Constant(datum) => Choice::Constant(datum.clone()),
                Side::Column(cases) => Choice::Column(cases),
            });
            let texts = self.texts.get(&cases.feature()).ok_or(Stop::Other)?;
            made.push(Prepared::Cases(cases.choice(one, other, texts)?));
        }
        Ok(Table::Columns(made.into()))
    }

    fn side(&mut self, value: &Value, index: usize, count: usize) -> Result<Side, Stop> {
        match value {
            Value::Text(text) => Ok(Side::Constant(Datum::Text(text.clone()))),
            Value::Constant(tensor) => {
                let numbers = row_of(tensor, count)?;
                Ok(Side::Constant(Datum::Number(numbers[if numbers.len() == 1 { 0 } else { index }])))
            }
            Value::Table(table) if table.len() == count => {
                match table.columns(&mut self.allowance)?.into_iter().nth(index) {
                    Some(Prepared::Cases(cases)) => Ok(Side::Column(cases)),
                    _ => Err(Stop::because("it chooses between numeric columns")),
                }
            }
            _ => Err(Stop::Other),
        }
    }

    /// Rejects rows in which a value of these columns is missing.
    fn refuse_missing(&mut self, table: &Table) -> Result<(), Stop> {
        for column in table.columns(&mut self.allowance)? {
            self.refuse_missing_in(&column);
        }
        Ok(())
    }

    fn refuse_missing_in(&mut self, column: &Prepared) {
        if column.missing_is_nan() {
            self.refused.insert(column.feature());
        }
    }
}

/// Returns the offsets and scales of a `Scaler`, for each of `count` columns.
pub(super) fn scaler(attributes: Attributes<'_>, count: usize) -> Result<[Vec<f64>; 2], ModelError> {
    Ok([for_columns(attributes, "offset", count)?, for_columns(attributes, "scale", count)?])
}

/// Returns the values that an `Imputer` fills in, for each of `count` columns.
pub(super) fn imputer(attributes: Attributes<'_>, count: usize) -> Result<Vec<f64>, ModelError> {
    let replaced = attributes.number("replaced_value_float")?;
    if !replaced.is_some_and(f64::is_nan) {
        return Err(ModelError::Unsupported {
            what: "an ONNX graph with an Imputer whose missing value is not NaN".to_owned(),
            help: "replace that value with NaN in the table and convert a pipeline that imputes NaN, or \
                   explain the model as a function: apportion.Explainer(function, X)",
        });
    }
    for_columns(attributes, "imputed_value_floats", count)
}

/// Returns numbers for each of `count` columns. The file may store a single number for all columns.
fn for_columns(attributes: Attributes<'_>, name: &str, count: usize) -> Result<Vec<f64>, ModelError> {
    let numbers = attributes.numbers(name)?;
    if let [number] = numbers[..] {
        return Ok(vec![number; count]);
    }
    attributes.check_count(name, numbers.len(), count)?;
    Ok(numbers)
}

enum Side {
    Constant(Datum),
    Column(Cases),
}

fn negated(column: &Prepared) -> Result<Prepared, Stop> {
    match column {
        Prepared::Chain(_) => Err(Stop::because("it negates numbers")),
        _ => column.map_values(|value| f64::from(u8::from(value == 0.0))),
    }
}
