//! The multivariate normal distribution of standardized features, and its conditional distributions.
//!
//! # Notation
//!
//! `R` is the correlation matrix of `n` features of mean 0 and variance 1. The present features `P`, with
//! values `d`, come first, followed by the absent features `A`. With the Cholesky factor L of R in that
//! order,
//!
//! ```text
//! Z_A | Z_P = d  =  L_AP L_PP⁻¹ d + L_AA ε,   ε ~ N(0, I)
//! ```
//!
//! which has the mean R_AP R_PP⁻¹ d and the covariance R_AA − R_AP R_PP⁻¹ R_PA (the Schur complement, L_AA
//! L_AAᵀ): a single factorization, without an inverse.
//!
//! # Degenerate distributions
//!
//! A feature is *determined* if the features before it in the order leave at most a fraction [`DETERMINED`]
//! of its variance unexplained. Its column of L is zero, so it has no independent variation, and absent
//! features preserve exact linear relations. Present features may then have contradictory values; `d` is
//! replaced by the nearest consistent point, in standard deviations, which treats equal features equally.
//! (Equivalently, the pseudo-inverse of R_PP replaces R_PP⁻¹.)
//!
//! # Cost
//!
//! The factorization for a coalition takes n³/6 multiplications; it is faer's blocked factorization unless a
//! feature is determined. Each draw takes |A|²/2 multiplications.

use std::ops::Range;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par, Spec};
use rand::distr::Distribution;
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

use crate::cancellation::{Cancellation, uninterrupted};
use crate::coalition::CoalitionView;
use crate::conditional::counted::CountedRows;
use crate::conditional::distribution::Sampling;
use crate::error::GameError;
use crate::memory;
use crate::stream::{Purpose, coalition_unit, stream};
use crate::synthetic::SyntheticRows;

/// A feature counts as determined by others if they leave at most this fraction of its variance unexplained:
/// a multiple correlation above 1 − 5·10⁻¹¹. Rounding errors of correlations are about 10⁻¹⁴.
pub(super) const DETERMINED: f64 = 1e-10;

/// Maximum number of draws: their weights take 128 MiB, and every coalition takes one prediction per draw.
const MAX_DRAWS: usize = 1 << 24;

/// The distribution N(0, R), and the number and seed of its draws.
#[derive(Debug, Clone)]
pub(super) struct UnitNormal {
    correlation: Mat<f64>,
    seed: u64,
    antithetic: bool,
    /// The weight 1/M of each draw.
    weights: Vec<f64>,
}

impl UnitNormal {
    pub(super) fn new(correlation: Mat<f64>, draws: usize, seed: u64) -> Result<Self, GameError> {
        if draws == 0 {
            return Err(GameError::Parameter {
                what: "invalid number of draws per coalition 0: must be at least 1".to_owned(),
            });
        }
        if draws > MAX_DRAWS {
            return Err(GameError::Parameter {
                what: format!("invalid number of draws per coalition {draws}: must be at most {MAX_DRAWS}"),
            });
        }
        Ok(Self { correlation, seed, antithetic: false, weights: vec![1.0 / draws as f64; draws] })
    }

    /// Returns the same distribution with more or fewer draws; the first draws are the same.
    pub(super) fn with_draws(&self, draws: usize) -> Result<Self, GameError> {
        let distribution = Self::new(self.correlation.clone(), draws, self.seed)?;
        if self.antithetic { distribution.antithetic() } else { Ok(distribution) }
    }

    /// Makes the draws antithetic: the two draws of a pair are mirror images.
    pub(super) fn antithetic(mut self) -> Result<Self, GameError> {
        if self.weights.len() % 2 == 1 {
            return Err(GameError::Parameter {
                what: format!("antithetic draws require an even number of draws, got {}", self.weights.len()),
            });
        }
        self.antithetic = true;
        Ok(self)
    }

    pub(super) fn columns(&self) -> usize {
        self.correlation.nrows()
    }

    pub(super) fn draws(&self) -> usize {
        self.weights.len()
    }

    pub(super) fn sampling(&self) -> Sampling {
        if self.antithetic { Sampling::Antithetic } else { Sampling::Independent }
    }

