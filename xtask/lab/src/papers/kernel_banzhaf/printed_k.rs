//! The matrix K of figure 5, as printed in section 4.2.
//!
//! # Notation
//!
//! ```text
//! K = (AᵀA)^(−½) ÃᵀÃ (AᵀA)^(½)
//! ```
//!
//! A contains the rows of a regression over all coalitions, Ã the sampled rows. With `J = 11ᵀ/n` and the
//! harmonic numbers `H`:
//!
//! | regression | row of a coalition z, 0 < \|z\| < n for Shapley | `AᵀA` |
//! |---|---|---|
//! | Banzhaf | `z − ½` | `2^(n−2) I` (observation 3.1) |
//! | Shapley | `√w z`, `w = 1/(C(n,s) s (n−s))`, s = \|z\| | `1/n (I − J) + (H_{n−1} − (n−1)/n) J` |
//!
//! For Shapley values, a diagonal entry of AᵀA is `Σ_s w C(n−1, s−1) = H_{n−1}/n`, and any other entry is
//! `Σ_s w C(n−2, s−2) = (H_{n−1} − 1)/n`.
//!
//! # What it measures
//!
//! With the exponents −½ and ½, K is similar to ÃᵀÃ and thus has the same eigenvalues: it does not compare Ã
//! with A at all. If Ã contains all rows, K is AᵀA itself, with the condition number 1 for Banzhaf values and
//! `n H_{n−1} − n + 1` for Shapley values (419 for n = 100). Equation 17, with −½ on both sides, gives 1 for
//! both.

use anyhow::{Result, bail};
use apportion::estimators::OptimizedKernelShap;
use apportion::games::Coalitions;
use apportion::samplers::{
    FixedCounts, Order, Pairing, Sampler, SizeDistribution, WithReplacement, ln_choose,
};
use apportion::solvers::add_cross_products;
use faer::Mat;

use super::contender::Contender;

/// Sampled rows of a regression, and their weights (not the square roots of the weights).
struct SampledRows {
    coalitions: Coalitions,
    weights: Vec<f64>,
    /// Number subtracted from every entry of a coalition's 0/1 row.
    origin: f64,
}

/// Number of rows multiplied at once.
const BLOCK: usize = 256;

impl SampledRows {
    /// Draws the rows that the regression of `contender` uses with `budget` evaluations, which must not cover
    /// all coalitions.
    fn draw(contender: Contender, players: usize, budget: usize, seed: u64) -> Result<Self> {
        let rows = budget - 2;
        match contender {
            Contender::KernelBanzhaf => {
                let distribution = SizeDistribution::binomial(players)?;
                let sample = WithReplacement { distribution, pairing: Pairing::Paired }.sample(rows, seed)?;
                let coalitions = sample.into_coalitions();
                Ok(Self { weights: vec![1.0; coalitions.len()], coalitions, origin: 0.5 })
            }
            Contender::LeverageShap => {
                let (distribution, order) = (SizeDistribution::leverage(players)?, Order::Fixed);
                let sample =
                    FixedCounts { distribution, pairing: Pairing::Paired, order }.sample(rows, seed)?;
                let weight =
                    |size: usize| (ln_kernel(players, size) - sample.strata()[size].ln_inclusion()).exp();
                let weights = sample.coalitions().iter().map(|row| weight(row.size())).collect();
                Ok(Self { weights, coalitions: sample.into_coalitions(), origin: 0.0 })
            }
            Contender::OptimizedKernelShap => {
                let (coalitions, weights) = OptimizedKernelShap::weighted_coalitions(players, budget, seed)?;
                Ok(Self { coalitions, weights, origin: 0.0 })
            }
            _ => bail!(
                "K is not defined for this estimator; expected one of the three regressions of figure 5"
            ),
        }
    }

    /// Returns the Gram matrix ÃᵀÃ of the sampled rows.
    fn gram(&self) -> Vec<f64> {
        let n = self.coalitions.players();
        let mut gram = vec![0.0; n * n];
        let mut columns = Vec::with_capacity(BLOCK * n);
        let rows: Vec<_> = self.coalitions.iter().zip(&self.weights).collect();
        for block in rows.chunks(BLOCK) {
            columns.clear();
            for &(row, weight) in block {
                let root = weight.sqrt();
                columns.extend(
                    (0..n).map(|player| root * (f64::from(u8::from(row.contains(player))) - self.origin)),
                );
            }
            add_cross_products(&columns, &columns, (n, n), &mut gram);
        }
        gram
    }
}

