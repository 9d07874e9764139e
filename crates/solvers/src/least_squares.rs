//! Weighted least squares, optionally with an intercept or with a constraint on the sum of the coefficients.
//!
//! # Method
//!
//! The rows are converted to the form of [`crate::rows`]. Their Gram matrix is computed from bits
//! ([`crate::gram`]), and factored once ([`crate::factor`]) for all outputs. Under the constraint, the Gram
//! matrix of the projected rows is `P G₀ P`, where `G₀` is the Gram matrix of the bits. For rows `z − ρ` with
//! an origin ρ, it results from `G₀` by a change of rank two.
//!
//! One step of iterative refinement, with residuals computed from the rows themselves, removes most of the
//! error caused by forming normal equations.

use std::sync::OnceLock;

use crate::design::Design;
use crate::error::SolverError;
use crate::factor::Factorization;
use crate::gram::Kernel;
use crate::rows::{Rows, Targets, units};
use crate::system::{Inverse, System};

/// The constraint on the coefficients, if any.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Constraint<'a> {
    /// The coefficients are not constrained.
    None,
    /// The coefficients for each output j have the sum `Σ_i φ_i = c_j`. The slice contains one number per
    /// output.
    Sum(&'a [f64]),
}

/// Options that affect how the solution is computed, but not the solution itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// The kernel that computes the Gram matrix. Default: [`Kernel::Auto`].
    pub kernel: Kernel,
}

/// The weighted least-squares solution and its diagnostics. If the solution is not unique, it is the one of
/// minimum norm.
///
/// # Units
///
/// Coefficients, residuals and the standard errors of the certificate are in the units of the targets. Hat
/// values, rank and condition number are dimensionless. Each output is computed in its own unit, a power of
/// two: targets from 10⁻³⁰⁰ to 10³⁰⁰ yield the same numbers except for their exponents.
///
/// The *rows of the regression* are usually the rows of the design. But if both members of a pair have the
/// same weight, and there is a constraint, an intercept or the centre ½, each pair is one row (with weight `2
/// w_k`, see [`residuals`](Self::residuals)).
#[derive(Debug, Clone)]
pub struct LeastSquares {
    pub(crate) outputs: usize,
    coefficients: Vec<f64>,
    intercepts: Option<Vec<f64>>,
    kernel: Kernel,
    pub(crate) inverse: Inverse,
    pub(crate) rows: Rows,
    /// The origin ρ that is subtracted from the rows.
    pub(crate) origin: Vec<f64>,
    /// The total weight of all rows.
    pub(crate) total: f64,
    /// The unit of each output, a power of two.
    pub(crate) units: Vec<f64>,
    /// The residuals of the rows as stored, divided by the units of the outputs, one output after another.
    pub(crate) errors: Vec<Vec<f64>>,
    sums_of_squares: Vec<f64>,
    pub(crate) hat_values: OnceLock<Vec<f64>>,
}

/// Computes the weighted least-squares solution with the default [`Options`]; see [`least_squares_with`].
///
/// # Errors
///
/// Same as [`least_squares_with`].
pub fn least_squares(
    design: &Design<'_>,
    targets: &[f64],
    outputs: usize,
    constraint: Constraint<'_>,
) -> Result<LeastSquares, SolverError> {
    least_squares_with(design, targets, outputs, constraint, &Options::default())
}

