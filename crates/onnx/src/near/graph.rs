//! Conversion of the graph of a file to a sequence of layers.

use std::collections::HashMap;

use rten_onnx::onnx::{GraphProto, ModelProto, NodeProto};

use super::chain::Chain;
use super::constants::{Constants, float, integer, integers, product, text};
use super::cost;
use super::layer::Layer;
use super::plane::Shape;
use super::pointwise::Pointwise;
use super::window::Window;
use crate::signature::{Element, Signature};

/// Reads the network as a chain of layers. Returns `None` if the network is not a chain, does not contain a
/// convolution, or would not become faster.
pub(crate) fn chain(file: &ModelProto, signature: &Signature) -> Option<Chain> {
    if signature.element != Element::Float {
        return None;
    }
    let graph = file.graph.as_ref()?;
    let constants = Constants::new(graph);
    let mut reader = Reader::new(&constants, &signature.row_shape)?;
    for (node, data) in path(graph, &constants, signature)?.into_iter().rev() {
        reader.read(node, data)?;
    }
    let gains = reader.convolves && cost::max_changes(reader.input, &reader.layers) > 0;
    gains.then(|| Chain::new(reader.input, reader.layers))
}

/// Returns the nodes from the output back to the input, each with the index of its input that depends on the
/// row. Returns `None` if several inputs of a node depend on the row.
fn path<'a>(
    graph: &'a GraphProto,
    constants: &Constants<'_>,
    signature: &Signature,
) -> Option<Vec<(&'a NodeProto, usize)>> {
    let producers: HashMap<&str, &NodeProto> =
        graph.node.iter().filter_map(|node| Some((node.output.first()?.as_str(), node))).collect();
    let mut path = Vec::new();
    let mut value = signature.output.as_str();
    while value != signature.input {
        // An invalid graph may contain cycles.
        if path.len() == graph.node.len() {
            return None;
        }
        let node = *producers.get(value)?;
        let mut varying =
            (0..node.input.len()).filter(|&i| !node.input[i].is_empty() && !constants.has(&node.input[i]));
        let data = varying.next()?;
        if varying.next().is_some() {
            return None;
        }
        path.push((node, data));
        value = &node.input[data];
    }
    Some(path)
}

/// Returns the size of the vocabulary: the number of rows of the embedding, if the input consists of integers
/// that are looked up directly in an embedding.
pub(crate) fn vocabulary_size(file: &ModelProto, signature: &Signature) -> Option<usize> {
    let graph = file.graph.as_ref().filter(|_| signature.element == Element::Whole)?;
    let constants = Constants::new(graph);
    let rows = |node: &NodeProto| {
        let [table, ids] = &node.input[..] else { return None };
        let looks_up = node.op_type.as_deref() == Some("Gather") && integer(node, "axis", 0) == 0;
        (looks_up && *ids == signature.input).then(|| constants.shape(table)?.first().copied())?
    };
    graph.node.iter().filter_map(rows).min()
}

/// The layers read so far.
struct Reader<'a> {
    constants: &'a Constants<'a>,
    /// The shape of a row of the input.
    input: Shape,
    /// The shape of the last value for one row, as in the graph: `[c, h, w]`, `[c, l]` or `[k]`.
    shape: Vec<usize>,
    /// The same shape as a plane. A vector that was flattened from a plane keeps the memory layout of that
    /// plane.
    plane: Shape,
    layers: Vec<Layer>,
    convolves: bool,
}

/// Converts a shape of rows to a plane.
fn plane(shape: &[usize]) -> Option<Shape> {
    let (channels, height, width) = match *shape {
        [channels] => (channels, 1, 1),
        [channels, length] => (channels, 1, length),
        [channels, height, width] => (channels, height, width),
        _ => return None,
    };
    // Positions in a plane are stored as 32-bit numbers.
    let cells = height.checked_mul(width)?.checked_mul(channels.checked_next_multiple_of(16)?)?;
    u32::try_from(cells).is_ok().then_some(Shape { channels, height, width })
}

impl<'a> Reader<'a> {
    fn new(constants: &'a Constants<'a>, shape: &[usize]) -> Option<Self> {
        let input = plane(shape)?;
        Some(Self {
            constants,
            input,
            shape: shape.to_vec(),
            plane: input,
            layers: Vec::new(),
            convolves: false,
        })
    }

