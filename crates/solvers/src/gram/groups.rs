//! Groups rows by equal weight, and chooses the kernel.

/// The kernel that computes the Gram matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kernel {
    /// The best kernel for the number of players and the number of rows per weight.
    #[default]
    Auto,
    /// Counts the common bits of columns, over rows grouped by equal weight. The counts are exact integers,
    /// which are then multiplied by the weights. This kernel is fast if many rows have the same weight.
    Popcount,
    /// Multiplies dense panels of unpacked rows, scaled by the square roots of the weights. Meant for rows
    /// whose weights mostly differ.
    Panels,
    /// Does not compute the Gram matrix: conjugate gradients run on the rows, and take no more memory than
    /// the rows. Meant for thousands of players; see [`least_squares_with`](crate::least_squares_with).
    MatrixFree,
}

/// The popcount kernel is chosen if its words contain at least this number of rows on average.
///
/// A word costs as much as 5 rows of the dense product with AVX-512, and 8 rows with AVX2. The rule is the
/// same on every machine, so that the choice is reproducible. `cargo run --release -p apportion-solvers
/// --example timing` compares the two kernels. On one core of an Intel Xeon (Sapphire Rapids), the whole
/// solve at n = 1000 takes 58 ms instead of 93 ms with 10 rows per word, and 116 ms instead of 790 ms
/// with 50.
const ROWS_PER_WORD: usize = 8;

/// The rows of equal weight: positions `start..end` in the field `order` of [`Groups`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Group {
    pub(crate) weight: f64,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// The rows with positive weight, grouped by equal weight.
#[derive(Debug)]
pub(crate) struct Groups {
    /// The indices of the rows, by descending weight. Rows of equal weight are in ascending order.
    pub(crate) order: Vec<u32>,
    pub(crate) groups: Vec<Group>,
}

impl Groups {
    pub(crate) fn new(weights: &[f64]) -> Self {
        let mut order: Vec<u32> =
            (0..weights.len() as u32).filter(|&row| weights[row as usize] > 0.0).collect();
        order.sort_by(|&a, &b| weights[b as usize].total_cmp(&weights[a as usize]));
        let mut groups: Vec<Group> = Vec::new();
        for (position, &row) in order.iter().enumerate() {
            let weight = weights[row as usize];
            match groups.last_mut() {
                Some(group) if group.weight == weight => group.end = position + 1,
                _ => groups.push(Group { weight, start: position, end: position + 1 }),
            }
        }
        Self { order, groups }
    }

    /// Returns the total weight of all rows.
    pub(crate) fn total(&self) -> f64 {
        self.groups.iter().map(|group| group.weight * (group.end - group.start) as f64).sum()
    }

    /// Returns the number of words per transposed column.
    fn words(&self) -> usize {
        self.groups.iter().map(|group| (group.end - group.start).div_ceil(64)).sum()
    }

    /// Returns the kernel that is used for the requested kernel `wanted`.
    pub(crate) fn kernel(&self, wanted: Kernel) -> Kernel {
        match wanted {
            Kernel::Popcount | Kernel::Panels => wanted,
            _ if self.order.len() >= ROWS_PER_WORD * self.words() => Kernel::Popcount,
            _ => Kernel::Panels,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_weight_zero_are_left_out() {
        let groups = Groups::new(&[0.0, 2.0, 1.0, 0.0, 2.0]);
        assert_eq!(groups.order, [1, 4, 2]);
        assert_eq!(groups.groups.len(), 2);
    }

    #[test]
    fn the_kernel_changes_at_eight_rows_a_word() {
        let kernel = |rows: usize, distinct: usize| {
            let weights: Vec<f64> = (0..rows).map(|row| 1.0 + (row % distinct) as f64).collect();
            Groups::new(&weights).kernel(Kernel::Auto)
        };
        assert_eq!(kernel(8 * 50, 50), Kernel::Popcount);
        assert_eq!(kernel(8 * 50 - 1, 50), Kernel::Panels);
        assert_eq!(kernel(5000, 5000), Kernel::Panels);
        assert_eq!(kernel(5000, 500), Kernel::Popcount);
        assert_eq!(kernel(65 * 3, 3), Kernel::Popcount);
    }
}
