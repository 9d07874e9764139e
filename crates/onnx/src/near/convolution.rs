//! Incremental convolutions, which compute only the changes.
//!
//! A change of a cell is multiplied by the kernel and added to the sums of all cells whose windows contain
//! the changed cell. In memory, the sums of one row of these cells are contiguous, with the channels of a
//! cell next to each other. The kernel has the same layout, with its rows and columns in reverse order: one
//! block for each channel of the input. Each line of a block is multiplied by one change and added to one run
//! of sums.
//!
//! With a stride of s, a cell is multiplied only by every s-th column of the kernel, starting at the cell's
//! column modulo s. The same holds for the rows. The kernel is split into these phases.

use std::ops::Range;

use super::lanes::{LANES, fused, multiply_add, multiversioned};
use super::plane::{Changed, InputChanges, Shape};
use super::window::Window;

/// Number of changes that are added to the sums in one pass over them.
const AT_ONCE: usize = 4;

/// The kernel of a convolution.
#[derive(Debug)]
pub(super) struct Convolution {
    input: Shape,
    window: Window,
    /// Padded number of channels of a cell of the output.
    lanes: usize,
    /// For each row and for each column of the input, its overlap with the kernel.
    meetings: [Vec<Overlap>; 2],
    /// The phases of the kernel, indexed by the phase of the rows, then by the phase of the columns.
    phases: Vec<Phase>,
    weights: Vec<f32>,
}

/// The overlap of one row or column of the input with the kernel.
#[derive(Debug, Clone)]
struct Overlap {
    /// Rows or columns of the output whose windows contain this row or column of the input.
    outputs: Range<usize>,
    phase: usize,
    /// The line of the blocks of this phase that is added to the first of these outputs.
    line: usize,
}

impl Overlap {
    fn all(window: &Window, axis: usize) -> Vec<Self> {
        let (size, stride) = (window.size[axis], window.stride[axis]);
        let meeting = |input: usize| {
            let outputs = window.outputs(axis, &(input..input + 1));
            let (last, phase) =
                ((input + window.pads[axis][0]) / stride, (input + window.pads[axis][0]) % stride);
            let taps = (phase..size).step_by(stride).len();
            // Lines are in reverse order: the first line belongs to the last row or column of the kernel in
            // this phase.
            Self { line: (outputs.start + taps).saturating_sub(last + 1), outputs, phase }
        };
        (0..window.input[axis]).map(meeting).collect()
    }
}

/// The rows and columns of the kernel that overlap cells of one phase.
#[derive(Debug)]
struct Phase {
    taps: [usize; 2],
    /// The index of the phase's first weight. Weights are ordered by input channel, then by row and column of
    /// the kernel in reverse order, then by output channel.
    first: usize,
}

impl Convolution {
    /// Creates a convolution from weights of shape outputs × inputs × rows × columns, as in the file.
    pub(super) fn new(input: Shape, output: Shape, window: Window, weights: &[f32]) -> Self {
        let lanes = output.lanes();
        let [height, width] = window.size;
        let (mut phases, mut packed) = (Vec::new(), Vec::new());
        for phase in 0..window.stride[0] * window.stride[1] {
            let phase = [phase / window.stride[1], phase % window.stride[1]];
            let taps = |axis: usize| (phase[axis]..window.size[axis]).step_by(window.stride[axis]);
            let (rows, columns) = (taps(0), taps(1));
            phases.push(Phase { taps: [rows.len(), columns.len()], first: packed.len() });
            let lines = |channel: usize| rows.clone().rev().map(move |row| (channel, row));
            for (channel, row) in (0..input.channels).flat_map(lines) {
                for column in columns.clone().rev() {
                    let weight = |out: usize| {
                        weights[((out * input.channels + channel) * height + row) * width + column]
                    };
                    packed.extend((0..output.channels).map(weight));
                    packed.resize(packed.len().next_multiple_of(lanes), 0.0);
                }
            }
        }
        let meetings = [Overlap::all(&window, 0), Overlap::all(&window, 1)];
        Self { input, window, lanes, meetings, phases, weights: packed }
    }

