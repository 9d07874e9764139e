//! The Gram matrix `Σ_k w_k z_k z_kᵀ` of weighted rows of bits.
//!
//! Two kernels, chosen by how many rows share a weight:
//!
//! - [`popcount`] groups the rows by weight, transposes each group to column bit-vectors of whole words, and counts the common
//!   bits of two columns. Its cost is `n²/2` per *word* of those vectors, however few of the 64 bits are in use.
//! - [`panels`] unpacks rows into panels of f64 and multiplies densely. Its cost is `n²` floating-point operations per *row*.

pub(crate) mod panels;
pub(crate) mod popcount;

use faer::Mat;

use crate::bits::BitRows;

/// How the Gram matrix is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kernel {
    /// Whichever of the two is faster for the number of rows per weight.
    #[default]
    Auto,
    /// Counts of common bits of columns, over rows grouped by equal weight. Exact integers times weights; fast where many rows
    /// share a weight.
    Popcount,
    /// Dense products of panels of unpacked rows, scaled by the square roots of the weights. For weights that are mostly
    /// distinct.
    Panels,
}

/// The popcount kernel is chosen where its words hold at least this many rows on average.
///
/// A word costs as much as 5 rows of the dense product with AVX-512, 8 with AVX2 alone; the rule is the same on every machine, so
/// that the choice is, too. `cargo run --release -p apportion-solvers --example timing` compares the two: on one core of an Intel
/// Xeon (Sapphire Rapids) the whole solve at n = 1000 takes 58 ms against 93 ms with 10 rows a word, 116 ms against 790 ms with 50.
const ROWS_PER_WORD: usize = 8;

/// Rows of one weight: positions `start..end` of the order in [`Groups`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Group {
    pub(crate) weight: f64,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// The rows with positive weight, put together by equal weight.
#[derive(Debug)]
pub(crate) struct Groups {
    /// Indices of rows, by falling weight, ties in the order of the rows.
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

    /// The weight of all rows.
    pub(crate) fn total(&self) -> f64 {
        self.groups.iter().map(|group| group.weight * (group.end - group.start) as f64).sum()
    }

    /// Words that the transposed columns take.
    fn words(&self) -> usize {
        self.groups.iter().map(|group| (group.end - group.start).div_ceil(64)).sum()
    }

    /// The kernel that runs where `wanted` is asked for.
    pub(crate) fn kernel(&self, wanted: Kernel) -> Kernel {
        match wanted {
            Kernel::Auto if self.order.len() >= ROWS_PER_WORD * self.words() => Kernel::Popcount,
            Kernel::Auto => Kernel::Panels,
            chosen => chosen,
        }
    }
}

/// The whole symmetric matrix `Σ_k w_k z_k z_kᵀ`, n × n.
pub(crate) fn gram(rows: &BitRows, groups: &Groups, kernel: Kernel) -> Mat<f64> {
    let mut gram = match kernel {
        Kernel::Popcount => popcount::upper_triangle(rows, groups),
        Kernel::Panels | Kernel::Auto => panels::upper_triangle(rows, groups),
    };
    mirror(&mut gram);
    gram
}

/// Copies the upper triangle to the lower one, block by block.
pub(crate) fn mirror(matrix: &mut Mat<f64>) {
    const SIDE: usize = 32;
    let n = matrix.nrows();
    for left in (0..n).step_by(SIDE) {
        for top in (left..n).step_by(SIDE) {
            for column in left..(left + SIDE).min(n) {
                for row in top.max(column + 1)..(top + SIDE).min(n) {
                    matrix[(row, column)] = matrix[(column, row)];
                }
            }
        }
    }
}

/// `P G P` with `P = I − 11ᵀ/n`, in place, for a symmetric `G`.
pub(crate) fn centre(matrix: &mut Mat<f64>) {
    let n = matrix.nrows();
    let means: Vec<f64> =
        (0..n).map(|column| matrix.col_as_slice(column).iter().sum::<f64>() / n as f64).collect();
    let mean = means.iter().sum::<f64>() / n as f64;
    for column in 0..n {
        let shift = means[column] - mean;
        for (entry, row_mean) in matrix.col_as_slice_mut(column).iter_mut().zip(&means) {
            *entry -= row_mean + shift;
        }
    }
}

