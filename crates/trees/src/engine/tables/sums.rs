//! What rows of a block have gathered from tables.

use super::number::{Number, Steps};
use super::shape::Layout;
use super::table::aligned;
use crate::engine::paths::BLOCK;
use crate::engine::settings::Precision;

/// Sums per output, player and row of a block.
#[derive(Debug)]
pub(crate) struct Sums {
    layout: Layout,
    players: usize,
    /// Outputs × rows × lanes, or outputs × players × rows. Of the numbers that are not whole.
    float: Aligned<f64>,
    /// The same of whole numbers.
    fixed: Aligned<i64>,
    steps: Steps,
}

impl Sums {
    pub(crate) fn new(
        layout: Layout,
        players: usize,
        outputs: usize,
        precision: Precision,
        steps: Steps,
    ) -> Self {
        let size = outputs * Self::output_size(layout, players);
        let (float, fixed) = match precision {
            Precision::Fixed => (Aligned::default(), Aligned::new(size)),
            _ => (Aligned::new(size), Aligned::default()),
        };
        Self { layout, players, float, fixed, steps }
    }

    fn output_size(layout: Layout, players: usize) -> usize {
        BLOCK
            * match layout {
                Layout::Lanes(width) => width,
                Layout::Columns | Layout::Pairs => players,
            }
    }

    /// Where the numbers of an output are.
    fn output(&self, output: usize) -> std::ops::Range<usize> {
        let size = Self::output_size(self.layout, self.players);
        output * size..(output + 1) * size
    }

    pub(crate) fn clear(&mut self) {
        self.float.get_mut().fill(0.0);
        self.fixed.get_mut().fill(0);
    }

    /// Adds what players have gathered to the values of the rows, whose numbers are `width` for each row: those of player `p` from
    /// `places[p] · outputs` on.
    pub(crate) fn add_to(&self, places: &[usize], outputs: usize, values: &mut [f64], width: usize) {
        if places.is_empty() {
            return;
        }
        let size = self.steps.size;
        if self.fixed.get().is_empty() {
            self.add(self.float.get(), |sum| sum, (places, outputs), values, width);
        } else {
            self.add(self.fixed.get(), |sum| sum as f64 * size, (places, outputs), values, width);
        }
    }

    fn add<T: Copy>(
        &self,
        sums: &[T],
        number: impl Fn(T) -> f64,
        (places, outputs): (&[usize], usize),
        values: &mut [f64],
        width: usize,
    ) {
        // How far apart the sums of neighbouring rows are, and those of neighbouring players.
        let (of_row, of_player) = match self.layout {
            Layout::Lanes(lanes) => (lanes, 1),
            Layout::Columns | Layout::Pairs => (1, BLOCK),
        };
        for output in 0..outputs {
            let sums = &sums[self.output(output)];
            for (row, values) in values.chunks_exact_mut(width).enumerate() {
                let gathered = sums[row * of_row..].iter().step_by(of_player);
                for (place, &sum) in places.iter().zip(gathered) {
                    values[place * outputs + output] += number(sum);
                }
            }
        }
    }
}

/// Numbers that begin with a cache line.
#[derive(Debug, Default)]
struct Aligned<T> {
    all: Vec<T>,
    first: usize,
}

impl<T: Copy + Default> Aligned<T> {
    fn new(size: usize) -> Self {
        let (all, first) = aligned(Vec::new(), size);
        Self { all, first }
    }

    fn get(&self) -> &[T] {
        &self.all[self.first..]
    }

    fn get_mut(&mut self) -> &mut [T] {
        &mut self.all[self.first..]
    }
}

/// A number in tables, whose sums are kept in [`Sums`].
pub(crate) trait SumsOf: Number {
    /// The sums of one output.
    fn of_output(sums: &mut Sums, output: usize) -> &mut [Self::Sum];
}

impl SumsOf for f64 {
    fn of_output(sums: &mut Sums, output: usize) -> &mut [f64] {
        let range = sums.output(output);
        &mut sums.float.get_mut()[range]
    }
}

impl SumsOf for f32 {
    fn of_output(sums: &mut Sums, output: usize) -> &mut [f64] {
        f64::of_output(sums, output)
    }
}

impl SumsOf for i64 {
    fn of_output(sums: &mut Sums, output: usize) -> &mut [i64] {
        let range = sums.output(output);
        &mut sums.fixed.get_mut()[range]
    }
}
