//! Kriging: a linear model with free coefficients, plus a Gaussian process with a known covariance.
//!
//! ```text
//! y = F γ + f,    f ~ N(0, σ² C),    γ free
//! ```
//!
//! Here, y are the targets, F contains the columns of the linear model, and f is the process (with noise) at
//! the rows. With `Q = C⁻¹ − C⁻¹ F (Fᵀ C⁻¹ F)⁻¹ Fᵀ C⁻¹`, for m rows and p columns of F:
//!
//! ```text
//! γ̂ = (Fᵀ C⁻¹ F)⁻¹ Fᵀ C⁻¹ y,    the process at a functional with covariances c: cᵀ Q y
//! leave-one-out residual of y_k: (Q y)_k / Q_kk
//! σ̂² = yᵀ Q y / (m − p)
//! −2 ln(restricted likelihood) = ln det C + ln det Fᵀ C⁻¹ F + (m − p) ln σ̂²
//! ```
//!
//! up to a constant in the last line. One Cholesky factorization of C yields all of these.
//! [`DualRidge`](crate::DualRidge) solves the same regression for many noise strengths, with an
//! eigendecomposition.
//!
//! # Source
//!
//! Patterson and Thompson, *Recovery of inter-block information when block sizes are unequal*, Biometrika
//! 1971 (the restricted likelihood); Cressie, *Statistics for Spatial Data*, 1993, sections 2.6.1 and 3.4.

use apportion_games::cancellation::uninterrupted;
use faer::{Mat, MatRef};

use crate::dual_ridge::{DualEstimate, Functionals};
use crate::factor::{cholesky, inverse_of_lower};

/// The minimum of the determinant of `Q_BB` for the two rows of a unit, relative to the product of its
/// diagonal entries. Below it, the columns are not linearly independent without the unit.
const DETERMINED: f64 = 1e-12;

/// A solved kriging system, for any targets.
#[derive(Debug, Clone)]
pub struct Kriging {
    /// The matrix Q, m × m.
    residual: Mat<f64>,
    /// The matrix `(Fᵀ C⁻¹ F)⁻¹ Fᵀ C⁻¹`, p × m.
    plain: Mat<f64>,
    /// `ln det C + ln det Fᵀ C⁻¹ F`.
    ln_determinants: f64,
}

/// The restricted likelihood of a covariance.
#[derive(Debug, Clone, PartialEq)]
pub struct RestrictedLikelihood {
    /// The negative logarithm, summed over the outputs, up to a constant.
    pub negative_ln: f64,
    /// The derivative of `negative_ln` with respect to each entry of C, m × m.
    pub derivative: Vec<f64>,
}

impl Kriging {
    /// Solves the system for the `covariance` C (m × m, symmetric) and the `columns` F (m × p, row-major).
    /// Returns `None` unless C is positive definite, and the columns are linearly independent and fewer than
    /// the rows. Takes `O(m³)` time and stores `m²` numbers.
    ///
    /// # Panics
    ///
    /// If `covariance` does not contain m² numbers, or `columns` not a multiple of m, for m = `rows`.
    pub fn new(covariance: &[f64], columns: &[f64], rows: usize) -> Option<Self> {
        assert_eq!(covariance.len(), rows * rows, "expected a covariance of {rows} × {rows} numbers");
        let count = columns.len() / rows.max(1);
        assert_eq!(columns.len(), rows * count, "expected {count} columns of {rows} rows");
        if rows <= count {
            return None;
        }
        let covariance = Mat::from_fn(rows, rows, |i, j| covariance[i * rows + j]);
        let columns = Mat::from_fn(rows, count, |i, j| columns[i * count + j]);
        uninterrupted(2.0 * (rows as f64).powi(3), move || Self::solved(&covariance, &columns))
    }

    fn solved(covariance: &Mat<f64>, columns: &Mat<f64>) -> Option<Self> {
        let lower = cholesky(covariance, 0.0)?;
        let mut residual = inverse_of_lower(&lower);
        let mut ln_determinants = ln_determinant(&lower);
        let weighted = &residual * columns;
        let mut plain = Mat::zeros(0, residual.nrows());
        if columns.ncols() > 0 {
            let lower = cholesky(&(columns.transpose() * &weighted), 0.0)?;
            ln_determinants += ln_determinant(&lower);
            plain = inverse_of_lower(&lower) * weighted.transpose();
            residual -= &weighted * &plain;
        }
        ln_determinants.is_finite().then_some(Self { residual, plain, ln_determinants })
    }

