//! Weighted least squares, with or without a constraint on the sum of the coefficients.
//!
//! # How
//!
//! The rows are brought into the form of [`crate::rows`]; their Gram matrix comes from bits ([`crate::gram`]) and is factored
//! once ([`crate::factor`]) for all outputs. Under the constraint the Gram matrix of bits `G₀` becomes that of the centred rows
//! as `P G₀ P`.
//!
//! One step of iterative refinement, with residuals computed from the rows themselves, takes out most of what forming normal
//! equations costs.

use std::sync::OnceLock;

use crate::design::Design;
use crate::error::SolverError;
use crate::factor::{Factor, Factorization, remove_mean};
use crate::gram::{Groups, Kernel, centre, gram};
use crate::images::for_each_block;
use crate::rows::{Form, Rows, Targets};

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

/// A hat value this close to 1 means that the row alone determines some coefficient.
const SATURATED: f64 = 1e-9;

/// The weighted least-squares solution, of minimum norm where it is not unique, with its diagnostics.
///
/// # Units
///
/// Coefficients, residuals and the square root of the certificate are in units of the targets; hat values, rank and condition
/// number are dimensionless.
///
/// *Rows of the regression* are the rows of the design; for a paired design under the constraint each pair is one row (of weight
/// `2 w_k`, see [`residuals`](Self::residuals)).
#[derive(Debug, Clone)]
pub struct LeastSquares {
    outputs: usize,
    coefficients: Vec<f64>,
    kernel: Kernel,
    factor: Factor,
    rows: Rows,
    /// Residuals of the rows as they are stored, one output after the other.
    errors: Vec<Vec<f64>>,
    sums_of_squares: Vec<f64>,
    hat_values: OnceLock<Vec<f64>>,
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

/// Minimizes `Σ_k w_k (z_kᵀ φ − y_k)²` for each of `outputs` columns of `targets` (m × k, row-major), under the constraint if
/// there is one.
///
/// Under `Σ_i φ_i = c` this is the projected problem of Leverage SHAP (Musco and Witter 2025, Lemma 3.1 and Algorithm 1):
///
/// ```text
/// a_k = z_k − (s_k/n) 1        b_k = y_k − (s_k/n) c
/// φ = argmin_x Σ_k w_k (a_kᵀ x − b_k)²  (of minimum norm)  +  (c/n) 1
/// ```
///
/// Rows that leave φ undetermined (fewer rows than players, players who are always together) give the solution of minimum norm,
/// and a [`rank`](LeastSquares::rank) that says so. Under the constraint no rows at all are legal: everyone gets `c/n`.
///
/// # Accuracy
///
/// The step of refinement makes the error that of the data rather than that of the normal equations. The tests hold coefficients
/// that fit exactly to 1e-14 of the largest, with weights that span eight decades; and those of a full enumeration with Shapley
/// weights to 1e-12 of the definition for n ≤ 12, also where all targets have a common offset of 10⁹ times their differences.
/// Above a condition number of 10¹⁰ see [`Factorization::Eigen`].
///
/// # Cost
///
/// One thread; the result does not depend on threads. With m' rows in g groups of equal weight, time is
/// `O(n² (g + m'/64) + n³/3 + m' n)` with the popcount kernel and `O(m' n² + n³/3)` with panels; memory is `O(n² + m' n / 64)`:
/// there is never a dense m × n matrix.
///
/// # Errors
///
/// [`SolverError`] for another number of targets than m × k, targets or sums that are not finite, no rows without constraint,
/// solutions that overflow, and an eigen-decomposition that does not converge.
pub fn least_squares_with(
    design: &Design<'_>,
    targets: &[f64],
    outputs: usize,
    constraint: Constraint<'_>,
    options: &Options,
) -> Result<LeastSquares, SolverError> {
    check(design, targets, outputs, constraint)?;
    let (form, sums) = match constraint {
        Constraint::None => (Form::ZeroOne, None),
        Constraint::Sum(sums) => (Form::Centred, Some(sums)),
    };
    let rows = Rows::new(design, form);
    let groups = Groups::new(&rows.weights);
    let kernel = groups.kernel(options.kernel);
    let mut gram = gram(&rows.bits, &groups, kernel);
    if form == Form::Centred {
        centre(&mut gram);
    }
    let factor = Factor::new(gram, form == Form::Centred, groups.order.len())?;
    let drift = rows.drift(&groups);

    let mut remaining: Vec<Targets> = (0..outputs)
        .map(|output| {
            rows.targets(|row| targets[row * outputs + output], sums.map_or(0.0, |sums| sums[output]))
        })
        .collect();
    let solution = solve_and_refine(&rows, &factor, drift.as_deref(), &mut remaining);

    let n = rows.bits.players;
    let mut coefficients = vec![0.0; n * outputs];
    for (output, solution) in solution.chunks_exact(n).enumerate() {
        let share = sums.map_or(0.0, |sums| sums[output] / n as f64);
        for (player, value) in solution.iter().enumerate() {
            coefficients[player * outputs + output] = value + share;
        }
    }
    if let Some(index) = coefficients.iter().position(|value| !value.is_finite()) {
        return Err(SolverError::Overflow { output: index % outputs });
    }
    let (errors, sums_of_squares) = remaining
        .into_iter()
        .map(|Targets { values: mut errors, offset, rest }| {
            errors.iter_mut().enumerate().for_each(|(row, error)| *error += rows.sign(row) * offset);
            let sum = (weighted_squares(&rows.weights, &errors) + rest) / rows.scale;
            (errors, sum)
        })
        .unzip();
    Ok(LeastSquares {
        outputs,
        coefficients,
        kernel,
        factor,
        rows,
        errors,
        sums_of_squares,
        hat_values: OnceLock::new(),
    })
}

/// Solves and refines once; what the solution leaves of the targets stays in `remaining`. One output after the other.
fn solve_and_refine(
    rows: &Rows,
    factor: &Factor,
    drift: Option<&[f64]>,
    remaining: &mut [Targets],
) -> Vec<f64> {
    let n = rows.bits.players;
    let mut solution = vec![0.0; n * remaining.len()];
    let mut products = vec![0.0; rows.len()];
    for _ in 0..2 {
        let right_hand_side = |targets: &Targets| right_hand_side(rows, targets, drift);
        let mut step: Vec<f64> = remaining.iter().flat_map(right_hand_side).collect();
        factor.solve(&mut step, remaining.len());
        for (targets, step) in remaining.iter_mut().zip(step.chunks_exact(n)) {
            rows.bits.times(step, &mut products);
            targets.values.iter_mut().zip(&products).for_each(|(value, product)| *value -= product);
            if drift.is_some() {
                rows.move_offset(targets);
            }
        }
        solution.iter_mut().zip(&step).for_each(|(entry, step)| *entry += step);
    }
    solution
}

fn check(
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

/// `Σ_k w_k a_k t_k`, the offset of the targets included.
fn right_hand_side(rows: &Rows, targets: &Targets, drift: Option<&[f64]>) -> Vec<f64> {
    let weighted: Vec<f64> =
        rows.weights.iter().zip(&targets.values).map(|(weight, value)| weight * value).collect();
    let mut right = rows.bits.transposed_times(&weighted);
    if rows.form == Form::Centred {
        remove_mean(&mut right);
    }
    if let Some(drift) = drift {
        right.iter_mut().zip(drift).for_each(|(entry, drift)| *entry += targets.offset * drift);
    }
    right
}

/// `Σ_k w_k e_k²`, summed in blocks.
fn weighted_squares(weights: &[f64], errors: &[f64]) -> f64 {
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

    /// Number of outputs k.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Rank of the rows. Full is n, or n − 1 under the constraint; below that the coefficients are those of minimum norm (under
    /// the constraint: nearest to equal shares).
    pub fn rank(&self) -> usize {
        self.factor.rank
    }

    /// Condition number of the Gram matrix `Σ_k w_k z_k z_kᵀ` (under the constraint: of `P G P` on the vectors that sum to zero),
    /// on its range: largest eigenvalue over smallest that is not zero. 1 where the rank is 0.
    ///
    /// From the eigenvalues on the [`Factorization::Eigen`] path. On the Cholesky path an estimate from below by ten steps of
    /// Lanczos's method for each end: exact up to rounding for n ≤ 10, within 20 % in our tests for sampled designs of up to 130
    /// players.
    pub fn condition_number(&self) -> f64 {
        self.factor.condition
    }

    /// How the Gram matrix was factored.
    pub fn factorization(&self) -> Factorization {
        self.factor.factorization()
    }

    /// Which kernel computed the Gram matrix; never [`Kernel::Auto`].
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// `Σ w (zᵀφ − y)²` over all rows of the design, both members of pairs included: one number for each output.
    pub fn residual_sum_of_squares(&self) -> &[f64] {
        &self.sums_of_squares
    }

    /// Number of rows of the regression: of the design, or of its pairs where they act as one row.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Residuals `e_k = y_k − z_kᵀφ` of the rows of the regression: rows × k, row-major.
    ///
    /// Where a pair acts as one row: half the difference of the residuals of its first and second member, `e_k = (e_z − e_z̄)/2`.
    pub fn residuals(&self) -> Vec<f64> {
        let mut residuals = vec![0.0; self.rows() * self.outputs];
        for (output, errors) in self.errors.iter().enumerate() {
            for (row, error) in errors.iter().enumerate() {
                residuals[row * self.outputs + output] = self.rows.sign(row) * error;
            }
        }
        residuals
    }

    /// Hat values (statistical leverages) `h_k = w_k a_kᵀ G⁺ a_k` of the rows of the regression, between 0 and 1; they sum to the
    /// [`rank`](Self::rank).
    ///
    /// Where a pair acts as one row: the sum of both members' hat values. Takes `O(n³ + m' n²/4)` additions the first time, and
    /// is remembered.
    pub fn hat_values(&self) -> Vec<f64> {
        let compute = || {
            let mut hat_values = Vec::with_capacity(self.rows());
            let _: Result<(), SolverError> =
                for_each_block(&self.rows.bits, &self.factor.pseudo_inverse(), |images| {
                    let weights = &self.rows.weights[images.rows.clone()];
                    hat_values.extend(hats(weights, images.quadratic_forms()));
                    Ok(())
                });
            hat_values
        };
        self.hat_values.get_or_init(compute).clone()
    }

    /// Estimated variances of the coefficients over the draw of the coalitions: n × k, row-major.
    ///
    /// ```text
    /// V_i = Σ_k f_k (w_k (G⁺ a_k)_i e_k / (1 − h_k))²
    /// ```
    ///
    /// over the rows of the regression, with residuals `e_k`, hat values `h_k` and the Gram matrix G;
    /// `w_k (G⁺ a_k)_i e_k / (1 − h_k)` is exactly what coefficient i loses when row k is left out. `free` holds, for each row of
    /// the regression, `f_k = 1 − drawn/available` of its size class: 0 where a class is enumerated, so that the certificate of a
    /// full enumeration is 0.
    ///
    /// Takes `O(n³ + m' n²/4)` additions for all outputs together, and finds the [hat values](Self::hat_values) on the way.
    ///
    /// # Errors
    ///
    /// [`SolverError`] for another number of fractions than rows of the regression, fractions outside \[0, 1\], a row with
    /// `f_k > 0` and hat value 1 (its error cannot be estimated: the budget is too small), and pairs without constraint.
    pub fn certificate(&self, free: &[f64]) -> Result<Vec<f64>, SolverError> {
        if free.len() != self.rows() {
            return Err(SolverError::FreeCount { given: free.len(), wanted: self.rows() });
        }
        if let Some(index) = free.iter().position(|fraction| !(0.0..=1.0).contains(fraction)) {
            return Err(SolverError::Free { index, value: free[index] });
        }
        if self.rows.pairs_apart {
            return Err(SolverError::PairsWithoutConstraint);
        }
        let n = self.rows.bits.players;
        let mut variances = vec![vec![0.0; n]; self.outputs];
        let mut hat_values = Vec::with_capacity(self.rows());
        for_each_block(&self.rows.bits, &self.factor.pseudo_inverse(), |images| {
            let range = images.rows.clone();
            let weights = &self.rows.weights[range.clone()];
            let hats: Vec<f64> = hats(weights, images.quadratic_forms()).collect();
            let counts = |row: usize| free[range.start + row] > 0.0 && weights[row] > 0.0;
            if let Some(row) = (0..hats.len()).find(|&row| counts(row) && 1.0 - hats[row] < SATURATED) {
                return Err(SolverError::Saturated { row: range.start + row, hat_value: hats[row] });
            }
            for (errors, variances) in self.errors.iter().zip(&mut variances) {
                let factor = |row: usize| {
                    let left_out = weights[row] * errors[range.start + row] / (1.0 - hats[row]);
                    if counts(row) { free[range.start + row] * left_out * left_out } else { 0.0 }
                };
                images.add_squares(&(0..hats.len()).map(factor).collect::<Vec<f64>>(), variances);
            }
            hat_values.extend(hats);
            Ok(())
        })?;
        self.hat_values.get_or_init(|| hat_values);
        let by_player = |player: usize| variances.iter().map(move |variances| variances[player]);
        Ok((0..n).flat_map(by_player).collect())
    }
}

/// `w zᵀ G⁺ z`. Under the constraint `G⁺ 1 = 0`, so that z stands for the centred row.
fn hats(weights: &[f64], forms: Vec<f64>) -> impl Iterator<Item = f64> {
    weights.iter().zip(forms).map(|(weight, form)| weight * form)
}
