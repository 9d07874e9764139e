//! Max pooling, updated incrementally for changed cells.

use super::lanes::{LANES, multiversioned};
use super::plane::{Changed, InputChanges, Shape};
use super::window::Window;

multiversioned! {
    /// Recomputes the maxima of all windows in which a cell changed, separately for each channel.
    pub(super) fn take(
        window: &Window,
        shape: Shape,
        before: InputChanges<'_>,
        values: &mut [f32],
        changed: &mut Changed,
    ) {
        for (row, columns) in before.changed.iter() {
            changed.extend(window.outputs(0, &(row..row + 1)), window.outputs(1, &columns));
        }
        let groups = shape.lanes() / LANES;
        if groups.is_multiple_of(2) {
            largest::<{ 2 * LANES }>(window, groups / 2, before.now, values, changed);
        } else {
            largest::<LANES>(window, groups, before.now, values, changed);
        }
    }
}

#[inline(always)]
fn largest<const L: usize>(
    window: &Window,
    groups: usize,
    now: &[f32],
    values: &mut [f32],
    changed: &Changed,
) {
    let (now, values) = (now.as_chunks::<L>().0, values.as_chunks_mut::<L>().0);
    for (row, columns) in changed.iter() {
        let rows = window.inputs(0, row);
        for column in columns {
            let inputs = window.inputs(1, column);
            let cell = (row * window.output[1] + column) * groups;
            for (group, out) in values[cell..cell + groups].iter_mut().enumerate() {
                let mut most = [f32::NEG_INFINITY; L];
                for y in rows.clone() {
                    for x in inputs.clone() {
                        let value = &now[(y * window.input[1] + x) * groups + group];
                        for lane in 0..L {
                            most[lane] = if value[lane] > most[lane] { value[lane] } else { most[lane] };
                        }
                    }
                }
                *out = most;
            }
        }
    }
}
