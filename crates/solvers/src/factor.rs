//! Factorization of the Gram matrix, its rank and its condition number.
//!
//! # Method
//!
//! A Cholesky factorization is tried first. Under the constraint on the sum, the matrix is `P G P` with the
//! projection `P = I − 11ᵀ/n`. It is singular along `1`, so `H = P G P + τ 11ᵀ/n` is factored instead, where
//! τ is the mean of the other eigenvalues. On vectors that sum to zero, H⁻¹ is the pseudo-inverse of `P G P`.
//!
//! If a pivot is not positive, or if the estimated condition number is above [`CHOLESKY_LIMIT`], the
//! eigen-decomposition is used. Eigenvalues up to `λ_max · max(n, 100) · 2⁻⁵⁰` count as zero (9·10⁻¹⁴ up to
//! n = 100, 9·10⁻¹³ at n = 1000; some hundred times the rounding errors of a Gram matrix). The others define
//! the pseudo-inverse, which yields the solution of minimum norm.
//!
//! # Condition number
//!
//! With the eigen-decomposition, the condition number is the ratio of the largest to the smallest nonzero
//! eigenvalue. With Cholesky, both eigenvalues are estimated by Lanczos's method, on H and on H⁻¹, from a
//! fixed start vector. The method stops when [`WINDOW`] steps change an eigenvalue by less than the fraction
//! [`CHANGE`], after 11 to 25 steps. The estimate is a lower bound. It is exact up to rounding for n ≤ 10,
//! and at most 0.4% too small for random rows of up to 1000 players (the tests require 1%). It is
//! deterministic.

use apportion_games::Cancellation;
use apportion_games::cancellation::uninterrupted;
use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::matmul::{matmul, triangular};
use faer::{Accum, Mat, MatMut, MatRef, Par, Spec};

use crate::error::SolverError;
use crate::gram::{centre, mirror};

/// The condition number above which the Cholesky factorization is not used.
const CHOLESKY_LIMIT: f64 = 1e10;

/// The number of steps over which Lanczos's method measures convergence.
const WINDOW: usize = 5;
/// Lanczos's method stops when [`WINDOW`] steps together change the eigenvalue by less than this relative
/// amount. If eigenvalues are dense, the error after k steps decreases as 1/k², so it is about k/10 times
/// such a change.
const CHANGE: f64 = 1e-3;
/// The maximum number of steps of Lanczos's method, for each end of the spectrum.
const MAX_STEPS: usize = 200;

/// The factorization of the Gram matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Factorization {
    /// Cholesky factorization: the matrix has full rank (under the constraint: n − 1) and is well
    /// conditioned.
    Cholesky,
    /// Self-adjoint eigen-decomposition and pseudo-inverse: the matrix is rank deficient or ill conditioned
    /// (condition number above 10¹⁰). Eigenvalues up to `max(n, 100) · 2⁻⁵⁰` times the largest count as zero,
    /// so weights that differ by more than 10¹² may reduce the rank.
    Eigen,
    /// No factorization: conjugate gradients on the rows ([`Kernel::MatrixFree`](crate::Kernel::MatrixFree)).
    None,
}

/// The factored Gram matrix, with its rank and condition number.
#[derive(Debug, Clone)]
pub(crate) struct Factor {
    matrix: Matrix,
    centred: bool,
    pub(crate) rank: usize,
    pub(crate) condition: f64,
}

#[derive(Debug, Clone)]
enum Matrix {
    /// The lower triangle of the Cholesky factor; entries above the diagonal are arbitrary.
    Lower(Mat<f64>),
    /// The pseudo-inverse as a full matrix.
    PseudoInverse(Mat<f64>),
}

