//! The interaction indices of pairs of players, from the even part of the same sample.
//!
//! ```text
//! e(S) = (v(S) + v(S̄))/2 = Σ_{|T| even} β_T χ_T(S),    I_ij = Σ_{T ⊇ {i, j}} w(|T|) β_T
//! ```
//!
//! with `w(q) = 4 / (q − 1)` for the Shapley interaction index. For the Banzhaf interaction index, only
//! w(2) = 4 is nonzero. The faithful Shapley index has other weights. e(N) is known, so the regression has no
//! free part: `e(S) − e(N) = Σ_T β_T (χ_T(S) − 1)`.
//!
//! # Errors
//!
//! All products have a prior, and `Σ_k f_k (G_k r_k)²` ignores its bias: a product that the prior excludes
//! would have no error at all. Therefore, a regression of the residuals r_k on the product of the two players
//! alone provides a lower bound on the variance of an index. Its column `χ_{i,j}(S) − 1` is 0 if both or
//! neither of the players are in S, and otherwise −2:
//!
//! ```text
//! V_ij ≥ w(2)² Σ_k f_k (w_k r_k)² / (2 Σ_k w_k)²,    k over the pairs of coalitions that separate i and j
//! ```
//!
//! The variance also includes the squared index that the residuals would have if they were spread evenly over
//! all products of two and more players:
//!
//! ```text
//! U = R² 2^(1 − n) Σ_q C(n − 2, q − 2) w(q)²,    q even,    R² = Σ_k f_k w_k r_k² / Σ_k w_k
//! ```
//!
//! `Σ_k f_k (G_k r_k)²` and its lower bound are multiplied by 2.5, because the selected products partly fit
//! noise. The weight of an unseen draw in an index is twice its weight in a value (`report/unseen.rs`).

use apportion_solvers::{DualEstimate, DualRidge, Functionals, PriorCovariance, add_cross_products};

use super::choice;
use super::family::Family;
use super::sampled::Sampled;
use super::screens::{MAX_TERMS, ScreenResults};
use crate::error::Result;
use crate::report::Explanation;
use crate::surrogate::prior::{Prior, Signs, Smooth};
use crate::surrogate::product::{Product, merged, strongest};

/// The maximum number of pairs of coalitions in the regression. If there are more, only every second (third,
/// …) pair is used.
const MAX_ROWS: usize = 1600;
/// The number of pairs of players to process in one step, to bound the memory.
const BLOCK: usize = 512;
/// The factor that converts squared leave-one-out residuals to variances of errors. It is larger than for
/// values, because the largest products are selected, partly by chance. For games of noise with 10 players,
/// 95% intervals cover the true index in 96 to 99% of the cases with this factor, and in 83 to 95% with 1.4
/// and without U.
const OPTIMISM: f64 = 2.5;
/// The weight of an unseen draw in an index, relative to its weight in a value.
const TWICE: f64 = 2.0;
/// Residuals below this fraction of the observed values are rounding error.
const ROUNDING: f64 = 1e-10;
/// The noise strengths to try, as powers of ten, in units of the mean eigenvalue.
const STRENGTHS: std::ops::RangeInclusive<i32> = -8..=3;

/// The indices of all pairs i < j, in order, pairs × outputs, and their variances.
#[derive(Debug, Clone)]
pub(super) struct Pairs {
    values: Vec<f64>,
    variances: Vec<f64>,
    /// The variances of `Σ_j I_ij`, players × outputs.
    variances_of_sums: Vec<f64>,
    /// Whether the fit leaves no residuals of the even part, for each output. In this case, the sample
    /// contains no information about errors.
    has_not_varied: Vec<bool>,
}