/// Minimizes `Σ_k w_k (z_kᵀ φ − y_k)²` for each of `outputs` columns of `targets` (m × k, row-major), subject
/// to the constraint if there is one.
///
/// Under the constraint `Σ_i φ_i = c`, this is the projected problem of Leverage SHAP (Musco and Witter 2025,
/// Lemma 3.1 and Algorithm 1):
///
/// ```text
/// a_k = z_k − (s_k/n) 1        b_k = y_k − (s_k/n) c
/// φ = argmin_x Σ_k w_k (a_kᵀ x − b_k)²  (of minimum norm)  +  (c/n) 1
/// ```
///
/// Without the constraint, with the centre p of the design, and with an intercept β if the design has one,
/// the problem is:
///
/// ```text
/// φ, β = argmin Σ_k w_k (β + (z_k − p 1)ᵀ x − y_k)²
/// ```
///
/// With p = ½, this is Kernel Banzhaf (Liu et al. 2024, Algorithm 1). If there is an intercept, p only
/// affects β, and β absorbs a common offset of the targets. For complementary pairs of equal weight, β is
/// orthogonal to the columns centred at ½, so the coefficients are the same with and without it.
///
/// If the rows do not determine φ (fewer rows than players, or players that are always present together), the
/// result is the solution of minimum norm, with a smaller [`rank`](LeastSquares::rank). Under the constraint,
/// the design may be empty; every coefficient is then `c/n`.
///
/// # Accuracy
///
/// The refinement step reduces the error caused by the normal equations to about the error inherent in the
/// data. If a solution fits exactly, the tests require coefficients to agree with it to 1e-14 of the largest
/// coefficient, for weights that span eight decades. For n ≤ 12, the tests also enumerate all coalitions,
/// with Shapley weights, or with rows centred at ½ and equal weights. They require the coefficients to agree
/// with the definition to 1e-12, even if all targets have a common offset of 10⁹ times their differences. For
/// condition numbers above 10¹⁰, see [`Factorization::Eigen`].
///
/// # Cost
///
/// Runs on one thread; the result does not depend on the number of threads. For m' rows in g groups of equal
/// weight, it takes `O(n² (g + m'/64) + n³/3 + m' n)` time with the popcount kernel and `O(m' n² + n³/3)`
/// time with panels. It takes `O(n² + m' n / 64)` memory: there is never a dense m × n matrix.
///
/// # Thousands of players
///
/// For more than 2000 players, there is no n × n matrix either ([`Kernel::MatrixFree`]). Conjugate gradients
/// run on the rows until `‖Aᵀ W e‖ ≤ 10⁻¹⁴ ‖Aᵀ W b‖`, or until rounding prevents progress. All outputs are
/// processed in the same passes. In the tests (n up to 300), coefficients agree with those computed from the
/// factored matrix to 10⁻⁹ of the largest coefficient, and have minimum norm if they are not determined. For
/// rows that are drawn by their leverage scores, this takes `2 ln(10¹⁴) / ln(m'/n)` steps of `O(m' n / 8)`
/// additions, and memory of the size of the rows. The iteration may fail to converge in 3 times 500 steps if
/// the numbers of rows and unknowns differ by less than a tenth, or if rows strongly favour some players. In
/// that case, or if the rank is not known, the matrix is factored after all for up to 5000 players. For more
/// players, the result is the last iterate, and the [rank](LeastSquares::rank) is `None`. Pairs whose members
/// are separate rows are always factored.
///
/// # Errors
///
/// [`SolverError`] if the number of targets is not m × k; if a target or a sum is not finite; if the design
/// has neither rows nor a constraint; if a constraint is combined with a centre or an intercept; if the
/// solution overflows; or if an eigen-decomposition does not converge.
pub fn least_squares_with(
    design: &Design<'_>,
    targets: &[f64],
    outputs: usize,
    constraint: Constraint<'_>,
    options: &Options,
) -> Result<LeastSquares, SolverError> {
    check(design, targets, outputs, constraint)?;
    let sums = match constraint {
        Constraint::None => None,
        Constraint::Sum(sums) => Some(sums),
    };
    let mut system = System::new(design, sums.is_some(), options.kernel, 0.0)?;
    let n = system.rows.bits.players;

    let units = units(targets, outputs, sums);
    let mut remaining: Vec<Targets> = units
        .iter()
        .enumerate()
        .map(|(output, unit)| {
            let sum = sums.map_or(0.0, |sums| sums[output] / unit);
            system.rows.targets(|row| targets[row * outputs + output] / unit, sum)
        })
        .collect();
    let solution = system.solve(&mut remaining);

    let mut coefficients = vec![0.0; n * outputs];
    for (output, (solution, unit)) in solution.chunks_exact(n).zip(&units).enumerate() {
        let share = sums.map_or(0.0, |sums| sums[output] / unit / n as f64);
        for (player, value) in solution.iter().enumerate() {
            coefficients[player * outputs + output] = (value + share) * unit;
        }
    }
    if let Some(index) = coefficients.iter().position(|value| !value.is_finite()) {
        return Err(SolverError::Overflow { output: index % outputs });
    }
    let intercepts = system.rows.intercept_at.map(|_| {
        let of_outputs = remaining.iter().zip(solution.chunks_exact(n)).zip(&units);
        of_outputs
            .filter_map(|((targets, solution), unit)| Some(system.intercept(solution, targets)? * unit))
            .collect::<Vec<f64>>()
    });
    if let Some(output) = intercepts.iter().flatten().position(|intercept| !intercept.is_finite()) {
        return Err(SolverError::Overflow { output });
    }
    let (errors, sums_of_squares) = remaining
        .into_iter()
        .zip(&units)
        .map(|(Targets { values: mut errors, offset, rest }, unit)| {
            if system.drift.is_some() {
                errors
                    .iter_mut()
                    .enumerate()
                    .for_each(|(row, error)| *error += system.rows.sign(row) * offset);
            }
            let sum = (weighted_squares(&system.rows.weights, &errors) + rest) / system.rows.scale;
            (errors, sum * unit * unit)
        })
        .unzip();
    let System { rows, origin, total, kernel, inverse, .. } = system;
    Ok(LeastSquares {
        outputs,
        coefficients,
        intercepts,
        kernel,
        inverse,
        rows,
        origin,
        total,
        units,
        errors,
        sums_of_squares,
        hat_values: OnceLock::new(),
    })
}