impl Factor {
    /// Factors `gram`, which is `P G P` if `centred` is set. Its rank is at most `rows`. If it was computed
    /// by a subtraction, `taken` is the magnitude of the subtracted numbers; eigenvalues up to the rounding
    /// errors of these numbers count as zero.
    pub(crate) fn new(gram: Mat<f64>, centred: bool, rows: usize, taken: f64) -> Result<Self, SolverError> {
        let n = gram.nrows();
        let full = n - usize::from(centred);
        let rounding = n.max(100) as f64 * f64::EPSILON * 4.0;
        let noise = taken * rounding;
        let nothing =
            || Self { matrix: Matrix::PseudoInverse(Mat::zeros(n, n)), centred, rank: 0, condition: 1.0 };
        let trace: f64 = (0..n).map(|i| gram[(i, i)]).sum();
        if full == 0 || rows == 0 || trace <= noise {
            return Ok(nothing());
        }
        if rows >= full {
            let shift = if centred { trace / full as f64 } else { 0.0 };
            if let Some(lower) = cholesky(&gram, shift / n as f64) {
                let largest = largest_eigenvalue(n, centred, |vector| {
                    let product = &gram * MatRef::from_column_major_slice(vector, n, 1);
                    vector.copy_from_slice(product.col_as_slice(0));
                });
                let largest_inverse = largest_eigenvalue(n, centred, |vector| solve_lower(&lower, vector, 1));
                let condition = (largest * largest_inverse).max(1.0);
                if condition <= CHOLESKY_LIMIT && largest_inverse * noise < 1.0 {
                    return Ok(Self { matrix: Matrix::Lower(lower), centred, rank: full, condition });
                }
            }
        }
        let (values, mut vectors) = eigen(&gram)?;
        let largest = values[n - 1];
        let cutoff = (largest * rounding).max(noise);
        // The eigenvalues are in ascending order.
        let zero = values.partition_point(|&value| value <= cutoff);
        if zero == n {
            return Ok(nothing());
        }
        for (column, value) in values.iter().enumerate().skip(zero) {
            let root = value.sqrt();
            vectors.col_as_slice_mut(column).iter_mut().for_each(|entry| *entry /= root);
        }
        drop(gram);
        let mut gram = uninterrupted(cube(n), move || {
            let kept = vectors.subcols(zero, n - zero);
            let mut gram = Mat::zeros(n, n);
            triangular::matmul(
                &mut gram,
                triangular::BlockStructure::TriangularUpper,
                Accum::Replace,
                kept,
                triangular::BlockStructure::Rectangular,
                kept.transpose(),
                triangular::BlockStructure::Rectangular,
                1.0,
                Par::Seq,
            );
            gram
        });
        mirror(&mut gram);
        if centred {
            centre(&mut gram);
        }
        Ok(Self {
            matrix: Matrix::PseudoInverse(gram),
            centred,
            rank: n - zero,
            condition: largest / values[zero],
        })
    }

    pub(crate) fn factorization(&self) -> Factorization {
        match self.matrix {
            Matrix::Lower(_) => Factorization::Cholesky,
            Matrix::PseudoInverse(_) => Factorization::Eigen,
        }
    }

    /// Computes `G⁺ b` in place for `outputs` right-hand sides, stored one after another. Under the
    /// constraint, the entries of each right-hand side must sum to zero; the entries of each solution then
    /// sum to zero, too.
    pub(crate) fn solve(&self, right: &mut [f64], outputs: usize) {
        let n = right.len() / outputs;
        match &self.matrix {
            Matrix::Lower(lower) => solve_lower(lower, right, outputs),
            Matrix::PseudoInverse(inverse) => {
                let given = right.to_vec();
                matmul(
                    MatMut::from_column_major_slice_mut(right, n, outputs),
                    Accum::Replace,
                    inverse,
                    MatRef::from_column_major_slice(&given, n, outputs),
                    1.0,
                    Par::Seq,
                );
            }
        }
        if self.centred {
            right.chunks_exact_mut(n).for_each(remove_mean);
        }
    }

    /// Returns `G⁺` as a full symmetric matrix. Under the constraint, its rows sum to zero.
    pub(crate) fn pseudo_inverse(&self) -> Mat<f64> {
        match &self.matrix {
            Matrix::PseudoInverse(inverse) => inverse.clone(),
            Matrix::Lower(lower) => {
                let mut inverse = inverse_of_lower(lower);
                if self.centred {
                    centre(&mut inverse);
                }
                inverse
            }
        }
    }
}

/// Subtracts the mean from every entry: the projection `P = I − 11ᵀ/n`.
pub(crate) fn remove_mean(vector: &mut [f64]) {
    let mean = vector.iter().sum::<f64>() / vector.len() as f64;
    vector.iter_mut().for_each(|entry| *entry -= mean);
}

/// Returns `(L Lᵀ)⁻¹` for a Cholesky factor L, as a full symmetric matrix.
pub(crate) fn inverse_of_lower(lower: &Mat<f64>) -> Mat<f64> {
    let (n, lower) = (lower.nrows(), lower.clone());
    let mut inverse = uninterrupted(cube(n), move || {
        let mut inverse = Mat::zeros(n, n);
        let mut memory = MemBuffer::new(llt::inverse::inverse_scratch::<f64>(n, Par::Seq));
        // faer fills the lower triangle of the transpose, which is the upper triangle of `inverse`.
        let out = inverse.as_mut().transpose_mut();
        llt::inverse::inverse(out, lower.as_ref(), Par::Seq, MemStack::new(&mut memory));
        inverse
    });
    mirror(&mut inverse);
    inverse
}