impl Pairs {
    /// Estimates the index in which a product of q players has the weight `weight(q)` for each pair of its
    /// players.
    pub(super) fn new(sampled: &Sampled, weight: &dyn Fn(usize) -> f64) -> Result<Self> {
        let step = sampled.len().div_ceil(MAX_ROWS).max(1);
        let some;
        let sampled = match step {
            1 => sampled,
            _ => {
                some = sampled.some(&(0..sampled.len()).step_by(step).collect::<Vec<_>>());
                &some
            }
        };
        let (n, outputs) = (sampled.players, sampled.outputs);
        let screened = ScreenResults::new(sampled);
        let priors = Family::ALL.map(|family| family.even_prior(n, &screened));
        // With many players, trees miss relevant pairs if only few pairs are relevant. If the game consists
        // of pairs only, and the sample is large enough, the equal-variance prior recovers them exactly.
        let correlated = (n > 1).then(|| correlated(sampled, &screened));
        let alike = (n > 1).then(|| Prior::all_alike(2, n));
        let fits = priors.into_iter().chain(correlated).chain(alike);
        let fits = fits.map(|prior| EvenRegression::new(sampled, prior)).collect::<Result<Vec<_>>>()?;
        let pairs: Vec<(usize, usize)> = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).collect();
        let mut found = Self {
            values: vec![0.0; pairs.len() * outputs],
            variances: vec![0.0; pairs.len() * outputs],
            variances_of_sums: vec![0.0; n * outputs],
            has_not_varied: vec![false; outputs],
        };
        for output in 0..outputs {
            // Use the first fit, unless another one has clearly smaller residuals.
            let mut best = &fits[0];
            for other in &fits[1..] {
                if choice::is_clearly_less(&other.squares[output], &best.squares[output]) {
                    best = other;
                }
            }
            // The contribution of each pair of coalitions to each player's sums: players × pairs of
            // coalitions.
            let rows = sampled.len();
            let mut of_sums = vec![0.0; n * rows];
            let mut min_of_sums = vec![0.0; n];
            found.has_not_varied[output] = best.has_not_varied(sampled, output);
            let spread = best.mean_square(sampled, output) * of_all_products(n, weight);
            for (at, block) in pairs.chunks(BLOCK).enumerate() {
                let told = best.indices(sampled, block, weight, output);
                for (of_block, &(i, j)) in block.iter().enumerate() {
                    let place = (at * BLOCK + of_block) * outputs + output;
                    let influences = &told.influences[of_block * rows..][..rows];
                    found.values[place] = told.values[of_block * outputs + output];
                    let least = weight(2).powi(2) * best.min_variance(sampled, [i, j], output);
                    let variance = best.variance(sampled, influences, output).max(least);
                    found.variances[place] = OPTIMISM * variance + spread;
                    for player in [i, j] {
                        min_of_sums[player] += least;
                        of_sums[player * rows..][..rows]
                            .iter_mut()
                            .zip(influences)
                            .for_each(|(sum, of_pair)| *sum += of_pair);
                    }
                }
            }
            for (player, influences) in of_sums.chunks_exact(rows.max(1)).enumerate() {
                let variance = best.variance(sampled, influences, output).max(min_of_sums[player]);
                found.variances_of_sums[player * outputs + output] = OPTIMISM * variance + n as f64 * spread;
            }
        }
        Ok(found)
    }

    /// Adds the allowance for unseen events, with twice its weight in `values`, whose errors must not include
    /// it yet.
    pub(super) fn with_unseen(mut self, values: &Explanation) -> Self {
        let outputs = values.outputs();
        let (unseen, _) = values.unseen();
        let draws = values
            .diagnostics
            .error_distribution
            .as_ref()
            .and_then(|distribution| distribution.draws_left)
            .unwrap_or(1.0);
        // The allowance is the same for all players, so use that of the first one.
        for (output, unseen) in unseen.iter().take(outputs).enumerate() {
            let own = values.values.iter().skip(output).step_by(outputs);
            let largest = own.fold(0.0_f64, |largest, value| largest.max(value.abs()));
            let whole = if self.has_not_varied[output] { (largest / draws).powi(2) } else { 0.0 };
            let added = TWICE * TWICE * unseen.max(whole);
            for variances in [&mut self.variances, &mut self.variances_of_sums] {
                variances.iter_mut().skip(output).step_by(outputs).for_each(|variance| *variance += added);
            }
        }
        self
    }

    /// Returns the indices of single players, followed by the indices of pairs, with errors if the errors of
    /// `values` are known. The index of player i is φ_i minus `share` times the index of each pair that
    /// contains i.
    pub(super) fn with_singles(self, values: &Explanation, share: f64) -> Explanation {
        let (outputs, of_sums) = (values.base.len(), self.variances_of_sums.iter());
        let n = values.values.len() / outputs;
        let mut singles = values.values.clone();
        let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| [i, j]));
        for (pair, of_pair) in pairs.zip(self.values.chunks_exact(outputs)) {
            for player in pair {
                let own = &mut singles[player * outputs..][..outputs];
                own.iter_mut().zip(of_pair).for_each(|(own, index)| *own -= share * index);
            }
        }
        let errors = values.std_errors.as_ref().map(|errors| {
            let of_singles =
                errors.iter().zip(of_sums).map(|(error, variance)| error + share * variance.sqrt());
            of_singles.chain(self.variances.iter().map(|variance| variance.sqrt())).collect()
        });
        Explanation { values: [singles, self.values].concat(), std_errors: errors, ..values.clone() }
    }
}