    /// Returns the draws for `coalition`: `unit(j)` is the standardized value of the explicand's feature j,
    /// and `value(j, z)` converts a standardized value back.
    pub(super) fn condition<'a, V: Fn(usize, f64) -> f64 + Sync>(
        &'a self,
        explicand: &'a [f64],
        coalition: CoalitionView<'_>,
        unit: impl Fn(usize) -> f64,
        value: V,
    ) -> ConditionalDraws<'a, V> {
        let Absent { features, mean, lower } = self.absent(coalition, unit);
        let stream = stream(self.seed, Purpose::Conditional, coalition_unit(coalition));
        ConditionalDraws { distribution: self, explicand, absent: features, mean, lower, stream, value }
    }

    /// Returns the conditional distribution of the absent features given the features in `coalition`.
    pub(super) fn absent(&self, coalition: CoalitionView<'_>, unit: impl Fn(usize) -> f64) -> Absent {
        let features: Vec<usize> = coalition.complement().view().members().collect();
        let order: Vec<usize> = coalition.members().chain(features.iter().copied()).collect();
        let present = coalition.size();
        let lower = factor(&self.correlation, &order);
        let mut scores: Vec<f64> = order[..present].iter().map(|&feature| unit(feature)).collect();
        solve(&lower, &mut scores);
        let mut mean = vec![0.0; features.len()];
        for (column, score) in scores.iter().enumerate() {
            add_multiple(&mut mean, *score, &lower.col_as_slice(column)[present..]);
        }
        Absent { features, mean, lower }
    }
}

/// The conditional distribution of the absent features given the present ones.
pub(super) struct Absent {
    /// The absent features, in ascending order.
    pub(super) features: Vec<usize>,
    /// The conditional mean of the absent features, standardized.
    pub(super) mean: Vec<f64>,
    /// The Cholesky factor for all features. Its last block is the part for the absent features.
    lower: Mat<f64>,
}

/// Draws of absent features given present ones.
pub(super) struct ConditionalDraws<'a, V> {
    distribution: &'a UnitNormal,
    explicand: &'a [f64],
    /// The absent features, in ascending order.
    absent: Vec<usize>,
    /// The conditional mean of the absent features, standardized.
    mean: Vec<f64>,
    /// The Cholesky factor for all features. Its last block is the part for the absent features.
    lower: Mat<f64>,
    stream: ChaCha8Rng,
    value: V,
}

impl<V: Fn(usize, f64) -> f64 + Sync> SyntheticRows for ConditionalDraws<'_, V> {
    fn weights(&self) -> &[f64] {
        &self.distribution.weights
    }

    /// Appends draws. Each draw is determined by the seed, the coalition and the draw's index: each draw, or
    /// antithetic pair, uses a separate range of words in the random stream of the coalition.
    fn append(&self, range: Range<usize>, rows: &mut Vec<f64>) {
        let count = self.absent.len();
        let present = self.explicand.len() - count;
        // A normal variate takes slightly more than two words on average; reserve four for each.
        let words = (64 + 4 * count) as u128;
        let mut rng = self.stream.clone();
        let mut units = vec![0.0; count];
        for draw in range {
            Cancellation::check();
            let (place, sign) = match self.distribution.antithetic {
                true => (draw / 2, if draw % 2 == 0 { 1.0 } else { -1.0 }),
                false => (draw, 1.0),
            };
            rng.set_word_pos(place as u128 * words);
            units.copy_from_slice(&self.mean);
            for column in 0..count {
                let normal: f64 = StandardNormal.sample(&mut rng);
                let below = &self.lower.col_as_slice(present + column)[present + column..];
                add_multiple(&mut units[column..], sign * normal, below);
            }
            let start = rows.len();
            rows.extend_from_slice(self.explicand);
            let row = &mut rows[start..];
            for (&feature, &unit) in self.absent.iter().zip(&units) {
                row[feature] = (self.value)(feature, unit);
            }
        }
    }
}

/// Returns the lower Cholesky factor of the correlation matrix of the features in `order`, which may be a
/// subset of all features. Columns of determined features are zero. Entries above the diagonal are
/// unspecified.
pub(super) fn factor(correlation: &Mat<f64>, order: &[usize]) -> Mat<f64> {
    let n = order.len();
    let matrix = Mat::from_fn(n, n, |i, j| if i >= j { correlation[(order[i], order[j])] } else { 0.0 });
    match cholesky(matrix.clone()) {
        Some(lower) if (0..n).all(|i| lower[(i, i)] * lower[(i, i)] > DETERMINED) => lower,
        _ => factor_degenerate(matrix),
    }
}