    /// Updates the sums for changed cells.
    pub(super) fn add(
        &self,
        before: InputChanges<'_>,
        sums: &mut [f32],
        changed: &mut Changed,
        changes: &mut Changes,
    ) {
        add(self, before, sums, changed, changes);
    }
}

/// Working memory for the changed channels of cells and their changes.
#[derive(Debug, Clone, Default)]
pub(super) struct Changes {
    channels: Vec<usize>,
    factors: Vec<f32>,
}

/// Collects the channels in which two cells differ, and the differences. Returns their number.
#[inline(always)]
fn collect(now: &[f32], reference: &[f32], channels: &mut [usize], factors: &mut [f32]) -> usize {
    let mut count = 0;
    // Avoid a branch, which would be hard to predict.
    for (channel, (now, reference)) in now.iter().zip(reference).enumerate() {
        channels[count] = channel;
        factors[count] = now - reference;
        count += usize::from(now != reference);
    }
    count
}

multiversioned! {
    fn add(
        convolution: &Convolution,
        before: InputChanges<'_>,
        sums: &mut [f32],
        changed: &mut Changed,
        changes: &mut Changes,
    ) {
        let groups = convolution.lanes / LANES;
        match (groups.is_multiple_of(2), fused!()) {
            (true, true) => add_body::<{ 2 * LANES }, true>(convolution, before, sums, changed, changes),
            (true, false) => add_body::<{ 2 * LANES }, false>(convolution, before, sums, changed, changes),
            (false, true) => add_body::<LANES, true>(convolution, before, sums, changed, changes),
            (false, false) => add_body::<LANES, false>(convolution, before, sums, changed, changes),
        }
    }
}

#[inline(always)]
fn add_body<const L: usize, const FUSED: bool>(
    convolution: &Convolution,
    before: InputChanges<'_>,
    sums: &mut [f32],
    changed: &mut Changed,
    changes: &mut Changes,
) {
    let Convolution { input, window, lanes, meetings, phases, weights } = convolution;
    let (groups, weights, sums) = (lanes / L, weights.as_chunks::<L>().0, sums.as_chunks_mut::<L>().0);
    changes.channels.resize(input.channels, 0);
    changes.factors.resize(input.channels, 0.0);
    let (channels, factors) = (&mut changes.channels[..], &mut changes.factors[..]);
    for (row, columns) in before.changed.iter() {
        let rows = &meetings[0][row];
        if rows.outputs.is_empty() {
            continue;
        }
        // The range of output columns that change.
        let (mut first, mut end) = (usize::MAX, 0);
        let start = (row * input.width + columns.start) * input.lanes();
        for (cell, columns) in meetings[1][columns].iter().enumerate() {
            let start = start + cell * input.lanes();
            let cell = start..start + input.channels;
            let count = collect(&before.now[cell.clone()], &before.reference[cell], channels, factors);
            if count == 0 || columns.outputs.is_empty() {
                continue;
            }
            (first, end) = (first.min(columns.outputs.start), end.max(columns.outputs.end));
            let phase = &phases[rows.phase * window.stride[1] + columns.phase];
            let [taps_y, taps_x] = phase.taps;
            let place = LinePosition {
                first: (rows.outputs.start * window.output[1] + columns.outputs.start) * groups,
                stride: window.output[1] * groups,
                lines: rows.outputs.len(),
                length: columns.outputs.len() * groups,
                offset: (rows.line * taps_x + columns.line) * groups,
                width: taps_x * groups,
            };
            let size = taps_y * taps_x * groups;
            let weights = &weights[phase.first / L..];
            let block = |channel: usize| &weights[channel * size..(channel + 1) * size];
            let (many, left) = channels[..count].as_chunks::<AT_ONCE>();
            let (factors_of_many, factors_left) = factors[..count].as_chunks::<AT_ONCE>();
            for (&[a, b, c, d], factors) in many.iter().zip(factors_of_many) {
                add_blocks::<L, FUSED, 4>(sums, &place, [block(a), block(b), block(c), block(d)], *factors);
            }
            match (left, factors_left) {
                (&[a], &[i]) => add_blocks::<L, FUSED, 1>(sums, &place, [block(a)], [i]),
                (&[a, b], &[i, j]) => add_blocks::<L, FUSED, 2>(sums, &place, [block(a), block(b)], [i, j]),
                (&[a, b, c], &[i, j, k]) => {
                    add_blocks::<L, FUSED, 3>(sums, &place, [block(a), block(b), block(c)], [i, j, k]);
                }
                _ => {}
            }
        }
        if first < end {
            changed.extend(rows.outputs.clone(), first..end);
        }
    }
}