/// Returns the logarithm of the Shapley kernel, `ln 1/(C(n,s) s (n−s))`.
fn ln_kernel(players: usize, size: usize) -> f64 {
    -ln_choose(players, size) - ((size * (players - size)) as f64).ln()
}

/// Returns the eigenvalues of AᵀA on the vectors that sum to zero, and on the vector of ones. For Banzhaf
/// values, they are divided by `2^(n−2)`.
fn eigenvalues(contender: Contender, players: usize) -> [f64; 2] {
    if contender == Contender::KernelBanzhaf {
        return [1.0; 2];
    }
    let n = players as f64;
    let harmonic: f64 = (1..players).map(|i| 1.0 / i as f64).sum();
    [1.0 / n, harmonic - (n - 1.0) / n]
}

/// Returns the condition number of K as printed: its largest singular value divided by its smallest.
pub(super) fn condition_number(
    contender: Contender,
    players: usize,
    budget: usize,
    seed: u64,
) -> Result<f64> {
    condition_of(SampledRows::draw(contender, players, budget, seed)?.gram(), eigenvalues(contender, players))
}

/// Returns the condition number of K for a Gram matrix ÃᵀÃ, given the eigenvalues of AᵀA.
fn condition_of(mut gram: Vec<f64>, eigenvalues: [f64; 2]) -> Result<f64> {
    let n = gram.len().isqrt();
    let power = |exponent: f64| eigenvalues.map(|value| value.powf(exponent));
    // With (AᵀA)^p = a (I − J) + b J, first multiply by the power −½ from the left, column by column, then by
    // the power ½ from the right, row by row.
    for (exponent, stride, step) in [(-0.5, 1, n), (0.5, n, 1)] {
        let [a, b] = power(exponent);
        for first in (0..n).map(|line| line * step) {
            let mean = (0..n).map(|at| gram[first + at * stride]).sum::<f64>() / n as f64;
            for at in 0..n {
                let entry = &mut gram[first + at * stride];
                *entry = a * (*entry - mean) + b * mean;
            }
        }
    }
    let k = Mat::from_fn(n, n, |row, column| gram[row + column * n]);
    let Ok(singular) = k.singular_values() else { bail!("the singular values of K did not converge") };
    let largest = singular.iter().copied().fold(0.0, f64::max);
    let smallest = singular.iter().copied().fold(f64::INFINITY, f64::min);
    // A singular value below this bound is rounding error: K is singular, because there are fewer rows than
    // players.
    let is_singular = smallest <= 1e-13 * largest;
    Ok(if is_singular { f64::INFINITY } else { largest / smallest })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::Compete;
    use apportion::games::SumOfUnanimity;
    use faer::Side;

    const REGRESSIONS: [Contender; 3] = Contender::REGRESSIONS;

    /// Builds the matrix A row by row, by definition.
    fn all_rows(contender: Contender, players: usize) -> Mat<f64> {
        let z = |mask: usize, player: usize| f64::from(u8::from(mask >> player & 1 == 1));
        if contender == Contender::KernelBanzhaf {
            return Mat::from_fn(1 << players, players, |mask, player| z(mask, player) - 0.5);
        }
        Mat::from_fn((1 << players) - 2, players, |row, player| {
            let size = (row + 1).count_ones() as usize;
            let among = (1..=size).map(|i| (players + 1 - i) as f64 / i as f64).product::<f64>();
            z(row + 1, player) / (among * (size * (players - size)) as f64).sqrt()
        })
    }

    /// Computes a power of a symmetric matrix from its eigenvectors.
    fn power(matrix: &Mat<f64>, exponent: f64) -> Mat<f64> {
        let eigen = matrix.self_adjoint_eigen(Side::Lower).unwrap();
        let (n, vectors) = (matrix.nrows(), eigen.U());
        let scaled = Mat::from_fn(n, n, |i, j| vectors[(i, j)] * eigen.S()[j].powf(exponent));
        scaled * vectors.transpose()
    }

    fn of_rows(rows: &SampledRows) -> Mat<f64> {
        Mat::from_fn(rows.weights.len(), rows.coalitions.players(), |row, player| {
            let z = f64::from(u8::from(rows.coalitions.row(row).contains(player)));
            rows.weights[row].sqrt() * (z - rows.origin)
        })
    }

    fn ratio_of_singular_values(matrix: &Mat<f64>) -> f64 {
        let singular = matrix.singular_values().unwrap();
        singular[0] / singular[singular.len() - 1]
    }

    #[test]
    fn the_eigenvalues_are_those_of_the_regression_over_all_coalitions() {
        for players in 2..=8 {
            for contender in REGRESSIONS {
                let a = all_rows(contender, players);
                let gram = a.transpose() * &a;
                let [plane, ones] = eigenvalues(contender, players);
                let unit =
                    if contender == Contender::KernelBanzhaf { 2f64.powi(players as i32 - 2) } else { 1.0 };
                let n = players as f64;
                for i in 0..players {
                    for j in 0..players {
                        let identity = if i == j { plane } else { 0.0 };
                        let want = unit * (identity + (ones - plane) / n);
                        assert!((gram[(i, j)] - want).abs() < 1e-12 * unit, "{players} players: {i}, {j}");
                    }
                }
            }
        }
    }

    #[test]
    fn k_is_the_product_of_the_three_matrices() {
        for (players, budget) in [(4, 12), (6, 40), (7, 60), (8, 120)] {
            for contender in REGRESSIONS {
                for seed in 0..5 {
                    let rows = SampledRows::draw(contender, players, budget, seed).unwrap();
                    let (a, sampled) = (all_rows(contender, players), of_rows(&rows));
                    let whole = a.transpose() * &a;
                    let k = power(&whole, -0.5) * (sampled.transpose() * &sampled) * power(&whole, 0.5);
                    let want = ratio_of_singular_values(&k);
                    let got = condition_number(contender, players, budget, seed).unwrap();
                    if want < 1e10 {
                        assert!((got / want - 1.0).abs() < 1e-8, "{players}: {got} for {want}");
                    } else {
                        assert!(got > 1e9, "{players}: {got} for {want}");
                    }
                }
            }
        }
    }

    #[test]
    fn rows_and_weights_are_those_that_the_estimators_regress_on() {
        for (players, budget) in [(6, 40), (8, 120), (9, 200)] {
            let game = SumOfUnanimity::random(players, 20, 3, 1);
            for contender in REGRESSIONS {
                let rows = SampledRows::draw(contender, players, budget, 3).unwrap();
                let sampled = of_rows(&rows);
                let gram = sampled.transpose() * &sampled;
                let n = players as f64;
                let shift = if contender == Contender::KernelBanzhaf { 0.0 } else { 1.0 / n };
                let centring = Mat::from_fn(players, players, |i, j| f64::from(u8::from(i == j)) - shift);
                let eigen = (&centring * gram * &centring).self_adjoint_eigenvalues(Side::Lower).unwrap();
                let least = if shift == 0.0 { eigen[0] } else { eigen[1] };
                let want = eigen[players - 1] / least;
                let got = contender.estimator().estimate(&game, budget, 3).unwrap();
                let got = got.diagnostics.condition_number.unwrap();
                assert!((got / want - 1.0).abs() < 1e-6, "{} {players}: {got} for {want}", contender.title());
            }
        }
    }

    #[test]
    fn with_all_rows_k_is_not_the_identity_for_shapley_values() {
        for players in [3, 5, 8] {
            for contender in REGRESSIONS {
                let a = all_rows(contender, players);
                let gram = a.transpose() * &a;
                let gram = (0..players * players).map(|at| gram[(at % players, at / players)]).collect();
                let got = condition_of(gram, eigenvalues(contender, players)).unwrap();
                let (n, harmonic) = (players as f64, (1..players).map(|i| 1.0 / i as f64).sum::<f64>());
                let want = if contender == Contender::KernelBanzhaf { 1.0 } else { n * harmonic - n + 1.0 };
                assert!((got / want - 1.0).abs() < 1e-10, "{players}: {got} for {want}");
            }
        }
    }
}