    /// Returns the number of rows m.
    pub fn rows(&self) -> usize {
        self.residual.nrows()
    }

    /// Returns the number of free columns p.
    pub fn columns(&self) -> usize {
        self.plain.nrows()
    }

    /// Returns the restricted likelihood of the covariance for `targets` (m × k, row-major), with a separate
    /// σ² for each output. Outputs that the columns fit without an error are ignored.
    pub fn restricted_likelihood(&self, targets: &[f64], outputs: usize) -> RestrictedLikelihood {
        let rows = self.rows();
        let degrees = (rows - self.columns()) as f64;
        let targets = MatRef::from_row_major_slice(targets, rows, outputs);
        let applied = &self.residual * targets;
        let (mut negative_ln, mut counted) = (0.0, 0.0);
        let mut directions = Mat::zeros(rows, outputs);
        for output in 0..outputs {
            let form = |left: &dyn Fn(usize) -> f64, right: &dyn Fn(usize) -> f64| -> f64 {
                (0..rows).map(|row| left(row) * right(row)).sum()
            };
            let target = |row: usize| targets[(row, output)];
            let variance = form(&target, &|row| applied[(row, output)]) / degrees;
            if variance > 0.0 && variance.is_finite() {
                negative_ln += 0.5 * (self.ln_determinants + degrees * variance.ln());
                counted += 1.0;
                let root = variance.sqrt();
                (0..rows).for_each(|row| directions[(row, output)] = applied[(row, output)] / root);
            }
        }
        let products = &directions * directions.transpose();
        let derivative = (0..rows * rows)
            .map(|at| {
                let place = (at / rows, at % rows);
                0.5 * (counted * self.residual[place] - products[place])
            })
            .collect();
        RestrictedLikelihood { negative_ln, derivative }
    }

    /// Returns the leave-one-out residual of each target, m × k, row-major. It is NaN if the columns are not
    /// linearly independent without the row.
    pub fn left_out(&self, targets: &[f64], outputs: usize) -> Vec<f64> {
        let rows = self.rows();
        let applied = &self.residual * MatRef::from_row_major_slice(targets, rows, outputs);
        (0..rows * outputs)
            .map(|at| {
                let (row, output) = (at / outputs, at % outputs);
                let own = self.residual[(row, row)];
                if own > 0.0 { applied[(row, output)] / own } else { f64::NAN }
            })
            .collect()
    }

    /// Returns the residuals of one output if the rows of a unit are left out together, for units of one or
    /// two rows: `Q_BB⁻¹ (Q y)_B` for the rows B of a unit. `partners` contains the other row of each unit,
    /// or the row itself if it is alone. A residual is NaN if the columns are not linearly independent
    /// without the unit.
    ///
    /// # Panics
    ///
    /// If `partners` does not contain a row for each row.
    pub fn left_out_with(&self, targets: &[f64], partners: &[usize]) -> Vec<f64> {
        assert_eq!(partners.len(), self.rows(), "expected a partner for each row");
        let applied = &self.residual * MatRef::from_row_major_slice(targets, self.rows(), 1);
        let of_row = |(row, &partner): (usize, &usize)| {
            let own = self.residual[(row, row)];
            let (other, both) = match row == partner {
                true => (1.0, 0.0),
                false => (self.residual[(partner, partner)], self.residual[(row, partner)]),
            };
            let determinant = own * other - both * both;
            let is_determined = own > 0.0 && other > 0.0 && determinant > DETERMINED * own * other;
            let left = (other * applied[(row, 0)] - both * applied[(partner, 0)]) / determinant;
            if is_determined { left } else { f64::NAN }
        };
        partners.iter().enumerate().map(of_row).collect()
    }

    /// Returns the residual of each row divided by its leave-one-out residual, `ν_k Q_kk`. `noise` contains
    /// the variances ν_k of the independent noise of the rows, which C includes. The sum of the results is
    /// the effective number of residual degrees of freedom.
    pub fn residual_shares(&self, noise: &[f64]) -> Vec<f64> {
        noise.iter().enumerate().map(|(row, noise)| noise * self.residual[(row, row)]).collect()
    }

