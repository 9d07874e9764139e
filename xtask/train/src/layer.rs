//! The layers of networks, as candle computes them.
//!
//! Values are batch × places × channels, with no, one or two axes of places: convolutions and pooling then are products of matrices and
//! largest values along an axis, whose gradients candle has.

use candle_core::{D, Result, Tensor, Var};

use crate::lstm::BidirectionalLstm;

/// One layer.
#[derive(Debug)]
pub(crate) enum Layer {
    /// `scale · x + shift`, by channel; not learnt.
    Affine { scale: Vec<f32>, shift: Vec<f32> },
    /// Rows of a table by id.
    Embedding { table: Var },
    /// Sums over windows of `size` places along each axis, with `padding` zeros at either end.
    Convolution {
        /// Taps × inputs, by outputs; of two axes the taps of the second one come first.
        weight: Var,
        bias: Var,
        size: usize,
        padding: usize,
    },
    /// The largest value of each `size` places along each axis; places that are left over at the end are left out.
    MaxPool { size: usize },
    /// The largest value over the one axis of places.
    MaxOverTime,
    /// A recurrent network in both directions.
    Lstm(BidirectionalLstm),
    /// `max(0, x)`.
    Relu,
    /// While training, each value is zero with probability `share`, and the others are larger by as much.
    Dropout { share: f64 },
    /// All values in one list, channel by channel.
    Flatten,
    /// A product with a matrix of inputs × outputs.
    Dense { weight: Var, bias: Var },
}

/// Draws that training makes; nothing is drawn afterwards.
pub(crate) type Draws<'a> = Option<&'a mut dyn FnMut() -> f64>;

impl Layer {
    /// Its values on a batch.
    pub(crate) fn forward(&self, x: &Tensor, draws: &mut Draws<'_>) -> Result<Tensor> {
        match self {
            Self::Affine { scale, shift } => {
                let vector = |values: &[f32]| Tensor::from_slice(values, values.len(), x.device());
                x.broadcast_mul(&vector(scale)?)?.broadcast_add(&vector(shift)?)
            }
            Self::Embedding { table } => {
                let (batch, places) = x.dims2()?;
                table.index_select(&x.flatten_all()?, 0)?.reshape((batch, places, ()))
            }
            Self::Convolution { weight, bias, size, padding } => {
                let mut windows = x.clone();
                for axis in 1..x.rank() - 1 {
                    windows = unfold(&windows, axis, *size, *padding)?;
                }
                dense(&windows, weight, bias)
            }
            Self::MaxPool { size } => {
                let mut pooled = x.clone();
                for axis in 1..x.rank() - 1 {
                    pooled = largest(&pooled, axis, *size)?;
                }
                Ok(pooled)
            }
            Self::MaxOverTime => x.transpose(1, 2)?.contiguous()?.max(D::Minus1),
            Self::Lstm(lstm) => lstm.forward(x),
            Self::Relu => x.relu(),
            Self::Dropout { share } => match draws {
                None => Ok(x.clone()),
                Some(draw) => {
                    let kept = (1.0 / (1.0 - share)) as f32;
                    let mask: Vec<f32> =
                        (0..x.elem_count()).map(|_| if draw() < *share { 0.0 } else { kept }).collect();
                    x.mul(&Tensor::from_vec(mask, x.shape(), x.device())?)
                }
            },
            Self::Flatten if x.rank() == 4 => x.permute((0, 3, 1, 2))?.contiguous()?.flatten_from(1),
            Self::Flatten => x.transpose(1, 2)?.contiguous()?.flatten_from(1),
            Self::Dense { weight, bias } => dense(x, weight, bias),
        }
    }

    /// What is learnt.
    pub(crate) fn variables(&self) -> Vec<&Var> {
        match self {
            Self::Embedding { table } => vec![table],
            Self::Convolution { weight, bias, .. } | Self::Dense { weight, bias } => vec![weight, bias],
            Self::Lstm(lstm) => lstm.variables(),
            _ => Vec::new(),
        }
    }
}

fn dense(x: &Tensor, weight: &Tensor, bias: &Tensor) -> Result<Tensor> {
    let outputs = weight.dim(1)?;
    let mut shape = x.dims().to_vec();
    let inputs = shape.pop().unwrap_or(1);
    shape.push(outputs);
    x.reshape(((), inputs))?.matmul(weight)?.broadcast_add(bias)?.reshape(shape)
}

/// The `size` places from each place on, as channels.
fn unfold(x: &Tensor, axis: usize, size: usize, padding: usize) -> Result<Tensor> {
    let x = if padding > 0 { x.pad_with_zeros(axis, padding, padding)? } else { x.clone() };
    let places = (x.dim(axis)? + 1).saturating_sub(size);
    let taps = (0..size).map(|tap| x.narrow(axis, tap, places)).collect::<Result<Vec<_>>>()?;
    Tensor::cat(&taps, D::Minus1)
}

/// The largest of each `size` places along an axis.
fn largest(x: &Tensor, axis: usize, size: usize) -> Result<Tensor> {
    let places = x.dim(axis)? / size;
    let mut shape = x.dims().to_vec();
    shape[axis] = places;
    shape.insert(axis + 1, size);
    let parts = x.narrow(axis, 0, places * size)?.contiguous()?.reshape(shape)?;
    let mut most = parts.narrow(axis + 1, 0, 1)?;
    for part in 1..size {
        most = most.maximum(&parts.narrow(axis + 1, part, 1)?)?;
    }
    most.squeeze(axis + 1)
}
