//! Regression with a prior whose covariance is known, for more unknowns than rows.
//!
//! ```text
//! y_k = a_kᵀ γ + f_k + ε_k,    f ~ N(0, K),    ε_k ~ N(0, λ / w_k),    γ free
//! ```
//!
//! Let A be the matrix of the rows `a_k`, W the diagonal matrix of the weights, `W^½ A = Q₁ R`, and
//! `M = I − Q₁ Q₁ᵀ`. Everything that depends on λ follows from one eigen-decomposition,
//! `M W^½ K W^½ M = U diag(e) Uᵀ`:
//!
//! ```text
//! P = U diag(1 / (e + λ)) Uᵀ + (M − U Uᵀ) / λ
//! leave-one-out residual of y_k = (P W^½ y)_k / (√w_k P_kk)
//! ```
//!
//! As λ grows, the solution approaches the weighted least-squares solution with A alone. As λ approaches
//! zero, the solution interpolates the targets.
//!
//! # Source
//!
//! Cressie, *Statistics for Spatial Data*, 1993, sections 3.4 and 2.6.4 (universal kriging and its
//! cross-validation).

use std::sync::Arc;

use apportion_games::cancellation::{FEW_OPERATIONS, uninterrupted};
use faer::linalg::matmul::{matmul, triangular};
use faer::linalg::solvers::Qr;
use faer::linalg::triangular_solve::solve_upper_triangular_in_place;
use faer::{Accum, Mat, MatMut, MatRef, Par};

use crate::error::SolverError;
use crate::factor::eigen;

/// The prior covariance of f at the m rows.
#[derive(Debug, Clone, Copy)]
pub enum PriorCovariance<'a> {
    /// The covariance K itself, an m × m symmetric matrix.
    Gram(&'a [f64]),
    /// A matrix F with `K = F Fᵀ`, stored column by column, with m numbers per column.
    Factors(&'a [f64]),
}

/// A regression with a prior, in a decomposed form that can be solved for any noise strength λ.
#[derive(Debug, Clone)]
pub struct DualRidge {
    /// The decomposed regression, shared with the threads of long computations.
    solved: Arc<DecomposedSystem>,
}

/// The decomposed regression.
#[derive(Debug)]
struct DecomposedSystem {
    roots: Vec<f64>,
    /// The eigenvectors U, m × r.
    basis: Mat<f64>,
    eigenvalues: Vec<f64>,
    /// Whether U spans the whole orthogonal complement of A, so that `M = U Uᵀ`.
    is_complete: bool,
    /// The matrix Q₁, m × p.
    flat: Mat<f64>,
    /// The weighted targets `W^½ y`, m × k.
    targets: Mat<f64>,
    /// The matrix `R⁻¹ Q₁ᵀ`, p × m.
    plain: Mat<f64>,
    /// The matrix `R⁻¹ Q₁ᵀ W^½ K`, p × m.
    plain_of_prior: Mat<f64>,
}

/// Linear functionals of the unknowns γ and f. Each has coefficients for γ, and a prior covariance with f.
#[derive(Debug, Clone, Copy)]
pub struct Functionals<'a> {
    /// The number of functionals.
    pub count: usize,
    /// The coefficients for γ, count × p, row-major.
    pub of_columns: &'a [f64],
    /// The prior covariances with each `f_k`, count × m, row-major.
    pub covariances: &'a [f64],
}

/// Estimates of [`Functionals`], and the influence of each row on these estimates.
#[derive(Debug, Clone)]
pub struct DualEstimate {
    /// The estimates, count × k, row-major.
    pub values: Vec<f64>,
    /// The derivative of each estimate with respect to the target of each row, count × m, row-major. It is
    /// the same for all outputs.
    pub influences: Vec<f64>,
}