/// Returns the Cholesky factor of `gram + shift · 11ᵀ`, or `None` if a pivot is not positive.
pub(crate) fn cholesky(gram: &Mat<f64>, shift: f64) -> Option<Mat<f64>> {
    let n = gram.nrows();
    let mut lower = gram.clone();
    for column in 0..n {
        lower.col_as_slice_mut(column).iter_mut().for_each(|entry| *entry += shift);
    }
    uninterrupted(cube(n) / 3.0, move || {
        let params = Spec::default();
        let mut memory = MemBuffer::new(llt::factor::cholesky_in_place_scratch::<f64>(n, Par::Seq, params));
        llt::factor::cholesky_in_place(
            lower.as_mut(),
            Default::default(),
            Par::Seq,
            MemStack::new(&mut memory),
            params,
        )
        .ok()?;
        Some(lower)
    })
}

/// Returns n³.
fn cube(n: usize) -> f64 {
    (n as f64).powi(3)
}

fn solve_lower(lower: &Mat<f64>, right: &mut [f64], outputs: usize) {
    let n = lower.nrows();
    let mut memory = MemBuffer::new(llt::solve::solve_in_place_scratch::<f64>(n, outputs, Par::Seq));
    llt::solve::solve_in_place(
        lower.as_ref(),
        MatMut::from_column_major_slice_mut(right, n, outputs),
        Par::Seq,
        MemStack::new(&mut memory),
    );
}

/// Returns the eigenvalues in ascending order, and the eigenvectors as columns. Only the lower triangle of
/// `matrix` is read.
pub(crate) fn eigen(matrix: &Mat<f64>) -> Result<(Vec<f64>, Mat<f64>), SolverError> {
    let n = matrix.nrows();
    if n == 0 {
        return Ok((Vec::new(), Mat::zeros(0, 0)));
    }
    let matrix = matrix.clone();
    uninterrupted(9.0 * cube(n), move || {
        let mut values = vec![0.0; n];
        let mut vectors = Mat::zeros(n, n);
        let params = Spec::default();
        let scratch = self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, Par::Seq, params);
        self_adjoint_evd(
            matrix.as_ref(),
            DiagMut::from_slice_mut(&mut values),
            Some(vectors.as_mut()),
            Par::Seq,
            MemStack::new(&mut MemBuffer::new(scratch)),
            params,
        )
        .map_err(|_| SolverError::NoConvergence { players: n })?;
        Ok((values, vectors))
    })
}

/// Estimates the largest eigenvalue of a positive semidefinite operator from below, by Lanczos's method with
/// full re-orthogonalization. If `centred` is set, the operator is restricted to vectors that sum to zero.
fn largest_eigenvalue(n: usize, centred: bool, mut apply: impl FnMut(&mut [f64])) -> f64 {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let mut estimates: Vec<f64> = Vec::new();
    let mut vector: Vec<f64> = (0..n as u64).map(scattered).collect();
    let (mut diagonal, mut beside) = (Vec::new(), Vec::new());
    let mut size = 0.0_f64;
    for step in 0..MAX_STEPS.min(n - usize::from(centred)) {
        Cancellation::check();
        if centred {
            remove_mean(&mut vector);
        }
        let norm = dot(&vector, &vector).sqrt();
        // If the Krylov space is exhausted, the remaining vector is rounding error.
        if norm.is_nan() || norm <= 1e-13 * size {
            break;
        }
        if step > 0 {
            beside.push(norm);
        }
        vector.iter_mut().for_each(|entry| *entry /= norm);
        basis.push(vector.clone());
        apply(&mut vector);
        diagonal.push(dot(&vector, &basis[step]));
        size = size.max(dot(&vector, &vector).sqrt());
        let estimate = largest_of_tridiagonal(&diagonal, &beside);
        estimates.push(estimate);
        if step >= WINDOW.max(10) && estimate - estimates[step - WINDOW] < CHANGE * estimate {
            break;
        }
        // Orthogonalize twice, because a single pass loses orthogonality if little remains.
        for _ in 0..2 {
            for earlier in &basis {
                let along = dot(&vector, earlier);
                vector.iter_mut().zip(earlier).for_each(|(entry, earlier)| *entry -= along * earlier);
            }
        }
    }
    estimates.last().copied().unwrap_or(0.0)
}

