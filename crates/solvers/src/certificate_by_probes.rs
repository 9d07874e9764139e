//! Hat values and variances without the inverse of the Gram matrix, for thousands of players.
//!
//! # Notation
//!
//! As in [`crate::certificate`]; G₋ is the Gram matrix without row k, u a row of `G₋⁺`, d the dimension of the space of the coefficients.
//!
//! # How
//!
//! Of row k all that is asked for is `h_k` and `(G⁺ a_k)_i²`. By Sherman and Morrison
//!
//! ```text
//! G⁺ a_k = (1 − h_k) G₋⁺ a_k,     h_k = q_k / (1 + q_k),     q_k = w_k a_kᵀ G₋⁺ a_k
//! ```
//!
//! where row k and `G₋` know nothing of each other. Rows of a sampled design favour no player, so neither does `G₋⁺`: it is τ₁ times the
//! identity, and noise that goes in all directions. With its mean square `τ₂ = tr (G⁺)² / d`,
//!
//! ```text
//! q_k ≈ τ w_k ‖a_k‖²,     (G₋⁺ a_k)_i² ≈ τ₁² a_ki² + (τ₂ − τ₁²) (‖a_k‖² − a_ki²) / (d − 1)
//! ```
//!
//! τ is the number that makes the sum of the hat values the rank. τ₁ and τ₂ are measured, as means of `gᵀ G⁺ g / d` and `‖G⁺ g‖² / d` over 16
//! fixed random sign vectors g. Then the variances of all players are sums over the rows that hold them.
//!
//! The same vectors measure `tr Σ̂ = E gᵀ Σ̂ g` without any assumption. Where it is larger than the sum of the variances, because the rows do
//! favour some players, these are raised to it, as an error must not be called smaller than it is. And `tr Σ̂² = E (gᵀ Σ̂ g')²` over pairs of
//! them. Of up to 16 players the unit vectors take the place of the random ones, and Σ̂ is computed.

use std::ops::Range;

use crate::certificate::{Certificate, Drawn, SATURATED};
use faer::Mat;

use crate::covariance::{PROBES, Traces, random_signs};
use crate::error::SolverError;
use crate::least_squares::LeastSquares;
use crate::matrix_free::{MOST_STEPS, Operator, norm};
use crate::passes::Side;
use crate::rows::Form;

/// What is left of a probe when it has settled: a thousandth of its variances.
const GOAL: f64 = 1e-3;

/// By what share of it a sum of fourth powers may be off. Where few rows make up most of the error, the number of directions is what is left of
/// such sums, and it must not be taken for larger than it is.
const UNKNOWN_SHARE: f64 = 0.1;

/// What the probes tell of `G⁺`.
struct Probes {
    /// `gᵀ G⁺ g` over the dimension, on average.
    mean: f64,
    /// `‖G⁺ g‖²` over the dimension, on average; at least the square of the mean.
    mean_square: f64,
    /// `a_kᵀ G⁺ g` for each probe and row.
    along: Vec<Vec<f64>>,
    /// Whether they are the unit vectors of the players, and no random ones.
    are_units: bool,
}

/// Deviations `a_ki − mean_j a_kj` from the mean over some players, or `a_ki` itself.
struct Deviations {
    /// Players from whose mean they deviate.
    among: Option<Range<usize>>,
    /// The mean of each row; empty where there is none.
    means: Vec<f64>,
    /// The squared norm of what those players have of each row.
    squares: Vec<f64>,
}