impl DualRidge {
    /// Decomposes the regression of `targets` (m × k, row-major) on `columns` (m × p, row-major, of rank p)
    /// with the given `prior`. Each of the m rows has a positive weight.
    ///
    /// For a Gram matrix, takes `O(m³)` time and stores about `4 m²` numbers. For r factors, takes `O(m r
    /// (r + p) + r³)` time and `O(m (r + p))` memory.
    ///
    /// # Errors
    ///
    /// [`SolverError::FewRows`] unless there are more rows than columns; [`SolverError::NoOutputs`];
    /// [`SolverError::TargetCount`] for arrays of the wrong length and [`SolverError::Weight`] for invalid
    /// weights; [`SolverError::NoConvergence`].
    pub fn new(
        columns: &[f64],
        prior: PriorCovariance<'_>,
        weights: &[f64],
        targets: &[f64],
        outputs: usize,
    ) -> Result<Self, SolverError> {
        let rows = weights.len();
        let free_columns = columns.len() / rows.max(1);
        if rows <= free_columns {
            return Err(SolverError::FewRows { rows, columns: free_columns });
        }
        if outputs == 0 {
            return Err(SolverError::NoOutputs);
        }
        if targets.len() != rows * outputs {
            return Err(SolverError::TargetCount { actual: targets.len(), rows, outputs });
        }
        if let Some(index) = weights.iter().position(|weight| !(weight.is_finite() && *weight > 0.0)) {
            return Err(SolverError::Weight { index, value: weights[index] });
        }
        let roots: Vec<f64> = weights.iter().map(|weight| weight.sqrt()).collect();
        let targets = Mat::from_fn(rows, outputs, |i, j| roots[i] * targets[i * outputs + j]);
        let weighted = weighted(columns, free_columns, &roots);
        let operations = |factors: usize| {
            let all = (free_columns + factors) as f64;
            4.0 * rows as f64 * all * all + 9.0 * (factors as f64).powi(3)
        };
        let (decomposed, flat, plain) = match prior {
            PriorCovariance::Gram(gram) if gram.len() == rows * rows => {
                let gram = Mat::from_fn(rows, rows, |i, j| roots[i] * gram[i * rows + j] * roots[j]);
                uninterrupted(operations(rows), move || {
                    let (flat, plain) = flat(&weighted);
                    Ok::<_, SolverError>((of_gram(&gram, &weighted, &plain)?, flat, plain))
                })?
            }
            PriorCovariance::Factors(factors) if factors.len().is_multiple_of(rows) => {
                let mut factors =
                    MatRef::from_column_major_slice(factors, rows, factors.len() / rows).to_owned();
                for column in 0..factors.ncols() {
                    scale(factors.col_as_slice_mut(column), &roots);
                }
                uninterrupted(operations(factors.ncols()), move || {
                    let (flat, plain) = flat(&weighted);
                    Ok::<_, SolverError>((of_factors(factors, &flat, &plain)?, flat, plain))
                })?
            }
            PriorCovariance::Gram(given) | PriorCovariance::Factors(given) => {
                return Err(SolverError::TargetCount { actual: given.len(), rows, outputs: rows });
            }
        };
        let Decomposed { basis, eigenvalues, mut plain_of_prior, is_complete } = decomposed;
        for (j, root) in roots.iter().enumerate() {
            plain_of_prior.col_as_slice_mut(j).iter_mut().for_each(|entry| *entry /= root);
        }
        let solved =
            DecomposedSystem { roots, basis, eigenvalues, is_complete, flat, targets, plain, plain_of_prior };
        Ok(Self { solved: Arc::new(solved) })
    }

    /// Returns the number of rows m.
    pub fn rows(&self) -> usize {
        self.solved.rows()
    }

    /// Returns the number of outputs k.
    pub fn outputs(&self) -> usize {
        self.solved.outputs()
    }

    /// Returns the mean of the eigenvalues e over the orthogonal complement of the columns. This is the
    /// natural unit for the noise strength λ.
    pub fn mean_eigenvalue(&self) -> f64 {
        self.solved.eigenvalues.iter().sum::<f64>() / self.solved.free_rows()
    }

    /// Returns the residual degrees of freedom of the fit, `tr(λ P)`. They are m − p for a zero prior
    /// covariance, and decrease with the part of the targets that the prior can explain.
    pub fn degrees_of_freedom(&self, strength: f64) -> f64 {
        let eigenvalues = &self.solved.eigenvalues;
        let explained: f64 = eigenvalues.iter().map(|value| value / (value + strength)).sum();
        self.solved.free_rows() - explained
    }

    /// Returns the leave-one-out residual of each target, multiplied by `√w_k`: m × k, row-major.
    ///
    /// If the coefficients of the columns are not determined without a row, there is no such residual for the
    /// row, and its entries are NaN.
    pub fn left_out(&self, strength: f64) -> Vec<f64> {
        let solved = Arc::clone(&self.solved);
        uninterrupted(4.0 * solved.numbers() * solved.outputs() as f64, move || solved.left_out(strength))
    }

    /// Returns the estimates of `functionals` for a positive noise strength λ.
    ///
    /// # Panics
    ///
    /// If the lengths of `functionals` do not match.
    pub fn estimate(&self, functionals: &Functionals<'_>, strength: f64) -> DualEstimate {
        let operations = 4.0 * self.solved.numbers() * functionals.count as f64;
        self.solved
            .apart(operations, functionals, move |solved, functionals| solved.estimate(functionals, strength))
    }

