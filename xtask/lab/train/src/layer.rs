//! The layers of networks, as candle computes them.
//!
//! Values are batch × places × channels, with no, one or two axes of places: convolutions then are products of matrices of
//! [windows](crate::windows).

use candle_core::{Result, Tensor, Var};

use crate::lstm::BidirectionalLstm;
use crate::windows::{largest, unfolded};

/// One layer.
#[derive(Debug)]
pub(crate) enum Layer {
    /// `scale · x + shift`, by channel; not learnt.
    Affine { scale: Vec<f32>, shift: Vec<f32> },
    /// Rows of a table by id.
    Embedding { table: Var },
    /// Sums over windows of `size` places along each axis, with `padding` zeros at either end.
    Convolution {
        /// Taps × inputs, by outputs.
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
                for axis in (1..x.rank() - 1).rev() {
                    windows = unfolded(&windows, axis, *size, *padding)?;
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
            Self::MaxOverTime => largest(x, 1, x.dim(1)?)?.squeeze(1),
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
