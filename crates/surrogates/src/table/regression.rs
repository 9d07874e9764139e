//! The regression of residuals on pairs of coalitions, and its errors.
//!
//! # Notation
//!
//! `d_i` is the odd part (ρ(S) − ρ(N∖S))/2 of the residuals of pair i; `a_i` has the entries ½ for the
//! players in S and −½ for the others, minus their mean if the values have a given sum D; `w_i` is the weight
//! of the pair in the regression that defines the value, divided by the probability that it is drawn. G = Σ
//! w_i a_i a_iᵀ has the eigenvalues γ_j and the eigenvectors V.
//!
//! ```text
//! φ = D/n + u,   u = argmin Σ_i w_i (d_i − a_iᵀ(D/n) − a_iᵀu)² + λ‖u‖²
//! ```
//!
//! # Shrinkage
//!
//! λ is the ratio of the variance of the noise to the variance of the entries of u, by the largest marginal
//! likelihood, if both are normal. If the residuals contain nothing but noise, λ is large and u is nearly 0.
//!
//! # Errors
//!
//! The variance of u is estimated from the residuals of the regression (HC2: MacKinnon and White, 1985), with
//! the influence of pair i
//!
//! ```text
//! ψ_i = (G + λ)⁻¹ a_i w_i e_i (1 − h_i)^−½
//! ```
//!
//! The draws are balanced over the background rows, so differences between these do not contribute: the
//! means of ψ over the pairs of a background row are subtracted, with the usual factor for the degrees of
//! freedom. The same holds for coalitions that are drawn several times. Each class is drawn without
//! replacement, which reduces its variance by the share that is drawn. The squared bias of the shrinkage,
//! λσ²(G + λ)⁻², is added.

use apportion_games::memory;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par, Side};

use super::draws::Draws;
use crate::error::Result;

/// The smallest value of 1 − h_i.
const MIN_REST: f64 = 0.05;
/// Eigenvalues up to this fraction of the largest one count as zero.
const RANK: f64 = 1e-11;
/// The number of ratios λ that are compared, and the ratio between two of them.
const RATIOS: usize = 41;
const STEP: f64 = 1.7;

/// The residuals of one explicand.
pub(crate) struct OddResiduals<'a> {
    pub(crate) draws: &'a Draws,
    /// d: pairs × outputs.
    pub(crate) targets: &'a [f64],
    /// w: one positive weight per pair.
    pub(crate) weights: &'a [f64],
    pub(crate) outputs: usize,
    /// D, the sum of the values of each output, if it is given.
    pub(crate) sum: Option<&'a [f64]>,
    /// The weight and the target d of the pair {∅, N}, which is known without error.
    pub(crate) ends: Option<(f64, &'a [f64])>,
}

/// The values of the residuals.
#[derive(Debug, Clone, Default)]
pub(crate) struct Correction {
    /// n × outputs.
    pub(crate) values: Vec<f64>,
    /// The variances of the values: n × outputs.
    pub(crate) variances: Vec<f64>,
    /// The number of pairs minus the number of coefficients that were fitted, at least 1.
    pub(crate) degrees: f64,
    /// (tr Σ)² / tr Σ² of the covariance matrix of each output.
    pub(crate) directions: Vec<f64>,
    pub(crate) rank: usize,
    /// The weighted sum of squares of the residuals that are left, one per output.
    pub(crate) rest: Vec<f64>,
}

/// The design in the basis of eigenvectors.
struct Basis {
    /// √w_i a_i in the basis: pairs × rank.
    scaled: Mat<f64>,
    vectors: Mat<f64>,
    eigenvalues: Vec<f64>,
    /// Weights, normalized to the mean 1.
    weights: Vec<f64>,
}