    /// Returns the same estimates as [`estimate`](Self::estimate), count × k, row-major, but not the
    /// influences of the rows. Takes `O(count (m + p) k)` time in addition to `O(m r k)`. If the covariances
    /// are empty, they are all zero.
    ///
    /// # Panics
    ///
    /// If the lengths of `functionals` do not match.
    pub fn predict(&self, functionals: &Functionals<'_>, strength: f64) -> Vec<f64> {
        let outputs = self.outputs() as f64;
        let numbers = functionals.of_columns.len() + functionals.covariances.len();
        let operations = (4.0 * self.solved.numbers() + 2.0 * numbers as f64) * outputs;
        self.solved
            .apart(operations, functionals, move |solved, functionals| solved.predict(functionals, strength))
    }
}

impl DecomposedSystem {
    /// Returns the number of rows m.
    fn rows(&self) -> usize {
        self.roots.len()
    }

    /// Returns the number of outputs k.
    fn outputs(&self) -> usize {
        self.targets.ncols()
    }

    fn free_rows(&self) -> f64 {
        (self.rows() - self.flat.ncols()) as f64
    }

    /// Returns the number of entries in the matrices, m × (r + p).
    fn numbers(&self) -> f64 {
        self.rows() as f64 * (self.basis.ncols() + self.flat.ncols()) as f64
    }

    /// Calls `compute` with the functionals. If this takes long, calls it on another thread with a copy of
    /// the functionals.
    fn apart<R: Send + 'static>(
        self: &Arc<Self>,
        operations: f64,
        functionals: &Functionals<'_>,
        compute: impl Fn(&Self, &Functionals<'_>) -> R + Send + 'static,
    ) -> R {
        if operations <= FEW_OPERATIONS {
            return compute(self, functionals);
        }
        let solved = Arc::clone(self);
        let Functionals { count, of_columns, covariances } = *functionals;
        let (of_columns, covariances) = (of_columns.to_vec(), covariances.to_vec());
        uninterrupted(operations, move || {
            compute(&solved, &Functionals { count, of_columns: &of_columns, covariances: &covariances })
        })
    }

    fn left_out(&self, strength: f64) -> Vec<f64> {
        let (rows, outputs) = (self.rows(), self.outputs());
        // Compute with λ P instead of P, because the factor λ cancels in the quotient below.
        let factors = self.factors(strength);
        let inner = self.basis.transpose() * &self.targets;
        let scaled = Mat::from_fn(inner.nrows(), outputs, |j, output| factors[j] * inner[(j, output)]);
        let mut applied = &self.basis * &scaled;
        let mut diagonal = vec![0.0; rows];
        for (j, factor) in factors.iter().enumerate() {
            let column = self.basis.col_as_slice(j);
            diagonal.iter_mut().zip(column).for_each(|(sum, entry)| *sum += factor * entry * entry);
        }
        if !self.is_complete {
            let explained = &self.flat * (self.flat.transpose() * &self.targets);
            applied += &self.targets - explained;
            diagonal.iter_mut().for_each(|sum| *sum += 1.0);
            for j in 0..self.flat.ncols() {
                let column = self.flat.col_as_slice(j);
                diagonal.iter_mut().zip(column).for_each(|(sum, entry)| *sum -= entry * entry);
            }
        }
        let mut residuals = Vec::with_capacity(rows * outputs);
        for (k, &own) in diagonal.iter().enumerate() {
            let is_there = own > 1e-10;
            residuals.extend(
                (0..outputs).map(|output| if is_there { applied[(k, output)] / own } else { f64::NAN }),
            );
        }
        residuals
    }

    /// Returns the diagonal of λ P in the basis U. It is `λ / (e + λ)` if U is complete; otherwise it is `−e
    /// / (e + λ)`, to which M must be added.
    fn factors(&self, strength: f64) -> Vec<f64> {
        let of = |value: &f64| match self.is_complete {
            true => strength / (value + strength),
            false => -value / (value + strength),
        };
        self.eigenvalues.iter().map(of).collect()
    }

