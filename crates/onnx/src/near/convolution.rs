//! Convolutions, of which only what changed is computed.
//!
//! A changed cell changes the sums of all cells whose windows hold it, by its change times the kernel. In memory the sums of one row of
//! these cells lie one after the other, the channels of a cell together. So the kernel is laid out as they are, its columns in reverse
//! order: for each channel of the input and each row of the kernel, one run of numbers that is multiplied by one change and added to one
//! run of sums.
//!
//! With a stride of s, a cell meets only every s-th column of the kernel; which ones depends on its column modulo s, and so for the rows.
//! The kernel is cut into these phases.

use super::lanes::{LANES, fused, multiply_add, multiversioned};
use super::plane::{Before, Changed, Shape};
use super::window::Window;

/// Changes that are added to the sums in one pass over them.
const AT_ONCE: usize = 4;

/// The kernel of a convolution.
#[derive(Debug)]
pub(super) struct Convolution {
    input: Shape,
    window: Window,
    /// Numbers of a cell of the output.
    lanes: usize,
    /// By phase of the rows, then of the columns.
    phases: Vec<Phase>,
    weights: Vec<f32>,
}

/// The rows and columns of the kernel that cells of one phase meet.
#[derive(Debug)]
struct Phase {
    taps: [usize; 2],
    /// Where its weights begin: row of the kernel, channel of the input, column of the kernel in reverse order, channel of the output.
    first: usize,
}

impl Convolution {
    /// Weights are outputs × inputs × rows × columns, as in a file.
    pub(super) fn new(input: Shape, output: Shape, window: Window, weights: &[f32]) -> Self {
        let lanes = output.lanes();
        let [height, width] = window.size;
        let (mut phases, mut packed) = (Vec::new(), Vec::new());
        for phase in 0..window.stride[0] * window.stride[1] {
            let phase = [phase / window.stride[1], phase % window.stride[1]];
            let taps = |axis: usize| (phase[axis]..window.size[axis]).step_by(window.stride[axis]);
            let (rows, columns) = (taps(0), taps(1));
            phases.push(Phase { taps: [rows.len(), columns.len()], first: packed.len() });
            for (row, channel) in rows.flat_map(|row| (0..input.channels).map(move |channel| (row, channel)))
            {
                for column in columns.clone().rev() {
                    let weight = |out: usize| {
                        weights[((out * input.channels + channel) * height + row) * width + column]
                    };
                    packed.extend((0..output.channels).map(weight));
                    packed.resize(packed.len().next_multiple_of(lanes), 0.0);
                }
            }
        }
        Self { input, window, lanes, phases, weights: packed }
    }

    /// Adds to the sums what changed cells change in them.
    pub(super) fn add(
        &self,
        before: Before<'_>,
        sums: &mut [f32],
        changed: &mut Changed,
        changes: &mut Changes,
    ) {
        add(self, before, sums, changed, changes);
    }
}

/// The channels of a cell that changed; memory that is used again and again.
#[derive(Debug, Clone, Default)]
pub(super) struct Changes {
    channels: Vec<u32>,
    values: Vec<f32>,
}

impl Changes {
    /// Collects the channels in which two cells differ, and returns how many they are.
    #[inline(always)]
    fn collect(&mut self, now: &[f32], reference: &[f32]) -> usize {
        self.channels.resize(now.len(), 0);
        self.values.resize(now.len(), 0.0);
        let mut count = 0;
        // Without a branch, as which channels differ is hard to foresee.
        for (channel, (now, reference)) in now.iter().zip(reference).enumerate() {
            self.channels[count] = channel as u32;
            self.values[count] = now - reference;
            count += usize::from(now != reference);
        }
        count
    }
}

multiversioned! {
    fn add(
        convolution: &Convolution,
        before: Before<'_>,
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
    before: Before<'_>,
    sums: &mut [f32],
    changed: &mut Changed,
    changes: &mut Changes,
) {
    let Convolution { input, window, lanes, phases, weights } = convolution;
    let (groups, weights, sums) = (lanes / L, weights.as_chunks::<L>().0, sums.as_chunks_mut::<L>().0);
    let [stride_y, stride_x] = window.stride;
    for (row, columns) in before.changed.iter() {
        let (y, phase_y) = ((row + window.pads[0][0]) / stride_y, (row + window.pads[0][0]) % stride_y);
        // Columns of the output that change.
        let (mut first, mut end) = (usize::MAX, 0);
        let mut rows = 0..0;
        for column in columns {
            let cell = (row * input.width + column) * input.lanes();
            let cell = cell..cell + input.channels;
            let count = changes.collect(&before.now[cell.clone()], &before.reference[cell]);
            if count == 0 {
                continue;
            }
            let (x, phase_x) =
                ((column + window.pads[1][0]) / stride_x, (column + window.pads[1][0]) % stride_x);
            let phase = &phases[phase_y * stride_x + phase_x];
            let [taps_y, taps_x] = phase.taps;
            // Row `tap` of the phase's kernel meets row `y − tap` of the output; column `tap` meets `x + 1 + tap − taps_x`.
            let from_y = (y + 1).saturating_sub(window.output[0]);
            let to_y = taps_y.min(y + 1);
            let from_x = taps_x.saturating_sub(x + 1);
            let to_x = taps_x.min((window.output[1] + taps_x).saturating_sub(x + 1));
            if from_y >= to_y || from_x >= to_x {
                continue;
            }
            let start = x + 1 + from_x - taps_x;
            let length = (to_x - from_x) * groups;
            rows = y + 1 - to_y..y + 1 - from_y;
            (first, end) = (first.min(start), end.max(start + to_x - from_x));
            for tap in from_y..to_y {
                let place = ((y - tap) * window.output[1] + start) * groups;
                let sums = &mut sums[place..place + length];
                let kernel = phase.first / L + (tap * input.channels * taps_x + from_x) * groups;
                let run = |channel: u32| {
                    let start = kernel + channel as usize * taps_x * groups;
                    &weights[start..start + length]
                };
                let (many, channels_left) = changes.channels[..count].as_chunks::<AT_ONCE>();
                let (factors, factors_left) = changes.values[..count].as_chunks::<AT_ONCE>();
                for (channels, factors) in many.iter().zip(factors) {
                    add_runs::<L, FUSED, AT_ONCE>(sums, channels.map(run), *factors);
                }
                for (&channel, &factor) in channels_left.iter().zip(factors_left) {
                    add_runs::<L, FUSED, 1>(sums, [run(channel)], [factor]);
                }
            }
        }
        if first < end {
            changed.extend(rows, first..end);
        }
    }
}

/// Adds runs of the kernel, each times a number, to a run of sums.
#[inline(always)]
fn add_runs<const L: usize, const FUSED: bool, const N: usize>(
    sums: &mut [[f32; L]],
    runs: [&[[f32; L]]; N],
    factors: [f32; N],
) {
    let runs = runs.map(|run| &run[..sums.len()]);
    for (index, sum) in sums.iter_mut().enumerate() {
        let mut total = *sum;
        for (run, &factor) in runs.iter().zip(&factors) {
            let weights = run[index];
            for lane in 0..L {
                total[lane] = multiply_add::<FUSED>(factor, weights[lane], total[lane]);
            }
        }
        *sum = total;
    }
}
