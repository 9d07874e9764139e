//! Histograms whose cells have a fixed relative width.

use std::collections::BTreeMap;

/// The number of low bits of a double that do not affect its cell. The other bits are the sign, the exponent
/// and seven bits of the mantissa, so cells between 2^e and 2^(e + 1) have the width 2^e / 128.
const BITS_BELOW: u32 = 45;

/// The counts of numbers by cell. Cells do not depend on the numbers, so histograms can be merged.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Histogram {
    /// The count of each cell. A cell is identified by the leading bits of its numbers, as a signed integer.
    cells: BTreeMap<i32, u64>,
}

impl Histogram {
    /// Adds finite numbers.
    pub(super) fn add(&mut self, numbers: impl Iterator<Item = f64>) {
        let mut cells: Vec<i32> = numbers.map(cell).collect();
        // Sort the cells, so that the map is searched only once for each cell.
        cells.sort_unstable();
        for run in cells.chunk_by(|a, b| a == b) {
            *self.cells.entry(run[0]).or_default() += run.len() as u64;
        }
    }

    /// Adds the counts of another histogram.
    pub(super) fn merge(&mut self, other: &Self) {
        for (&cell, count) in &other.cells {
            *self.cells.entry(cell).or_default() += count;
        }
    }

    /// Iterates over the cells and their counts, in the order of the integers that identify the cells.
    pub(super) fn cells(&self) -> impl Iterator<Item = (i32, u64)> {
        self.cells.iter().map(|(&cell, &count)| (cell, count))
    }

    /// Creates a histogram from its cells. Returns `None` if a cell occurs twice, contains numbers that are
    /// not finite, or has the count 0.
    pub(super) fn from_cells(cells: &[(i32, u64)]) -> Option<Self> {
        let mut histogram = Self::default();
        for &(cell, count) in cells {
            let is_cell = i32::try_from((i64::from(cell) << BITS_BELOW) >> BITS_BELOW) == Ok(cell);
            let (low, high) = edges(cell);
            if !is_cell || !low.is_finite() || !high.is_finite() || count == 0 {
                return None;
            }
            if histogram.cells.insert(cell, count).is_some() {
                return None;
            }
        }
        Some(histogram)
    }

    /// Iterates over the cells in increasing order of their numbers: the smallest and the largest number that
    /// the cell can contain, and the count.
    pub(super) fn bins(&self) -> impl Iterator<Item = (f64, f64, u64)> {
        // For negative numbers, the larger the leading bits are, the smaller the number is.
        let (negative, positive) = (self.cells.range(..0).rev(), self.cells.range(0..));
        negative.chain(positive).map(|(&cell, &count)| {
            let (low, high) = edges(cell);
            (low, high, count)
        })
    }
}

/// Returns the cell of a finite number. Negative zero is in the cell of positive zero.
fn cell(number: f64) -> i32 {
    ((number + 0.0).to_bits().cast_signed() >> BITS_BELOW) as i32
}

/// Returns the smallest and the largest number of a cell.
fn edges(cell: i32) -> (f64, f64) {
    let first = (i64::from(cell) << BITS_BELOW).cast_unsigned();
    let (first, last) = (f64::from_bits(first), f64::from_bits(first | ((1 << BITS_BELOW) - 1)));
    if cell < 0 { (last, first) } else { (first, last) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_contain_their_numbers_and_are_in_order() {
        let mut numbers = vec![-f64::MAX, -1e9, -1.0, -0.999, -5e-324, -0.0, 0.0, 5e-324, 1e-310, 1.0, 1.004];
        numbers.extend([1.008, 3.5, 1e300, f64::MAX, 1.0]);
        let mut histogram = Histogram::default();
        histogram.add(numbers.iter().copied());
        let bins: Vec<_> = histogram.bins().collect();
        assert!(bins.windows(2).all(|pair| pair[0].1 < pair[1].0 || pair[0].1 == 0.0), "{bins:?}");
        for &(low, high, count) in &bins {
            assert!(low <= high && (high - low) <= low.abs().max(high.abs()).max(1e-307) / 128.0);
            // Negative zero counts as positive zero, not as one of the small negative numbers.
            let is_in = |number: f64| low <= number && number <= high && (number != 0.0 || low == 0.0);
            assert_eq!(numbers.iter().filter(|&&number| is_in(number)).count() as u64, count);
        }
        assert_eq!(bins.iter().map(|bin| bin.2).sum::<u64>(), numbers.len() as u64);
        let cells: Vec<_> = histogram.cells().collect();
        assert_eq!(Histogram::from_cells(&cells), Some(histogram));
    }

    #[test]
    fn cells_without_numbers_are_rejected() {
        let infinite = cell(f64::MAX) + 1;
        for cells in [
            vec![(infinite, 1)],
            vec![(i32::MAX, 1)],
            vec![(i32::MIN, 1)],
            vec![(1 << 18, 1)],
            vec![(0, 0)],
            vec![(3, 1), (3, 1)],
        ] {
            assert_eq!(Histogram::from_cells(&cells), None, "{cells:?}");
        }
        assert!(Histogram::from_cells(&[(-(1 << 18), 1), (infinite - 1, 2)]).is_some());
    }
}
