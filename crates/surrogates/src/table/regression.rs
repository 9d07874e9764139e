//! The regression of residuals on pairs of coalitions, and its errors.
//!
//! # Notation
//!
//! `d_i` is the odd part (ρ(S) − ρ(N∖S))/2 of the residuals of pair i, with the background row z; `a_i` has
//! the entries ½ for the players in S and −½ for the others, minus m times their sum (for Shapley values, m
//! is 1/n); `w_i` is the weight of the pair in the regression that defines the value, divided by the
//! probability that it is drawn; p_z is the weight of background row z. For every background row z, the sum
//! D_z of the values with only this row is known, so it is subtracted first.
//!
//! ```text
//! d_i = a_iᵀ(D_z/n + u + δ_z) + noise,      φ = D/n + u + Σ_z p_z δ_z
//! ```
//!
//! u is shared by all background rows, and δ_z is the deviation for background row z. The entries of u and
//! δ_z are normal with variances that are λ and κ times less than that of the noise ([`super::shrinkage`]).
//! For large κ, this is one regression for all background rows; for small κ, one for each of them.
//!
//! With G_z = Σ w_i a_i a_iᵀ over the pairs of z, M_z = (G_z + κ)⁻¹, H = Σ_z κ M_z G_z, K = Σ_z p_z κ M_z,
//! the influence of pair i on the values is
//!
//! ```text
//! c_i = (K (H + λ)⁻¹ κ M_z + p_z M_z) a_i w_i
//! ```
//!
//! # Errors
//!
//! The variance is estimated from the residuals e_i of the regression (HC2: MacKinnon and White, 1985), as
//! the sum of the squares of `c_i e_i (1 − h_i)^−½`, where h_i is the leverage of pair i. The draws are
//! balanced over the background rows, so differences between background rows do not contribute: the means
//! over the pairs of a background row are subtracted, with the usual factor for the degrees of freedom. The
//! same holds for coalitions that are drawn several times. Each class is drawn without replacement, which
//! reduces its variance by the share that is drawn. The posterior variance that the shrinkage of u and δ_z
//! causes is added.

use apportion_games::memory;
use faer::{Mat, Side};

use super::basis::{Basis, product};
use super::draws::Draws;
use super::shrinkage::{Level, Shrinkage};
use crate::error::Result;

/// Lower bound for 1 − h_i in the estimate of the variance.
const MIN_REST: f64 = 0.05;
/// Eigenvalues up to this fraction of the largest one count as zero.
const RANK: f64 = 1e-11;
/// The maximum number of players for which background rows have separate values δ_z, whose cost is cubic.
const MAX_SEPARATE: usize = 64;

/// The residuals of one explicand.
pub(crate) struct OddResiduals<'a> {
    pub(crate) draws: &'a Draws,
    /// d: pairs × outputs.
    pub(crate) targets: &'a [f64],
    /// w: one positive weight per pair.
    pub(crate) weights: &'a [f64],
    /// m: the fraction of the sum of the entries ±½ of a row that is subtracted from each of them.
    pub(crate) centring: f64,
    /// p: the weights of the background rows.
    pub(crate) shares: &'a [f64],
    pub(crate) outputs: usize,
    /// D, the sum of the values of each output.
    pub(crate) sums: &'a [f64],
    /// D_z for the background row of each pair: pairs × outputs.
    pub(crate) pair_sums: &'a [f64],
}

/// The values of the residuals.
#[derive(Debug, Clone, Default)]
pub(crate) struct Correction {
    /// The values: n × outputs.
    pub(crate) values: Vec<f64>,
    /// The variances of the values: n × outputs.
    pub(crate) variances: Vec<f64>,
    /// The number of pairs minus the number of coefficients that were fitted, at least 1.
    pub(crate) left: f64,
    /// The degrees of freedom of the variances: at most `left`, fewer if few pairs contribute most of the
    /// variance, or if much of it is due to the shrinkage.
    pub(crate) degrees: f64,
    /// (tr Σ)² / tr Σ² of the covariance matrix of each output.
    pub(crate) directions: Vec<f64>,
    pub(crate) rank: usize,
    /// The weighted residual sum of squares of each output.
    pub(crate) rest: Vec<f64>,
}

