//! Networks as ONNX files.
//!
//! In the file, values are batch × channels × positions, as usual in ONNX.

use std::cell::RefCell;

use anyhow::Result;
use candle_core::{Tensor, Var};
use rten_onnx::onnx::{
    AttributeProto, AttributeType, DataType, Dimension, GraphProto, ModelProto, NodeProto,
    OperatorSetIdProto, TensorProto, TensorShapeProto, TypeProto, TypeProtoTensor, ValueInfoProto,
};

use crate::data::Element;
use crate::layer::Layer;
use crate::lstm::BidirectionalLstm;
use crate::network::Network;

/// Version of the ONNX operator set.
const OPERATORS: i64 = 17;

/// Version of the file format for this operator set.
const FORMAT: i64 = 8;

/// Returns the bytes of a file with one input, named `x` for numbers or `ids` for IDs, and one output, `y`.
///
/// # Errors
///
/// If the file cannot be written.
pub(crate) fn file(network: &Network, outputs: usize) -> Result<Vec<u8>> {
    let (input, elements) = match network.element {
        Element::Number => ("x", DataType::FLOAT),
        Element::Id => ("ids", DataType::INT64),
    };
    let mut writer =
        Writer { graph: GraphProto::default(), value: input.to_owned(), axes: network.row.len() };
    for layer in &network.layers {
        writer.layer(layer)?;
    }
    let mut graph = writer.graph;
    if let Some(last) = graph.node.last_mut() {
        last.output = vec!["y".to_owned()];
    }
    graph.input = vec![value(input, elements, &network.row)];
    graph.output = vec![value("y", DataType::FLOAT, &[outputs])];
    let model = ModelProto {
        ir_version: Some(FORMAT),
        producer_name: Some("apportion-train".to_owned()),
        opset_import: vec![OperatorSetIdProto { domain: Some(String::new()), version: Some(OPERATORS) }],
        graph: Some(graph),
        ..ModelProto::default()
    };
    Ok(model.write_buf()?)
}