    /// Reads one node, whose input with index `data` is the last value. Returns `None` if the node is not a
    /// supported layer.
    fn read(&mut self, node: &NodeProto, data: usize) -> Option<()> {
        if node.domain.as_deref().is_some_and(|domain| !domain.is_empty()) {
            return None;
        }
        match (node.op_type.as_deref()?, data) {
            ("Identity", 0) => Some(()),
            ("Dropout", 0) => (node.input.len() < 3).then_some(()),
            ("Relu", 0) => self.pointwise(Pointwise::Clip { low: 0.0, high: f32::INFINITY }),
            ("LeakyRelu", 0) => {
                self.pointwise(Pointwise::Leaky { slope: float(node, "alpha").unwrap_or(0.01) })
            }
            ("Sigmoid", 0) => self.pointwise(Pointwise::Sigmoid),
            ("Tanh", 0) => self.pointwise(Pointwise::Tanh),
            ("Clip", 0) => self.clip(node),
            (operator @ ("Add" | "Sub" | "Mul" | "Div"), data) => self.arithmetic(operator, node, data),
            ("BatchNormalization", 0) => self.normalization(node),
            ("Conv", 0) => self.convolution(node),
            ("MaxPool", 0) => {
                let window = self.pooling(node)?;
                self.push(Layer::Max(window));
                self.keep_rank()
            }
            ("AveragePool", 0) => {
                let (window, count_pads) = (self.pooling(node)?, integer(node, "count_include_pad", 0) != 0);
                self.push(Layer::Average { window, count_pads });
                self.keep_rank()
            }
            ("GlobalMaxPool", 0) => {
                let window = self.spatial().then(|| self.whole())?;
                self.push(Layer::Max(window));
                self.keep_rank()
            }
            ("GlobalAveragePool", 0) => {
                let window = self.spatial().then(|| self.whole())?;
                self.push(Layer::Average { window, count_pads: false });
                self.keep_rank()
            }
            ("ReduceMean", 0) => self.mean(node),
            ("Flatten", 0) => {
                let axis = integer(node, "axis", 1);
                let flattens = axis == 1 || axis == -(self.shape.len() as i64);
                flattens.then(|| self.shape = vec![self.plane.elements()])
            }
            ("Reshape", 0) => self.reshape(node),
            ("Gemm", 0) => self.gemm(node),
            ("MatMul", 0) => {
                let (shape, weights) = self.constants.floats(node.input.get(1)?)?;
                self.dense(&shape, &weights, false, 1.0)
            }
            _ => None,
        }
    }

    fn push(&mut self, layer: Layer) {
        self.plane = layer.output(self.plane);
        self.layers.push(layer);
    }

    fn pointwise(&mut self, function: Pointwise) -> Option<()> {
        self.push(Layer::Pointwise(function));
        Some(())
    }

    /// Returns whether the last value has spatial dimensions in addition to channels, which flattened values
    /// do not have.
    fn spatial(&self) -> bool {
        self.shape.len() > 1
    }

    /// Returns the window that covers the last plane.
    fn whole(&self) -> Window {
        Window::whole([self.plane.height, self.plane.width])
    }

    /// Updates the shape after a layer that keeps the number of dimensions.
    fn keep_rank(&mut self) -> Option<()> {
        let Shape { channels, height, width } = self.plane;
        self.shape = match self.shape.len() {
            2 => vec![channels, width],
            3 => vec![channels, height, width],
            _ => return None,
        };
        Some(())
    }

    fn clip(&mut self, node: &NodeProto) -> Option<()> {
        let bound = |name: &str, number: usize, default: f32| match node.input.get(number) {
            Some(input) if !input.is_empty() => self.constants.float(input),
            _ => Some(float(node, name).unwrap_or(default)),
        };
        let (low, high) = (bound("min", 1, f32::NEG_INFINITY)?, bound("max", 2, f32::INFINITY)?);
        self.pointwise(Pointwise::Clip { low, high })
    }

    fn arithmetic(&mut self, operator: &str, node: &NodeProto, data: usize) -> Option<()> {
        let [_, _] = &node.input[..] else { return None };
        let (shape, numbers) = self.constants.floats(&node.input[1 - data])?;
        let numbers = self.by_channel(&shape, numbers)?;
        let (scale, shift) = match (operator, data) {
            ("Add", _) => (vec![1.0], numbers),
            ("Sub", 0) => (vec![1.0], numbers.iter().map(|number| -number).collect()),
            ("Sub", _) => (vec![-1.0], numbers),
            ("Mul", _) => (numbers, vec![0.0]),
            ("Div", 0) => (numbers.iter().map(|number| 1.0 / number).collect(), vec![0.0]),
            _ => return None,
        };
        self.pointwise(Pointwise::Affine { scale, shift })
    }