    /// Returns the estimates of `functionals` for `targets` (m × k, row-major), with the influences of the
    /// rows.
    ///
    /// # Panics
    ///
    /// If the lengths of the arrays do not match.
    pub fn estimate(&self, functionals: &Functionals<'_>, targets: &[f64], outputs: usize) -> DualEstimate {
        let (rows, count) = (self.rows(), functionals.count);
        let of_columns = MatRef::from_row_major_slice(functionals.of_columns, count, self.columns());
        let covariances = MatRef::from_row_major_slice(functionals.covariances, count, rows);
        let influences = covariances * &self.residual + of_columns * &self.plain;
        let values = &influences * MatRef::from_row_major_slice(targets, rows, outputs);
        DualEstimate {
            values: (0..count * outputs).map(|at| values[(at / outputs, at % outputs)]).collect(),
            influences: (0..count * rows).map(|at| influences[(at / rows, at % rows)]).collect(),
        }
    }
}

/// Returns `ln det L Lᵀ`.
fn ln_determinant(lower: &Mat<f64>) -> f64 {
    2.0 * (0..lower.nrows()).map(|i| lower[(i, i)].ln()).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dual_ridge::{DualRidge, PriorCovariance};

    const ROWS: usize = 9;
    const COLUMNS: usize = 3;
    const NOISE: f64 = 0.3;

    fn number(at: usize) -> f64 {
        crate::factor::scattered(at as u64)
    }

    /// Returns a covariance that decreases exponentially with the distance of the rows, which are points on a
    /// line.
    fn kernel(rows: &[usize]) -> Vec<f64> {
        let distance = |i: usize, j: usize| (2.0 * number(i) - 2.0 * number(j)).abs();
        rows.iter().flat_map(|&i| rows.iter().map(move |&j| (-distance(i, j)).exp())).collect()
    }

    fn covariance(rows: &[usize]) -> Vec<f64> {
        let mut covariance = kernel(rows);
        covariance.iter_mut().step_by(rows.len() + 1).for_each(|entry| *entry += NOISE);
        covariance
    }

    fn columns(rows: &[usize]) -> Vec<f64> {
        rows.iter().flat_map(|&row| (0..COLUMNS).map(move |column| number(100 + 10 * row + column))).collect()
    }

    fn targets(rows: &[usize]) -> Vec<f64> {
        rows.iter().flat_map(|&row| [number(500 + row), 3.0 * number(700 + row)]).collect()
    }

    fn all() -> Vec<usize> {
        (0..ROWS).collect()
    }

    #[test]
    fn estimates_and_residuals_are_those_of_the_regression_by_eigenvalues() {
        let rows = all();
        let kriging = Kriging::new(&covariance(&rows), &columns(&rows), ROWS).unwrap();
        let other = DualRidge::new(
            &columns(&rows),
            PriorCovariance::Gram(&kernel(&rows)),
            &[1.0; ROWS],
            &targets(&rows),
            2,
        )
        .unwrap();
        let of_columns: Vec<f64> = (0..2 * COLUMNS).map(|at| number(900 + at)).collect();
        let covariances: Vec<f64> = (0..2 * ROWS).map(|at| number(1000 + at)).collect();
        let functionals = Functionals { count: 2, of_columns: &of_columns, covariances: &covariances };
        let found = kriging.estimate(&functionals, &targets(&rows), 2);
        let expected = other.estimate(&functionals, NOISE);
        let pairs = found.values.iter().zip(&expected.values);
        let pairs = pairs.chain(found.influences.iter().zip(&expected.influences));
        let left = kriging.left_out(&targets(&rows), 2);
        let expected_left = other.left_out(NOISE);
        for (found, expected) in pairs.chain(left.iter().zip(&expected_left)) {
            assert!((found - expected).abs() < 1e-10, "{found} {expected}");
        }
        let degrees: f64 = kriging.residual_shares(&[NOISE; ROWS]).iter().sum();
        assert!((degrees - other.degrees_of_freedom(NOISE)).abs() < 1e-10);
    }

    #[test]
    fn residuals_of_units_are_those_without_both_rows() {
        let rows = all();
        let kriging = Kriging::new(&covariance(&rows), &columns(&rows), ROWS).unwrap();
        let own: Vec<f64> = targets(&rows).into_iter().step_by(2).collect();
        // The last row is alone.
        let partners = [1, 0, 5, 4, 3, 2, 7, 6, 8];
        let left = kriging.left_out_with(&own, &partners);
        let kernel = kernel(&rows);
        for row in 0..ROWS {
            let others: Vec<usize> =
                (0..ROWS).filter(|&other| other != row && other != partners[row]).collect();
            let without = Kriging::new(&covariance(&others), &columns(&others), others.len()).unwrap();
            let covariances: Vec<f64> = others.iter().map(|&other| kernel[row * ROWS + other]).collect();
            let functionals =
                Functionals { count: 1, of_columns: &columns(&[row]), covariances: &covariances };
            let known: Vec<f64> = others.iter().map(|&other| own[other]).collect();
            let expected = own[row] - without.estimate(&functionals, &known, 1).values[0];
            assert!((left[row] - expected).abs() < 1e-9, "{} {expected}", left[row]);
        }
        let alone: Vec<usize> = rows.clone();
        for (left, expected) in kriging.left_out_with(&own, &alone).iter().zip(kriging.left_out(&own, 1)) {
            assert!((left - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn leave_one_out_residuals_are_those_without_the_row() {
        let rows = all();
        let kriging = Kriging::new(&covariance(&rows), &columns(&rows), ROWS).unwrap();
        let left = kriging.left_out(&targets(&rows), 2);
        let kernel = kernel(&rows);
        for row in 0..ROWS {
            let others: Vec<usize> = (0..ROWS).filter(|&other| other != row).collect();
            let without = Kriging::new(&covariance(&others), &columns(&others), ROWS - 1).unwrap();
            let covariances: Vec<f64> = others.iter().map(|&other| kernel[row * ROWS + other]).collect();
            let functionals =
                Functionals { count: 1, of_columns: &columns(&[row]), covariances: &covariances };
            let predicted = without.estimate(&functionals, &targets(&others), 2).values;
            for output in 0..2 {
                let residual = targets(&[row])[output] - predicted[output];
                assert!((left[row * 2 + output] - residual).abs() < 1e-10);
            }
        }
    }

    #[test]
    fn the_derivative_of_the_likelihood_is_that_of_differences() {
        let rows = all();
        let of = |covariance: &[f64]| {
            Kriging::new(covariance, &columns(&rows), ROWS).unwrap().restricted_likelihood(&targets(&rows), 2)
        };
        let known = of(&covariance(&rows));
        for (i, j) in [(0, 0), (3, 3), (1, 4), (2, 7)] {
            let moved = |step: f64| {
                let mut moved = covariance(&rows);
                moved[i * ROWS + j] += step;
                moved[j * ROWS + i] = moved[i * ROWS + j];
                of(&moved).negative_ln
            };
            let slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
            let both = if i == j { 1.0 } else { 2.0 };
            assert!((both * known.derivative[i * ROWS + j] - slope).abs() < 1e-6 * (1.0 + slope.abs()));
        }
    }

    #[test]
    fn the_likelihood_does_not_depend_on_the_free_coefficients_or_the_unit() {
        let rows = all();
        let kriging = Kriging::new(&covariance(&rows), &columns(&rows), ROWS).unwrap();
        let plain = kriging.restricted_likelihood(&targets(&rows), 2);
        let moved: Vec<f64> = targets(&rows)
            .iter()
            .enumerate()
            .map(|(at, target)| target + 7.0 * columns(&rows)[at / 2 * COLUMNS])
            .collect();
        let moved = kriging.restricted_likelihood(&moved, 2);
        assert!((plain.negative_ln - moved.negative_ln).abs() < 1e-9);
        let larger: Vec<f64> = targets(&rows).iter().map(|target| 4.0 * target).collect();
        let larger = kriging.restricted_likelihood(&larger, 2);
        let expected = plain.negative_ln + 2.0 * (ROWS - COLUMNS) as f64 * 4f64.ln();
        assert!((larger.negative_ln - expected).abs() < 1e-9);
        assert!(plain.derivative.iter().zip(&larger.derivative).all(|(a, b)| (a - b).abs() < 1e-9));
    }

    #[test]
    fn systems_without_a_solution_are_refused() {
        let rows = all();
        let few: Vec<usize> = (0..COLUMNS).collect();
        assert!(Kriging::new(&covariance(&few), &columns(&few), COLUMNS).is_none());
        let mut indefinite = covariance(&rows);
        indefinite[0] = -1.0;
        assert!(Kriging::new(&indefinite, &columns(&rows), ROWS).is_none());
        assert!(Kriging::new(&covariance(&rows), &[], ROWS).is_some_and(|kriging| kriging.columns() == 0));
    }
}
