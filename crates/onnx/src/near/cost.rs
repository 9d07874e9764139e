//! Cost model that decides when propagating changes pays off.

use super::layer::Layer;
use super::plane::Shape;

/// Maximum cost of propagating changes, as a percentage of the cost of the whole network in the runtime.
const SHARE: usize = 60;

/// Maximum number of weights of a kernel that stay in the first-level cache from cell to cell.
const NEAREST: usize = 1 << 13;

/// Returns the maximum number of changes of a row for which propagating them costs less than predicting the
/// whole row.
///
/// Cost is the number of multiply-adds. A multiply-add in propagation takes up to a third longer than in the
/// runtime. If the kernel exceeds the first-level cache, a multiply-add takes twice as long, since the kernel
/// is read again for each cell. Changes are assumed to be far from each other, because they then affect the
/// most cells. The cost is counted instead of measured, so that the choice is the same in all runs.
pub(super) fn max_changes(input: Shape, layers: &[Layer]) -> usize {
    let whole = multiply_adds(input, layers, input.elements(), |_| 1);
    let dearer = |weights: usize| if weights > NEAREST { 2 } else { 1 };
    let pays = |changes: &usize| multiply_adds(input, layers, *changes, dearer) * 100 <= whole * SHARE;
    (1..=input.elements()).take_while(pays).count()
}

/// Returns the number of multiply-adds for propagating `changes` changes that are far from each other. The
/// number for each kernel is weighted with `price`, a function of the kernel's size.
fn multiply_adds(input: Shape, layers: &[Layer], changes: usize, price: impl Fn(usize) -> usize) -> usize {
    let mut shape = input;
    // Number of rows and columns of a plane that one change affects.
    let mut reach = [1, 1];
    let mut total = 0;
    for layer in layers {
        let output = layer.output(shape);
        let window = match layer {
            Layer::Convolution { window, .. } | Layer::Max(window) | Layer::Average { window, .. } => window,
            Layer::Pointwise(_) => continue,
        };
        if let Layer::Convolution { weights, .. } = layer {
            let cells = (changes * reach[0] * reach[1]).min(shape.cells());
            // A changed cell is multiplied by the whole kernel or, with strides, by a part of the kernel.
            total +=
                cells * weights.len().div_ceil(window.stride[0] * window.stride[1]) * price(weights.len());
        }
        for (axis, reach) in reach.iter_mut().enumerate() {
            let most = (*reach + window.size[axis] - 1).div_ceil(window.stride[axis]);
            *reach = most.min(window.output[axis]);
        }
        shape = output;
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::near::window::Window;

    /// Returns a 5 × 5 convolution and a 3 × 3 convolution, each followed by 2 × 2 pooling, and a dense
    /// layer.
    fn layers(side: usize, inputs: usize, [first, second]: [usize; 2]) -> Vec<Layer> {
        let mut layers = Vec::new();
        let mut grid = [side, side];
        for (inputs, outputs, size) in [(inputs, first, 5), (first, second, 3)] {
            let window = Window::new(grid, [size; 2], [1, 1], [[0; 2]; 2]).unwrap();
            let weights = vec![1.0; outputs * inputs * size * size];
            layers.push(Layer::Convolution { window, weights, bias: vec![0.0; outputs] });
            let pool = Window::new(window.output, [2, 2], [2, 2], [[0; 2]; 2]).unwrap();
            layers.push(Layer::Max(pool));
            grid = pool.output;
        }
        let weights = vec![1.0; second * grid[0] * grid[1]];
        layers.push(Layer::Convolution { window: Window::whole(grid), weights, bias: vec![0.0] });
        layers
    }

    #[test]
    fn a_part_of_the_changes_pays() {
        let digit = Shape { channels: 1, height: 28, width: 28 };
        let most = max_changes(digit, &layers(28, 1, [8, 16]));
        assert!((60..400).contains(&most), "{most}");
        // A large kernel costs more than it saves once its plane has changed.
        let wide = max_changes(digit, &layers(28, 1, [64, 128]));
        assert!((1..20).contains(&wide), "{wide}");
        // In a dense layer, every change affects all outputs, so propagation does not save any time.
        let cell = Shape { channels: 3, height: 1, width: 1 };
        let dense =
            Layer::Convolution { window: Window::whole([1, 1]), weights: vec![1.0; 6], bias: vec![0.0; 2] };
        assert_eq!(max_changes(cell, &[dense]), 0);
    }
}