/// Returns the lower Cholesky factor, or `None` if the matrix is not positive definite. Entries above the
/// diagonal are not read, and are unspecified in the factor.
pub(super) fn cholesky(mut matrix: Mat<f64>) -> Option<Mat<f64>> {
    let n = matrix.nrows();
    uninterrupted((n as f64).powi(3) / 3.0, move || {
        let params = Spec::default();
        let mut memory = MemBuffer::new(cholesky_in_place_scratch::<f64>(n, Par::Seq, params));
        let memory = MemStack::new(&mut memory);
        let done = cholesky_in_place(matrix.as_mut(), Default::default(), Par::Seq, memory, params);
        done.is_ok().then_some(matrix)
    })
}

/// Same as [`factor`], one column at a time, for a matrix with determined features.
fn factor_degenerate(mut matrix: Mat<f64>) -> Mat<f64> {
    let n = matrix.nrows();
    for column in 0..n {
        Cancellation::check();
        let pivot = matrix[(column, column)];
        if pivot <= DETERMINED {
            matrix.col_as_slice_mut(column)[column..].fill(0.0);
            continue;
        }
        let root = pivot.sqrt();
        matrix.col_as_slice_mut(column)[column..].iter_mut().for_each(|entry| *entry /= root);
        let factor = matrix.col_as_slice(column)[column..].to_vec();
        for later in column + 1..n {
            let (first, below) = (factor[later - column], &factor[later - column..]);
            add_multiple(&mut matrix.col_as_slice_mut(later)[later..], -first, below);
        }
    }
    matrix
}

/// Replaces `values` of the first features with `L⁻¹` times the nearest consistent values; the result is zero
/// for determined features.
pub(super) fn solve(lower: &Mat<f64>, values: &mut [f64]) {
    let determined: Vec<usize> = (0..values.len()).filter(|&i| lower[(i, i)] == 0.0).collect();
    let mut scores = values.to_vec();
    substitute(lower, &mut scores);
    if !determined.is_empty() {
        // If the features d₁ determine the features d₂ = W d₁, the nearest point is d₁ + Wᵀ (I + W Wᵀ)⁻¹ (d₂
        // − W d₁). Forward substitution has replaced d₂ by d₂ − W d₁.
        let relations: Vec<Vec<f64>> =
            determined.iter().map(|&row| relation(lower, row, values.len())).collect();
        let count = determined.len();
        let matrix = Mat::from_fn(count, count, |i, j| {
            let product: f64 = relations[i].iter().zip(&relations[j]).map(|(a, b)| a * b).sum();
            product + f64::from(u8::from(i == j))
        });
        // All pivots of I + W Wᵀ are at least 1, so no column is treated as determined.
        let inner = factor_degenerate(matrix);
        let mut excess: Vec<f64> = determined.iter().map(|&i| scores[i]).collect();
        substitute(&inner, &mut excess);
        substitute_transposed(&inner, &mut excess);
        for (relation, excess) in relations.iter().zip(&excess) {
            add_multiple(values, *excess, relation);
        }
        scores.copy_from_slice(values);
        substitute(lower, &mut scores);
        determined.iter().for_each(|&i| scores[i] = 0.0);
    }
    values.copy_from_slice(&scores);
}

/// Solves a linear system with the leading rows and columns of `lower`, by forward substitution. Entries of
/// determined features keep their residuals.
pub(super) fn substitute(lower: &Mat<f64>, right: &mut [f64]) {
    let n = right.len();
    for column in 0..n {
        let entries = &lower.col_as_slice(column)[column..n];
        if entries[0] != 0.0 {
            let (score, rest) = (right[column] / entries[0], &entries[1..]);
            right[column] = score;
            add_multiple(&mut right[column + 1..], -score, rest);
        }
    }
}

/// Solves a linear system with the transpose of the leading rows and columns of `lower`, by backward
/// substitution. The result is zero for determined features.
fn substitute_transposed(lower: &Mat<f64>, right: &mut [f64]) {
    let n = right.len();
    for column in (0..n).rev() {
        let entries = &lower.col_as_slice(column)[column..n];
        right[column] = if entries[0] == 0.0 {
            0.0
        } else {
            let later: f64 = entries[1..].iter().zip(&right[column + 1..]).map(|(a, b)| a * b).sum();
            (right[column] - later) / entries[0]
        };
    }
}

/// Returns the coefficients with which the first `count` features determine the feature `row`. Coefficients
/// of features that are themselves determined are zero.
fn relation(lower: &Mat<f64>, row: usize, count: usize) -> Vec<f64> {
    Cancellation::check();
    let mut coefficients: Vec<f64> =
        (0..count).map(|j| if j < row { lower[(row, j)] } else { 0.0 }).collect();
    substitute_transposed(lower, &mut coefficients);
    coefficients
}