pub(crate) fn check(
    design: &Design<'_>,
    targets: &[f64],
    outputs: usize,
    constraint: Constraint<'_>,
) -> Result<(), SolverError> {
    let rows = design.coalitions.len();
    if outputs == 0 {
        return Err(SolverError::NoOutputs);
    }
    if Some(targets.len()) != rows.checked_mul(outputs) {
        return Err(SolverError::TargetCount { actual: targets.len(), rows, outputs });
    }
    match constraint {
        Constraint::None if rows == 0 => return Err(SolverError::NoRows),
        Constraint::None => {}
        Constraint::Sum(_) if design.intercept || design.centre != 0.0 => {
            return Err(SolverError::ConstrainedColumns);
        }
        Constraint::Sum(sums) => {
            if sums.len() != outputs {
                return Err(SolverError::SumCount { actual: sums.len(), outputs });
            }
            if let Some(output) = sums.iter().position(|sum| !sum.is_finite()) {
                return Err(SolverError::Sum { output, value: sums[output] });
            }
        }
    }
    match targets.iter().position(|target| !target.is_finite()) {
        Some(index) => {
            Err(SolverError::Target { row: index / outputs, output: index % outputs, value: targets[index] })
        }
        None => Ok(()),
    }
}

/// Returns `Σ_k w_k e_k²`, summed in blocks.
pub(crate) fn weighted_squares(weights: &[f64], errors: &[f64]) -> f64 {
    const BLOCK: usize = 512;
    let block = |(weights, errors): (&[f64], &[f64])| -> f64 {
        weights.iter().zip(errors).map(|(weight, error)| weight * error * error).sum()
    };
    weights.chunks(BLOCK).zip(errors.chunks(BLOCK)).map(block).sum()
}

impl LeastSquares {
    /// Returns the coefficients φ: n × k, row-major.
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    /// Returns the intercepts β, one for each output: the fitted values at `z = p 1`, where p is the
    /// [centre](Design::centred_at) of the columns. Returns `None` for a design [without
    /// intercept](Design::with_intercept).
    pub fn intercepts(&self) -> Option<&[f64]> {
        self.intercepts.as_deref()
    }

    /// Returns the number of outputs k.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Returns the rank of the rows, without the intercept. Full rank is n, or n − 1 under the constraint.
    /// For a lower rank, the coefficients have minimum norm; under the constraint, they are as close as
    /// possible to equal shares.
    ///
    /// Returns `None` if the rank is not known. [Without the matrix](Kernel::MatrixFree), it is determined by
    /// a probe. The probe does not converge if the rank is below both the number of rows and the number of
    /// unknowns, or if there are about as many rows as unknowns. In that case, the coefficients may not have
    /// converged either.
    pub fn rank(&self) -> Option<usize> {
        self.inverse.rank()
    }

    /// Returns the condition number of the Gram matrix `Σ_k w_k a_k a_kᵀ` on its range: the ratio of its
    /// largest to its smallest nonzero eigenvalue, or 1 if the rank is 0. Under the constraint, the matrix is
    /// `P G P` on the vectors that sum to zero. If there is an intercept, the matrix is centred at the
    /// weighted mean of the rows.
    ///
    /// With [`Factorization::Eigen`], the condition number is computed from the eigenvalues. With Cholesky,
    /// it is estimated from below by Lanczos's method at both ends of the spectrum, until further steps
    /// change it by very little. The estimate is within 1% in the tests for sampled designs of up to 300
    /// players, and exact up to rounding for n ≤ 10. [Without the matrix](Kernel::MatrixFree), it is also
    /// estimated from below, from the steps of a probe. This estimate is within 10% in the tests for sampled
    /// designs of three rows per player or more. If the rank is not known, it is only a loose lower bound.
    pub fn condition_number(&self) -> f64 {
        self.inverse.condition()
    }

    /// Returns how the Gram matrix was factored.
    pub fn factorization(&self) -> Factorization {
        self.inverse.factorization()
    }

    /// Returns the kernel that was used; never [`Kernel::Auto`].
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// Returns `Σ w (β + aᵀφ − y)²` over all rows of the design, including both members of pairs: one number
    /// for each output. If the squares of the targets overflow or underflow, the sum is infinite or zero;
    /// other results are not affected.
    pub fn residual_sum_of_squares(&self) -> &[f64] {
        &self.sums_of_squares
    }

    /// Returns the number of rows of the regression: the rows of the design, or its pairs if each pair acts
    /// as one row.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Returns the residuals `e_k = y_k − β − a_kᵀφ` of the rows of the regression: rows × k, row-major.
    ///
    /// If a pair acts as one row, its residual is half the difference between the residuals of its first and
    /// second member, `e_k = (e_z − e_z̄)/2`.
    pub fn residuals(&self) -> Vec<f64> {
        let mut residuals = vec![0.0; self.rows() * self.outputs];
        for (output, errors) in self.errors.iter().enumerate() {
            for (row, error) in errors.iter().enumerate() {
                residuals[row * self.outputs + output] = self.rows.sign(row) * error * self.units[output];
            }
        }
        residuals
    }
}
