//! Functions of single values: activations, and scales and shifts of channels.

use super::lanes::multiversioned;
use super::plane::{Changed, Shape};

/// A function that is applied to every value of a plane.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Pointwise {
    /// `scale · x + shift`, with one scale and shift for all channels or one for each channel.
    Affine { scale: Vec<f32>, shift: Vec<f32> },
    /// The value clipped to two bounds, such as `max(x, 0)`.
    Clip { low: f32, high: f32 },
    /// `x` if it is positive, otherwise `slope · x`.
    Leaky { slope: f32 },
    /// `1 / (1 + e^(−x))`.
    Sigmoid,
    /// `tanh x`.
    Tanh,
}

impl Pointwise {
    /// Returns whether the function is non-decreasing, so that it can be applied before or after a maximum.
    pub(super) fn is_monotone(&self) -> bool {
        match self {
            Self::Affine { .. } => false,
            Self::Clip { .. } | Self::Sigmoid | Self::Tanh => true,
            Self::Leaky { slope } => *slope >= 0.0,
        }
    }

    /// Returns whether the function is the same for all channels.
    pub(crate) fn is_uniform(&self) -> bool {
        !matches!(self, Self::Affine { scale, shift } if scale.len().max(shift.len()) > 1)
    }

    /// Returns the same function with one number for each lane of a cell, including the padding.
    pub(super) fn widened(self, shape: Shape) -> Self {
        let widen = |numbers: Vec<f32>, filling: f32| {
            let mut wide = if numbers.len() == 1 { numbers.repeat(shape.channels) } else { numbers };
            wide.resize(shape.lanes(), filling);
            wide
        };
        match self {
            Self::Affine { scale, shift } => {
                Self::Affine { scale: widen(scale, 1.0), shift: widen(shift, 0.0) }
            }
            other => other,
        }
    }

    /// Applies the function to whole cells in place.
    #[inline(always)]
    fn apply(&self, values: &mut [f32]) {
        match self {
            Self::Affine { scale, shift } => {
                for cell in values.chunks_exact_mut(scale.len()) {
                    for ((value, scale), shift) in cell.iter_mut().zip(scale).zip(shift) {
                        *value = scale * *value + shift;
                    }
                }
            }
            Self::Clip { low, high } => {
                for value in values {
                    let raised = if *value > *low { *value } else { *low };
                    *value = if raised < *high { raised } else { *high };
                }
            }
            Self::Leaky { slope } => {
                for value in values {
                    *value = if *value > 0.0 { *value } else { slope * *value };
                }
            }
            Self::Sigmoid => values.iter_mut().for_each(|value| *value = 1.0 / (1.0 + (-*value).exp())),
            Self::Tanh => values.iter_mut().for_each(|value| *value = value.tanh()),
        }
    }
}

multiversioned! {
    /// Applies the functions in order to the changed cells, in place.
    pub(super) fn replace(functions: &[Pointwise], shape: Shape, changed: &Changed, values: &mut [f32]) {
        for (row, columns) in changed.iter() {
            let cells = &mut values[shape.range(row, &columns)];
            for function in functions {
                function.apply(cells);
            }
        }
    }
}

multiversioned! {
    /// Applies the functions in order to the changed cells of `sums`, and writes the results to `values`.
    pub(super) fn write(
        functions: &[Pointwise],
        shape: Shape,
        changed: &Changed,
        sums: &[f32],
        values: &mut [f32],
    ) {
        for (row, columns) in changed.iter() {
            let range = shape.range(row, &columns);
            let cells = &mut values[range.clone()];
            cells.copy_from_slice(&sums[range]);
            for function in functions {
                function.apply(cells);
            }
        }
    }
}
