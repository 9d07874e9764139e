//! The order of a column, with its ties.

/// A column in ascending order.
pub(super) struct Ordered {
    /// The rows in the order of their numbers. Tied rows are in ascending order.
    pub(super) rows: Vec<usize>,
    /// The end of each run of equal numbers in `rows`. The first run starts at 0, and each other run at the
    /// end of the previous one.
    ends: Vec<usize>,
}

impl Ordered {
    /// Sorts numbers, which must not be NaN.
    pub(super) fn new(numbers: &[f64]) -> Self {
        let mut rows: Vec<usize> = (0..numbers.len()).collect();
        rows.sort_by(|&one, &other| numbers[one].total_cmp(&numbers[other]));
        let ends = (1..=rows.len())
            .filter(|&end| end == rows.len() || numbers[rows[end - 1]] != numbers[rows[end]])
            .collect();
        Self { rows, ends }
    }

    /// Returns the ranges of `rows` with equal numbers, in ascending order.
    pub(super) fn runs(&self) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| start..end)
    }

    /// Returns `value(start, end)` for each row, where `start..end` is the run of equal numbers that contains
    /// the row.
    pub(super) fn by_run<T: Clone + Default>(&self, value: impl Fn(usize, usize) -> T) -> Vec<T> {
        let mut values = vec![T::default(); self.rows.len()];
        for run in self.runs() {
            let shared = value(run.start, run.end);
            for &row in &self.rows[run] {
                values[row] = shared.clone();
            }
        }
        values
    }
}
