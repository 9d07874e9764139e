//! Layers of a sequential network, as declared in its file.

use super::plane::Shape;
use super::pointwise::Pointwise;
use super::window::Window;

/// A layer. Weights are in the order of the file: outputs × inputs × rows × columns.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Layer {
    /// Weighted sums over windows. If the window is the whole plane, this is a dense layer.
    Convolution {
        window: Window,
        weights: Vec<f32>,
        /// One number for each output channel.
        bias: Vec<f32>,
    },
    /// The maximum of each window, by channel.
    Max(Window),
    /// The average of each window, by channel, over the cells inside the plane or also over the padding.
    Average {
        window: Window,
        count_pads: bool,
    },
    Pointwise(Pointwise),
}

impl Layer {
    /// Returns the shape of the output for an input of this shape.
    pub(super) fn output(&self, input: Shape) -> Shape {
        let (channels, window) = match self {
            Self::Convolution { window, bias, .. } => (bias.len(), window),
            Self::Max(window) | Self::Average { window, .. } => (input.channels, window),
            Self::Pointwise(_) => return input,
        };
        Shape { channels, height: window.output[0], width: window.output[1] }
    }
}

/// Simplifies the layers without changing the function. Scales and shifts after a convolution are merged into
/// the convolution. Monotone activations before max pooling are applied after it instead, to fewer values.
pub(super) fn simplified(layers: Vec<Layer>) -> Vec<Layer> {
    let mut simple: Vec<Layer> = Vec::new();
    for layer in layers {
        match (layer, simple.last_mut()) {
            (
                Layer::Pointwise(Pointwise::Affine { scale, shift }),
                Some(Layer::Convolution { weights, bias, .. }),
            ) => scale_and_shift(weights, bias, &scale, &shift),
            (layer @ Layer::Max(_), _) => {
                let moves =
                    |layer: &&Layer| matches!(layer, Layer::Pointwise(function) if function.is_monotone());
                let behind = simple.iter().rev().take_while(moves).count();
                simple.insert(simple.len() - behind, layer);
            }
            (layer, _) => simple.push(layer),
        }
    }
    simple
}

fn scale_and_shift(weights: &mut [f32], bias: &mut [f32], scale: &[f32], shift: &[f32]) {
    let of = |numbers: &[f32], output: usize| f64::from(numbers[if numbers.len() == 1 { 0 } else { output }]);
    let each = weights.len() / bias.len();
    for (output, (bias, weights)) in bias.iter_mut().zip(weights.chunks_exact_mut(each)).enumerate() {
        let (scale, shift) = (of(scale, output), of(shift, output));
        *bias = (scale * f64::from(*bias) + shift) as f32;
        weights.iter_mut().for_each(|weight| *weight = (scale * f64::from(*weight)) as f32);
    }
}