impl OddResiduals<'_> {
    /// Returns the entry of a player in the row of a pair, before its mean is subtracted.
    fn sign(&self, pair: usize, player: usize) -> f64 {
        if pair == self.draws.len() {
            return 0.5; // The pair {∅, N}.
        }
        let word = self.draws.coalition(pair)[player / 64];
        if word >> (player % 64) & 1 == 1 { 0.5 } else { -0.5 }
    }

    /// Returns the number of rows, with the pair {∅, N}.
    fn rows(&self) -> usize {
        self.draws.len() + usize::from(self.ends.is_some())
    }

    fn target(&self, row: usize, output: usize) -> f64 {
        match self.ends {
            Some((_, targets)) if row == self.draws.len() => targets[output],
            _ => self.targets[row * self.outputs + output],
        }
    }

    /// Computes the values and their errors.
    pub(crate) fn solve(&self) -> Result<Correction> {
        let (rows, players) = (self.rows(), self.draws.players);
        memory::check(
            memory::product([rows + players, players, 32]),
            || format!("the regression on {rows} pairs of {players} features"),
            "use a smaller budget, or combine features into groups",
        )?;
        let basis = self.basis();
        let mut correction = Correction {
            values: vec![0.0; players * self.outputs],
            variances: vec![0.0; players * self.outputs],
            rank: basis.eigenvalues.len(),
            ..Correction::default()
        };
        let mut fitted: f64 = 0.0;
        for output in 0..self.outputs {
            fitted = fitted.max(self.solve_output(&basis, output, &mut correction));
        }
        correction.degrees = (rows as f64 - fitted).max(1.0);
        Ok(correction)
    }

    fn basis(&self) -> Basis {
        let (rows, players) = (self.rows(), self.draws.players);
        let ends = self.ends.map(|(weight, _)| weight);
        let weights: Vec<f64> = self.weights.iter().copied().chain(ends).collect();
        let mean = weights.iter().sum::<f64>() / rows.max(1) as f64;
        let weights: Vec<f64> = weights.iter().map(|weight| weight / mean).collect();
        let means: Vec<f64> = (0..rows)
            .map(|row| match self.sum {
                None => 0.0,
                Some(_) => {
                    (0..players).map(|player| self.sign(row, player)).sum::<f64>() / players as f64
                }
            })
            .collect();
        let roots: Vec<f64> = weights.iter().map(|weight| weight.sqrt()).collect();
        let design = Mat::from_fn(rows, players, |row, player| {
            roots[row] * (self.sign(row, player) - means[row])
        });
        let mut gram = Mat::zeros(players, players);
        matmul(&mut gram, Accum::Replace, design.transpose(), &design, 1.0, Par::Seq);
        let Ok(eigen) = gram.self_adjoint_eigen(Side::Lower) else {
            // Without an eigen-decomposition, the values are those of the surrogate.
            let (scaled, vectors) = (Mat::zeros(rows, 0), Mat::zeros(players, 0));
            return Basis { scaled, vectors, eigenvalues: Vec::new(), weights };
        };
        let all: Vec<f64> = (0..players).map(|at| eigen.S()[at]).collect();
        let largest = all.iter().copied().fold(0.0, f64::max);
        // Under the constraint, the vector of ones has the eigenvalue 0.
        let kept: Vec<usize> = (0..players).filter(|&at| all[at] > RANK * largest).collect();
        let vectors = Mat::from_fn(players, kept.len(), |player, at| eigen.U()[(player, kept[at])]);
        let mut scaled = Mat::zeros(rows, kept.len());
        matmul(&mut scaled, Accum::Replace, &design, &vectors, 1.0, Par::Seq);
        Basis { scaled, vectors, eigenvalues: kept.iter().map(|&at| all[at]).collect(), weights }
    }

    /// Computes the values of one output, and returns the number of fitted coefficients.
    fn solve_output(&self, basis: &Basis, output: usize, correction: &mut Correction) -> f64 {
        let (rows, players) = (self.rows(), self.draws.players);
        let rank = basis.eigenvalues.len();
        let share = self.sum.map_or(0.0, |sum| sum[output] / players as f64);
        // Rows of the constrained regression are centred, so the part D/n of the values is a multiple of the
        // sum of their signs.
        let part = |row: usize| match self.sum {
            None => 0.0,
            Some(_) => share * (0..players).map(|player| self.sign(row, player)).sum::<f64>(),
        };
        let targets: Vec<f64> = (0..rows)
            .map(|row| basis.weights[row].sqrt() * (self.target(row, output) - part(row)))
            .collect();
        let column = |at: usize| basis.scaled.col(at).iter();
        let products: Vec<f64> =
            (0..rank).map(|at| column(at).zip(&targets).map(|(x, target)| x * target).sum()).collect();
        let squares: f64 = targets.iter().map(|target| target * target).sum();
        let (lambda, noise) = shrinkage(&basis.eigenvalues, &products, squares, rows);
        let inverse: Vec<f64> = basis.eigenvalues.iter().map(|gamma| 1.0 / (gamma + lambda)).collect();
        let coefficients: Vec<f64> = products.iter().zip(&inverse).map(|(product, inv)| product * inv).collect();
        let mut errors = targets;
        let mut hats = vec![0.0; rows];
        for at in 0..rank {
            for ((error, hat), x) in errors.iter_mut().zip(&mut hats).zip(column(at)) {
                *error -= x * coefficients[at];
                *hat += x * x * inverse[at];
            }
        }
        let fitted: f64 = basis.eigenvalues.iter().zip(&inverse).map(|(gamma, inv)| gamma * inv).sum();
        let covariance = self.covariance(basis, &errors, &hats, &inverse);
        let bias: Vec<f64> = inverse.iter().map(|inv| lambda * noise * inv * inv).collect();
        let (mut trace, mut trace_of_square) = (0.0, 0.0);
        for one in 0..rank {
            for other in 0..rank {
                let entry = covariance[(one, other)] + if one == other { bias[one] } else { 0.0 };
                trace_of_square += entry * entry;
                trace += if one == other { entry } else { 0.0 };
            }
        }
        let mut spread = Mat::<f64>::zeros(players, rank);
        matmul(&mut spread, Accum::Replace, &basis.vectors, &covariance, 1.0, Par::Seq);
        for player in 0..players {
            let at = player * self.outputs + output;
            let (mut value, mut variance) = (share, 0.0);
            for j in 0..rank {
                let v = basis.vectors[(player, j)];
                value += v * coefficients[j];
                variance += v * spread[(player, j)] + v * v * bias[j];
            }
            correction.values[at] = value;
            correction.variances[at] = variance.max(0.0);
        }
        correction.directions.push(if trace_of_square > 0.0 { trace * trace / trace_of_square } else { 1.0 });
        correction.rest.push(errors.iter().map(|error| error * error).sum());
        fitted
    }

    /// Returns the covariance matrix of the coefficients that results from drawing pairs: rank × rank.
    fn covariance(&self, basis: &Basis, errors: &[f64], hats: &[f64], inverse: &[f64]) -> Mat<f64> {
        // The pair {∅, N} is known without error.
        let (pairs, rank) = (self.draws.len(), inverse.len());
        let factors: Vec<f64> =
            errors.iter().zip(hats).map(|(error, hat)| error / (1.0 - hat).max(MIN_REST).sqrt()).collect();
        let mut influences =
            Mat::from_fn(pairs, rank, |pair, at| basis.scaled[(pair, at)] * factors[pair] * inverse[at]);
        let rows = self.draws.background.iter().map(|&row| Some(row as usize));
        without_means(&mut influences, rows);
        let repeated = self.draws.repeated.iter().map(|&number| Some(number as usize));
        without_means(&mut influences, repeated.map(|number| number.filter(|&number| number != u32::MAX as usize)));
        let left: Vec<f64> =
            (0..pairs).map(|pair| (1.0 - self.draws.stratum(pair).share).max(0.0).sqrt()).collect();
        for at in 0..rank {
            for (influence, left) in influences.col_mut(at).iter_mut().zip(&left) {
                *influence *= left;
            }
        }
        let mut covariance = Mat::zeros(rank, rank);
        matmul(&mut covariance, Accum::Replace, influences.transpose(), &influences, 1.0, Par::Seq);
        covariance
    }
}

