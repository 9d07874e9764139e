//! Computes the Gram matrix `Σ_k w_k z_k z_kᵀ` of weighted rows of bits.
//!
//! There are two kernels, chosen by the number of rows that have the same weight:
//!
//! - [`popcount`] groups the rows by weight, transposes each group to bit vectors of its columns, in whole
//!   words, and counts the common bits of two columns. The cost is `n²/2` operations per *word* of those
//!   vectors, even if few of its 64 bits are used.
//! - [`panels`] unpacks rows into panels of f64 and multiplies these as dense matrices. The cost is `n²`
//!   floating-point operations per *row*.

mod groups;
mod panels;
mod popcount;

use faer::Mat;

pub(crate) use self::groups::Groups;
pub use self::groups::Kernel;
use crate::bits::BitRows;

/// Returns the whole symmetric matrix `Σ_k w_k z_k z_kᵀ`, n × n.
pub(crate) fn gram(rows: &BitRows, groups: &Groups, kernel: Kernel) -> Mat<f64> {
    let mut gram = match kernel {
        Kernel::Popcount => popcount::upper_triangle(rows, groups),
        _ => panels::upper_triangle(rows, groups),
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

/// Replaces a symmetric `G` with `P G P`, where `P = I − 11ᵀ/n`.
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

/// Converts, in place, the Gram matrix of the rows `z` to the Gram matrix of the rows `z − ρ`. The entries
/// become `G_ij − ρ_i s_j − s_i ρ_j + W ρ_i ρ_j`. Here `s_i = G_ii` is the weight of the rows that contain
/// player i, because bits equal their own squares, and W is the weight of all rows.
pub(crate) fn move_origin(matrix: &mut Mat<f64>, origin: &[f64], total: f64) {
    let held: Vec<f64> = (0..matrix.nrows()).map(|i| matrix[(i, i)]).collect();
    // This is zero if the origin is the mean.
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

    /// Returns random rows with `distinct` different weights.
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

    /// Computes the Gram matrix of the rows relative to an origin, by definition.
    fn dense(rows: &BitRows, weights: &[f64], origin: &[f64]) -> Mat<f64> {
        let bit = |row: usize, i: usize| (rows.row(row)[i / 64] >> (i % 64) & 1) as f64 - origin[i];
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
                let want = dense(&bits, &weights, &vec![0.0; players]);
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
            let want = dense(&bits, &weights, &origin);
            let groups = Groups::new(&weights);
            let mut got = gram(&bits, &groups, Kernel::Popcount);
            move_origin(&mut got, &origin, groups.total());
            assert!((&got - &want).norm_max() < 1e-12 * want.norm_max(), "{players} players");
        }
    }

    #[test]
    fn centring_makes_every_row_and_column_sum_to_zero() {
        let (bits, weights) = random(65, 300, 4, 9);
        let mut matrix = dense(&bits, &weights, &[0.0; 65]);
        let scale = matrix.norm_max();
        centre(&mut matrix);
        for i in 0..65 {
            assert!(matrix.row(i).sum().abs() < 1e-12 * scale && matrix.col(i).sum().abs() < 1e-12 * scale);
        }
    }
}
