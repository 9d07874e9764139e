//! Average pooling, updated incrementally for changed cells.

use super::lanes::{LANES, fused, multiply_add, multiversioned};
use super::plane::{Changed, InputChanges, Shape};
use super::window::Window;

/// Average pooling, updated incrementally for changed cells.
#[derive(Debug)]
pub(super) struct Average {
    window: Window,
    /// For each window, the reciprocal of the number of cells over which the average is taken.
    shares: Vec<f32>,
}

impl Average {
    /// Creates average pooling. Each average is taken over the cells of its window inside the plane or, with
    /// `count_pads`, over all cells of the window.
    pub(super) fn new(window: Window, count_pads: bool) -> Self {
        let share = |index: usize| {
            let cell = [index / window.output[1], index % window.output[1]];
            let count: usize = (0..2)
                .map(
                    |axis| if count_pads { window.size[axis] } else { window.inputs(axis, cell[axis]).len() },
                )
                .product();
            (1.0 / count as f64) as f32
        };
        let shares = (0..window.output[0] * window.output[1]).map(share).collect();
        Self { window, shares }
    }

    /// Updates the averages of a plane for changed cells.
    pub(super) fn add(
        &self,
        shape: Shape,
        before: InputChanges<'_>,
        sums: &mut [f32],
        changed: &mut Changed,
    ) {
        add(self, shape, before, sums, changed);
    }
}

multiversioned! {
    fn add(
        average: &Average,
        shape: Shape,
        before: InputChanges<'_>,
        sums: &mut [f32],
        changed: &mut Changed,
    ) {
        let groups = shape.lanes() / LANES;
        if fused!() {
            add_body::<true>(average, groups, before, sums, changed);
        } else {
            add_body::<false>(average, groups, before, sums, changed);
        }
    }
}

#[inline(always)]
fn add_body<const FUSED: bool>(
    average: &Average,
    groups: usize,
    before: InputChanges<'_>,
    sums: &mut [f32],
    changed: &mut Changed,
) {
    let window = &average.window;
    let (now, reference) = (before.now.as_chunks::<LANES>().0, before.reference.as_chunks::<LANES>().0);
    let sums = sums.as_chunks_mut::<LANES>().0;
    for (row, columns) in before.changed.iter() {
        let rows = window.outputs(0, &(row..row + 1));
        changed.extend(rows.clone(), window.outputs(1, &columns));
        for column in columns {
            let cell = (row * window.input[1] + column) * groups;
            let outputs = window.outputs(1, &(column..column + 1));
            for group in 0..groups {
                let (now, reference) = (&now[cell + group], &reference[cell + group]);
                let change: [f32; LANES] = std::array::from_fn(|lane| now[lane] - reference[lane]);
                for place in rows.clone().flat_map(|y| outputs.clone().map(move |x| y * window.output[1] + x))
                {
                    let (sum, share) = (&mut sums[place * groups + group], average.shares[place]);
                    for lane in 0..LANES {
                        sum[lane] = multiply_add::<FUSED>(change[lane], share, sum[lane]);
                    }
                }
            }
        }
    }
}