impl LeastSquares {
    fn operator(&self) -> Operator<'_> {
        Operator { rows: &self.rows, origin: &self.origin, penalty: 0.0 }
    }

    /// Directions in which the coefficients can go.
    fn dimension(&self) -> usize {
        self.rows.bits.players - usize::from(self.rows.form == Form::Projected)
    }

    /// Hat values as they are expected of rows of such a weight and norm.
    pub(crate) fn expected_hat_values(&self) -> Vec<f64> {
        let squares = self.rows.squared_norms(&self.origin);
        let leverages: Vec<f64> =
            self.rows.weights.iter().zip(&squares).map(|(weight, square)| weight * square).collect();
        let independent = leverages.iter().filter(|leverage| **leverage > 0.0).count();
        let rank = self.rank().unwrap_or(independent.min(self.dimension())) as f64;
        let mut hat_values = shared_out(&leverages, rank);
        if self.rows.form == Form::AboutMean && self.total > 0.0 {
            let add = |(hat, weight): (&mut f64, &f64)| *hat = (*hat + weight / self.total).min(1.0);
            hat_values.iter_mut().zip(&self.rows.weights).for_each(add);
        }
        hat_values
    }

    /// As [`judge`](Self::judge), of the deviations from the mean where there are players `among` whom it is taken.
    pub(crate) fn judge_by_probes(
        &self,
        drawn: &[Drawn],
        among: Option<Range<usize>>,
    ) -> Result<Certificate, SolverError> {
        let hats = self.hat_values();
        // What a row has of the variances, but for its residual.
        let mut factors = Vec::with_capacity(hats.len());
        for (row, ((hat, weight), &Drawn { free, times })) in
            hats.iter().zip(&self.rows.weights).zip(drawn).enumerate()
        {
            let others = 1.0 - hat / times;
            if free > 0.0 && *weight > 0.0 && others < SATURATED {
                return Err(SolverError::Saturated { row, hat_value: hat / times });
            }
            factors.push(if free > 0.0 { free / times / others * weight * weight } else { 0.0 });
        }
        let chances = hats.iter().zip(drawn).filter(|(_, drawn)| drawn.free > 0.0);
        let left = chances.map(|(hat, drawn)| drawn.times - hat).sum();
        let covered = among.clone().unwrap_or(0..self.rows.bits.players);
        let probes = self.probes(&covered, among.is_some());
        let deviations = self.deviations(among);
        let norms = self.rows.squared_norms(&self.origin);
        let (mut variances, mut traces) = (Vec::new(), Vec::new());
        for errors in &self.errors {
            let of_rows: Vec<f64> =
                factors.iter().zip(errors).map(|(factor, error)| factor * error * error).collect();
            let products = products(&of_rows, &probes.along);
            let outside: Vec<f64> =
                of_rows.iter().zip(&hats).map(|(part, hat)| part * (1.0 - hat).powi(2)).collect();
            let mut of_players = self.variances(&outside, &norms, &probes, &deviations);
            let own = products.iter().enumerate().map(|(probe, row)| row[probe]);
            let measured = own.clone().sum::<f64>();
            let of_covered = of_players[covered.clone()].iter_mut();
            let (lengths, raise, unknown) = if probes.are_units {
                of_covered.zip(own).for_each(|(variance, own)| *variance = own);
                (probes.lengths(&of_rows), 1.0, 0.0)
            } else {
                let found: f64 = of_covered.as_slice().iter().sum();
                let raise = if found > 0.0 { (measured / PROBES as f64 / found).max(1.0) } else { 1.0 };
                of_covered.for_each(|variance| *variance *= raise);
                (self.expected_lengths(&outside, &norms, &probes, &deviations), raise, UNKNOWN_SHARE)
            };
            variances.push(of_players);
            let squares = raise * lengths.iter().sum::<f64>();
            let fourths =
                lengths.iter().zip(drawn).map(|(length, drawn)| (raise * length).powi(2) / drawn.times);
            let fourths: f64 = fourths.sum();
            let square_trace = square_trace(&products, probes.are_units) + unknown * fourths;
            traces.push(Traces { players: covered.len(), squares, fourths, square_trace });
        }
        Ok(self.certificate_of(&variances, &traces, drawn, left))
    }

    /// Solves for random signs of the players `among`, or for their unit vectors where they are few; less their mean, where that is asked for
    /// or all sum to zero.
    fn probes(&self, among: &Range<usize>, less_mean: bool) -> Probes {
        let n = self.rows.bits.players;
        let are_units = among.len() <= PROBES;
        let signs =
            if are_units { Mat::identity(among.len(), among.len()) } else { random_signs(among.len()) };
        let less_mean = less_mean || self.rows.form == Form::Projected;
        let mut solutions = vec![0.0; n * signs.ncols()];
        for (probe, signs) in solutions.chunks_exact_mut(n).zip(signs.col_iter()) {
            let mean = if less_mean { signs.sum() / among.len() as f64 } else { 0.0 };
            let part = &mut probe[among.clone()];
            part.iter_mut().zip(signs.iter()).for_each(|(entry, sign)| *entry = sign - mean);
        }
        let signs = solutions.clone();
        let mut goals: Vec<f64> = signs.chunks_exact(n).map(|signs| GOAL * norm(signs)).collect();
        self.operator().solve(&mut solutions, &mut goals, MOST_STEPS);
        let repeats = if are_units { 1 } else { PROBES };
        let dimension = (repeats * (among.len() - usize::from(less_mean)).max(1)) as f64;
        let mean = signs.iter().zip(&solutions).map(|(sign, entry)| sign * entry).sum::<f64>() / dimension;
        let mean_square = solutions.iter().map(|entry| entry * entry).sum::<f64>() / dimension;
        let along = solutions.chunks_exact(n).map(|solution| self.operator().along(solution)).collect();
        Probes { mean, mean_square: mean_square.max(mean * mean), along, are_units }
    }

    fn deviations(&self, among: Option<Range<usize>>) -> Deviations {
        let n = self.rows.bits.players;
        let is_projected = self.rows.form == Form::Projected;
        let Some(among) = among.or(is_projected.then_some(0..n)) else {
            return Deviations {
                among: None,
                means: Vec::new(),
                squares: self.rows.squared_norms(&self.origin),
            };
        };
        let count = among.len() as f64;
        let of_among = |value: &dyn Fn(f64) -> f64| -> Vec<f64> {
            let mut vector = vec![0.0; n];
            among.clone().for_each(|player| vector[player] = value(self.origin[player]));
            let mut sums = vec![0.0; self.rows()];
            self.rows.bits.times(&vector, &mut sums);
            sums
        };
        let of_origin =
            |power: i32| -> f64 { self.origin[among.clone()].iter().map(|origin| origin.powi(power)).sum() };
        let (sum, sum_of_squares) = (of_origin(1), of_origin(2));
        let means: Vec<f64> = of_among(&|_| 1.0).into_iter().map(|held| (held - sum) / count).collect();
        let squares = of_among(&|origin| 1.0 - 2.0 * origin)
            .into_iter()
            .zip(&means)
            .map(|(held, mean)| (held + sum_of_squares - count * mean * mean).max(0.0))
            .collect();
        Deviations { among: Some(among), means, squares }
    }

    /// The variances of all players, of rows with such factors.
    fn variances(
        &self,
        factors: &[f64],
        norms: &[f64],
        probes: &Probes,
        deviations: &Deviations,
    ) -> Vec<f64> {
        let n = self.rows.bits.players;
        let mean_of = |row: usize| deviations.means.get(row).copied().unwrap_or(0.0);
        let values: Vec<[f64; 2]> =
            factors.iter().enumerate().map(|(row, factor)| [*factor, factor * mean_of(row)]).collect();
        let mut held = vec![[0.0; 2]; n];
        let mut tables = <[f64; 2]>::tables(&self.rows.bits);
        Side::transposed_times(&self.rows.bits, &values, &mut held, &mut tables);
        let total: f64 = factors.iter().sum();
        let of_means: f64 = values.iter().map(|[_, part]| part).sum();
        let of_squares: f64 = values.iter().enumerate().map(|(row, [_, part])| part * mean_of(row)).sum();
        let all: f64 = factors.iter().zip(norms).map(|(factor, norm)| factor * norm).sum();
        let spread = probes.mean_square - probes.mean * probes.mean;
        let among = deviations.among.clone().unwrap_or(0..0);
        let variance = |(player, [held, held_means]): (usize, &[f64; 2])| {
            let origin = self.origin[player];
            // Σ (z − ρ)², or Σ (z − ρ − mean)²: bits are their own squares.
            let mut own = held * (1.0 - 2.0 * origin) + total * origin * origin;
            let mut share = 1.0;
            if among.contains(&player) {
                own += of_squares - 2.0 * held_means + 2.0 * origin * of_means;
                share = 1.0 - 1.0 / among.len() as f64;
            }
            let own = own.clamp(0.0, all);
            let others = (n.max(2) - 1) as f64;
            probes.mean * probes.mean * own + spread * share * (all - own) / others
        };
        held.iter().enumerate().map(variance).collect()
    }

    /// `‖c_k‖²` of the players from whose mean the deviations are, as it is expected.
    fn expected_lengths(
        &self,
        factors: &[f64],
        norms: &[f64],
        probes: &Probes,
        deviations: &Deviations,
    ) -> Vec<f64> {
        let spread = probes.mean_square - probes.mean * probes.mean;
        let n = self.rows.bits.players;
        let part = deviations.among.as_ref().map_or(1.0, |among| among.len() as f64 / n as f64);
        let length = |((factor, norm), own): ((&f64, &f64), &f64)| {
            factor * (probes.mean * probes.mean * own + spread * part * norm)
        };
        factors.iter().zip(norms).zip(&deviations.squares).map(length).collect()
    }
}