/// Returns a prior with three parts: the even products of the screens; the pairs of players whose products of
/// signs correlate with the even part by more than chance; and all pairs, with equal variances. The first two
/// parts have the same total variance, and the third has a tenth of it. In the second part, `τ² ∝ c² − z² σ²`
/// with the correlation c, its error σ, and `z² = 2 ln (n (n − 1)/2)`.
fn correlated(sampled: &Sampled, screened: &ScreenResults) -> Prior {
    let (n, outputs, rows) = (sampled.players, sampled.outputs, sampled.len());
    let weight: f64 = sampled.weights.iter().sum();
    let chance = 2.0 * ((n * (n - 1)) as f64 / 2.0).ln();
    let mut pairs = vec![0.0; n * n];
    for output in 0..outputs {
        let even = |row: usize| sampled.even[row * outputs + output];
        let mean = (0..rows).map(|row| sampled.weights[row] * even(row)).sum::<f64>() / weight;
        let parts: Vec<f64> =
            (0..rows).map(|row| sampled.weights[row] / weight * (even(row) - mean)).collect();
        let error: f64 = parts.iter().map(|part| part * part).sum();
        if error <= 0.0 {
            continue;
        }
        // This is Σ_k x_ik p_k x_jk, n × n.
        let signs = &sampled.signs.entries;
        let weighted: Vec<f64> = signs.iter().enumerate().map(|(at, sign)| sign * parts[at / n]).collect();
        let mut sums = vec![0.0; n * n];
        add_cross_products(signs, &weighted, (n, n), &mut sums);
        pairs.iter_mut().zip(&sums).for_each(|(sum, c)| *sum += (c * c / error - chance).max(0.0));
    }
    let found: f64 = screened.even.iter().map(|(_, square)| square).sum();
    let spread = if found > 0.0 { found } else { 1.0 };
    let total: f64 =
        (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).map(|(i, j)| pairs[i * n + j]).sum();
    let of_pair = |(i, j): (usize, usize)| (Product::from_players([i, j]), pairs[i * n + j] / total * spread);
    let told = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).filter(|&(i, j)| pairs[i * n + j] > 0.0);
    let terms = merged(screened.even.iter().copied().chain(told.map(of_pair)).collect());
    Prior {
        terms: strongest(terms, MAX_TERMS),
        smooth: vec![Smooth::of_variance(2, 0.1 * spread, vec![1.0; n])],
    }
}

/// Returns `2^(1 − n) Σ_q C(n − 2, q − 2) w(q)²` over even q. This is the squared index if all even products
/// have the coefficients of a function with mean square 1.
fn of_all_products(n: usize, weight: &dyn Fn(usize) -> f64) -> f64 {
    // The logarithm of C(n − 2, q − 2) 2^(1 − n) is updated for each size.
    let mut ln_share = (1.0 - n as f64) * std::f64::consts::LN_2;
    let mut sum = 0.0;
    for size in 2..=n {
        if size % 2 == 0 {
            sum += ln_share.exp() * weight(size).powi(2);
        }
        ln_share += ((n - size) as f64 / (size - 1) as f64).ln();
    }
    sum
}

/// A regression of the even part, with the noise strength for each output.
struct EvenRegression {
    prior: Prior,
    ridge: DualRidge,
    strengths: Vec<f64>,
    /// The weighted squared residual f_k r_k² w_k of each pair of coalitions, for each output.
    squares: Vec<Vec<f64>>,
}

impl EvenRegression {
    fn new(sampled: &Sampled, prior: Prior) -> Result<Self> {
        let (rows, outputs) = (sampled.len(), sampled.outputs);
        let mut gram = prior.cross(&sampled.signs, &sampled.signs);
        let (with_all, variance) = (prior.with_all(&sampled.signs), prior.variance());
        for (i, row) in gram.chunks_exact_mut(rows.max(1)).enumerate() {
            for (entry, with_all_j) in row.iter_mut().zip(&with_all) {
                *entry += variance - with_all[i] - with_all_j;
            }
        }
        let targets: Vec<f64> =
            sampled.even.iter().enumerate().map(|(at, even)| even - sampled.half_sum[at % outputs]).collect();
        let gram = PriorCovariance::Gram(&gram);
        let ridge = DualRidge::new(&[], gram, &sampled.weights, &targets, outputs)?;
        let unit = ridge.mean_eigenvalue();
        let candidates: Vec<f64> = match unit > 0.0 {
            true => STRENGTHS.map(|power| unit * 10f64.powi(power)).collect(),
            false => vec![1.0],
        };
        let mut best: Vec<(f64, Vec<f64>)> = vec![(candidates[0], vec![f64::INFINITY; rows]); outputs];
        for strength in candidates {
            let left = ridge.left_out(strength);
            for (output, best) in best.iter_mut().enumerate() {
                let squares = choice::squares(&left, sampled, output);
                if squares.iter().sum::<f64>() < best.1.iter().sum::<f64>() {
                    *best = (strength, squares);
                }
            }
        }
        let (strengths, squares) = best.into_iter().unzip();
        Ok(Self { prior, ridge, strengths, squares })
    }

