//! Numeric tensors.

use super::messages::{DOUBLE, FLOAT, FLOAT16, INT32, INT64, TensorProto, UINT8};
use crate::error::ModelError;

/// A tensor: its numbers in row-major order, and its shape. The product of the dimensions is the number of
/// elements.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tensor {
    pub(super) dims: Vec<usize>,
    pub(super) numbers: Vec<f64>,
}

impl Tensor {
    /// Reads the tensor `name`. `error` converts a problem to an error.
    pub(super) fn read(
        tensor: &TensorProto,
        name: &str,
        error: impl Fn(String) -> ModelError,
    ) -> Result<Self, ModelError> {
        if tensor.data_location != 0 {
            return Err(ModelError::Unsupported {
                what: format!("an ONNX file with the tensor {name} in another file"),
                help: "save the model as a single file",
            });
        }
        let numbers = numbers(tensor).map_err(&error)?;
        let dims: Option<Vec<usize>> = tensor.dims.iter().map(|&size| usize::try_from(size).ok()).collect();
        let product =
            |dims: &Vec<usize>| dims.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
        match dims.filter(|dims| product(dims) == Some(numbers.len())) {
            Some(dims) => Ok(Self { dims, numbers }),
            None => {
                Err(error(format!("the shape {:?} does not match {} numbers", tensor.dims, numbers.len())))
            }
        }
    }
}

/// Returns the numbers of a tensor, which are stored in a field of their type or as raw little-endian bytes.
fn numbers(tensor: &TensorProto) -> Result<Vec<f64>, String> {
    let raw = &tensor.raw_data[..];
    let whole = |size| match raw.len() % size {
        0 => Ok(raw.chunks_exact(size)),
        _ => Err(format!("{} bytes are not a multiple of {size} bytes per number", raw.len())),
    };
    let eight = |b: &[u8]| [b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]];
    let four = |b: &[u8]| [b[0], b[1], b[2], b[3]];
    Ok(match tensor.data_type {
        FLOAT if raw.is_empty() => tensor.float_data.iter().map(|&number| f64::from(number)).collect(),
        FLOAT => whole(4)?.map(|bytes| f64::from(f32::from_le_bytes(four(bytes)))).collect(),
        DOUBLE if raw.is_empty() => tensor.double_data.clone(),
        DOUBLE => whole(8)?.map(|bytes| f64::from_le_bytes(eight(bytes))).collect(),
        UINT8 | INT32 if raw.is_empty() => {
            tensor.int32_data.iter().map(|&number| f64::from(number)).collect()
        }
        UINT8 => raw.iter().map(|&number| f64::from(number)).collect(),
        INT32 => whole(4)?.map(|bytes| f64::from(i32::from_le_bytes(four(bytes)))).collect(),
        INT64 if raw.is_empty() => tensor.int64_data.iter().map(|&number| number as f64).collect(),
        INT64 => whole(8)?.map(|bytes| i64::from_le_bytes(eight(bytes)) as f64).collect(),
        FLOAT16 => return Err("half precision is not supported; expected float or double".to_owned()),
        other => return Err(format!("unsupported type {other}; expected float or double")),
    })
}
