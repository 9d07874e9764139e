//! The linear part of a surrogate: ridge regression on the features.
//!
//! ```text
//! l(x) = Σ_j w_j c_j(x_j)
//! ```
//!
//! c_j limits a value to the range of the learning rows and subtracts its mean; missing values and codes of
//! categories count as the mean. The strength of the ridge minimizes the generalized cross-validation error
//! (Golub, Heath and Wahba, *Generalized Cross-Validation as a Method for Choosing a Good Ridge Parameter*,
//! Technometrics 1979).

use apportion_games::Rows;
use faer::{Mat, Side};

/// The maximum number of features; the cost is cubic.
const MAX_FEATURES: usize = 1000;
/// The number of rows per feature that are always used, in addition to [`MORE_ROWS`].
const ROWS_PER_FEATURE: usize = 20;
/// The number of rows that are always used, in addition to [`ROWS_PER_FEATURE`] for each feature.
const MORE_ROWS: usize = 2000;
/// More rows are used as long as the Gram matrix requires at most this number of products.
const PRODUCTS: usize = 2_000_000_000;
/// The number of rows in a block of the design.
const BLOCK_ROWS: usize = 1 << 12;
/// The minimum exponent e of the ridge strengths 10^e m that are compared, for m rows.
const MIN_EXPONENT: i32 = -13;
/// The maximum exponent of these ridge strengths.
const MAX_EXPONENT: i32 = 1;
/// The relative rounding error of a sum of squares.
const ROUNDING: f64 = 1e-13;

/// A linear function of the features.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Linear {
    pub(crate) columns: Vec<Column>,
    /// w: features × outputs.
    pub(crate) weights: Vec<f64>,
    pub(crate) outputs: usize,
}

/// The range and the mean of a feature in the learning rows.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Column {
    pub(crate) lower: f64,
    pub(crate) upper: f64,
    pub(crate) mean: f64,
    /// The root of the mean square of c_j; 0 for a feature that is not used.
    pub(crate) scale: f64,
}

impl Column {
    fn new(values: impl Iterator<Item = f64> + Clone) -> Self {
        let finite = values.clone().filter(|value| value.is_finite());
        let (mut lower, mut upper, mut count) = (f64::INFINITY, f64::NEG_INFINITY, 0.0);
        for value in finite.clone() {
            (lower, upper, count) = (lower.min(value), upper.max(value), count + 1.0);
        }
        // A constant feature, or one whose range overflows, has no linear part.
        if lower >= upper || !(upper - lower).is_finite() {
            return Self::default();
        }
        let mean = finite.map(|value| value / count).sum();
        let mut column = Self { lower, upper, mean, scale: upper - lower };
        let (mut squares, mut rows) = (0.0, 0.0);
        for value in values {
            squares += column.scaled(value).powi(2);
            rows += 1.0;
        }
        column.scale *= (squares / rows).sqrt();
        column
    }

    /// Returns c_j(x).
    fn centred(&self, value: f64) -> f64 {
        if value.is_nan() || self.scale == 0.0 {
            0.0
        } else {
            value.clamp(self.lower, self.upper) - self.mean
        }
    }

    fn scaled(&self, value: f64) -> f64 {
        if self.scale == 0.0 { 0.0 } else { self.centred(value) / self.scale }
    }
}

impl Linear {
    /// Fits the targets (rows × outputs, finite).
    pub(crate) fn fit(rows: Rows<'_>, targets: &[f64], outputs: usize, is_categorical: &[bool]) -> Self {
        let features = rows.columns();
        let mut linear = Self {
            columns: vec![Column::default(); features],
            weights: vec![0.0; features * outputs],
            outputs,
        };
        if features > MAX_FEATURES {
            return linear;
        }
        for (feature, column) in linear.columns.iter_mut().enumerate() {
            if !is_categorical.get(feature).copied().unwrap_or(false) {
                *column = Column::new((0..rows.len()).map(|row| rows.row(row)[feature]));
            }
        }
        let used: Vec<usize> = (0..features).filter(|&feature| linear.columns[feature].scale > 0.0).collect();
        if used.is_empty() {
            return linear;
        }
        let design = Design::new(rows, targets, outputs, &linear.columns, &used);
        for (output, of_used) in design.weights().into_iter().enumerate() {
            for (&feature, weight) in used.iter().zip(of_used) {
                let weight = weight / linear.columns[feature].scale;
                if weight.is_finite() {
                    linear.weights[feature * outputs + output] = weight;
                }
            }
        }
        linear
    }

