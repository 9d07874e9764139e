//! Constants of a file: weights and attributes.

use std::collections::HashMap;

use rten_onnx::onnx::{AttributeProto, DataLocation, DataType, GraphProto, NodeProto, TensorProto};

/// The tensors of a graph that do not depend on the input, by name.
#[derive(Debug)]
pub(crate) struct Constants<'a>(HashMap<&'a str, &'a TensorProto>);

impl<'a> Constants<'a> {
    pub(crate) fn new(graph: &'a GraphProto) -> Self {
        let weights = graph.initializer.iter().filter_map(|weight| Some((weight.name.as_deref()?, weight)));
        let constants = graph.node.iter().filter(|node| node.op_type.as_deref() == Some("Constant"));
        let values = constants
            .filter_map(|node| Some((node.output.first()?.as_str(), attribute(node, "value")?.t.as_ref()?)));
        Self(weights.chain(values).collect())
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Returns the shape of a tensor.
    pub(crate) fn shape(&self, name: &str) -> Option<Vec<usize>> {
        self.0.get(name)?.dims.iter().map(|&size| usize::try_from(size).ok()).collect()
    }

    /// Returns the shape and elements of a tensor of finite floats.
    pub(crate) fn floats(&self, name: &str) -> Option<(Vec<usize>, Vec<f32>)> {
        let tensor = self.within(name, DataType::FLOAT)?;
        let values = match &tensor.raw_data {
            Some(raw) => {
                let raw = raw.borrow();
                let (numbers, rest) = raw.as_chunks::<4>();
                rest.is_empty().then(|| numbers.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect())?
            }
            None => tensor.float_data.clone(),
        };
        let shape = self.shape(name)?;
        let finite = values.iter().all(|value: &f32| value.is_finite());
        (finite && product(&shape)? == values.len()).then_some((shape, values))
    }

    /// Returns the only element of a tensor of floats.
    pub(crate) fn float(&self, name: &str) -> Option<f32> {
        match self.floats(name)?.1[..] {
            [value] => Some(value),
            _ => None,
        }
    }

    /// Returns the elements of a tensor of integers.
    pub(crate) fn integers(&self, name: &str) -> Option<Vec<i64>> {
        let tensor = self.within(name, DataType::INT64)?;
        match &tensor.raw_data {
            Some(raw) => {
                let raw = raw.borrow();
                let (numbers, rest) = raw.as_chunks::<8>();
                rest.is_empty().then(|| numbers.iter().map(|&bytes| i64::from_le_bytes(bytes)).collect())
            }
            None => Some(tensor.int64_data.clone()),
        }
    }

    /// Returns the tensor with this name, if it has this type and its elements are stored inside the file.
    fn within(&self, name: &str, elements: DataType) -> Option<&'a TensorProto> {
        let tensor = *self.0.get(name)?;
        let inside = tensor.data_location.is_none_or(|location| location == DataLocation::DEFAULT);
        (inside && tensor.data_type == Some(elements)).then_some(tensor)
    }
}

/// Returns the product of the sizes, or `None` if it overflows.
pub(crate) fn product(sizes: &[usize]) -> Option<usize> {
    sizes.iter().try_fold(1_usize, |product, &size| product.checked_mul(size))
}

fn attribute<'a>(node: &'a NodeProto, name: &str) -> Option<&'a AttributeProto> {
    node.attribute.iter().find(|attribute| attribute.name.as_deref() == Some(name))
}

pub(crate) fn integer(node: &NodeProto, name: &str, default: i64) -> i64 {
    attribute(node, name).and_then(|attribute| attribute.i).unwrap_or(default)
}

pub(crate) fn float(node: &NodeProto, name: &str) -> Option<f32> {
    attribute(node, name).and_then(|attribute| attribute.f)
}

/// Returns the integers of an attribute, if the node has it.
pub(crate) fn integers<'a>(node: &'a NodeProto, name: &str) -> Option<&'a [i64]> {
    attribute(node, name).map(|attribute| &attribute.ints[..])
}

pub(crate) fn text<'a>(node: &'a NodeProto, name: &str) -> Option<&'a str> {
    attribute(node, name).and_then(|attribute| attribute.s.as_deref())
}