/// Returns the largest eigenvalue of a symmetric tridiagonal matrix, by bisection with Sturm sequences.
pub(crate) fn largest_of_tridiagonal(diagonal: &[f64], beside: &[f64]) -> f64 {
    let radius = |i: usize| {
        let left = if i > 0 { beside[i - 1].abs() } else { 0.0 };
        left + beside.get(i).map_or(0.0, |right| right.abs())
    };
    let mut low = diagonal.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut high = diagonal.iter().enumerate().map(|(i, value)| value + radius(i)).fold(low, f64::max);
    // An eigenvalue lies above `value` if and only if some pivot of T − value·I is positive.
    let some_above = |value: f64| {
        let mut pivot = f64::NEG_INFINITY;
        diagonal.iter().enumerate().any(|(i, entry)| {
            let coupling = if i > 0 { beside[i - 1] * beside[i - 1] / pivot } else { 0.0 };
            pivot = entry - value - coupling;
            pivot >= 0.0
        })
    };
    for _ in 0..60 {
        let middle = low + (high - low) / 2.0;
        if some_above(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

pub(crate) fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(a, b)| a * b).sum()
}

/// Returns the pseudo-random number with this index, in [−1, 1]: an output of SplitMix64 with seed 0.
pub(crate) fn scattered(index: u64) -> f64 {
    let mut word = (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (word ^ (word >> 31)) as i64 as f64 / i64::MAX as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gram::{Groups, Kernel, gram, tests::random};

    /// Returns the Gram matrix of random rows with `distinct` different weights, and its factor.
    fn factored(players: usize, rows: usize, distinct: usize, centred: bool) -> (Mat<f64>, Factor) {
        let (bits, weights) = random(players, rows, distinct, 11);
        let mut matrix = gram(&bits, &Groups::new(&weights), Kernel::Popcount);
        if centred {
            centre(&mut matrix);
        }
        let factor = Factor::new(matrix.clone(), centred, rows, 0.0).unwrap();
        (matrix, factor)
    }

    #[test]
    fn the_condition_number_is_met_from_below_within_a_hundredth() {
        let sizes = [
            (2, 9),
            (5, 40),
            (10, 60),
            (65, 80),
            (65, 120),
            (65, 700),
            (130, 1300),
            (130, 150),
            (300, 700),
            (300, 6000),
        ];
        for (players, rows) in sizes {
            for centred in [false, true] {
                let (matrix, factor) = factored(players, rows, 5, centred);
                assert_eq!(factor.factorization(), Factorization::Cholesky);
                let (values, _) = eigen(&matrix).unwrap();
                let exact = values[players - 1] / values[usize::from(centred)];
                let ratio = factor.condition / exact;
                assert!(
                    ratio > 0.99 && ratio < 1.0 + 1e-9,
                    "{players} players, {rows} rows, {centred}: {ratio}"
                );
                if players <= 10 {
                    assert!(ratio > 1.0 - 1e-9, "{players} players: {ratio}");
                }
            }
        }
    }

    #[test]
    fn the_pseudo_inverse_solves_what_the_factor_solves() {
        for (players, rows, centred) in [(7, 30, false), (7, 30, true), (65, 20, false), (65, 20, true)] {
            let (_, factor) = factored(players, rows, 2, centred);
            let mut vector: Vec<f64> = (0..players as u64).map(scattered).collect();
            if centred {
                remove_mean(&mut vector);
            }
            let product = factor.pseudo_inverse() * MatRef::from_column_major_slice(&vector, players, 1);
            factor.solve(&mut vector, 1);
            let scale = product.norm_max();
            for (got, want) in vector.iter().zip(product.col_as_slice(0)) {
                assert!((got - want).abs() < 1e-10 * scale);
            }
        }
    }

    #[test]
    fn the_largest_eigenvalue_of_a_small_tridiagonal_matrix_is_its_own() {
        assert!((largest_of_tridiagonal(&[2.0, 2.0], &[1.0]) - 3.0).abs() < 1e-12);
        assert!((largest_of_tridiagonal(&[1.0, 5.0, 2.0], &[0.0, 0.0]) - 5.0).abs() < 1e-12);
        assert_eq!(largest_of_tridiagonal(&[4.0], &[]), 4.0);
    }

    #[test]
    fn the_fixed_start_is_the_sequence_of_splitmix_from_zero() {
        // The expected numbers are the first words of the generator for the seed 0, from its authors' code,
        // as fractions of the largest integer.
        let words: [u64; 4] =
            [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f, 0xf88b_b8a8_724c_81ec];
        for (index, word) in words.into_iter().enumerate() {
            assert_eq!(scattered(index as u64), word as i64 as f64 / i64::MAX as f64, "{index}");
        }
    }
}