impl OddResiduals<'_> {
    /// Computes the values and their errors.
    pub(crate) fn solve(&self) -> Result<Correction> {
        let (pairs, players) = (self.draws.len(), self.draws.players);
        memory::check(
            memory::product([pairs + players, players, 40]),
            || format!("the regression on {pairs} pairs of {players} features"),
            "use a smaller budget, or combine features into groups",
        )?;
        let basis = self.basis();
        let levels = Level::all(&basis, self.shares);
        let mut correction = Correction {
            values: vec![0.0; players * self.outputs],
            variances: vec![0.0; players * self.outputs],
            rank: basis.eigenvalues.len(),
            left: pairs.max(1) as f64,
            degrees: pairs.max(1) as f64,
            ..Correction::default()
        };
        for output in 0..self.outputs {
            self.solve_output(&basis, &levels, output, &mut correction);
        }
        Ok(correction)
    }

    fn basis(&self) -> Basis {
        let (pairs, players) = (self.draws.len(), self.draws.players);
        let mean = self.weights.iter().sum::<f64>() / pairs.max(1) as f64;
        let roots: Vec<f64> = self.weights.iter().map(|weight| (weight / mean).sqrt()).collect();
        let means: Vec<f64> = (0..pairs).map(|pair| self.centring * self.sum_of_signs(pair)).collect();
        let design = Mat::from_fn(pairs, players, |pair, player| {
            let word = self.draws.coalition(pair)[player / 64];
            let sign = if word >> (player % 64) & 1 == 1 { 0.5 } else { -0.5 };
            roots[pair] * (sign - means[pair])
        });
        let gram = product(design.transpose(), design.as_ref());
        let mut blocks = Vec::new();
        if players <= MAX_SEPARATE && self.shares.len() > 1 && pairs >= 2 * self.shares.len() {
            blocks = vec![Vec::new(); self.shares.len()];
            (0..pairs).for_each(|pair| blocks[self.draws.background[pair] as usize].push(pair));
        }
        let Ok(eigen) = gram.self_adjoint_eigen(Side::Lower) else {
            // If the eigendecomposition fails, the values are those of the surrogate.
            let (scaled, vectors) = (Mat::zeros(pairs, 0), Mat::zeros(players, 0));
            return Basis { scaled, vectors, eigenvalues: Vec::new(), roots, blocks: Vec::new() };
        };
        let all: Vec<f64> = (0..players).map(|at| eigen.S()[at]).collect();
        let largest = all.iter().copied().fold(0.0, f64::max);
        // For Shapley values, the vector of ones has the eigenvalue 0.
        let kept: Vec<usize> = (0..players).filter(|&at| all[at] > RANK * largest).collect();
        let vectors = Mat::from_fn(players, kept.len(), |player, at| eigen.U()[(player, kept[at])]);
        let scaled = product(design.as_ref(), vectors.as_ref());
        Basis { scaled, vectors, eigenvalues: kept.iter().map(|&at| all[at]).collect(), roots, blocks }
    }

    /// Returns the sum of the entries ±½ of a pair.
    fn sum_of_signs(&self, pair: usize) -> f64 {
        let size: u32 = self.draws.coalition(pair).iter().map(|word| word.count_ones()).sum();
        f64::from(size) - 0.5 * self.draws.players as f64
    }

    /// Computes the values of one output.
    fn solve_output(&self, basis: &Basis, levels: &[Level], output: usize, correction: &mut Correction) {
        let (pairs, players) = (self.draws.len(), self.draws.players);
        let targets: Vec<f64> = (0..pairs)
            .map(|pair| {
                let at = pair * self.outputs + output;
                let part = self.pair_sums[at] / players as f64 * self.sum_of_signs(pair);
                basis.roots[pair] * (self.targets[at] - part)
            })
            .collect();
        let products = basis.products(&targets);
        let squares: f64 = targets.iter().map(|target| target * target).sum();
        let (level, shrinkage) = Shrinkage::choose(levels, &products, squares, pairs);
        let fit = level.fit(&products, &shrinkage);
        let influences = level.influences(&shrinkage);
        let mut errors = targets;
        let mut hats = vec![0.0; pairs];
        let mut own = Mat::zeros(pairs, basis.eigenvalues.len());
        for (block, members) in basis.groups(pairs).iter().enumerate() {
            let rows = basis.rows(members);
            let fitted = product(rows.as_ref(), fit.coefficients[block].as_ref());
            let smoothed = product(rows.as_ref(), influences[block].smoother.as_ref());
            let moved = product(rows.as_ref(), influences[block].values.transpose());
            for (place, &pair) in members.iter().enumerate() {
                errors[pair] -= fitted[(place, 0)];
                for at in 0..rows.ncols() {
                    hats[pair] += smoothed[(place, at)] * rows[(place, at)];
                    own[(pair, at)] = moved[(place, at)];
                }
            }
        }
        let (mut covariance, of_draws) = self.covariance(own, &errors, &hats);
        let left = (pairs as f64 - hats.iter().sum::<f64>()).max(1.0);
        let rank = covariance.ncols();
        let variances = [trace_of(&covariance), trace_of(&fit.posterior)];
        // The variance of u is estimated from as many numbers as u has directions.
        let degrees = pooled_degrees(variances, [of_draws.min(left), rank.max(1) as f64]);
        correction.left = correction.left.min(left);
        correction.degrees = correction.degrees.min(degrees.min(left));
        covariance += &fit.posterior;
        let (trace, mut trace_of_square) = (trace_of(&covariance), 0.0);
        for one in 0..rank {
            trace_of_square += (0..rank).map(|other| covariance[(one, other)].powi(2)).sum::<f64>();
        }
        let spread = product(basis.vectors.as_ref(), covariance.as_ref());
        let share = self.sums[output] / players as f64;
        for player in 0..players {
            let at = player * self.outputs + output;
            let (mut value, mut variance) = (share, 0.0);
            for j in 0..rank {
                value += basis.vectors[(player, j)] * fit.values[(j, 0)];
                variance += basis.vectors[(player, j)] * spread[(player, j)];
            }
            correction.values[at] = value;
            correction.variances[at] = variance.max(0.0);
        }
        correction.directions.push(if trace_of_square > 0.0 { trace * trace / trace_of_square } else { 1.0 });
        correction.rest.push(errors.iter().map(|error| error * error).sum());
    }

    /// Returns the covariance matrix of the values, in the basis, that results from drawing pairs, and its
    /// degrees of freedom.
    fn covariance(&self, mut influences: Mat<f64>, errors: &[f64], hats: &[f64]) -> (Mat<f64>, f64) {
        let factor = |pair: usize| errors[pair] / (1.0 - hats[pair]).max(MIN_REST).sqrt();
        let factors: Vec<f64> = (0..errors.len()).map(factor).collect();
        scale(&mut influences, &factors);
        without_means(&mut influences, self.draws.background.iter().map(|&row| Some(row as usize)));
        let repeated = self.draws.repeated.iter().map(|&number| Some(number as usize));
        let is_number = |number: &usize| *number != u32::MAX as usize;
        without_means(&mut influences, repeated.map(|number| number.filter(is_number)));
        let left = (0..errors.len()).map(|pair| (1.0 - self.draws.stratum(pair).share).max(0.0).sqrt());
        scale(&mut influences, &left.collect::<Vec<_>>());
        let mut squares = vec![0.0; errors.len()];
        for column in influences.col_iter() {
            squares.iter_mut().zip(column.iter()).for_each(|(sum, entry)| *sum += entry * entry);
        }
        let (sum, of_squares) = squares.iter().fold((0.0, 0.0), |(sum, all), s| (sum + s, all + s * s));
        // The fourth moment of a standard normal variable is 3.
        let degrees = if of_squares > 0.0 { (3.0 * sum * sum / of_squares).max(1.0) } else { f64::INFINITY };
        (product(influences.transpose(), influences.as_ref()), degrees)
    }
}

fn trace_of(matrix: &Mat<f64>) -> f64 {
    (0..matrix.nrows()).map(|at| matrix[(at, at)]).sum()
}

/// Returns the degrees of freedom of a sum of two variances (Satterthwaite, 1946).
fn pooled_degrees(variances: [f64; 2], degrees: [f64; 2]) -> f64 {
    let sum = variances[0] + variances[1];
    let parts = variances[0].powi(2) / degrees[0] + variances[1].powi(2) / degrees[1];
    if parts > 0.0 { (sum * sum / parts).max(1.0) } else { f64::INFINITY }
}

fn scale(rows: &mut Mat<f64>, factors: &[f64]) {
    for at in 0..rows.ncols() {
        rows.col_mut(at).iter_mut().zip(factors).for_each(|(number, factor)| *number *= factor);
    }
}

/// Subtracts the mean of the m rows of each group, and multiplies the differences by `√(m/(m − 1))`. Rows
/// without a group, and groups with one row, are unchanged. Does nothing if groups have fewer than two rows
/// on average.
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
