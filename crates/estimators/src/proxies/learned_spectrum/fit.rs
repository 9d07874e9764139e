//! A regression of the odd part of a game, with a prior on nonlinear terms.
//!
//! ```text
//! d(S) = Σ_i β_i x_i + Σ_{|T| odd, > 1} β_T χ_T(S)
//! ```
//!
//! The β_i are free (without a prior), or have a separate prior if there are too few pairs. Shapley values
//! satisfy `Σ_T β_T = d(N)` exactly. With `β_i = b_i + (d(N) − Σ_T β_T)/n` and `Σ b_i = 0`, the regression is
//!
//! ```text
//! d(S) − x̄ d(N) = Σ_i b_i x_i + Σ_T β_T (χ_T(S) − x̄),    x̄ = (2|S| − n)/n.
//! ```

use apportion_games::Cancellation;
use apportion_solvers::{DualEstimate, DualRidge, Functionals, PriorCovariance};

use super::odd_prior::OddPrior;
use super::sampled::Sampled;
use super::spectrum_target::SpectrumTarget;
use crate::error::Result;
use crate::surrogate::prior::{Prior, Signs};

/// The estimation of the coefficients of single players.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Linear {
    /// Estimated from the pairs alone, without a prior.
    Free,
    /// Estimated with a prior of the given variance.
    Prior(f64),
}

/// A regression that can be evaluated for every noise strength.
pub(super) struct Fit {
    is_constrained: bool,
    outputs: usize,
    half_total: Vec<f64>,
    linear: Linear,
    prior: OddPrior,
    signs: Signs,
    mean_signs: Vec<f64>,
    with_all: Vec<f64>,
    variance: f64,
    ridge: DualRidge,
}

/// The noise strengths to try, as powers of ten, in units of the mean eigenvalue.
const STRENGTHS: std::ops::RangeInclusive<i32> = -8..=3;
/// The noise strength, in the same unit, for which the prior has no effect.
const NO_PRIOR: f64 = 1e9;

impl Fit {
    /// Creates the regression of `sampled`, solved in the space of pairs.
    pub(super) fn new(
        sampled: &Sampled,
        prior: OddPrior,
        linear: Linear,
        target: SpectrumTarget<'_>,
    ) -> Result<Self> {
        let is_constrained = target.is_constrained();
        let (signs, mean_signs) = (sampled.signs.clone(), sampled.mean_signs.clone());
        let with_all = prior.with_all(&signs);
        let variance = prior.variance();
        let gram = covariances(
            &prior,
            linear,
            is_constrained.then_some((with_all.as_slice(), with_all.as_slice(), variance)),
            (&signs, &mean_signs),
            (&signs, &mean_signs),
        );
        Self::solved(sampled, (prior, with_all, variance), linear, target, PriorCovariance::Gram(&gram))
    }

    /// Creates the same regression, solved in the space of products. Meant for more pairs than products; the
    /// prior must not have smooth parts.
    pub(super) fn by_terms(
        sampled: &Sampled,
        prior: Prior,
        linear: Linear,
        target: SpectrumTarget<'_>,
    ) -> Result<Self> {
        let (signs, means) = (&sampled.signs, &sampled.mean_signs);
        let mean = |pair: usize| if target.is_constrained() { means[pair] } else { 0.0 };
        let mut factors = Vec::with_capacity(sampled.len() * prior.terms.len());
        for (product, variance) in &prior.terms {
            let root = variance.sqrt();
            factors.extend(
                signs.product(product).iter().enumerate().map(|(pair, sign)| root * (sign - mean(pair))),
            );
        }
        if let Linear::Prior(variance) = linear {
            let root = variance.sqrt();
            for player in 0..sampled.players {
                factors.extend((0..sampled.len()).map(|pair| root * (signs.row(pair)[player] - mean(pair))));
            }
        }
        let prior = OddPrior::Products(prior);
        let with_all = prior.with_all(signs);
        let variance = prior.variance();
        Self::solved(sampled, (prior, with_all, variance), linear, target, PriorCovariance::Factors(&factors))
    }

    /// Creates the regression on single players alone.
    pub(super) fn without_prior(
        sampled: &Sampled,
        linear: Linear,
        target: SpectrumTarget<'_>,
    ) -> Result<Self> {
        Self::by_terms(sampled, Prior::default(), linear, target)
    }