/// The Gram matrix of rows `z − ρ` from that of the rows `z`, in place: `G_ij − ρ_i s_j − s_i ρ_j + W ρ_i ρ_j`, where `s_i = G_ii`
/// is the weight of the rows that hold player i (bits are their own squares) and W that of all rows.
pub(crate) fn move_origin(matrix: &mut Mat<f64>, origin: &[f64], total: f64) {
    let held: Vec<f64> = (0..matrix.nrows()).map(|i| matrix[(i, i)]).collect();
    // Zero about the mean.
    let left: Vec<f64> = held.iter().zip(origin).map(|(held, origin)| held - total * origin).collect();
    for column in 0..matrix.ncols() {
        let (origin_j, held_j) = (origin[column], held[column]);
        let entries = &mut matrix.col_as_slice_mut(column)[..=column];
        for ((entry, origin_i), left_i) in entries.iter_mut().zip(origin).zip(&left) {
            *entry -= origin_i * held_j + left_i * origin_j;
        }
    }
    mirror(matrix);
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use rand::{Rng, RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Random rows, and weights of which `distinct` are different.
    pub(crate) fn random(players: usize, rows: usize, distinct: usize, seed: u64) -> (BitRows, Vec<f64>) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let width = players.div_ceil(64);
        let words = (0..rows * width)
            .map(|index| {
                let used = (players - index % width * 64).min(64);
                rng.next_u64() >> (64 - used)
            })
            .collect();
        let weights = (0..rows).map(|_| 0.3 + rng.random_range(0..distinct) as f64 * 0.7).collect();
        (BitRows { players, width, words }, weights)
    }

    fn dense(rows: &BitRows, weights: &[f64]) -> Mat<f64> {
        let bit = |row: usize, i: usize| (rows.row(row)[i / 64] >> (i % 64) & 1) as f64;
        Mat::from_fn(rows.players, rows.players, |i, j| {
            weights.iter().enumerate().map(|(row, weight)| weight * bit(row, i) * bit(row, j)).sum()
        })
    }

    #[test]
    fn both_kernels_equal_the_dense_sum() {
        for players in [1, 2, 3, 7, 8, 9, 63, 64, 65, 130] {
            for (rows, distinct) in [(0, 1), (1, 1), (63, 2), (64, 1), (65, 1), (700, 3), (700, 1000)] {
                let (bits, weights) = random(players, rows, distinct, players as u64);
                let groups = Groups::new(&weights);
                let want = dense(&bits, &weights);
                for kernel in [Kernel::Popcount, Kernel::Panels] {
                    let got = gram(&bits, &groups, kernel);
                    let scale = 1.0 + want.norm_max();
                    assert!(
                        (&got - &want).norm_max() < 1e-13 * scale,
                        "{kernel:?}, {players} players, {rows} rows"
                    );
                }
            }
        }
    }

    #[test]
    fn a_moved_origin_gives_the_gram_matrix_of_the_moved_rows() {
        for (players, rows) in [(1, 3), (7, 40), (65, 300)] {
            let (bits, weights) = random(players, rows, 4, 2);
            let origin: Vec<f64> = (0..players).map(|i| 0.1 + (i % 5) as f64 / 10.0).collect();
            let moved = |row: usize, i: usize| (bits.row(row)[i / 64] >> (i % 64) & 1) as f64 - origin[i];
            let want = Mat::from_fn(players, players, |i, j| -> f64 {
                weights.iter().enumerate().map(|(row, weight)| weight * moved(row, i) * moved(row, j)).sum()
            });
            let groups = Groups::new(&weights);
            let mut got = gram(&bits, &groups, Kernel::Popcount);
            move_origin(&mut got, &origin, groups.total());
            assert!((&got - &want).norm_max() < 1e-12 * want.norm_max(), "{players} players");
        }
    }

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

    #[test]
    fn centring_makes_every_row_and_column_sum_to_zero() {
        let (bits, weights) = random(65, 300, 4, 9);
        let mut matrix = dense(&bits, &weights);
        let scale = matrix.norm_max();
        centre(&mut matrix);
        for i in 0..65 {
            assert!(matrix.row(i).sum().abs() < 1e-12 * scale && matrix.col(i).sum().abs() < 1e-12 * scale);
        }
    }
}