    fn estimate(&self, functionals: &Functionals<'_>, strength: f64) -> DualEstimate {
        let (rows, outputs, count) = (self.rows(), self.outputs(), functionals.count);
        let of_columns = MatRef::from_row_major_slice(functionals.of_columns, count, self.plain.nrows());
        let covariances = MatRef::from_row_major_slice(functionals.covariances, count, rows);
        let mut left = covariances - of_columns * &self.plain_of_prior;
        for (j, root) in self.roots.iter().enumerate() {
            left.col_as_slice_mut(j).iter_mut().for_each(|entry| *entry *= root);
        }
        let mut inner = &left * &self.basis;
        for (j, factor) in self.factors(strength).into_iter().enumerate() {
            inner.col_as_slice_mut(j).iter_mut().for_each(|entry| *entry *= factor / strength);
        }
        let mut influences = inner * self.basis.transpose();
        if !self.is_complete {
            let explained = (&left * &self.flat) * self.flat.transpose();
            let beside = left - explained;
            for j in 0..rows {
                let column = influences.col_as_slice_mut(j);
                column
                    .iter_mut()
                    .zip(beside.col_as_slice(j))
                    .for_each(|(sum, entry)| *sum += entry / strength);
            }
        }
        influences += of_columns * &self.plain;
        let values = &influences * &self.targets;
        for (j, root) in self.roots.iter().enumerate() {
            influences.col_as_slice_mut(j).iter_mut().for_each(|entry| *entry *= root);
        }
        let mut out = DualEstimate {
            values: Vec::with_capacity(count * outputs),
            influences: Vec::with_capacity(count * rows),
        };
        for i in 0..count {
            out.values.extend((0..outputs).map(|output| values[(i, output)]));
            out.influences.extend((0..rows).map(|row| influences[(i, row)]));
        }
        out
    }

    fn predict(&self, functionals: &Functionals<'_>, strength: f64) -> Vec<f64> {
        let (rows, outputs, count) = (self.rows(), self.outputs(), functionals.count);
        // Compute `duals`, which is W^½ P W^½ y, m × k.
        let mut inner = self.basis.transpose() * &self.targets;
        for (j, factor) in self.factors(strength).into_iter().enumerate() {
            (0..outputs).for_each(|output| inner[(j, output)] *= factor / strength);
        }
        let mut duals = &self.basis * &inner;
        if !self.is_complete {
            let beside = &self.targets - &self.flat * (self.flat.transpose() * &self.targets);
            for output in 0..outputs {
                let column = duals.col_as_slice_mut(output);
                column
                    .iter_mut()
                    .zip(beside.col_as_slice(output))
                    .for_each(|(sum, entry)| *sum += entry / strength);
            }
        }
        for output in 0..outputs {
            scale(duals.col_as_slice_mut(output), &self.roots);
        }
        let of_columns = MatRef::from_row_major_slice(functionals.of_columns, count, self.plain.nrows());
        let mut values = of_columns * (&self.plain * &self.targets - &self.plain_of_prior * &duals);
        if !functionals.covariances.is_empty() {
            values += MatRef::from_row_major_slice(functionals.covariances, count, rows) * &duals;
        }
        (0..count * outputs).map(|at| values[(at / outputs, at % outputs)]).collect()
    }
}

/// Returns Q₁ and `R⁻¹ Q₁ᵀ`, computed from the weighted columns.
fn flat(weighted: &Mat<f64>) -> (Mat<f64>, Mat<f64>) {
    let rows = weighted.nrows();
    if weighted.ncols() == 0 {
        return (Mat::zeros(rows, 0), Mat::zeros(0, rows));
    }
    let qr = Qr::new(weighted.as_ref());
    let flat = qr.compute_thin_Q();
    let mut plain = flat.transpose().to_owned();
    solve_upper_triangular_in_place(qr.thin_R(), plain.as_mut(), Par::Seq);
    (flat, plain)
}

fn weighted(columns: &[f64], count: usize, roots: &[f64]) -> Mat<f64> {
    Mat::from_fn(roots.len(), count, |i, j| roots[i] * columns[i * count + j])
}

struct Decomposed {
    basis: Mat<f64>,
    eigenvalues: Vec<f64>,
    /// The matrix `R⁻¹ Q₁ᵀ W^½ K W^½`.
    plain_of_prior: Mat<f64>,
    is_complete: bool,
}

/// Decomposes `gram`, which is `W^½ K W^½`, on the orthogonal complement of the weighted columns.
fn of_gram(gram: &Mat<f64>, weighted: &Mat<f64>, plain: &Mat<f64>) -> Result<Decomposed, SolverError> {
    let (rows, count) = (weighted.nrows(), weighted.ncols());
    let plain_of_prior = plain * gram;
    let (mut eigenvalues, basis) = if count == 0 {
        eigen(gram)?
    } else {
        let whole = Qr::new(weighted.as_ref()).compute_Q();
        let free = whole.subcols(count, rows - count);
        let (values, vectors) = eigen(&(free.transpose() * (gram * free)))?;
        (values, free * vectors)
    };
    eigenvalues.iter_mut().for_each(|value| *value = value.max(0.0));
    Ok(Decomposed { basis, eigenvalues, plain_of_prior, is_complete: true })
}