    fn solved(
        sampled: &Sampled,
        (prior, with_all, variance): (OddPrior, Vec<f64>, f64),
        linear: Linear,
        target: SpectrumTarget<'_>,
        covariance: PriorCovariance<'_>,
    ) -> Result<Self> {
        let is_constrained = target.is_constrained();
        let outputs = sampled.outputs;
        let (signs, mean_signs) = (sampled.signs.clone(), sampled.mean_signs.clone());
        let half_total = sampled.half_total.clone();
        let mean = |pair: usize| if is_constrained { mean_signs[pair] } else { 0.0 };
        let targets: Vec<f64> = sampled
            .odd
            .iter()
            .enumerate()
            .map(|(at, odd)| odd - mean(at / outputs) * half_total[at % outputs])
            .collect();
        let columns = match linear {
            Linear::Free => columns(&signs, is_constrained),
            Linear::Prior(_) => Vec::new(),
        };
        let ridge = DualRidge::new(&columns, covariance, &sampled.weights, &targets, outputs)?;
        Ok(Self {
            is_constrained,
            outputs,
            half_total,
            linear,
            prior,
            signs,
            mean_signs,
            with_all,
            variance,
            ridge,
        })
    }

    /// Returns the noise strengths to try, in ascending order; a single one if there is no prior.
    pub(super) fn strengths(&self) -> Vec<f64> {
        let unit = self.ridge.mean_eigenvalue();
        if unit <= 0.0 {
            return vec![1.0];
        }
        let mut strengths: Vec<f64> = STRENGTHS.map(|power| unit * 10f64.powi(power)).collect();
        if self.linear == Linear::Free {
            strengths.push(unit * NO_PRIOR);
        }
        strengths
    }

    /// Returns the number of free columns.
    pub(super) fn columns(&self) -> usize {
        match self.linear {
            Linear::Free => self.signs.players - usize::from(self.is_constrained),
            Linear::Prior(_) => 0,
        }
    }

    /// Returns whether single players are estimated from the pairs alone.
    pub(super) fn has_free_players(&self) -> bool {
        self.linear == Linear::Free
    }

    /// Returns whether the prior has no effect at this noise strength.
    pub(super) fn is_linear(&self, strength: f64) -> bool {
        self.prior.is_empty()
            || self.linear == Linear::Free && strength >= self.ridge.mean_eigenvalue() * NO_PRIOR
    }

    /// Returns the residual degrees of freedom at this noise strength.
    pub(super) fn degrees_of_freedom(&self, strength: f64) -> f64 {
        self.ridge.degrees_of_freedom(strength)
    }

    /// Returns the leave-one-out residuals of each pair, multiplied by `√w`, pairs × outputs.
    pub(super) fn left_out(&self, strength: f64) -> Vec<f64> {
        self.ridge.left_out(strength)
    }

    /// Returns the values of all players, n × outputs, with the influences of the pairs.
    pub(super) fn values(&self, strength: f64, target: SpectrumTarget<'_>) -> DualEstimate {
        let (n, k) = (self.signs.players, self.signs.rows);
        let mut covariances = self.prior.with_values(&self.signs, target);
        let single = target.weight(1);
        if self.is_constrained {
            let of_all = self.prior.with_values(&Signs::of_all_players(n), target);
            for (player, row) in covariances.chunks_exact_mut(k).enumerate() {
                Cancellation::check();
                for (pair, entry) in row.iter_mut().enumerate() {
                    let mean_sign = self.mean_signs[pair];
                    *entry -= mean_sign * of_all[player]
                        + single / n as f64 * (self.with_all[pair] - mean_sign * self.variance);
                }
            }
        }
        let mut of_columns = Vec::new();
        match self.linear {
            Linear::Free if self.is_constrained => {
                for player in 0..n {
                    of_columns.extend((0..n - 1).map(|column| single * contrast(n, player, column)));
                }
            }
            Linear::Free => {
                for player in 0..n {
                    of_columns.extend((0..n).map(|column| if player == column { single } else { 0.0 }));
                }
            }
            Linear::Prior(variance) => {
                for (player, row) in covariances.chunks_exact_mut(k).enumerate() {
                    for (pair, entry) in row.iter_mut().enumerate() {
                        let mean = if self.is_constrained { self.mean_signs[pair] } else { 0.0 };
                        *entry += single * variance * (self.signs.row(pair)[player] - mean);
                    }
                }
            }
        }
        let functionals = Functionals { count: n, of_columns: &of_columns, covariances: &covariances };
        let mut estimate = self.ridge.estimate(&functionals, strength);
        if self.is_constrained {
            // Remove the remaining error of the sum, which is rounding error compared with each value.
            for output in 0..self.outputs {
                let own = || (output..n * self.outputs).step_by(self.outputs);
                let sum: f64 = own().map(|at| estimate.values[at]).sum();
                let share = (single * self.half_total[output] - sum) / n as f64;
                own().for_each(|at| estimate.values[at] += share);
            }
        }
        estimate
    }