/// Computes `target += factor · column`.
fn add_multiple(target: &mut [f64], factor: f64, column: &[f64]) {
    for (target, entry) in target.iter_mut().zip(column) {
        *target += factor * entry;
    }
}

/// Columns of data, standardized to mean 0 and standard deviation 1.
pub(super) struct StandardizedColumns {
    pub(super) mean: Vec<f64>,
    /// Standard deviations (divisor N − 1); 0 for constant columns.
    pub(super) scale: Vec<f64>,
    /// The standardized values, N × n, column-major; zero for constant columns.
    pub(super) units: Mat<f64>,
}

impl StandardizedColumns {
    /// Standardizes the columns of data that passed [`check_enough`].
    pub(super) fn new(data: &CountedRows) -> Result<Self, GameError> {
        let rows = data.rows();
        let mut units = Mat::zeros(rows.len(), rows.columns());
        let (mut mean, mut scale) = (Vec::new(), Vec::new());
        for column in 0..rows.columns() {
            Cancellation::check();
            for (value, row) in units.col_as_slice_mut(column).iter_mut().zip(rows.iter()) {
                *value = row[column];
            }
            let (centre, spread) = standardize(units.col_as_slice_mut(column), data.counts());
            if !(centre.is_finite() && spread.is_finite()) {
                return Err(GameError::Covariance {
                    problem: format!(
                        "the values of column {column} are too large for a variance; scale the column down"
                    ),
                });
            }
            mean.push(centre);
            scale.push(spread);
        }
        Ok(Self { mean, scale, units })
    }
}

/// Returns `(value − mean) / scale`, or 0 if `scale` is zero.
pub(super) fn in_units(value: f64, mean: f64, scale: f64) -> f64 {
    if scale == 0.0 { 0.0 } else { (value - mean) / scale }
}

/// Returns an error if the data have too few rows or too many columns to estimate a correlation matrix.
pub(super) fn check_enough(data: &CountedRows, distribution: &'static str) -> Result<(), GameError> {
    let (columns, total) = (data.rows().columns(), data.total());
    if total.round() <= columns as f64 {
        return Err(GameError::TooFewRows {
            distribution,
            actual: total.round() as usize,
            min: columns + 1,
            hint: "use more rows, or explain fewer features (the covariance of n features requires more than \
                   n rows)",
        });
    }
    let bytes = memory::product([6, columns, columns, 8]);
    let what = || format!("the covariance of {columns} features");
    Ok(memory::check(bytes, what, "explain fewer features")?)
}

/// Standardizes the numbers in `column` in place; `counts` are their counts. Returns the mean and the
/// standard deviation, which is 0 if all numbers are equal.
pub(super) fn standardize(column: &mut [f64], counts: &[f64]) -> (f64, f64) {
    let first = column[0];
    if column.iter().all(|&value| value == first) {
        column.fill(0.0);
        return (first, 0.0);
    }
    let total: f64 = counts.iter().sum();
    let sum = |column: &[f64], term: &dyn Fn(f64) -> f64| -> f64 {
        column.iter().zip(counts).map(|(&value, count)| count * term(value)).sum()
    };
    let rough = sum(column, &|value| value) / total;
    let mean = rough + sum(column, &|value| value - rough) / total;
    let largest = column.iter().map(|value| (value - mean).abs()).fold(0.0, f64::max);
    let squares = sum(column, &|value| ((value - mean) / largest).powi(2));
    let scale = largest * (squares / (total - 1.0)).sqrt();
    column.iter_mut().for_each(|value| *value = (*value - mean) / scale);
    (mean, scale)
}

/// Returns the correlation matrix of standardized columns whose rows have counts. Constant columns, which are
/// all zero, are uncorrelated with all others.
pub(super) fn correlation(units: &Mat<f64>, counts: &[f64]) -> Mat<f64> {
    let n = units.ncols();
    let counted = Mat::from_fn(units.nrows(), n, |i, j| counts[i] * units[(i, j)]);
    let per_row = 1.0 / (counts.iter().sum::<f64>() - 1.0);
    let units = units.clone();
    let product = uninterrupted(2.0 * units.nrows() as f64 * (n * n) as f64, move || {
        let mut product = Mat::zeros(n, n);
        matmul(product.as_mut(), Accum::Replace, units.transpose(), &counted, per_row, Par::Seq);
        product
    });
    Mat::from_fn(n, n, |i, j| if i == j { 1.0 } else { product[(i.max(j), i.min(j))] })
}