    /// Returns the index of each of the given pairs for one output, with the influences of the rows.
    fn indices(
        &self,
        sampled: &Sampled,
        pairs: &[(usize, usize)],
        weight: &dyn Fn(usize) -> f64,
        output: usize,
    ) -> DualEstimate {
        let rows = sampled.len();
        let mut covariances = self.prior.with_pairs(&sampled.signs, pairs, weight);
        let of_all = self.prior.with_pairs(&Signs::of_all_players(sampled.players), pairs, weight);
        for (row, of_all) in covariances.chunks_exact_mut(rows.max(1)).zip(of_all) {
            row.iter_mut().for_each(|entry| *entry -= of_all);
        }
        let functionals = Functionals { count: pairs.len(), of_columns: &[], covariances: &covariances };
        self.ridge.estimate(&functionals, self.strengths[output])
    }

    /// Returns the variance of β_ij in a regression of the residuals on the product of the two players alone.
    /// It is infinite if no pair of coalitions separates these players.
    fn min_variance(&self, sampled: &Sampled, [i, j]: [usize; 2], output: usize) -> f64 {
        let (mut squares, mut weights) = (0.0, 0.0);
        for (row, (square, weight)) in self.squares[output].iter().zip(&sampled.weights).enumerate() {
            let signs = sampled.signs.row(row);
            if signs[i] != signs[j] {
                squares += weight * square;
                weights += weight;
            }
        }
        if weights > 0.0 { squares / (2.0 * weights).powi(2) } else { f64::INFINITY }
    }

    /// Returns R², the mean square of the residuals.
    fn mean_square(&self, sampled: &Sampled, output: usize) -> f64 {
        self.squares[output].iter().sum::<f64>() / sampled.weights.iter().sum::<f64>()
    }

    /// Returns whether the residuals of an output are only rounding error.
    fn has_not_varied(&self, sampled: &Sampled, output: usize) -> bool {
        let outputs = sampled.outputs;
        let own =
            |values: &[f64]| -> Vec<f64> { values.iter().skip(output).step_by(outputs).copied().collect() };
        let [odd, even] = [own(&sampled.odd), own(&sampled.even)];
        let of_row = |((odd, even), weight): ((&f64, &f64), &f64)| weight * (odd * odd + even * even);
        let size: f64 = odd.iter().zip(&even).zip(&sampled.weights).map(of_row).sum();
        self.squares[output].iter().sum::<f64>() <= ROUNDING * ROUNDING * size
    }

    /// Returns the variance of a sum, given the influences of the rows on it.
    fn variance(&self, sampled: &Sampled, influences: &[f64], output: usize) -> f64 {
        let squares = &self.squares[output];
        let of_row = |(row, influence): (usize, &f64)| match squares[row] {
            // The row is certain to be in the sample.
            0.0 => 0.0,
            square => influence * influence * square / sampled.weights[row],
        };
        influences.iter().enumerate().map(of_row).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::of_all_products;

    #[test]
    fn what_is_spread_over_all_products_is_summed_over_all_products() {
        let shapley = |size: usize| 4.0 / (size as f64 - 1.0);
        let banzhaf = |size: usize| if size == 2 { 4.0 } else { 0.0 };
        for n in [2, 3, 7, 10] {
            for weight in [&shapley as &dyn Fn(usize) -> f64, &banzhaf] {
                let even =
                    (0_u32..1 << n).filter(|product| product & 3 == 3 && product.count_ones() % 2 == 0);
                let sum: f64 = even.map(|product| weight(product.count_ones() as usize).powi(2)).sum();
                let expected = sum / f64::from(1_u32 << (n - 1));
                assert!((of_all_products(n, weight) - expected).abs() < 1e-12 * expected, "{n}");
            }
        }
        // The result for a large n must not underflow.
        let many = of_all_products(5000, &shapley);
        assert!(many > 0.0 && many < 1e-4, "{many}");
    }
}