/// The positions at which lines of blocks are added, counted in vectors of lanes.
struct LinePosition {
    /// Start of the first run of sums, and distance to the next one.
    first: usize,
    stride: usize,
    /// Number of lines that are added, and the number of vectors added from each line.
    lines: usize,
    length: usize,
    /// Start of the first line in a block, and distance to the next one.
    offset: usize,
    width: usize,
}

/// Adds blocks of the kernel, each times a factor, to the sums.
#[inline(always)]
fn add_blocks<const L: usize, const FUSED: bool, const N: usize>(
    sums: &mut [[f32; L]],
    place: &LinePosition,
    blocks: [&[[f32; L]]; N],
    factors: [f32; N],
) {
    for line in 0..place.lines {
        let sums = &mut sums[place.first + line * place.stride..][..place.length];
        let start = place.offset + line * place.width;
        for (index, sum) in sums.iter_mut().enumerate() {
            let mut total = *sum;
            for (block, factor) in blocks.iter().zip(factors) {
                // Keep the bounds check for every vector: without it, the compiler vectorizes this short loop
                // across cells, with tests and shuffles that take longer than the sums.
                let weights = &block[start + index];
                for lane in 0..L {
                    total[lane] = multiply_add::<FUSED>(factor, weights[lane], total[lane]);
                }
            }
            *sum = total;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Kernel = fn(&Convolution, InputChanges<'_>, &mut [f32], &mut Changed, &mut Changes);

    #[test]
    fn every_form_of_the_kernel_adds_the_same() {
        let input = Shape { channels: 7, height: 6, width: 5 };
        let window = Window::new([6, 5], [3, 4], [2, 1], [[1, 1], [2, 0]]).unwrap();
        let output = Shape { channels: 16, height: window.output[0], width: window.output[1] };
        let number = |index: usize| ((index * 37 % 101) as f32 / 50.0 - 1.0).sin();
        let weights: Vec<f32> = (0..16 * 7 * 12).map(number).collect();
        let convolution = Convolution::new(input, output, window, &weights);
        let now: Vec<f32> =
            (0..input.len()).map(|index| if index % 3 == 0 { 0.0 } else { number(index) }).collect();
        let (reference, all) = (vec![0.0; input.len()], Changed::everything(input));
        let before = InputChanges { now: &now, reference: &reference, changed: &all };
        let sums = |kernel: Kernel| {
            let (mut sums, mut changed) = (vec![0.5; output.len()], Changed::nothing(output));
            kernel(&convolution, before, &mut sums, &mut changed, &mut Changes::default());
            assert_eq!(changed.iter().map(|(_, columns)| columns.len()).sum::<usize>(), output.cells());
            sums
        };
        let picked = sums(add);
        assert!(picked.iter().all(|&sum| sum != 0.5));
        let kernels: [Kernel; 4] = [
            add_body::<LANES, true>,
            add_body::<LANES, false>,
            add_body::<{ 2 * LANES }, true>,
            add_body::<{ 2 * LANES }, false>,
        ];
        for kernel in kernels {
            for (got, expected) in sums(kernel).iter().zip(&picked) {
                assert!((got - expected).abs() < 1e-5, "{got} != {expected}");
            }
        }
    }
}
