//! The indices of pairs of players, from the even part of the same sample.
//!
//! ```text
//! e(S) = (v(S) + v(S̄))/2 = Σ_{|T| even} β_T χ_T(S),    I_ij = Σ_{T ⊇ {i, j}} w(|T|) β_T
//! ```
//!
//! with `w(q) = 4 / (q − 1)` for the Shapley interaction index, 4 of q = 2 alone for Banzhaf's, others for the faithful Shapley index. e(N) is known, so that what is regressed has no free
//! part: `e(S) − e(N) = Σ_T β_T (χ_T(S) − 1)`.

use apportion_solvers::{DualEstimate, DualRidge, Functionals, PriorCovariance, add_cross_products};

use super::choice;
use super::family::Family;
use super::sampled::Sampled;
use super::screens::{MOST_TERMS, Screened};
use crate::error::Result;
use crate::report::Explanation;
use crate::surrogate::prior::{Prior, Signs, Smooth};
use crate::surrogate::product::{Product, merged, strongest};

/// Pairs of coalitions that are regressed at most; of more every second, third, ….
const MOST_ROWS: usize = 1600;
/// Pairs of players that are told at a time, so that memory stays small.
const BLOCK: usize = 512;
/// The strengths of the noise at which it is looked, as powers of ten of the mean eigenvalue.
const STRENGTHS: std::ops::RangeInclusive<i32> = -8..=3;

/// The indices of all pairs i < j, in order, pairs × outputs, and their variances.
#[derive(Debug, Clone)]
pub(super) struct Pairs {
    values: Vec<f64>,
    variances: Vec<f64>,
    /// Variances of `Σ_j I_ij`, players × outputs.
    variances_of_sums: Vec<f64>,
}

impl Pairs {
    /// Those of the index that gives `weight(q)` of a product of q players to each pair in it.
    pub(super) fn new(sampled: &Sampled, weight: &dyn Fn(usize) -> f64) -> Result<Self> {
        let step = sampled.len().div_ceil(MOST_ROWS).max(1);
        let some;
        let sampled = match step {
            1 => sampled,
            _ => {
                some = sampled.some(&(0..sampled.len()).step_by(step).collect::<Vec<_>>());
                &some
            }
        };
        let (n, outputs) = (sampled.players, sampled.outputs);
        let screened = Screened::new(sampled);
        let priors = Family::ALL.map(|family| family.even_prior(n, &screened));
        // Trees see few pairs beside many players that matter alone; and where there is nothing but pairs, and enough of the sample, they are told exactly.
        let correlated = (n > 1).then(|| correlated(sampled, &screened));
        let alike = (n > 1).then(|| Prior::all_alike(2, n));
        let fits = priors.into_iter().chain(correlated).chain(alike);
        let fits = fits.map(|prior| Even::new(sampled, prior)).collect::<Result<Vec<_>>>()?;
        let pairs: Vec<(usize, usize)> = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).collect();
        let mut found = Self {
            values: vec![0.0; pairs.len() * outputs],
            variances: vec![0.0; pairs.len() * outputs],
            variances_of_sums: vec![0.0; n * outputs],
        };
        for output in 0..outputs {
            // The first, unless another leaves clearly less.
            let mut best = &fits[0];
            for other in &fits[1..] {
                if choice::is_clearly_less(&other.squares[output], &best.squares[output]) {
                    best = other;
                }
            }
            // What each pair of coalitions adds to the sums of each player, players × pairs of coalitions.
            let rows = sampled.len();
            let mut of_sums = vec![0.0; n * rows];
            for (at, block) in pairs.chunks(BLOCK).enumerate() {
                let told = best.told(sampled, block, weight, output);
                for (of_block, &(i, j)) in block.iter().enumerate() {
                    let place = (at * BLOCK + of_block) * outputs + output;
                    let influences = &told.influences[of_block * rows..][..rows];
                    found.values[place] = told.values[of_block * outputs + output];
                    found.variances[place] = best.variance(sampled, influences, output);
                    for player in [i, j] {
                        of_sums[player * rows..][..rows]
                            .iter_mut()
                            .zip(influences)
                            .for_each(|(sum, of_pair)| *sum += of_pair);
                    }
                }
            }
            for (player, influences) in of_sums.chunks_exact(rows.max(1)).enumerate() {
                found.variances_of_sums[player * outputs + output] =
                    best.variance(sampled, influences, output);
            }
        }
        Ok(found)
    }

    /// The indices of single players, φ_i less `share` of each pair of theirs, and after them those of pairs; errors as far as those of `values` are known.
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

/// The even products of the screens, and as much for pairs whose products of signs go with the even part further than chance does: `τ² ∝ c² − z² σ²` with
/// the correlation c, its error σ, and `z² = 2 ln (n (n − 1)/2)`.
fn correlated(sampled: &Sampled, screened: &Screened) -> Prior {
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
        // Σ_k x_ik p_k x_jk, n × n.
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
    let of_pair = |(i, j): (usize, usize)| (Product::of([i, j]), pairs[i * n + j] / total * spread);
    let told = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).filter(|&(i, j)| pairs[i * n + j] > 0.0);
    let terms = merged(screened.even.iter().copied().chain(told.map(of_pair)).collect());
    Prior {
        terms: strongest(terms, MOST_TERMS),
        smooth: vec![Smooth::of_variance(2, 0.1 * spread, vec![1.0; n])],
    }
}

/// A regression of the even part, with the strength of the noise for each output.
struct Even {
    prior: Prior,
    ridge: DualRidge,
    strengths: Vec<f64>,
    /// f_k r_k² w_k of each pair of coalitions, for each output.
    squares: Vec<Vec<f64>>,
}

impl Even {
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

    /// The index of each of some pairs, for every output, and what each row adds to it.
    fn told(
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

    /// The variance of a sum to which each row adds so much.
    fn variance(&self, sampled: &Sampled, influences: &[f64], output: usize) -> f64 {
        let squares = &self.squares[output];
        let of_row = |(row, influence): (usize, &f64)| match squares[row] {
            // There for certain.
            0.0 => 0.0,
            square => influence * influence * square / sampled.weights[row],
        };
        influences.iter().enumerate().map(of_row).sum()
    }
}
