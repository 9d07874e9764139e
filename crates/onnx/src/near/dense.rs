//! Dense layers with few outputs.

use super::lanes::{LANES, fused, multiply_add, multiversioned};
use super::plane::{Changed, InputChanges, Shape};

/// A dense layer with few outputs: for each output, one product with all channels of a changed cell.
///
/// A dense layer with [`LANES`] outputs or more is represented as a
/// [convolution](super::convolution::Convolution), which processes the outputs together. Its window is the
/// whole plane.
#[derive(Debug)]
pub(super) struct Dense {
    input: Shape,
    /// The weights of each output, in the memory layout of the plane.
    weights: Vec<Vec<f32>>,
}

impl Dense {
    /// Creates a layer from weights of shape outputs × elements, ordered by channel, row and column.
    pub(super) fn new(input: Shape, weights: &[f32]) -> Self {
        let pack = |weights: &[f32]| {
            let mut packed = vec![0.0; input.len()];
            weights.iter().enumerate().for_each(|(element, &weight)| packed[input.place(element)] = weight);
            packed
        };
        Self { input, weights: weights.chunks_exact(input.elements()).map(pack).collect() }
    }

    /// Updates the sums for changed cells.
    pub(super) fn add(&self, before: InputChanges<'_>, sums: &mut [f32], changed: &mut Changed) {
        changed.extend(0..1, 0..1);
        add(self, before, sums);
    }
}

multiversioned! {
    fn add(dense: &Dense, before: InputChanges<'_>, sums: &mut [f32]) {
        for (sum, weights) in sums.iter_mut().zip(&dense.weights) {
            *sum += if fused!() {
                product::<true>(dense.input, weights, before)
            } else {
                product::<false>(dense.input, weights, before)
            };
        }
    }
}

/// Returns the sum of the changes times their weights.
#[inline(always)]
fn product<const FUSED: bool>(shape: Shape, weights: &[f32], before: InputChanges<'_>) -> f32 {
    let mut lanes = [0.0; LANES];
    for (row, columns) in before.changed.iter() {
        let range = shape.range(row, &columns);
        let now = before.now[range.clone()].as_chunks::<LANES>().0;
        let reference = before.reference[range.clone()].as_chunks::<LANES>().0;
        for ((now, reference), weights) in
            now.iter().zip(reference).zip(weights[range].as_chunks::<LANES>().0)
        {
            for lane in 0..LANES {
                lanes[lane] = multiply_add::<FUSED>(now[lane] - reference[lane], weights[lane], lanes[lane]);
            }
        }
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + e) + (b + f)) + ((c + g) + (d + h))
}
