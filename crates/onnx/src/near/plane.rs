//! The values of one layer, and which of them changed.

use std::ops::Range;

use super::lanes::LANES;

/// Sizes of the values of a layer: channels over a grid of cells. A list of numbers is a grid of one cell.
///
/// In memory the channels of a cell lie together, filled up to [`lanes`](Self::lanes) numbers; cells go row
/// by row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) channels: usize,
    pub(crate) height: usize,
    pub(crate) width: usize,
}

impl Shape {
    /// Numbers of a cell in memory.
    pub(super) fn lanes(self) -> usize {
        self.channels.next_multiple_of(LANES)
    }

    pub(super) fn cells(self) -> usize {
        self.height * self.width
    }

    /// Numbers of the whole plane in memory.
    pub(super) fn len(self) -> usize {
        self.cells() * self.lanes()
    }

    /// Values, without what fills cells up.
    pub(crate) fn elements(self) -> usize {
        self.cells() * self.channels
    }

    /// Where an element lies; elements are counted by channel, row and column, as in the rows of a network.
    pub(super) fn place(self, element: usize) -> usize {
        element % self.cells() * self.lanes() + element / self.cells()
    }

    /// Where the numbers of some cells of one row lie.
    #[inline(always)]
    pub(super) fn range(self, row: usize, columns: &Range<usize>) -> Range<usize> {
        let (first, lanes) = (row * self.width, self.lanes());
        (first + columns.start) * lanes..(first + columns.end) * lanes
    }
}

/// The cells of a plane that may have changed: one span of columns for each row.
#[derive(Debug, Clone)]
pub(super) struct Changed {
    /// First column and end; empty where the end is not above the first.
    spans: Vec<[u32; 2]>,
    /// First row and end; rows outside have empty spans.
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

    /// The rows with their columns, those without left out.
    #[inline(always)]
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, Range<usize>)> {
        let rows = if self.is_empty() { 0..0 } else { self.rows[0]..self.rows[1] };
        let spans = self.spans[rows.clone()].iter();
        let columns = spans.map(|span| span[0] as usize..span[1] as usize);
        rows.zip(columns).filter(|(_, columns)| !columns.is_empty())
    }
}

/// A plane about which the next layer learns what changed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Before<'a> {
    pub(super) now: &'a [f32],
    pub(super) reference: &'a [f32],
    pub(super) changed: &'a Changed,
}
