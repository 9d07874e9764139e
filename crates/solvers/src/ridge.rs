//! Weighted ridge regression: least squares with a penalty on the squares of the coefficients.
//!
//! The penalty is added to the diagonal of the Gram matrix of the rows; everything else is the same as in
//! [`crate::least_squares`], including the refinement step. The intercept is not penalized: the weighted
//! means of rows and targets are subtracted, regardless of the penalty.
//!
//! # Source
//!
//! Hoerl and Kennard, *Ridge Regression: Biased Estimation for Nonorthogonal Problems*, Technometrics 1970.

use crate::design::Design;
use crate::error::SolverError;
use crate::gram::Kernel;
use crate::least_squares::{Constraint, check, weighted_squares};
use crate::rows::{Rows, Targets, units};
use crate::system::System;

/// The solution of a weighted ridge regression.
#[derive(Debug, Clone, PartialEq)]
pub struct Ridge {
    outputs: usize,
    coefficients: Vec<f64>,
    intercepts: Option<Vec<f64>>,
    determination: Vec<f64>,
    rank: Option<usize>,
}

impl Ridge {
    /// Returns the coefficients φ: n × k, row-major, in units of the targets.
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

    /// Returns the coefficient of determination for each output, which is dimensionless:
    ///
    /// ```text
    /// R² = 1 − Σ_k w_k (y_k − β − a_kᵀφ)² / Σ_k w_k (y_k − ȳ)²
    /// ```
    ///
    /// where ȳ is the weighted mean of the targets, or 0 without an intercept. If the targets do not vary,
    /// there is nothing to explain, and R² is 1.
    pub fn determination(&self) -> &[f64] {
        &self.determination
    }

    /// Returns the rank of the system that was solved. This is n if there is a penalty, otherwise the rank of
    /// the rows (without the intercept). Returns `None` if the rank is not known, which only occurs for
    /// thousands of players.
    pub fn rank(&self) -> Option<usize> {
        self.rank
    }
}

/// Minimizes `Σ_k w_k (β + (z_k − p 1)ᵀ x − y_k)² + α ‖x‖²` for each of `outputs` columns of `targets`
/// (m × k, row-major). The intercept β is only included if the design has one.
///
/// Unlike in [`least_squares`](crate::least_squares()), a common factor of all weights matters: it divides
/// the penalty α. If α = 0, the coefficients are the same as those of
/// [`least_squares`](crate::least_squares()), with minimum norm if they are not unique.
///
/// The tests require coefficients to agree with explicit normal equations to 1e-10 of the largest
/// coefficient, for 1 to 130 players and penalties from 10⁻³ to 10³. The cost is the same as for least
/// squares: at most `O(m' n² + n³/3)` time, on one thread.
///
/// ```
/// use apportion_games::Coalitions;
/// use apportion_solvers::{Design, SolverError, ridge};
///
/// let coalitions = Coalitions::from_masks(1, [0, 1]);
/// let design = Design::new(&coalitions, &[1.0; 2])?.with_intercept();
/// // About the means the rows are ∓½ and the targets ∓2: φ = 2 / (½ + α).
/// let fit = ridge(&design, &[3.0, 7.0], 1, 0.5)?;
/// assert!((fit.coefficients()[0] - 2.0).abs() < 1e-14);
/// assert!(fit.intercepts().is_some_and(|beta| (beta[0] - 4.0).abs() < 1e-14));
/// assert!((fit.determination()[0] - 0.75).abs() < 1e-14);
/// # Ok::<(), SolverError>(())
/// ```
///
/// # Errors
///
/// [`SolverError`] if the penalty is negative or not finite; if the number of targets is not m × k; if a
/// target is not finite; if there are no rows; if the solution overflows; or if an eigen-decomposition does
/// not converge.
pub fn ridge(
    design: &Design<'_>,
    targets: &[f64],
    outputs: usize,
    penalty: f64,
) -> Result<Ridge, SolverError> {
    if !(penalty.is_finite() && penalty >= 0.0) {
        return Err(SolverError::Penalty { value: penalty });
    }
    check(design, targets, outputs, Constraint::None)?;
    let mut system = System::new(design, false, Kernel::Auto, penalty)?;
    let n = system.rows.bits.players;

    let mut fit = Ridge {
        outputs,
        coefficients: vec![0.0; n * outputs],
        intercepts: system.rows.intercept_at.map(|_| Vec::with_capacity(outputs)),
        determination: Vec::with_capacity(outputs),
        rank: system.inverse.rank(),
    };
    for (output, unit) in units(targets, outputs, None).into_iter().enumerate() {
        let mut remaining = system.rows.targets(|row| targets[row * outputs + output] / unit, 0.0);
        let all = sum_of_squares(&system.rows, &remaining);
        let solution = system.solve(std::slice::from_mut(&mut remaining));
        for (player, value) in solution.iter().enumerate() {
            fit.coefficients[player * outputs + output] = value * unit;
        }
        if let Some(intercepts) = &mut fit.intercepts {
            intercepts.extend(system.intercept(&solution, &remaining).map(|beta| beta * unit));
        }
        let found = fit.coefficients.iter().skip(output).step_by(outputs);
        let intercept = fit.intercepts.iter().filter_map(|intercepts| intercepts.last());
        if !found.chain(intercept).all(|value| value.is_finite()) {
            return Err(SolverError::Overflow { output });
        }
        // Compare the targets themselves: their computed mean equals them only up to rounding, so for equal
        // targets `all` is rounding error instead of zero.
        let own = |row: &usize| targets[row * outputs + output];
        let is_constant = system.rows.intercept_at.is_some() && {
            let mut weighted = (0..design.coalitions.len()).filter(|&row| design.row_weight(row) > 0.0);
            weighted.next().is_none_or(|first| weighted.all(|row| own(&row) == own(&first)))
        };
        let explains_all = is_constant || all <= 0.0;
        let left = sum_of_squares(&system.rows, &remaining);
        fit.determination.push(if explains_all { 1.0 } else { 1.0 - left / all });
    }
    Ok(fit)
}

/// Returns `Σ_k w_k y_k²` with scaled weights. If there is an intercept, the offset of the targets is
/// excluded.
fn sum_of_squares(rows: &Rows, targets: &Targets) -> f64 {
    let offset = if rows.intercept_at.is_some() || rows.pairs { 0.0 } else { targets.offset };
    let values: Vec<f64> = targets.values.iter().map(|value| value + offset).collect();
    weighted_squares(&rows.weights, &values) + targets.rest
}
