//! Inputs and outputs of a network, as declared in its file.

use rten_onnx::onnx::{DataType, Dimension, GraphProto, ModelProto, ValueInfoProto};

use crate::error::OnnxError;

/// The type of the numbers in an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Element {
    /// Floating-point numbers, rounded to 32 bits.
    Float,
    /// 32-bit integers.
    Whole,
}

/// The single input and the chosen output of a network.
#[derive(Debug)]
pub(crate) struct Signature {
    pub(crate) input: String,
    pub(crate) element: Element,
    /// Sizes of the input's dimensions after the batch.
    pub(crate) row_shape: Vec<usize>,
    /// Number of rows of a batch, if the file fixes it.
    pub(crate) batch: Option<usize>,
    pub(crate) output: String,
}

impl Signature {
    /// Reads the signature of a file, with the output and the shape of a row that the user requested.
    pub(crate) fn read(
        file: &ModelProto,
        output: Option<&str>,
        row_shape: Option<&[usize]>,
    ) -> Result<Self, OnnxError> {
        let Some(graph) = &file.graph else {
            return Err(OnnxError::NotOnnx { problem: "the file contains no network".to_owned() });
        };
        let input = only_input(graph)?;
        let output = chosen_output(graph, output)?;
        let element = match element_type(input) {
            Some(DataType::FLOAT | DataType::DOUBLE | DataType::FLOAT16) => Element::Float,
            Some(DataType::INT64 | DataType::INT32) => Element::Whole,
            given => {
                return Err(wrong_type("input", input, given, "FLOAT, DOUBLE, FLOAT16, INT64 or INT32"));
            }
        };
        // If the file does not declare the type of an output, the trial run determines it.
        if let given @ Some(given_type) = element_type(output)
            && !matches!(given_type, DataType::FLOAT | DataType::DOUBLE | DataType::FLOAT16)
        {
            return Err(wrong_type("output", output, given, "FLOAT, DOUBLE or FLOAT16"));
        }
        let (batch, row_shape) = shape(input, row_shape)?;
        Ok(Self { input: name(input), element, row_shape, batch, output: name(output) })
    }
}

fn name(value: &ValueInfoProto) -> String {
    value.name.clone().unwrap_or_default()
}

fn names<'a>(values: impl IntoIterator<Item = &'a ValueInfoProto>) -> Vec<String> {
    values.into_iter().map(name).collect()
}

/// Returns the only input. Files in old versions of the format also list the weights as inputs; these are
/// skipped.
fn only_input(graph: &GraphProto) -> Result<&ValueInfoProto, OnnxError> {
    let is_weight = |value: &ValueInfoProto| graph.initializer.iter().any(|weight| weight.name == value.name);
    let inputs: Vec<_> = graph.input.iter().filter(|value| !is_weight(value)).collect();
    match inputs[..] {
        [input] => Ok(input),
        _ => Err(OnnxError::Inputs { names: names(inputs) }),
    }
}

fn chosen_output<'a>(graph: &'a GraphProto, wanted: Option<&str>) -> Result<&'a ValueInfoProto, OnnxError> {
    match (wanted, &graph.output[..]) {
        (Some(given), outputs) => outputs
            .iter()
            .find(|output| output.name.as_deref() == Some(given))
            .ok_or_else(|| OnnxError::UnknownOutput { name: given.to_owned(), names: names(outputs) }),
        (None, [output]) => Ok(output),
        (None, outputs) => Err(OnnxError::Outputs { names: names(outputs) }),
    }
}

fn element_type(value: &ValueInfoProto) -> Option<DataType> {
    value.r#type.as_ref()?.tensor_type.as_ref()?.elem_type
}

fn wrong_type(
    kind: &str,
    value: &ValueInfoProto,
    given: Option<DataType>,
    wanted: &'static str,
) -> OnnxError {
    let given = given.map_or_else(|| "unknown".to_owned(), |given| given.to_string());
    OnnxError::ElementType { what: format!("{kind} {}", name(value)), actual: given, expected: wanted }
}

/// Returns the size of the batch, if fixed, and the shape of a row: the requested shape, or the shape in the
/// file.
fn shape(input: &ValueInfoProto, given: Option<&[usize]>) -> Result<(Option<usize>, Vec<usize>), OnnxError> {
    let tensor = input.r#type.as_ref().and_then(|kind| kind.tensor_type.as_ref());
    let stated = tensor.and_then(|tensor| tensor.shape.as_ref()).map(|shape| &shape.dim[..]);
    let batch = stated.and_then(<[_]>::first).and_then(fixed);
    if let Some(given) = given {
        let agrees =
            |(size, stated): (&usize, &Dimension)| fixed(stated).is_none_or(|stated| stated == *size);
        let fits = stated.is_none_or(|stated| {
            stated.len() == given.len() + 1 && given.iter().zip(&stated[1..]).all(agrees)
        });
        if given.is_empty() || given.contains(&0) || !fits {
            let of_row = stated.and_then(|stated| stated.get(1..)).filter(|row| !row.is_empty());
            let wanted = of_row.map_or_else(|| "one or more positive sizes".to_owned(), words);
            return Err(OnnxError::RowShape { input: name(input), actual: given.to_vec(), expected: wanted });
        }
        return Ok((batch, given.to_vec()));
    }
    let Some([_, row @ ..]) = stated.filter(|stated| stated.len() > 1) else {
        let given =
            stated.map_or_else(|| "no shape".to_owned(), |stated| format!("the shape {}", words(stated)));
        return Err(OnnxError::Rank { input: name(input), actual: given });
    };
    let size = |(axis, dimension): (usize, &Dimension)| {
        fixed(dimension).ok_or_else(|| OnnxError::DynamicDimension {
            input: name(input),
            axis: axis + 1,
            dimension: word(dimension),
        })
    };
    Ok((batch, row.iter().enumerate().map(size).collect::<Result<_, _>>()?))
}

/// Returns the size of a dimension, if it is fixed.
fn fixed(dimension: &Dimension) -> Option<usize> {
    dimension.dim_value.and_then(|size| usize::try_from(size).ok()).filter(|&size| size > 0)
}

fn word(dimension: &Dimension) -> String {
    let name = dimension.dim_param.clone().filter(|name| !name.is_empty());
    fixed(dimension).map(|size| size.to_string()).or(name).unwrap_or_else(|| "unnamed".to_owned())
}

fn words(shape: &[Dimension]) -> String {
    format!("[{}]", shape.iter().map(word).collect::<Vec<_>>().join(", "))
}