/// Computes the same as [`of_gram`], from the factors `W^½ F` of the matrix.
fn of_factors(mut factors: Mat<f64>, flat: &Mat<f64>, plain: &Mat<f64>) -> Result<Decomposed, SolverError> {
    let plain_of_prior = (plain * &factors) * factors.transpose();
    let explained = flat * (flat.transpose() * &factors);
    factors -= explained;
    let count = factors.ncols();
    let mut gram = Mat::zeros(count, count);
    triangular::matmul(
        &mut gram,
        triangular::BlockStructure::TriangularLower,
        Accum::Replace,
        factors.transpose(),
        triangular::BlockStructure::Rectangular,
        &factors,
        triangular::BlockStructure::Rectangular,
        1.0,
        Par::Seq,
    );
    let (values, mut vectors) = eigen(&gram)?;
    // Drop eigenvalues that are only rounding errors of the largest one.
    let least = values.last().copied().unwrap_or(0.0) * count.max(100) as f64 * f64::EPSILON * 4.0;
    let first = values.partition_point(|value| *value <= least);
    let eigenvalues = values[first..].to_vec();
    for (column, value) in (first..count).zip(&eigenvalues) {
        let root = value.sqrt();
        vectors.col_as_slice_mut(column).iter_mut().for_each(|entry| *entry /= root);
    }
    let basis = factors * vectors.subcols(first, count - first);
    Ok(Decomposed { basis, eigenvalues, plain_of_prior, is_complete: false })
}

fn scale(column: &mut [f64], factors: &[f64]) {
    column.iter_mut().zip(factors).for_each(|(entry, factor)| *entry *= factor);
}

