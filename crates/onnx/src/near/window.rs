//! Sliding windows over a grid.

use std::ops::Range;

/// Windows over a grid of rows and columns, one for each cell of the output. All sizes are pairs, for rows
/// and for columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) size: [usize; 2],
    pub(crate) stride: [usize; 2],
    /// For rows and for columns, the number of padding cells before the first and after the last cell.
    pub(crate) pads: [[usize; 2]; 2],
    pub(crate) input: [usize; 2],
    pub(crate) output: [usize; 2],
}

/// Maximum number of cells of a window and of an output. Files that declare more are probably corrupt.
const MAX_CELLS: usize = 1 << 24;

impl Window {
    /// Returns the windows over a grid of size `input`, or `None` if there are no windows or too many, or if
    /// some contain only padding.
    pub(crate) fn new(
        input: [usize; 2],
        size: [usize; 2],
        stride: [usize; 2],
        pads: [[usize; 2]; 2],
    ) -> Option<Self> {
        let mut output = [0; 2];
        for axis in 0..2 {
            let [before, after] = pads[axis];
            if stride[axis] == 0 || size[axis] <= before || size[axis] <= after {
                return None;
            }
            let room = input[axis].checked_add(before)?.checked_add(after)?;
            output[axis] = room.checked_sub(size[axis])? / stride[axis] + 1;
        }
        let few = |sizes: [usize; 2]| sizes[0].checked_mul(sizes[1]).is_some_and(|cells| cells <= MAX_CELLS);
        (few(size) && few(output)).then_some(Self { size, stride, pads, input, output })
    }

    /// Returns the single window that covers the whole grid.
    pub(crate) fn whole(input: [usize; 2]) -> Self {
        Self { size: input, stride: [1; 2], pads: [[0; 2]; 2], input, output: [1; 2] }
    }

    pub(super) fn is_whole(&self) -> bool {
        self.size == self.input && self.output == [1; 2] && self.pads == [[0; 2]; 2]
    }

    /// Returns the rows (axis 0) or columns (axis 1) of the output whose windows contain any of the given
    /// rows or columns of the input.
    #[inline(always)]
    pub(super) fn outputs(&self, axis: usize, inputs: &Range<usize>) -> Range<usize> {
        let (size, stride, before) = (self.size[axis], self.stride[axis], self.pads[axis][0]);
        let first = (inputs.start + before + 1).saturating_sub(size).div_ceil(stride);
        first..((inputs.end - 1 + before) / stride + 1).min(self.output[axis])
    }

    /// Returns the rows or columns of the input in the window of the given row or column of the output.
    #[inline(always)]
    pub(super) fn inputs(&self, axis: usize, output: usize) -> Range<usize> {
        let (start, before) = (output * self.stride[axis], self.pads[axis][0]);
        start.saturating_sub(before)..(start + self.size[axis] - before).min(self.input[axis])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_and_what_is_in_them_agree_with_the_definition() {
        for (input, size, stride, before, after) in (0..4_000).filter_map(|code| {
            let sizes = [1 + code % 9, 1 + code / 9 % 5, 1 + code / 45 % 4, code / 180 % 4, code / 720 % 4];
            (sizes[3] < sizes[1] && sizes[4] < sizes[1]).then_some(sizes.into())
        }) {
            let Some(window) = Window::new([input, 1], [size, 1], [stride, 1], [[before, after], [0, 0]])
            else {
                assert!(input + before + after < size);
                continue;
            };
            let holds =
                |output: usize, cell: usize| (0..size).any(|tap| output * stride + tap == cell + before);
            let room = input + before + after;
            assert_eq!(window.output[0], (0..room).filter(|o| o * stride + size <= room).count());
            for output in 0..window.output[0] {
                let cells: Vec<usize> = (0..input).filter(|&cell| holds(output, cell)).collect();
                assert_eq!(window.inputs(0, output).collect::<Vec<_>>(), cells);
            }
            for cell in 0..input {
                let outputs: Vec<usize> = (0..window.output[0]).filter(|&o| holds(o, cell)).collect();
                assert_eq!(window.outputs(0, &(cell..cell + 1)).collect::<Vec<_>>(), outputs);
            }
        }
    }

    #[test]
    fn windows_beside_the_grid_are_none() {
        assert_eq!(Window::new([3, 3], [2, 2], [1, 1], [[2, 0], [0, 0]]), None);
        assert_eq!(Window::new([1, 3], [2, 2], [1, 1], [[0, 0], [0, 0]]), None);
        assert_eq!(Window::new([3, 3], [2, 2], [1, 0], [[0, 0], [0, 0]]), None);
        let far = (1 << 30) - 1;
        assert_eq!(Window::new([3, 3], [1 << 30, 1], [1, 1], [[far, far], [0, 0]]), None);
    }
}