/// Subtracts the mean of the rows of each group, if all groups have two or more rows on average, and scales
/// the rest by `√(m/(m − 1))`. Groups are numbered; rows without a number are unchanged.
fn without_means(influences: &mut Mat<f64>, groups: impl Iterator<Item = Option<usize>>) {
    let groups: Vec<Option<usize>> = groups.collect();
    let count = groups.iter().flatten().max().map_or(0, |max| max + 1);
    let mut sizes = vec![0.0f64; count];
    groups.iter().flatten().for_each(|&group| sizes[group] += 1.0);
    let (used, rows) = (sizes.iter().filter(|size| **size > 0.0).count(), groups.iter().flatten().count());
    if rows < 2 * used {
        return;
    }
    for at in 0..influences.ncols() {
        let mut means = vec![0.0; count];
        for (influence, group) in influences.col(at).iter().zip(&groups) {
            if let Some(group) = *group {
                means[group] += influence / sizes[group];
            }
        }
        for (influence, group) in influences.col_mut(at).iter_mut().zip(&groups) {
            if let Some(group) = group.filter(|&group| sizes[group] >= 2.0) {
                *influence = (*influence - means[group]) * (sizes[group] / (sizes[group] - 1.0)).sqrt();
            }
        }
    }
}

/// Returns the ratio λ with the largest marginal likelihood, and the variance of the noise for it.
fn shrinkage(eigenvalues: &[f64], products: &[f64], squares: f64, rows: usize) -> (f64, f64) {
    let rank = eigenvalues.len().max(1) as f64;
    let mean = eigenvalues.iter().sum::<f64>() / rank;
    if mean <= 0.0 {
        return (1.0, squares / rows.max(1) as f64);
    }
    let m = rows.max(1) as f64;
    let mut best = (f64::NEG_INFINITY, (mean, 0.0));
    for step in 0..RATIOS {
        let lambda = mean * STEP.powi(step as i32 - RATIOS as i32 / 2);
        let fitted: f64 =
            eigenvalues.iter().zip(products).map(|(gamma, product)| product * product / (gamma + lambda)).sum();
        let noise = (squares - fitted).max(1e-14 * squares) / m;
        let determinant: f64 = eigenvalues.iter().map(|gamma| (gamma / lambda).ln_1p()).sum();
        let likelihood = -0.5 * (m * noise.max(f64::MIN_POSITIVE).ln() + determinant);
        if likelihood > best.0 {
            best = (likelihood, (lambda, noise));
        }
    }
    best.1
}