impl Probes {
    /// `‖c_k‖²` of the players whose unit vectors they are.
    fn lengths(&self, factors: &[f64]) -> Vec<f64> {
        let length = |(row, factor): (usize, &f64)| {
            factor * self.along.iter().map(|along| along[row] * along[row]).sum::<f64>()
        };
        factors.iter().enumerate().map(length).collect()
    }
}

/// `q / (1 + q)` for `q = τ ℓ`, with the τ for which they sum to `rank`; 1 for as many as cannot be told apart.
fn shared_out(leverages: &[f64], rank: f64) -> Vec<f64> {
    let hat = |factor: f64, leverage: f64| {
        let q = factor * leverage;
        if q.is_finite() { q / (1.0 + q) } else { 1.0 }
    };
    let sum = |factor: f64| leverages.iter().map(|leverage| hat(factor, *leverage)).sum::<f64>();
    let independent = leverages.iter().filter(|leverage| **leverage > 0.0).count();
    if rank >= independent as f64 {
        return leverages.iter().map(|leverage| if *leverage > 0.0 { 1.0 } else { 0.0 }).collect();
    }
    // Hat values are at most τ ℓ.
    let mut low = rank / leverages.iter().sum::<f64>();
    let mut high = 2.0 * low;
    while sum(high) < rank && high.is_finite() {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..50 {
        let middle = low + (high - low) / 2.0;
        if sum(middle) < rank {
            low = middle;
        } else {
            high = middle;
        }
    }
    leverages.iter().map(|leverage| hat(high, *leverage)).collect()
}

/// `Σ_k factor_k a_k a_kᵀ` of the probes, each with each.
fn products(factors: &[f64], along: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let product = |left: &[f64], right: &[f64]| -> f64 {
        factors.iter().zip(left).zip(right).map(|((factor, left), right)| factor * left * right).sum()
    };
    along.iter().map(|left| along.iter().map(|right| product(left, right)).collect()).collect()
}

/// The mean square of the products of two different probes, and one standard error more; the sum of all squares where they are unit vectors.
fn square_trace(products: &[Vec<f64>], are_units: bool) -> f64 {
    if are_units {
        return products.iter().flatten().map(|product| product * product).sum();
    }
    let squares: Vec<f64> = products
        .iter()
        .enumerate()
        .flat_map(|(probe, row)| row[..probe].iter().map(|product| product * product))
        .collect();
    let count = squares.len() as f64;
    let mean = squares.iter().sum::<f64>() / count;
    let spread: f64 = squares.iter().map(|square| (square - mean).powi(2)).sum();
    mean + (spread / (count * (count - 1.0))).sqrt()
}