    /// Returns the numbers of a tensor that is broadcast over the last value, if the tensor has one number
    /// for all channels or one for each channel.
    fn by_channel(&self, shape: &[usize], numbers: Vec<f32>) -> Option<Vec<f32>> {
        if shape.len() > self.shape.len() + 1 {
            return None;
        }
        if numbers.len() == 1 {
            return Some(numbers);
        }
        // Dimensions are counted from the last dimension, as in broadcasting.
        let others_are_one =
            shape.iter().rev().enumerate().all(|(i, &size)| i + 1 == self.shape.len() || size == 1);
        (others_are_one && self.shape[0] == self.plane.channels && numbers.len() == self.plane.channels)
            .then_some(numbers)
    }

    fn normalization(&mut self, node: &NodeProto) -> Option<()> {
        let [_, scale, shift, mean, variance] = &node.input[..] else { return None };
        if self.shape[0] != self.plane.channels {
            return None;
        }
        let of = |name: &str| self.constants.floats(name).map(|(_, numbers)| numbers);
        let [scales, shifts, means, variances] = [of(scale)?, of(shift)?, of(mean)?, of(variance)?];
        if [&scales, &shifts, &means, &variances].iter().any(|numbers| numbers.len() != self.plane.channels) {
            return None;
        }
        let epsilon = f64::from(float(node, "epsilon").unwrap_or(1e-5));
        let scale =
            |channel: usize| f64::from(scales[channel]) / (f64::from(variances[channel]) + epsilon).sqrt();
        let shift = |channel: usize| f64::from(shifts[channel]) - f64::from(means[channel]) * scale(channel);
        let channels = 0..self.plane.channels;
        let (scale, shift): (Vec<f32>, Vec<f32>) =
            channels.map(|channel| (scale(channel) as f32, shift(channel) as f32)).unzip();
        self.pointwise(Pointwise::Affine { scale, shift })
    }

    fn convolution(&mut self, node: &NodeProto) -> Option<()> {
        let (shape, weights) = self.constants.floats(node.input.get(1)?)?;
        let (&[outputs, inputs], kernel) = shape.split_first_chunk::<2>()?;
        if inputs != self.plane.channels || integer(node, "group", 1) != 1 || weights.is_empty() {
            return None;
        }
        let bias = match node.input.get(2).filter(|name| !name.is_empty()) {
            Some(name) => self.constants.floats(name)?.1,
            None => vec![0.0; outputs],
        };
        let window = self.window(node, kernel)?;
        if bias.len() != outputs {
            return None;
        }
        self.convolves = true;
        self.push(Layer::Convolution { window, weights, bias });
        self.keep_rank()
    }

    fn pooling(&self, node: &NodeProto) -> Option<Window> {
        if integer(node, "ceil_mode", 0) != 0 {
            return None;
        }
        let sizes = integers(node, "kernel_shape")?.iter().map(|&size| usize::try_from(size).ok());
        self.window(node, &sizes.collect::<Option<Vec<_>>>()?)
    }

    /// Returns the windows of a kernel of this size over the last value, according to the attributes of a
    /// node.
    fn window(&self, node: &NodeProto, kernel: &[usize]) -> Option<Window> {
        let dimensions = self.shape.len() - 1;
        if !(1..=2).contains(&dimensions) || kernel.len() != dimensions {
            return None;
        }
        let is_kernel = |given: &[i64]| given.iter().map(|&size| size as usize).eq(kernel.iter().copied());
        let dense = |dilations: &[i64]| dilations.iter().all(|&dilation| dilation == 1);
        if !integers(node, "kernel_shape").is_none_or(is_kernel)
            || !integers(node, "dilations").is_none_or(dense)
        {
            return None;
        }
        // Reads two numbers, for rows and for columns. If a row is one-dimensional, the number for its
        // missing first axis is the default.
        let axes = |name: &str, part: usize, default: usize| {
            let Some(given) = integers(node, name).filter(|given| !given.is_empty()) else {
                return Some([default; 2]);
            };
            let given = given.chunks_exact(dimensions).nth(part)?;
            let last = usize::try_from(*given.last()?).ok()?;
            let first = if dimensions == 2 { usize::try_from(given[0]).ok()? } else { default };
            Some([first, last])
        };
        let size = if dimensions == 2 { [kernel[0], kernel[1]] } else { [1, kernel[0]] };
        let stride = axes("strides", 0, 1)?;
        let input = [self.plane.height, self.plane.width];
        let pads = match text(node, "auto_pad") {
            None | Some("" | "NOTSET") => {
                let (before, after) = (axes("pads", 0, 0)?, axes("pads", 1, 0)?);
                [[before[0], after[0]], [before[1], after[1]]]
            }
            Some("VALID") => [[0; 2]; 2],
            Some("SAME_UPPER") => {
                let pads = |axis: usize| {
                    let outputs = input[axis].checked_sub(1)? / stride[axis].max(1);
                    let pads = (outputs * stride[axis] + size[axis]).saturating_sub(input[axis]);
                    Some([pads / 2, pads.div_ceil(2)])
                };
                [pads(0)?, pads(1)?]
            }
            Some(_) => return None,
        };
        Window::new(input, size, stride, pads)
    }

