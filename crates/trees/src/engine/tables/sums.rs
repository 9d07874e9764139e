//! The sums that the rows of a block accumulate from tables.

use super::shape::Layout;
use super::table::aligned;
use crate::engine::paths::BLOCK;

/// Sums per output, player and row of a block.
#[derive(Debug)]
pub(crate) struct Sums {
    layout: Layout,
    players: usize,
    /// The sums, outputs × rows × lanes or outputs × players × rows, starting at index `first`, which is
    /// aligned to a cache line.
    all: Vec<f64>,
    first: usize,
}

impl Sums {
    pub(crate) fn new(layout: Layout, players: usize, outputs: usize) -> Self {
        let (all, first) = aligned(Vec::new(), outputs * Self::output_size(layout, players));
        Self { layout, players, all, first }
    }

    fn output_size(layout: Layout, players: usize) -> usize {
        BLOCK
            * match layout {
                Layout::Lanes(width) => width,
                Layout::Columns | Layout::Pairs => players,
            }
    }

    /// Returns the range of the sums of an output.
    fn range(&self, output: usize) -> std::ops::Range<usize> {
        let size = Self::output_size(self.layout, self.players);
        self.first + output * size..self.first + (output + 1) * size
    }

    /// Returns the sums of an output.
    pub(crate) fn output_mut(&mut self, output: usize) -> &mut [f64] {
        let range = self.range(output);
        &mut self.all[range]
    }

    pub(crate) fn clear(&mut self) {
        self.all[self.first..].fill(0.0);
    }

    /// Adds the sums to the values of the rows, which have `width` numbers per row. The values of player `p`
    /// start at `places[p] · outputs`.
    pub(crate) fn add_to(&self, places: &[usize], outputs: usize, values: &mut [f64], width: usize) {
        if places.is_empty() {
            return;
        }
        // The strides between neighbouring rows and between neighbouring players.
        let (of_row, of_player) = match self.layout {
            Layout::Lanes(lanes) => (lanes, 1),
            Layout::Columns | Layout::Pairs => (1, BLOCK),
        };
        for output in 0..outputs {
            let sums = &self.all[self.range(output)];
            for (row, values) in values.chunks_exact_mut(width).enumerate() {
                let gathered = sums[row * of_row..].iter().step_by(of_player);
                for (place, &sum) in places.iter().zip(gathered) {
                    values[place * outputs + output] += sum;
                }
            }
        }
    }
}