    /// Writes the summands w_j c_j(x_j) of a row, features × outputs.
    pub(crate) fn summands(&self, row: &[f64], out: &mut [f64]) {
        let features = row.iter().zip(&self.columns).zip(self.weights.chunks_exact(self.outputs));
        for (((value, column), weights), out) in features.zip(out.chunks_exact_mut(self.outputs)) {
            let centred = column.centred(*value);
            out.iter_mut().zip(weights).for_each(|(out, weight)| *out = weight * centred);
        }
    }

    /// Adds the predictions for rows to `out`, rows × outputs.
    pub(crate) fn add(&self, rows: Rows<'_>, out: &mut [f64]) {
        let mut summands = vec![0.0; self.weights.len()];
        for (row, out) in rows.iter().zip(out.chunks_exact_mut(self.outputs)) {
            self.summands(row, &mut summands);
            add_sums(&summands, out);
        }
    }
}

/// Adds the sums of `summands`, features × outputs, over the features to `out`.
pub(crate) fn add_sums(summands: &[f64], out: &mut [f64]) {
    for of_feature in summands.chunks_exact(out.len()) {
        out.iter_mut().zip(of_feature).for_each(|(out, summand)| *out += summand);
    }
}

/// The normal equations of the columns that are used.
struct Design {
    rows: f64,
    gram: Mat<f64>,
    /// Columns × outputs.
    products: Mat<f64>,
    /// The sum of squared deviations of each output from its mean, in units of `units`.
    squares: Vec<f64>,
    /// The number by which the targets of each output were divided: the largest deviation from their mean.
    units: Vec<f64>,
}

impl Design {
    fn new(rows: Rows<'_>, targets: &[f64], outputs: usize, columns: &[Column], used: &[usize]) -> Self {
        let count = used.len();
        let enough = (ROWS_PER_FEATURE * count + MORE_ROWS).max(PRODUCTS / (count * count));
        let step = rows.len().div_ceil(enough).max(1);
        let chosen: Vec<usize> = (0..rows.len()).step_by(step).collect();
        let mut means = vec![0.0; outputs];
        for &row in &chosen {
            let own = &targets[row * outputs..][..outputs];
            means.iter_mut().zip(own).for_each(|(mean, own)| *mean += own / chosen.len() as f64);
        }
        let mut units = vec![0.0f64; outputs];
        for &row in &chosen {
            for ((unit, own), mean) in units.iter_mut().zip(&targets[row * outputs..]).zip(&means) {
                *unit = unit.max((own - mean).abs());
            }
        }
        let mut design = Self {
            rows: chosen.len() as f64,
            gram: Mat::zeros(count, count),
            products: Mat::zeros(count, outputs),
            squares: vec![0.0; outputs],
            units,
        };
        for block in chosen.chunks(BLOCK_ROWS) {
            let values = Mat::from_fn(block.len(), count, |row, at| {
                columns[used[at]].scaled(rows.row(block[row])[used[at]])
            });
            let of_block = Mat::from_fn(block.len(), outputs, |row, output| match design.units[output] {
                0.0 => 0.0,
                unit => (targets[block[row] * outputs + output] - means[output]) / unit,
            });
            design.gram += values.transpose() * &values;
            design.products += values.transpose() * &of_block;
            for (output, squares) in design.squares.iter_mut().enumerate() {
                *squares += of_block.col(output).iter().map(|target| target * target).sum::<f64>();
            }
        }
        design
    }

    /// Returns the weights of the columns for each output; empty for an output without a linear part.
    fn weights(&self) -> Vec<Vec<f64>> {
        let count = self.gram.nrows();
        let Ok(eigen) = self.gram.self_adjoint_eigen(Side::Lower) else { return Vec::new() };
        let eigenvalues: Vec<f64> = (0..count).map(|at| eigen.S()[at].max(0.0)).collect();
        let rotated = eigen.U().transpose() * &self.products;
        let of_output = |output: usize| {
            let rotated: Vec<f64> = (0..count).map(|at| rotated[(at, output)]).collect();
            let Some(ridge) = self.ridge(&eigenvalues, &rotated, self.squares[output]) else {
                return Vec::new();
            };
            let weights: Vec<f64> = rotated
                .iter()
                .zip(&eigenvalues)
                .map(|(q, eta)| self.units[output] * q / (eta + ridge))
                .collect();
            let weights = eigen.U() * Mat::from_fn(count, 1, |at, _| weights[at]);
            (0..count).map(|at| weights[(at, 0)]).collect()
        };
        (0..self.squares.len()).map(of_output).collect()
    }

