//! Weighted least squares, with or without a constraint on the sum of the coefficients, with or without an
//! intercept.
//!
//! # How
//!
//! The rows are brought into the form of [`crate::rows`]; their Gram matrix comes from bits ([`crate::gram`])
//! and is factored once ([`crate::factor`]) for all outputs. Under the constraint the Gram matrix of bits
//! `G₀` becomes that of the projected rows as `P G₀ P`; about an origin ρ that of `z − ρ` by a change of rank
//! two.
//!
//! One step of iterative refinement, with residuals computed from the rows themselves, takes out most of what
//! forming normal equations costs.

use std::sync::OnceLock;

use crate::design::Design;
use crate::error::SolverError;
use crate::factor::Factorization;
use crate::gram::Kernel;
use crate::rows::{Rows, Targets, units};
use crate::system::{Inverse, System};

/// What the coefficients must satisfy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Constraint<'a> {
    /// Nothing.
    None,
    /// `Σ_i φ_i = c_j` for each output j: k numbers.
    Sum(&'a [f64]),
}

/// Choices that do not change what is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// How the Gram matrix is computed. Default: [`Kernel::Auto`].
    pub kernel: Kernel,
}

/// The weighted least-squares solution, of minimum norm where it is not unique, with its diagnostics.
///
/// # Units
///
/// Coefficients, residuals and the square root of the certificate are in units of the targets; hat values,
/// rank and condition number are dimensionless. Each output is computed in a unit of its own, a power of two:
/// targets from 10⁻³⁰⁰ to 10³⁰⁰ give the same numbers but for their exponents.
///
/// *Rows of the regression* are the rows of the design; but where both rows of a pair share their weight, and
/// there is the constraint, or an intercept, or the centre ½, each pair is one row (of weight `2 w_k`, see
/// [`residuals`](Self::residuals)).
#[derive(Debug, Clone)]
pub struct LeastSquares {
    pub(crate) outputs: usize,
    coefficients: Vec<f64>,
    intercepts: Option<Vec<f64>>,
    kernel: Kernel,
    pub(crate) inverse: Inverse,
    pub(crate) rows: Rows,
    /// The origin ρ of the rows.
    pub(crate) origin: Vec<f64>,
    /// The weight of all rows.
    pub(crate) total: f64,
    /// Units of the outputs.
    pub(crate) units: Vec<f64>,
    /// Residuals of the rows as they are stored, one output after the other, each in its unit.
    pub(crate) errors: Vec<Vec<f64>>,
    sums_of_squares: Vec<f64>,
    pub(crate) hat_values: OnceLock<Vec<f64>>,
}

/// Solves with the default [`Options`]; see [`least_squares_with`].
///
/// # Errors
///
/// As [`least_squares_with`].
pub fn least_squares(
    design: &Design<'_>,
    targets: &[f64],
    outputs: usize,
    constraint: Constraint<'_>,
) -> Result<LeastSquares, SolverError> {
    least_squares_with(design, targets, outputs, constraint, &Options::default())
}