    /// Reads a mean over all dimensions except the channels.
    fn mean(&mut self, node: &NodeProto) -> Option<()> {
        let rank = self.shape.len() as i64 + 1;
        let axes = match node.input.get(1).filter(|name| !name.is_empty()) {
            Some(name) => self.constants.integers(name)?,
            None => integers(node, "axes")?.to_vec(),
        };
        let mut axes: Vec<i64> = axes.iter().map(|&axis| if axis < 0 { axis + rank } else { axis }).collect();
        axes.sort_unstable();
        if !self.spatial() || !axes.into_iter().eq(2..rank) {
            return None;
        }
        self.push(Layer::Average { window: self.whole(), count_pads: false });
        self.keep_rank()?;
        if integer(node, "keepdims", 1) == 0 {
            self.shape.truncate(1);
        }
        Some(())
    }

    /// Reads a reshape that flattens values, or that turns rows into images before any layer depends on their
    /// shape.
    fn reshape(&mut self, node: &NodeProto) -> Option<()> {
        if integer(node, "allowzero", 0) != 0 {
            return None;
        }
        let sizes = self.constants.integers(node.input.get(1)?)?;
        let (_, sizes) = sizes.split_first()?;
        let total = self.plane.elements();
        let mut shape = Vec::new();
        for (axis, &size) in sizes.iter().enumerate() {
            shape.push(match size {
                // −1 is a placeholder for the remaining size.
                -1 => 0,
                0 => *self.shape.get(axis)?,
                size => usize::try_from(size).ok()?,
            });
        }
        if let Some(open) = shape.iter().position(|&size| size == 0) {
            shape[open] = 1;
            shape[open] = total.checked_div(product(&shape)?)?;
        }
        if shape.is_empty() || product(&shape)? != total {
            return None;
        }
        let uniform = |layer: &Layer| matches!(layer, Layer::Pointwise(function) if function.is_uniform());
        if shape.len() > 1 && shape != self.shape {
            if !self.layers.iter().all(uniform) {
                return None;
            }
            self.plane = plane(&shape)?;
            self.input = self.plane;
        }
        self.shape = shape;
        Some(())
    }

    fn gemm(&mut self, node: &NodeProto) -> Option<()> {
        if integer(node, "transA", 0) != 0 {
            return None;
        }
        let (shape, weights) = self.constants.floats(node.input.get(1)?)?;
        let transposed = integer(node, "transB", 0) != 0;
        self.dense(&shape, &weights, transposed, float(node, "alpha").unwrap_or(1.0))?;
        let Some(name) = node.input.get(2).filter(|name| !name.is_empty()) else { return Some(()) };
        let (shape, shift) = self.constants.floats(name)?;
        let beta = float(node, "beta").unwrap_or(1.0);
        let shift = self.by_channel(&shape, shift)?.iter().map(|shift| beta * shift).collect();
        self.pointwise(Pointwise::Affine { scale: vec![1.0], shift })
    }

    /// Adds a dense layer to the last value, which is a vector. Weights are inputs × outputs, or outputs ×
    /// inputs if `transposed`.
    fn dense(&mut self, shape: &[usize], weights: &[f32], transposed: bool, factor: f32) -> Option<()> {
        let &[rows, columns] = shape else { return None };
        let (inputs, outputs) = if transposed { (columns, rows) } else { (rows, columns) };
        if self.spatial() || inputs != self.plane.elements() || weights.is_empty() {
            return None;
        }
        let places = (0..outputs).flat_map(|output| (0..inputs).map(move |input| (output, input)));
        let place =
            |(output, input)| if transposed { output * inputs + input } else { input * outputs + output };
        let weights = places.map(|at| factor * weights[place(at)]).collect();
        self.push(Layer::Convolution { window: self.whole(), weights, bias: vec![0.0; outputs] });
        self.shape = vec![outputs];
        Some(())
    }
}