    /// Returns the ridge with the smallest cross-validation error `RSS/(m − d)²`, where d is the number of
    /// degrees of freedom. Returns `None` if a constant has a smaller error.
    fn ridge(&self, eigenvalues: &[f64], rotated: &[f64], squares: f64) -> Option<f64> {
        let error = |ridge: f64| {
            let fitted = rotated.iter().zip(eigenvalues);
            let fitted: f64 =
                fitted.map(|(q, eta)| q * q * (eta + 2.0 * ridge) / (eta + ridge).powi(2)).sum();
            let degrees = 1.0 + eigenvalues.iter().map(|eta| eta / (eta + ridge)).sum::<f64>();
            let left = self.rows - degrees;
            if left < 1.0 { f64::INFINITY } else { (squares - fitted).max(0.0) / (left * left) }
        };
        let constant = squares / (self.rows - 1.0).max(1.0).powi(2);
        let mut best = (None, constant);
        // Ignore differences due to rounding, so that an exact fit has the smallest ridge.
        for exponent in MIN_EXPONENT..=MAX_EXPONENT {
            let ridge = self.rows * 10f64.powi(exponent);
            let error = error(ridge);
            if error < best.1 - ROUNDING * constant {
                best = (Some(ridge), error);
            }
        }
        best.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: usize, seed: usize) -> Vec<f64> {
        (0..count).map(|at| ((at * 7919 + seed * 104_729 + 13) % 10_007) as f64 / 5003.5 - 1.0).collect()
    }

    fn predicted(linear: &Linear, rows: Rows<'_>) -> Vec<f64> {
        let mut out = vec![0.0; rows.len() * linear.outputs];
        linear.add(rows, &mut out);
        out
    }

    #[test]
    fn linear_functions_are_fitted_exactly() {
        let values = numbers(5 * 300, 1);
        let rows = Rows::new(&values, 5);
        let targets: Vec<f64> =
            rows.iter().flat_map(|row| [3e8 * row[0] - 2e8 * row[4] + 5e8, 1e-9 * row[1]]).collect();
        let linear = Linear::fit(rows, &targets, 2, &[]);
        let found = predicted(&linear, rows);
        for output in 0..2 {
            let shift = targets[output] - found[output];
            for row in 0..300 {
                let error = found[2 * row + output] + shift - targets[2 * row + output];
                assert!(error.abs() < 1e-9 * [1e9, 1e-9][output], "{error}");
            }
        }
    }

    #[test]
    fn missing_values_codes_and_constant_features_have_no_weight() {
        let mut values = numbers(4 * 200, 2);
        for (at, row) in values.chunks_exact_mut(4).enumerate() {
            (row[1], row[2]) = ((at % 5) as f64, 7.0);
            if at % 4 == 0 {
                row[3] = f64::NAN;
            }
        }
        let rows = Rows::new(&values, 4);
        let targets: Vec<f64> = rows.iter().map(|row| row[0] + row[1]).collect();
        let linear = Linear::fit(rows, &targets, 1, &[false, true]);
        assert!((linear.weights[0] - 1.0).abs() < 0.2);
        assert_eq!(linear.weights[1..3], [0.0, 0.0]);
        // Values outside the range count as its ends, and missing values as the mean.
        let far = predicted(&linear, Rows::new(&[f64::INFINITY, 9.0, -1e300, f64::NAN], 4))[0];
        assert!((far - linear.weights[0] * (linear.columns[0].upper - linear.columns[0].mean)).abs() < 1e-12);
    }

    #[test]
    fn noise_with_fewer_rows_than_features_has_small_weights() {
        let values = numbers(40 * 30, 3);
        let targets = numbers(30, 4);
        let linear = Linear::fit(Rows::new(&values, 40), &targets, 1, &[]);
        let found = predicted(&linear, Rows::new(&numbers(40 * 500, 5), 40));
        let squares = found.iter().map(|value| value * value).sum::<f64>() / 500.0;
        assert!(squares < 0.2, "{squares}");
        let constant = Linear::fit(Rows::new(&values, 40), &[2.0; 30], 1, &[]);
        assert!(constant.weights.iter().all(|weight| *weight == 0.0));
    }
}