    /// Predicts the odd part of the game for other pairs, pairs × outputs.
    pub(super) fn predict(&self, other: &Sampled, strength: f64) -> Vec<f64> {
        let (signs, means) = (&other.signs, &other.mean_signs);
        let covariances = match self.linear {
            // Without a prior, there are no covariances.
            Linear::Free if self.prior.is_empty() => Vec::new(),
            linear => {
                let with_all = self.prior.with_all(signs);
                let ends = (with_all.as_slice(), self.with_all.as_slice(), self.variance);
                covariances(
                    &self.prior,
                    linear,
                    self.is_constrained.then_some(ends),
                    (signs, means),
                    (&self.signs, &self.mean_signs),
                )
            }
        };
        let of_columns = match self.linear {
            Linear::Free => columns(signs, self.is_constrained),
            Linear::Prior(_) => Vec::new(),
        };
        let functionals =
            Functionals { count: signs.rows, of_columns: &of_columns, covariances: &covariances };
        let mut predicted = self.ridge.predict(&functionals, strength);
        if self.is_constrained {
            let mean = |at: usize| means[at / self.outputs] * self.half_total[at % self.outputs];
            predicted.iter_mut().enumerate().for_each(|(at, value)| *value += mean(at));
        }
        predicted
    }
}

/// Returns the prior covariances of the targets between two sets of pairs, row-major. `ends` is set if the
/// constraint `Σ_T β_T = d(N)` holds exactly: the covariances of each pair with d(N), and the variance of
/// d(N).
fn covariances(
    prior: &OddPrior,
    linear: Linear,
    ends: Option<(&[f64], &[f64], f64)>,
    (left, left_means): (&Signs, &[f64]),
    (right, right_means): (&Signs, &[f64]),
) -> Vec<f64> {
    let mut gram = prior.cross(left, right);
    if let Linear::Prior(variance) = linear {
        crate::surrogate::prior::add_products(left, right, variance, &mut gram);
    }
    let Some((left_all, right_all, all)) = ends else { return gram };
    let n = left.players as f64;
    // The linear part is Σ_i (x_i − x̄)(x'_i − x̄') = Σ_i x_i x'_i − n x̄ x̄'.
    let of_means = all - if let Linear::Prior(variance) = linear { variance * n } else { 0.0 };
    for (i, row) in gram.chunks_exact_mut(right.rows.max(1)).enumerate() {
        for (j, entry) in row.iter_mut().enumerate() {
            *entry += left_means[i] * right_means[j] * of_means
                - left_means[i] * right_all[j]
                - left_all[i] * right_means[j];
        }
    }
    gram
}

/// Returns the free columns: the signs of single players or, under the constraint, contrasts between them,
/// which sum to zero.
fn columns(signs: &Signs, is_constrained: bool) -> Vec<f64> {
    if !is_constrained {
        return signs.entries.clone();
    }
    let n = signs.players;
    let (root, mean) = contrast_parts(n);
    let mut columns = Vec::with_capacity(signs.rows * (n - 1));
    for row in 0..signs.rows {
        Cancellation::check();
        let row = signs.row(row);
        let last = root * row[n - 1];
        let sum: f64 = row[..n - 1].iter().sum();
        columns.extend(row[..n - 1].iter().map(|sign| sign - mean * sum - last));
    }
    columns
}

/// Returns an entry of an orthonormal basis of the vectors that sum to zero: `e_j − a (1, …, 1, 0) − e_n/√n`,
/// with `a = (1 − 1/√n)/(n − 1)`.
fn contrast(n: usize, player: usize, column: usize) -> f64 {
    let (root, mean) = contrast_parts(n);
    if player == n - 1 { -root } else { f64::from(u8::from(player == column)) - mean }
}

fn contrast_parts(n: usize) -> (f64, f64) {
    let root = 1.0 / (n as f64).sqrt();
    (root, (1.0 - root) / (n as f64 - 1.0))
}