/// Adds `L Rᵀ` to `gram`, which is row-major. L and R are stored column by column and have the same number of
/// columns, whose lengths are `rows.0` and `rows.1`.
///
/// # Panics
///
/// If the lengths do not match.
pub fn add_cross_products(left: &[f64], right: &[f64], rows: (usize, usize), gram: &mut [f64]) {
    assert_eq!(gram.len(), rows.0 * rows.1, "expected a matrix of {} × {} numbers", rows.0, rows.1);
    if gram.is_empty() || left.is_empty() {
        return;
    }
    let columns = left.len() / rows.0;
    let add = move |left: &[f64], right: &[f64], gram: &mut [f64]| {
        matmul(
            MatMut::from_row_major_slice_mut(gram, rows.0, rows.1),
            Accum::Add,
            MatRef::from_column_major_slice(left, rows.0, columns),
            MatRef::from_column_major_slice(right, rows.1, columns).transpose(),
            1.0,
            Par::Seq,
        );
    };
    let operations = 2.0 * gram.len() as f64 * columns as f64;
    if operations <= FEW_OPERATIONS {
        return add(left, right, gram);
    }
    let (left, right, mut sums) = (left.to_vec(), right.to_vec(), gram.to_vec());
    let sums = uninterrupted(operations, move || {
        add(&left, &right, &mut sums);
        sums
    });
    gram.copy_from_slice(&sums);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns `count` pseudo-random numbers in [−1, 1), which are determined by `seed`.
    fn numbers(count: usize, seed: u64) -> Vec<f64> {
        let mut state = seed;
        (0..count)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                ((state >> 11) as f64 / (1u64 << 53) as f64) * 2.0 - 1.0
            })
            .collect()
    }

    fn product(left: &[f64], right: &[f64], (rows, inner, columns): (usize, usize, usize)) -> Vec<f64> {
        let entry =
            |i: usize, j: usize| (0..inner).map(|l| left[i * inner + l] * right[l * columns + j]).sum();
        (0..rows * columns).map(|at| entry(at / columns, at % columns)).collect()
    }

    fn transposed(matrix: &[f64], rows: usize, columns: usize) -> Vec<f64> {
        (0..rows * columns).map(|at| matrix[(at % rows) * columns + at / rows]).collect()
    }

    /// Solves a small linear system by elimination.
    fn solved(matrix: &[f64], right: &[f64]) -> Vec<f64> {
        let n = right.len();
        let (mut matrix, mut right) = (matrix.to_vec(), right.to_vec());
        for pivot in 0..n {
            let best = (pivot..n)
                .max_by(|&a, &b| matrix[a * n + pivot].abs().total_cmp(&matrix[b * n + pivot].abs()))
                .unwrap();
            for column in 0..n {
                matrix.swap(pivot * n + column, best * n + column);
            }
            right.swap(pivot, best);
            for row in pivot + 1..n {
                let factor = matrix[row * n + pivot] / matrix[pivot * n + pivot];
                for column in pivot..n {
                    matrix[row * n + column] -= factor * matrix[pivot * n + column];
                }
                right[row] -= factor * right[pivot];
            }
        }
        for pivot in (0..n).rev() {
            let known: f64 = (pivot + 1..n).map(|column| matrix[pivot * n + column] * right[column]).sum();
            right[pivot] = (right[pivot] - known) / matrix[pivot * n + pivot];
        }
        right
    }

    struct Case {
        rows: usize,
        columns: Vec<f64>,
        factors: Vec<f64>,
        weights: Vec<f64>,
        targets: Vec<f64>,
    }

    impl Case {
        fn new(rows: usize, columns: usize, factors: usize) -> Self {
            Self {
                rows,
                columns: numbers(rows * columns, 1),
                factors: numbers(rows * factors, 2),
                weights: numbers(rows, 3).iter().map(|number| 1.1 + number).collect(),
                targets: numbers(rows, 4),
            }
        }

        fn gram(&self) -> Vec<f64> {
            let mut gram = vec![0.0; self.rows * self.rows];
            add_cross_products(&self.factors, &self.factors, (self.rows, self.rows), &mut gram);
            gram
        }

        fn ridge(&self, is_gram: bool) -> DualRidge {
            let gram = self.gram();
            let prior = match is_gram {
                true => PriorCovariance::Gram(&gram),
                false => PriorCovariance::Factors(&self.factors),
            };
            DualRidge::new(&self.columns, prior, &self.weights, &self.targets, 1).unwrap()
        }

        /// Returns the prediction for target `at` from the bordered system of universal kriging, with row
        /// `without` omitted if given.
        fn predicted(&self, strength: f64, at: usize, without: Option<usize>) -> f64 {
            let gram = self.gram();
            let p = self.columns.len() / self.rows;
            let kept: Vec<usize> = (0..self.rows).filter(|row| Some(*row) != without).collect();
            let (m, size) = (kept.len(), kept.len() + p);
            let mut matrix = vec![0.0; size * size];
            let mut right = vec![0.0; size];
            for (i, &row) in kept.iter().enumerate() {
                for (j, &other) in kept.iter().enumerate() {
                    matrix[i * size + j] = gram[row * self.rows + other];
                }
                matrix[i * size + i] += strength / self.weights[row];
                for l in 0..p {
                    matrix[i * size + m + l] = self.columns[row * p + l];
                    matrix[(m + l) * size + i] = self.columns[row * p + l];
                }
                right[i] = self.targets[row];
            }
            let solution = solved(&matrix, &right);
            let of_prior: f64 =
                kept.iter().zip(&solution).map(|(&row, factor)| gram[at * self.rows + row] * factor).sum();
            let of_columns: f64 = (0..p).map(|l| self.columns[at * p + l] * solution[m + l]).sum();
            of_prior + of_columns
        }
    }

    const CASES: [(usize, usize, usize); 6] =
        [(1, 0, 1), (9, 3, 4), (9, 3, 0), (12, 0, 30), (14, 5, 40), (30, 4, 6)];

    #[test]
    fn what_is_left_of_a_row_is_what_the_others_do_not_predict() {
        for (rows, columns, factors) in CASES.into_iter().skip(1) {
            let case = Case::new(rows, columns, factors);
            for is_gram in [true, false] {
                let ridge = case.ridge(is_gram);
                for strength in [1e-3, 0.5, 40.0] {
                    let left = ridge.left_out(strength);
                    for (row, left) in left.into_iter().enumerate() {
                        let want = case.targets[row] - case.predicted(strength, row, Some(row));
                        let got = left / case.weights[row].sqrt();
                        assert!(
                            (got - want).abs() < 1e-8,
                            "{rows} {columns} {factors} {is_gram}: {got} {want}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn estimates_solve_the_bordered_system_and_are_linear_in_the_targets() {
        for (rows, columns, factors) in CASES {
            let case = Case::new(rows, columns, factors);
            let gram = case.gram();
            let functionals = Functionals { count: rows, of_columns: &case.columns, covariances: &gram };
            for is_gram in [true, false] {
                for strength in [1e-3, 0.5, 40.0] {
                    let got = case.ridge(is_gram).estimate(&functionals, strength);
                    for row in 0..rows {
                        let want = case.predicted(strength, row, None);
                        assert!((got.values[row] - want).abs() < 1e-8, "{rows} {is_gram} {strength}");
                    }
                    let linear = product(&got.influences, &case.targets, (rows, rows, 1));
                    let predicted = case.ridge(is_gram).predict(&functionals, strength);
                    assert_eq!(predicted.len(), got.values.len());
                    for ((linear, predicted), value) in linear.iter().zip(&predicted).zip(&got.values) {
                        assert!((linear - value).abs() < 1e-9);
                        assert!((predicted - value).abs() < 1e-9);
                    }
                }
            }
        }
    }

    #[test]
    fn without_a_prior_it_is_weighted_least_squares() {
        let case = Case::new(15, 3, 0);
        let (m, p) = (15, 3);
        let gram = vec![0.0; m * m];
        let ridge =
            DualRidge::new(&case.columns, PriorCovariance::Gram(&gram), &case.weights, &case.targets, 1)
                .unwrap();
        let identity: Vec<f64> = (0..p * p).map(|at| f64::from(u8::from(at / p == at % p))).collect();
        let covariances = vec![0.0; p * m];
        let functionals = Functionals { count: p, of_columns: &identity, covariances: &covariances };
        let got = ridge.estimate(&functionals, 1.0);
        let predicted = ridge.predict(&Functionals { covariances: &[], ..functionals }, 1.0);
        assert!(predicted.iter().zip(&got.values).all(|(left, right)| (left - right).abs() < 1e-12));
        let weighted: Vec<f64> =
            case.columns.iter().enumerate().map(|(at, entry)| entry * case.weights[at / p]).collect();
        let normal = product(&transposed(&weighted, m, p), &case.columns, (p, m, p));
        let right = product(&transposed(&weighted, m, p), &case.targets, (p, m, 1));
        for (got, want) in got.values.iter().zip(solved(&normal, &right)) {
            assert!((got - want).abs() < 1e-10);
        }
        assert_eq!(ridge.degrees_of_freedom(1.0), 12.0);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let case = Case::new(4, 2, 3);
        let gram = case.gram();
        let new = |columns: &[f64], prior, weights: &[f64], targets: &[f64], outputs| {
            DualRidge::new(columns, prior, weights, targets, outputs).unwrap_err()
        };
        let gram = PriorCovariance::Gram(&gram);
        let full = new(&[0.0; 16], gram, &case.weights, &case.targets, 1);
        assert!(matches!(full, SolverError::FewRows { .. }), "{full}");
        assert_eq!(new(&case.columns, gram, &case.weights, &case.targets, 0), SolverError::NoOutputs);
        let few = new(&case.columns, PriorCovariance::Factors(&[1.0; 5]), &case.weights, &case.targets, 1);
        assert!(matches!(few, SolverError::TargetCount { actual: 5, .. }));
        let weights = [1.0, 0.0, 1.0, 1.0];
        assert_eq!(
            new(&case.columns, gram, &weights, &case.targets, 1),
            SolverError::Weight { index: 1, value: 0.0 }
        );
    }

    #[test]
    fn outputs_side_by_side_are_what_they_are_alone() {
        for (rows, columns, factors) in [(9, 3, 4), (12, 0, 30), (14, 5, 40)] {
            let case = Case::new(rows, columns, factors);
            let gram = case.gram();
            let other = numbers(rows, 9);
            let both: Vec<f64> =
                case.targets.iter().zip(&other).flat_map(|(one, other)| [*one, *other]).collect();
            let functionals = Functionals { count: rows, of_columns: &case.columns, covariances: &gram };
            for prior in [PriorCovariance::Gram(&gram), PriorCovariance::Factors(&case.factors)] {
                let new = |targets: &[f64], outputs| {
                    DualRidge::new(&case.columns, prior, &case.weights, targets, outputs).unwrap()
                };
                let together = new(&both, 2);
                assert_eq!((together.rows(), together.outputs()), (rows, 2));
                let estimate = together.estimate(&functionals, 0.5);
                let (predicted, left) = (together.predict(&functionals, 0.5), together.left_out(0.5));
                for (output, targets) in [&case.targets, &other].into_iter().enumerate() {
                    let alone = new(targets, 1);
                    assert_eq!(alone.outputs(), 1);
                    let expected = alone.estimate(&functionals, 0.5);
                    assert_eq!(expected.influences.len(), rows * rows);
                    let of_output = |numbers: &[f64]| -> Vec<f64> {
                        numbers.iter().skip(output).step_by(2).copied().collect()
                    };
                    for (got, expected) in [
                        (of_output(&estimate.values), &expected.values),
                        (of_output(&predicted), &expected.values),
                        (of_output(&left), &alone.left_out(0.5)),
                        (estimate.influences.clone(), &expected.influences),
                    ] {
                        assert_eq!(got.len(), expected.len());
                        for (got, expected) in got.iter().zip(expected) {
                            assert!((got - expected).abs() < 1e-10, "output {output}: {got} {expected}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn degrees_of_freedom_are_the_rows_less_what_each_has_of_its_own_estimate() {
        for (rows, columns, factors) in CASES {
            let case = Case::new(rows, columns, factors);
            let gram = case.gram();
            let functionals = Functionals { count: rows, of_columns: &case.columns, covariances: &gram };
            for is_gram in [true, false] {
                let ridge = case.ridge(is_gram);
                for strength in [1e-2, 0.5, 40.0] {
                    let influences = ridge.estimate(&functionals, strength).influences;
                    let own: f64 = (0..rows).map(|row| influences[row * rows + row]).sum();
                    let got = ridge.degrees_of_freedom(strength);
                    assert!((got - (rows as f64 - own)).abs() < 1e-8, "{rows} {columns} {factors}: {got}");
                }
                // If the strength λ is large, the prior explains Σ e / λ of the degrees of freedom.
                let free = (rows - columns) as f64;
                let explained = free - ridge.degrees_of_freedom(1e6);
                let expected = 1e6 * explained / free;
                let got = ridge.mean_eigenvalue();
                assert!(
                    (got - expected).abs() < 1e-3 * expected.max(1e-3),
                    "{rows} {is_gram}: {got} {expected}"
                );
            }
        }
    }

    #[test]
    fn a_row_that_alone_tells_a_column_cannot_be_left_out() {
        let mut case = Case::new(9, 2, 4);
        // Make the second column nonzero in row 3 only.
        (0..9).for_each(|row| case.columns[2 * row + 1] = if row == 3 { 1.0 } else { 0.0 });
        for is_gram in [true, false] {
            let left = case.ridge(is_gram).left_out(0.5);
            for (row, left) in left.iter().enumerate() {
                assert_eq!(left.is_nan(), row == 3, "row {row}: {left}");
            }
        }
    }

    #[test]
    fn lengths_and_weights_that_do_not_fit_are_told_from_those_that_do() {
        let case = Case::new(4, 2, 3);
        let gram = case.gram();
        let new = |prior, weights: &[f64], targets: &[f64], outputs| {
            DualRidge::new(&case.columns, prior, weights, targets, outputs).map(|ridge| ridge.outputs())
        };
        let all = PriorCovariance::Gram(&gram);
        assert_eq!(new(all, &case.weights, &[0.0; 8], 2), Ok(2));
        let refused = new(all, &case.weights, &[0.0; 6], 2);
        assert_eq!(refused, Err(SolverError::TargetCount { actual: 6, rows: 4, outputs: 2 }));
        for prior in [PriorCovariance::Gram(&gram[..12]), PriorCovariance::Factors(&gram[..6])] {
            let refused = new(prior, &case.weights, &case.targets, 1);
            assert!(matches!(refused, Err(SolverError::TargetCount { rows: 4, outputs: 4, .. })));
        }
        for bad in [f64::NAN, f64::INFINITY, -1.0] {
            let refused = new(all, &[1.0, 1.0, bad, 1.0], &case.targets, 1);
            assert!(matches!(refused, Err(SolverError::Weight { index: 2, .. })), "{bad}");
        }
        // As many columns as rows leave no degrees of freedom.
        let full = DualRidge::new(&[1.0; 16], all, &case.weights, &case.targets, 1);
        assert!(matches!(full, Err(SolverError::FewRows { .. })));
        let nearly = DualRidge::new(&numbers(12, 5), all, &case.weights, &case.targets, 1);
        assert_eq!(nearly.unwrap().degrees_of_freedom(1e12).round(), 1.0);
    }

    #[test]
    fn cross_products_are_added_to_what_is_there() {
        // The matrices have 2 × 2 and 3 × 2 entries, stored column by column.
        let mut gram = [100.0; 6];
        add_cross_products(&[1.0, 2.0, 3.0, 4.0], &[1.0, 0.0, -1.0, 2.0, 5.0, 0.0], (2, 3), &mut gram);
        assert_eq!(gram, [107.0, 115.0, 99.0, 110.0, 120.0, 98.0]);
        add_cross_products(&[], &[], (2, 3), &mut gram);
        assert_eq!(gram, [107.0, 115.0, 99.0, 110.0, 120.0, 98.0]);
        add_cross_products(&[], &[], (0, 3), &mut []);
        let short =
            std::panic::catch_unwind(|| add_cross_products(&[1.0; 2], &[1.0; 3], (2, 3), &mut [0.0; 5]));
        assert!(short.is_err());
    }
}