/// Returns the declaration of an input or output with any number of rows of this shape.
fn value(name: &str, elements: DataType, row: &[usize]) -> ValueInfoProto {
    let mut dim = vec![Dimension { dim_value: None, dim_param: Some("N".to_owned()) }];
    dim.extend(row.iter().map(|&size| Dimension { dim_value: Some(size as i64), dim_param: None }));
    let tensor = TypeProtoTensor { elem_type: Some(elements), shape: Some(TensorShapeProto { dim }) };
    let r#type = Some(TypeProto { tensor_type: Some(tensor), ..TypeProto::default() });
    ValueInfoProto { name: Some(name.to_owned()), r#type }
}

/// A graph under construction.
struct Writer {
    graph: GraphProto,
    /// Name of the value written last.
    value: String,
    /// Number of axes of this value, excluding the batch.
    axes: usize,
}

impl Writer {
    fn layer(&mut self, layer: &Layer) -> Result<()> {
        match layer {
            Layer::Affine { scale, shift } => {
                let scale = self.weights(&[scale.len()], scale.clone());
                self.node("Mul", &[&scale], Vec::new());
                let shift = self.weights(&[shift.len()], shift.clone());
                self.node("Add", &[&shift], Vec::new());
            }
            Layer::Embedding { table } => {
                let table = self.tensor(table)?;
                let ids = std::mem::replace(&mut self.value, table);
                self.node("Gather", &[&ids], vec![integer("axis", 0)]);
                self.node("Transpose", &[], vec![integers("perm", &[0, 2, 1])]);
                self.axes = 2;
            }
            Layer::Convolution { weight, bias, size, padding } => {
                let weight = self.kernel(weight, *size)?;
                let bias = self.tensor(bias)?;
                let places = self.axes - 1;
                let attributes = vec![
                    integers("kernel_shape", &vec![*size; places]),
                    integers("pads", &vec![*padding; 2 * places]),
                ];
                self.node("Conv", &[&weight, &bias], attributes);
            }
            Layer::MaxPool { size } => {
                let sizes = vec![*size; self.axes - 1];
                let attributes = vec![integers("kernel_shape", &sizes), integers("strides", &sizes)];
                self.node("MaxPool", &[], attributes);
            }
            Layer::MaxOverTime => {
                self.node("GlobalMaxPool", &[], Vec::new());
                self.flatten();
            }
            Layer::Lstm(lstm) => self.lstm(lstm)?,
            Layer::Relu => self.node("Relu", &[], Vec::new()),
            Layer::Dropout { .. } => (),
            Layer::Flatten => self.flatten(),
            Layer::Dense { weight, bias } => {
                let (weight, bias) = (self.tensor(weight)?, self.tensor(bias)?);
                self.node("Gemm", &[&weight, &bias], Vec::new());
            }
        }
        Ok(())
    }

    fn flatten(&mut self) {
        self.node("Flatten", &[], vec![integer("axis", 1)]);
        self.axes = 1;
    }

    fn lstm(&mut self, lstm: &BidirectionalLstm) -> Result<()> {
        let both = [&lstm.forwards, &lstm.backwards];
        let units = lstm.forwards.units()?;
        let stacked = |matrices: [&Var; 2]| -> Result<Tensor> {
            let transposed = matrices.map(|matrix| matrix.t());
            Ok(Tensor::stack(&transposed.into_iter().collect::<candle_core::Result<Vec<_>>>()?, 0)?)
        };
        let input = self.tensor(&stacked(both.map(|direction| &direction.input))?)?;
        let recurrent = self.tensor(&stacked(both.map(|direction| &direction.recurrent))?)?;
        // ONNX has a second bias, for the recurrent product.
        let mut biases = Vec::new();
        for direction in both {
            biases.extend(direction.bias.to_vec1::<f32>()?);
            biases.extend(vec![0.0; 4 * units]);
        }
        let bias = self.weights(&[2, 8 * units], biases);
        self.node("Transpose", &[], vec![integers("perm", &[2, 0, 1])]);
        let attributes = vec![integer("hidden_size", units), text("direction", "bidirectional")];
        self.node("LSTM", &[&input, &recurrent, &bias], attributes);
        // The axes are positions × directions × batch × units.
        self.node("ReduceMax", &[], vec![integers("axes", &[0]), integer("keepdims", 0)]);
        self.node("Transpose", &[], vec![integers("perm", &[1, 0, 2])]);
        self.flatten();
        Ok(())
    }

    /// Appends a node with the last value and further inputs.
    fn node(&mut self, operator: &str, others: &[&str], attribute: Vec<AttributeProto>) {
        let name = format!("{}_{}", operator.to_lowercase(), self.graph.node.len());
        let mut input = vec![std::mem::replace(&mut self.value, name.clone())];
        input.extend(others.iter().map(|&other| other.to_owned()));
        self.graph.node.push(NodeProto {
            op_type: Some(operator.to_owned()),
            name: Some(name.clone()),
            input,
            output: vec![name],
            attribute,
            ..NodeProto::default()
        });
    }

    fn tensor(&mut self, tensor: &Tensor) -> Result<String> {
        Ok(self.weights(tensor.dims(), tensor.flatten_all()?.to_vec1()?))
    }

    /// Stores the weights of a convolution, and returns the name of the tensor. Its axes are the outputs, the
    /// inputs, and the window positions along each axis of positions.
    fn kernel(&mut self, weight: &Tensor, size: usize) -> Result<String> {
        let (rows, outputs) = weight.dims2()?;
        Ok(if self.axes == 2 {
            let kernel = weight.reshape((size, rows / size, outputs))?.permute((2, 1, 0))?;
            self.tensor(&kernel)?
        } else {
            let kernel = weight.reshape((size, size, rows / size / size, outputs))?.permute((3, 2, 0, 1))?;
            self.tensor(&kernel)?
        })
    }

    fn weights(&mut self, dims: &[usize], values: Vec<f32>) -> String {
        let name = format!("weights_{}", self.graph.initializer.len());
        self.graph.initializer.push(TensorProto {
            name: Some(name.clone()),
            dims: dims.iter().map(|&size| size as i64).collect(),
            data_type: Some(DataType::FLOAT),
            raw_data: Some(RefCell::new(values.iter().flat_map(|value| value.to_le_bytes()).collect())),
            ..TensorProto::default()
        });
        name
    }
}

fn attribute(name: &str, kind: AttributeType) -> AttributeProto {
    AttributeProto { name: Some(name.to_owned()), r#type: Some(kind), ..AttributeProto::default() }
}

fn integer(name: &str, value: usize) -> AttributeProto {
    AttributeProto { i: Some(value as i64), ..attribute(name, AttributeType::INT) }
}

fn integers(name: &str, values: &[usize]) -> AttributeProto {
    let ints = values.iter().map(|&value| value as i64).collect();
    AttributeProto { ints, ..attribute(name, AttributeType::INTS) }
}

fn text(name: &str, value: &str) -> AttributeProto {
    AttributeProto { s: Some(value.to_owned()), ..attribute(name, AttributeType::STRING) }
}
