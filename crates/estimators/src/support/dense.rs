//! Least squares with a dense matrix, for regressions on products of players.

/// A weighted regression in which the first coefficients have a known sum.
///
/// ```text
/// argmin Σ_k w_k (x_kᵀ β − y_k)²,    Σ_{j ∈ among} β_j = b
/// ```
///
/// The q coefficients with the sum b are `β = b/q + z − z̄`, where z is unconstrained and z̄ is its mean.
/// This yields the unconstrained regression of `y_k − b x̄_k` on x_k, where x̄_k, the mean of the row over
/// these q columns, is subtracted from the entries in them.
pub(crate) struct SumRegression {
    columns: usize,
    /// The number of leading columns whose coefficients have the known sum.
    among: usize,
    /// The entries √w (x − x̄), row-major; x̄ is subtracted in the first `among` columns only.
    entries: Vec<f64>,
    /// The weighted mean √w x̄ of each row.
    means: Vec<f64>,
    roots: Vec<f64>,
}

/// The maximum number of steps of the solver, relative to the number of unknowns.
const MAX_STEPS: usize = 4;
const TOLERANCE: f64 = 1e-13;

impl SumRegression {
    /// Creates the regression from entries in row-major order. The coefficients of the first `among` columns
    /// have the known sum.
    pub(crate) fn new(mut entries: Vec<f64>, columns: usize, among: usize, weights: &[f64]) -> Self {
        let roots: Vec<f64> = weights.iter().map(|weight| weight.sqrt()).collect();
        let mut means = Vec::with_capacity(roots.len());
        for (row, root) in entries.chunks_exact_mut(columns.max(1)).zip(&roots) {
            let mean = row[..among].iter().sum::<f64>() / among.max(1) as f64;
            row[..among].iter_mut().for_each(|entry| *entry -= mean);
            row.iter_mut().for_each(|entry| *entry *= root);
            means.push(root * mean);
        }
        Self { columns, among, entries, means, roots }
    }

    /// Returns the coefficients, computed by conjugate gradients on the normal equations, with minimum norm
    /// if they are not unique. Takes `O(rows · columns)` time per step.
    pub(crate) fn solve(&self, targets: &[f64], sum: f64) -> Vec<f64> {
        let rows = || self.entries.chunks_exact(self.columns.max(1));
        let mut left: Vec<f64> = targets
            .iter()
            .zip(&self.roots)
            .zip(&self.means)
            .map(|((target, root), mean)| root * target - sum * mean)
            .collect();
        let transposed = |numbers: &[f64]| {
            let mut product = vec![0.0; self.columns];
            for (row, number) in rows().zip(numbers) {
                product.iter_mut().zip(row).for_each(|(sum, entry)| *sum += entry * number);
            }
            product
        };
        let square = |numbers: &[f64]| numbers.iter().map(|x| x * x).sum::<f64>();
        let mut solution = vec![0.0; self.columns];
        let mut gradient = transposed(&left);
        let mut direction = gradient.clone();
        let mut steep = square(&gradient);
        let enough = TOLERANCE * TOLERANCE * steep;
        for _ in 0..MAX_STEPS * self.columns.min(self.roots.len()) + 8 {
            if steep <= enough {
                break;
            }
            let image: Vec<f64> =
                rows().map(|row| row.iter().zip(&direction).map(|(entry, d)| entry * d).sum()).collect();
            let step = steep / square(&image);
            if !step.is_finite() {
                break;
            }
            solution.iter_mut().zip(&direction).for_each(|(x, d)| *x += step * d);
            left.iter_mut().zip(&image).for_each(|(r, i)| *r -= step * i);
            gradient = transposed(&left);
            let next = square(&gradient);
            direction.iter_mut().zip(&gradient).for_each(|(d, g)| *d = g + next / steep * *d);
            steep = next;
        }
        let among = &mut solution[..self.among];
        let count = among.len().max(1) as f64;
        let mean = among.iter().sum::<f64>() / count;
        among.iter_mut().for_each(|x| *x += sum / count - mean);
        solution
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fit_without_error_is_found_under_its_sum() {
        let (rows, columns, among) = (30, 7, 4);
        let entries: Vec<f64> =
            (0..rows * columns).map(|at| f64::from((at * at * 31 % 17) as u32) - 8.0).collect();
        let expected = [1.0, -2.0, 0.5, 3.0, 4.0, -1.0, 0.25];
        let targets: Vec<f64> = entries
            .chunks_exact(columns)
            .map(|row| row.iter().zip(expected).map(|(a, b)| a * b).sum())
            .collect();
        let weights: Vec<f64> = (1..=rows).map(|row| row as f64).collect();
        let got = SumRegression::new(entries, columns, among, &weights).solve(&targets, 2.5);
        assert!(got.iter().zip(expected).all(|(got, want)| (got - want).abs() < 1e-9), "{got:?}");
    }

    #[test]
    fn the_gradient_of_a_fit_with_error_is_the_same_for_all_that_share_the_sum() {
        let (rows, columns, among) = (40, 6, 5);
        let entries: Vec<f64> =
            (0..rows * columns).map(|at| f64::from((at * at * 13 % 23) as u32) - 11.0).collect();
        let targets: Vec<f64> = (0..rows).map(|row| f64::from((row * row % 19) as u32)).collect();
        let weights: Vec<f64> = (1..=rows).map(|row| 1.0 / row as f64).collect();
        let got = SumRegression::new(entries.clone(), columns, among, &weights).solve(&targets, -1.5);
        let mut gradient = vec![0.0; columns];
        for ((row, target), weight) in entries.chunks_exact(columns).zip(&targets).zip(&weights) {
            let left = target - row.iter().zip(&got).map(|(a, b)| a * b).sum::<f64>();
            gradient.iter_mut().zip(row).for_each(|(sum, entry)| *sum += weight * left * entry);
        }
        assert!((got[..among].iter().sum::<f64>() + 1.5).abs() < 1e-12);
        assert!(gradient[..among].iter().all(|g| (g - gradient[0]).abs() < 1e-8), "{gradient:?}");
        assert!(gradient[among].abs() < 1e-8, "{gradient:?}");
    }

    #[test]
    fn nothing_to_solve_gives_equal_parts() {
        let got = SumRegression::new(Vec::new(), 3, 3, &[]).solve(&[], 6.0);
        assert_eq!(got, [2.0; 3]);
    }
}
