//! The values of one layer, and the cells that changed.

use std::ops::Range;

use super::lanes::LANES;

/// The shape of the values of a layer: channels over a grid of cells. A flat vector is a grid of one cell.
///
/// In memory, the channels of a cell are contiguous and padded to [`lanes`](Self::lanes) numbers; cells are
/// stored row by row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) channels: usize,
    pub(crate) height: usize,
    pub(crate) width: usize,
}

impl Shape {
    /// Returns the padded number of channels of a cell in memory.
    pub(super) fn lanes(self) -> usize {
        self.channels.next_multiple_of(LANES)
    }

    pub(super) fn cells(self) -> usize {
        self.height * self.width
    }

    /// Returns the length of the whole plane in memory.
    pub(super) fn len(self) -> usize {
        self.cells() * self.lanes()
    }

    /// Returns the number of values, without the padding of cells.
    pub(crate) fn elements(self) -> usize {
        self.cells() * self.channels
    }

    /// Returns the position of an element in memory; elements are counted by channel, row and column, as in
    /// the rows of a network.
    pub(super) fn place(self, element: usize) -> usize {
        element % self.cells() * self.lanes() + element / self.cells()
    }

    /// Returns the range in memory of the cells in these columns of a row of the grid.
    #[inline(always)]
    pub(super) fn range(self, row: usize, columns: &Range<usize>) -> Range<usize> {
        let (first, lanes) = (row * self.width, self.lanes());
        (first + columns.start) * lanes..(first + columns.end) * lanes
    }
}

/// The cells of a plane that may have changed: one span of columns for each row of the grid.
#[derive(Debug, Clone)]
pub(super) struct Changed {
    /// For each row, the start and end column of its span. A span is empty unless the end is above the start.
    spans: Vec<[u32; 2]>,
    /// Start and end of the range of rows; all other rows have empty spans.
    rows: [usize; 2],
}

const EMPTY: [u32; 2] = [u32::MAX, 0];
const NO_ROWS: [usize; 2] = [usize::MAX, 0];

impl Changed {
    pub(super) fn nothing(shape: Shape) -> Self {
        Self { spans: vec![EMPTY; shape.height], rows: NO_ROWS }
    }

    pub(super) fn everything(shape: Shape) -> Self {
        Self { spans: vec![[0, shape.width as u32]; shape.height], rows: [0, shape.height] }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows == NO_ROWS
    }

    /// Adds the cells of a rectangle.
    #[inline(always)]
    pub(super) fn extend(&mut self, rows: Range<usize>, columns: Range<usize>) {
        if rows.is_empty() || columns.is_empty() {
            return;
        }
        for span in &mut self.spans[rows.clone()] {
            *span = [span[0].min(columns.start as u32), span[1].max(columns.end as u32)];
        }
        self.rows = [self.rows[0].min(rows.start), self.rows[1].max(rows.end)];
    }

    pub(super) fn clear(&mut self) {
        if !self.is_empty() {
            self.spans[self.rows[0]..self.rows[1]].fill(EMPTY);
            self.rows = NO_ROWS;
        }
    }

    /// Returns the rows with their columns, skipping rows with empty spans.
    #[inline(always)]
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, Range<usize>)> {
        let rows = if self.is_empty() { 0..0 } else { self.rows[0]..self.rows[1] };
        let spans = self.spans[rows.clone()].iter();
        let columns = spans.map(|span| span[0] as usize..span[1] as usize);
        rows.zip(columns).filter(|(_, columns)| !columns.is_empty())
    }
}

/// The changes of a plane, as the input of the next layer.
#[derive(Debug, Clone, Copy)]
pub(super) struct InputChanges<'a> {
    pub(super) now: &'a [f32],
    pub(super) reference: &'a [f32],
    pub(super) changed: &'a Changed,
}