/// Minimizes `Σ_k w_k (z_kᵀ φ − y_k)²` for each of `outputs` columns of `targets` (m × k, row-major), under
/// the constraint if there is one.
///
/// Under `Σ_i φ_i = c` this is the projected problem of Leverage SHAP (Musco and Witter 2025, Lemma 3.1 and
/// Algorithm 1):
///
/// ```text
/// a_k = z_k − (s_k/n) 1        b_k = y_k − (s_k/n) c
/// φ = argmin_x Σ_k w_k (a_kᵀ x − b_k)²  (of minimum norm)  +  (c/n) 1
/// ```
///
/// Without the constraint the rows of a design with centre p, and the intercept β if it has one, are
///
/// ```text
/// φ, β = argmin Σ_k w_k (β + (z_k − p 1)ᵀ x − y_k)²
/// ```
///
/// p = ½ is Kernel Banzhaf (Liu et al. 2024, Algorithm 1). With the intercept p changes nothing but β, and
/// common offsets of the targets go there. In complementary pairs that share their weight β is orthogonal to
/// the columns about ½, so that with or without it the coefficients are the same.
///
/// Rows that leave φ undetermined (fewer rows than players, players who are always together) give the
/// solution of minimum norm, and a [`rank`](LeastSquares::rank) that says so. Under the constraint no rows at
/// all are legal: everyone gets `c/n`.
///
/// # Accuracy
///
/// The step of refinement makes the error that of the data rather than that of the normal equations. The
/// tests hold coefficients that fit exactly to 1e-14 of the largest, with weights that span eight decades;
/// and those of a full enumeration with Shapley weights, or of rows about ½ with equal ones, to 1e-12 of the
/// definition for n ≤ 12, also where all targets have a common offset of 10⁹ times their differences. Above a
/// condition number of 10¹⁰ see [`Factorization::Eigen`].
///
/// # Cost
///
/// One thread; the result does not depend on threads. With m' rows in g groups of equal weight, time is
/// `O(n² (g + m'/64) + n³/3 + m' n)` with the popcount kernel and `O(m' n² + n³/3)` with panels; memory is
/// `O(n² + m' n / 64)`: there is never a dense m × n matrix.
///
/// # Thousands of players
///
/// Beyond 2000 players there is no n × n matrix either ([`Kernel::MatrixFree`]): conjugate gradients on the
/// rows, until `‖Aᵀ W e‖ ≤ 10⁻¹⁴ ‖Aᵀ W b‖` or what rounding allows, all outputs in the same passes.
/// Coefficients are those of the factored matrix to 10⁻⁹ of the largest in our tests (n up to 300), of
/// minimum norm where they are not determined. For rows that are drawn by their leverage scores this takes
/// `2 ln(10¹⁴) / ln(m'/n)` steps of `O(m' n / 8)` additions, and memory of the size of the rows. It may not
/// settle, in 3 times 500 steps, where rows and unknowns are equal in number within a tenth, or where rows
/// favour some players beyond measure. Then, and where the rank is not known, the matrix is factored after
/// all up to 5000 players; beyond, the answer is the last iterate, and the [rank](LeastSquares::rank) `None`.
/// Pairs whose rows are rows of their own are always factored.
///
/// # Errors
///
/// [`SolverError`] for another number of targets than m × k, targets or sums that are not finite, no rows
/// without constraint, a constraint for columns with a centre or an intercept, solutions that overflow, and
/// an eigen-decomposition that does not converge.
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
        return Err(SolverError::TargetCount { given: targets.len(), rows, outputs });
    }
    match constraint {
        Constraint::None if rows == 0 => return Err(SolverError::NoRows),
        Constraint::None => {}
        Constraint::Sum(_) if design.intercept || design.centre != 0.0 => {
            return Err(SolverError::ConstrainedColumns);
        }
        Constraint::Sum(sums) => {
            if sums.len() != outputs {
                return Err(SolverError::SumCount { given: sums.len(), outputs });
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

/// `Σ_k w_k e_k²`, summed in blocks.
pub(crate) fn weighted_squares(weights: &[f64], errors: &[f64]) -> f64 {
    const BLOCK: usize = 512;
    let block = |(weights, errors): (&[f64], &[f64])| -> f64 {
        weights.iter().zip(errors).map(|(weight, error)| weight * error * error).sum()
    };
    weights.chunks(BLOCK).zip(errors.chunks(BLOCK)).map(block).sum()
}

impl LeastSquares {
    /// The coefficients φ: n × k, row-major.
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    /// The intercepts β, one for each output: what is fitted at `z = p 1`, p being the
    /// [centre](Design::centred_at) of the columns. `None` for a design [without](Design::with_intercept).
    pub fn intercepts(&self) -> Option<&[f64]> {
        self.intercepts.as_deref()
    }

    /// Number of outputs k.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Rank of the rows, an intercept not counted. Full is n, or n − 1 under the constraint; below that the
    /// coefficients are those of minimum norm (under the constraint: nearest to equal shares).
    ///
    /// `None` where it is not known: [without the matrix](Kernel::MatrixFree) the rank is that of a probe,
    /// which does not settle where the rows are dependent beyond what their number says, and for about as
    /// many rows as unknowns. The coefficients then may not have settled either.
    pub fn rank(&self) -> Option<usize> {
        self.inverse.rank()
    }

    /// Condition number of the Gram matrix `Σ_k w_k a_k a_kᵀ` (`P G P` on the vectors that sum to zero under
    /// the constraint, about the weighted mean of the rows where there is an intercept), on its range:
    /// largest eigenvalue over smallest that is not zero. 1 where the rank is 0.
    ///
    /// From the eigenvalues on the [`Factorization::Eigen`] path. On the Cholesky path from below by
    /// Lanczos's method at each end, until the steps change next to nothing: within 1 % in our tests for
    /// sampled designs of up to 300 players, exact up to rounding for n ≤ 10.
    /// [Without the matrix](Kernel::MatrixFree) from below, too, from the steps that a probe took: within 10
    /// % in our tests for sampled designs of three rows a player or more, and a bound that says little where
    /// the rank is not known.
    pub fn condition_number(&self) -> f64 {
        self.inverse.condition()
    }

    /// How the Gram matrix was factored.
    pub fn factorization(&self) -> Factorization {
        self.inverse.factorization()
    }

    /// Which kernel computed the Gram matrix, if any; never [`Kernel::Auto`].
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// `Σ w (β + aᵀφ − y)²` over all rows of the design, both members of pairs included: one number for each
    /// output. Infinite or zero where the square of the targets is no number any more, which nothing else
    /// depends on.
    pub fn residual_sum_of_squares(&self) -> &[f64] {
        &self.sums_of_squares
    }

    /// Number of rows of the regression: of the design, or of its pairs where they act as one row.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Residuals `e_k = y_k − β − a_kᵀφ` of the rows of the regression: rows × k, row-major.
    ///
    /// Where a pair acts as one row: half the difference of the residuals of its first and second member,
    /// `e_k = (e_z − e_z̄)/2`.
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
