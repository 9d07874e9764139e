//! The order of a column, and its ties.

/// A column in ascending order.
pub(super) struct Ordered {
    /// The rows in the order of their numbers, tied rows in their own order.
    pub(super) rows: Vec<usize>,
    /// Where each run of equal numbers ends in `rows`; the first begins at 0, every other where the one before ends.
    ends: Vec<usize>,
}

impl Ordered {
    /// The order of numbers, none of which is NaN.
    pub(super) fn new(numbers: &[f64]) -> Self {
        let mut rows: Vec<usize> = (0..numbers.len()).collect();
        rows.sort_by(|&one, &other| numbers[one].total_cmp(&numbers[other]));
        let ends = (1..=rows.len())
            .filter(|&end| end == rows.len() || numbers[rows[end - 1]] != numbers[rows[end]])
            .collect();
        Self { rows, ends }
    }

    /// The ranges of `rows` with equal numbers, in ascending order.
    pub(super) fn runs(&self) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| start..end)
    }

    /// For each row `value(start, end)` of its run.
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
