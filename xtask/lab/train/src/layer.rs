//! Network layers, computed with candle.
//!
//! Values are batch × positions × channels, with zero, one or two axes of positions. Convolutions are then
//! matrix products of [windows](crate::windows).

use candle_core::{Result, Tensor, Var};

use crate::lstm::BidirectionalLstm;
use crate::windows::{largest, unfolded};

/// A layer of a network.
#[derive(Debug)]
pub(crate) enum Layer {
    /// Computes `scale · x + shift` for each channel. It is not trained.
    Affine { scale: Vec<f32>, shift: Vec<f32> },
    /// Looks up rows of a table by ID.
    Embedding { table: Var },
    /// Weighted sums over windows of `size` positions along each axis, with `padding` zeros at either end.
    Convolution {
        /// Matrix with (window positions · input channels) rows and one column per output channel.
        weight: Var,
        bias: Var,
        size: usize,
        padding: usize,
    },
    /// Maximum of each `size` positions along each axis; remaining positions at the end are dropped.
    MaxPool { size: usize },
    /// Maximum over the single axis of positions.
    MaxOverTime,
    /// A recurrent network in both directions.
    Lstm(BidirectionalLstm),
    /// Rectifier, `max(0, x)`.
    Relu,
    /// During training, sets each value to zero with probability `share`, and scales up the others
    /// accordingly.
    Dropout { share: f64 },
    /// Flattens all values, channel by channel.
    Flatten,
    /// Product with a matrix of inputs × outputs.
    Dense { weight: Var, bias: Var },
}

/// Random draws during training; `None` afterwards.
pub(crate) type Draws<'a> = Option<&'a mut dyn FnMut() -> f64>;

impl Layer {
    /// Returns the values for a batch.
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

    /// Returns the trained variables.
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
