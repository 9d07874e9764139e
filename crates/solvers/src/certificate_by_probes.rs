//! Computes hat values and variances for thousands of players, without the inverse of the Gram matrix.
//!
//! # Notation
//!
//! Same as in [`crate::certificate`]. G₋ is the Gram matrix without row k, and d is the dimension of the
//! space of the coefficients.
//!
//! # Method
//!
//! The certificate only needs `h_k` and `(G⁺ a_k)_i²` for row k. By the formula of Sherman and Morrison,
//!
//! ```text
//! G⁺ a_k = (1 − h_k) G₋⁺ a_k,     h_k = q_k / (1 + q_k),     q_k = w_k a_kᵀ G₋⁺ a_k
//! ```
//!
//! where row k and `G₋` are independent. Rows of a sampled design do not favour any player, so neither does
//! `G₋⁺`: it is τ₁ times the identity plus noise in all directions. With the mean square `τ₂ = tr (G⁺)² / d`,
//!
//! ```text
//! q_k ≈ τ w_k ‖a_k‖²,     (G₋⁺ a_k)_i² ≈ τ₁² a_ki² + (τ₂ − τ₁²) (‖a_k‖² − a_ki²) / (d − 1)
//! ```
//!
//! The factor τ is chosen so that the hat values sum to the rank. τ₁ and τ₂ are measured as means of `gᵀ G⁺ g
//! / d` and `‖G⁺ g‖² / d` over 16 fixed random sign vectors g. Then the variance for each player is a sum
//! over the rows that contain the player.
//!
//! The same vectors measure `tr Σ̂ = E gᵀ Σ̂ g` without any assumption. If rows do favour some players, this
//! trace may exceed the sum of the variances. The variances are then raised to match the trace, because
//! errors must not be underestimated. `tr Σ̂² = E (gᵀ Σ̂ g')²` is measured over pairs of these vectors. For
//! up to 16 players, unit vectors are used instead of random ones, and Σ̂ is exact.

use std::ops::Range;

use crate::certificate::{Certificate, RowDraw, SATURATED};
use faer::Mat;

use crate::covariance::{PROBES, Traces, random_signs};
use crate::error::SolverError;
use crate::least_squares::LeastSquares;
use crate::matrix_free::{MAX_STEPS, Operator, norm};
use crate::passes::Side;
use crate::rows::Form;

/// The relative residual at which a probe has converged: the measured variances are then accurate to about a
/// thousandth.
const GOAL: f64 = 1e-3;

/// The fraction of the sum of fourth powers that is added to tr Σ² as a safety margin. If a few rows cause
/// most of the error, the number of directions is computed from a small difference of such sums, and it must
/// not be overestimated.
const UNKNOWN_SHARE: f64 = 0.1;

/// The results of the probes of `G⁺`.
struct Probes {
    /// The mean of `gᵀ G⁺ g` over the probes g, divided by the dimension.
    mean: f64,
    /// The mean of `‖G⁺ g‖²` over the probes g, divided by the dimension; at least the square of `mean`.
    mean_square: f64,
    /// For each probe g, the numbers `a_kᵀ G⁺ g` for all rows k.
    along: Vec<Vec<f64>>,
    /// Whether the probes are the unit vectors of the players rather than random vectors.
    are_units: bool,
}

/// The entries `a_ki` of the rows, or their deviations `a_ki − mean_j a_kj` from a mean over some players.
struct Deviations {
    /// The players over which the mean is taken and subtracted.
    among: Option<Range<usize>>,
    /// The mean of each row; empty if no mean is subtracted.
    means: Vec<f64>,
    /// The squared norm of each row over these players, after subtraction.
    squares: Vec<f64>,
}

impl LeastSquares {
    fn operator(&self) -> Operator<'_> {
        Operator { rows: &self.rows, origin: &self.origin, penalty: 0.0 }
    }

    /// Returns the dimension of the space of the coefficients.
    fn dimension(&self) -> usize {
        self.rows.bits.players - usize::from(self.rows.form == Form::Projected)
    }

    /// Returns the expected hat values, given the weights and norms of the rows.
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

    /// Computes the same as [`judge`](Self::judge), but with probes. If `among` is given, the certificate is
    /// for the deviations of these players from their mean.
    pub(crate) fn judge_by_probes(
        &self,
        drawn: &[RowDraw],
        among: Option<Range<usize>>,
    ) -> Result<Certificate, SolverError> {
        let hats = self.hat_values();
        // For each row, compute its contribution to the variances, without the factor for its residual.
        let mut factors = Vec::with_capacity(hats.len());
        for (row, ((hat, weight), &RowDraw { free, times })) in
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

    /// Computes the images of probes under `G⁺`, and returns their statistics. The probes are random signs
    /// for the players `among`, or unit vectors if there are at most [`PROBES`] of these players. If
    /// `less_mean` is set, or if all coefficients sum to zero, the mean over these players is subtracted from
    /// each probe.
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
        self.operator().solve(&mut solutions, &mut goals, MAX_STEPS);
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

    /// Returns the variances for all players, given a factor for each row.
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
            // This is Σ (z − ρ)², or Σ (z − ρ − mean)², because bits equal their own squares.
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

    /// Returns the expected `‖c_k‖²` for each row, over the players whose mean is subtracted, or over all
    /// players if no mean is subtracted.
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
    /// Returns `‖c_k‖²` over the players for each row, if the probes are unit vectors.
    fn lengths(&self, factors: &[f64]) -> Vec<f64> {
        let length = |(row, factor): (usize, &f64)| {
            factor * self.along.iter().map(|along| along[row] * along[row]).sum::<f64>()
        };
        factors.iter().enumerate().map(length).collect()
    }
}

/// Returns `q / (1 + q)` with `q = τ ℓ` for each leverage ℓ; τ is chosen so that the results sum to `rank`.
/// If the rank is at least the number of positive leverages, the result for each of these is 1.
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
    // Hat values are at most τ ℓ, so τ is at least the rank divided by Σ ℓ.
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

/// Returns `Σ_k factor_k (a_kᵀ G⁺ g) (a_kᵀ G⁺ g')` for all pairs of probes g and g'; `along` contains the
/// terms in parentheses.
fn products(factors: &[f64], along: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let product = |left: &[f64], right: &[f64]| -> f64 {
        factors.iter().zip(left).zip(right).map(|((factor, left), right)| factor * left * right).sum()
    };
    along.iter().map(|left| along.iter().map(|right| product(left, right)).collect()).collect()
}

/// Returns an estimate of `tr Σ̂²`: the mean square of the products of two different probes, plus one
/// standard error. For unit vectors, returns the exact sum of all squares.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::Design;
    use crate::gram::Kernel;
    use crate::least_squares::{Constraint, Options, least_squares_with};
    use crate::system::Inverse;
    use apportion_games::{Coalitions, Purpose, stream};
    use rand::Rng;

    /// A regression of two outputs by conjugate gradients, with its parts as dense matrices.
    struct Dense {
        fit: LeastSquares,
        /// The rows `a_k`, up to sign.
        rows: Vec<Vec<f64>>,
        /// The pseudo-inverse `G⁺`, from the factored matrix.
        inverse: Mat<f64>,
    }

    impl Dense {
        fn new(players: usize, rows: usize, kind: usize) -> Self {
            let mut rng = stream(4, Purpose::Experiment, (players * rows + kind) as u64);
            let mut coalitions = Coalitions::new(players);
            for _ in 0..rows {
                let word = rng.next_u64() | 1 << (rng.next_u64() % players as u64);
                coalitions.push_members((0..players).filter(|player| word >> player & 1 == 1));
            }
            let number = |word: u64| (word >> 11) as f64 / (1u64 << 53) as f64;
            let weights: Vec<f64> = (0..rows).map(|_| 0.5 + number(rng.next_u64())).collect();
            let targets: Vec<f64> = (0..2 * rows).map(|_| 3.0 * number(rng.next_u64()) - 1.0).collect();
            let design = Design::new(&coalitions, &weights).unwrap();
            let (design, constraint) = match kind {
                0 => (design, Constraint::Sum(&[1.0, -2.0])),
                1 => (design.centred_at(0.3).unwrap(), Constraint::None),
                _ => (design.with_intercept(), Constraint::None),
            };
            let solve =
                |kernel| least_squares_with(&design, &targets, 2, constraint, &Options { kernel }).unwrap();
            let (fit, factored) = (solve(Kernel::MatrixFree), solve(Kernel::Auto));
            let Inverse::Factored(factor) = &factored.inverse else { panic!("a small matrix is factored") };
            let total: f64 = weights.iter().sum();
            let dense = |row: usize| -> Vec<f64> {
                let coalition = coalitions.row(row);
                let bit = |row: usize, i: usize| f64::from(u8::from(coalitions.row(row).contains(i)));
                let mean = |i: usize| (0..rows).map(|row| weights[row] * bit(row, i)).sum::<f64>() / total;
                let taken = |i: usize| match kind {
                    0 => coalition.size() as f64 / players as f64,
                    1 => 0.3,
                    _ => mean(i),
                };
                (0..players).map(|i| bit(row, i) - taken(i)).collect()
            };
            let rows = (0..rows).map(dense).collect();
            Self { fit, rows, inverse: factor.pseudo_inverse() }
        }

        fn players(&self) -> usize {
            self.rows[0].len()
        }
    }

    fn dot(left: &[f64], right: &[f64]) -> f64 {
        left.iter().zip(right).map(|(left, right)| left * right).sum()
    }

    fn assert_near(got: f64, want: f64, tolerance: f64, what: &str) {
        assert!((got - want).abs() <= tolerance * want.abs(), "{what}: {got} instead of {want}");
    }

    /// Returns cases with a constraint, with a centre, and with rows centred at the mean, each with fewer
    /// players than probes and with more.
    fn all() -> impl Iterator<Item = (String, Dense)> {
        [(7, 60), (23, 300), (40, 330)].into_iter().flat_map(|(players, rows)| {
            (0..3)
                .map(move |kind| (format!("{players} players, kind {kind}"), Dense::new(players, rows, kind)))
        })
    }

    #[test]
    fn odds_of_hat_values_are_in_proportion_to_weighted_norms_and_they_sum_to_the_rank() {
        for (name, Dense { fit, rows, .. }) in all() {
            let of_mean = |row: usize| {
                if fit.rows.form == Form::AboutMean { fit.rows.weights[row] / fit.total } else { 0.0 }
            };
            let hats: Vec<f64> =
                fit.hat_values().iter().enumerate().map(|(row, hat)| hat - of_mean(row)).collect();
            let factor = |row: usize| {
                hats[row] / (1.0 - hats[row]) / (fit.rows.weights[row] * dot(&rows[row], &rows[row]))
            };
            let first = (0..rows.len()).find(|&row| hats[row] > 0.0).unwrap();
            for row in (0..rows.len()).filter(|&row| hats[row] > 0.0) {
                assert_near(factor(row), factor(first), 1e-9, &name);
            }
            assert_near(hats.iter().sum(), fit.dimension() as f64, 1e-9, &name);
        }
    }

    #[test]
    fn hat_values_are_shared_out_up_to_one_for_each_row_that_says_something() {
        assert_eq!(shared_out(&[2.0, 0.0, 1.0], 2.0), [1.0, 0.0, 1.0]);
        assert_eq!(shared_out(&[2.0, 0.0, 1.0], 3.0), [1.0, 0.0, 1.0]);
        // For τ = 1, the results 3/4, 1/2 and 1/4 sum to 1.5.
        let got = shared_out(&[3.0, 1.0, 1.0 / 3.0], 1.5);
        let want = [0.75, 0.5, 0.25];
        assert!(got.iter().zip(want).all(|(got, want)| (got - want).abs() < 1e-12), "{got:?}");
        let got = shared_out(&[1e-9, 5.0, 4.0, 3.0], 2.999_999);
        assert!((got.iter().sum::<f64>() - 2.999_999).abs() < 1e-9, "{got:?}");
    }

    #[test]
    fn probes_are_what_the_factored_matrix_makes_of_them() {
        for (name, dense) in all() {
            let n = dense.players();
            for (among, less_mean) in [(0..n, false), (2..n - 1, true), (1..5, true), (1..5, false)] {
                let is_constrained = dense.fit.rows.form == Form::Projected;
                let probes = dense.fit.probes(&among, less_mean);
                assert_eq!(probes.are_units, among.len() <= PROBES);
                let count = if probes.are_units { among.len() } else { PROBES };
                assert_eq!(probes.along.len(), count);
                let (mut mean, mut mean_square) = (0.0, 0.0);
                for (probe, along) in probes.along.iter().enumerate() {
                    let mut vector = vec![0.0; n];
                    let signs = random_signs(among.len());
                    for (place, player) in among.clone().enumerate() {
                        let unit = f64::from(u8::from(place == probe));
                        vector[player] = if probes.are_units { unit } else { signs[(place, probe)] };
                    }
                    if less_mean || is_constrained {
                        let mean = vector.iter().sum::<f64>() / among.len() as f64;
                        among.clone().for_each(|player| vector[player] -= mean);
                    }
                    let solution: Vec<f64> =
                        (0..n).map(|i| (0..n).map(|j| dense.inverse[(i, j)] * vector[j]).sum()).collect();
                    mean += dot(&vector, &solution);
                    mean_square += dot(&solution, &solution);
                    // The systems for the probes are only solved to three digits.
                    let want: Vec<f64> = dense.rows.iter().map(|row| dot(row, &solution)).collect();
                    let largest = want.iter().fold(0.0, |largest: f64, want| largest.max(want.abs()));
                    for (got, want) in along.iter().zip(&want) {
                        let gap = (got.abs() - want.abs()).abs();
                        assert!(gap < 0.01 * largest, "{name}, {among:?}: {got} {want}");
                    }
                }
                let lost = usize::from(less_mean || is_constrained);
                let repeats = if probes.are_units { 1 } else { PROBES };
                let dimension = (repeats * (among.len() - lost)) as f64;
                assert_near(probes.mean, mean / dimension, 0.01, &name);
                let mean_square = (mean_square / dimension).max((mean / dimension).powi(2));
                assert_near(probes.mean_square, mean_square, 0.02, &name);
            }
        }
    }

    #[test]
    fn the_certificate_is_its_formula_written_out() {
        for (name, dense) in all() {
            let (fit, n, m) = (&dense.fit, dense.players(), dense.rows.len());
            let free: Vec<f64> = (0..m).map(|row| (row % 7) as f64 / 6.0).collect();
            let times: Vec<u32> = (0..m).map(|row| [1, 3, 2, 0][row % 4]).collect();
            let once: Vec<RowDraw> = free.iter().map(|&free| RowDraw { free, times: 1.0 }).collect();
            let of_draws = |&times: &u32| RowDraw {
                free: if times > 0 { 1.0 } else { 0.0 },
                times: f64::from(times.max(1)),
            };
            let draws: Vec<RowDraw> = times.iter().map(of_draws).collect();
            for (got, drawn, among) in [
                (fit.certificate(&free), &once, None),
                (fit.certificate_of_draws(&times), &draws, None),
                (fit.certificate_of_deviations(2..n - 1, &free), &once, Some(2..n - 1)),
                (fit.certificate_of_deviations(1..5, &free), &once, Some(1..5)),
            ] {
                assert_formula(&dense, &got.unwrap(), drawn, among, &name);
            }
        }
    }

    /// Checks the formulas in the module documentation for every row and player, given the solutions for the
    /// probes.
    fn assert_formula(
        dense: &Dense,
        got: &Certificate,
        drawn: &[RowDraw],
        among: Option<Range<usize>>,
        name: &str,
    ) {
        let (fit, n, m) = (&dense.fit, dense.players(), dense.rows.len());
        let covered = among.clone().unwrap_or(0..n);
        let name = &format!("{name}, {among:?}");
        let probes = fit.probes(&covered, among.is_some());
        let hats = fit.hat_values();
        let is_constrained = fit.rows.form == Form::Projected;
        // This is `a_k`, minus the mean over the covered players for players in `among`.
        let deviation = |row: usize, player: usize| {
            let a = &dense.rows[row];
            let is_among = among.as_ref().is_some_and(|among| among.contains(&player));
            let mean = a[covered.clone()].iter().sum::<f64>() / covered.len() as f64;
            a[player] - if is_among { mean } else { 0.0 }
        };
        let norm = |row: usize| dot(&dense.rows[row], &dense.rows[row]);
        let spread = probes.mean_square - probes.mean.powi(2);
        let mut degrees: f64 =
            (0..m).filter(|&row| drawn[row].free > 0.0).map(|row| drawn[row].times - hats[row]).sum();
        let count: f64 = drawn.iter().filter(|drawn| drawn.free > 0.0).map(|drawn| drawn.times).sum();
        for output in 0..2 {
            let unit = fit.units[output].powi(2);
            // These closures return the factor of a row for the squares of its image: `of_row` for the image
            // under the inverse Gram matrix of all rows, `outside` for the image under the inverse without
            // this row.
            let of_row = |row: usize| {
                let RowDraw { free, times } = drawn[row];
                let change = fit.rows.weights[row] * fit.errors[output][row];
                free / times / (1.0 - hats[row] / times) * change.powi(2)
            };
            let outside = |row: usize| of_row(row) * (1.0 - hats[row]).powi(2);
            let product = |one: usize, other: usize| -> f64 {
                (0..m).map(|row| of_row(row) * probes.along[one][row] * probes.along[other][row]).sum()
            };
            let variance = |player: usize| -> f64 {
                let loses_mean = is_constrained || among.as_ref().is_some_and(|all| all.contains(&player));
                let share = if loses_mean { 1.0 - 1.0 / covered.len() as f64 } else { 1.0 };
                let own = |row: usize| outside(row) * deviation(row, player).powi(2);
                let (own, all) =
                    ((0..m).map(own).sum::<f64>(), (0..m).map(|row| outside(row) * norm(row)).sum::<f64>());
                probes.mean.powi(2) * own + spread * share * (all - own) / (n - 1) as f64
            };
            let (mut want, lengths, raise): (Vec<f64>, Vec<f64>, f64);
            if probes.are_units {
                want = (0..covered.len()).map(|probe| product(probe, probe)).collect();
                let square = |row: usize| probes.along.iter().map(|along| along[row].powi(2)).sum::<f64>();
                lengths = (0..m).map(|row| of_row(row) * square(row)).collect();
                raise = 1.0;
            } else {
                want = covered.clone().map(variance).collect();
                let measured = (0..PROBES).map(|probe| product(probe, probe)).sum::<f64>() / PROBES as f64;
                raise = (measured / want.iter().sum::<f64>()).max(1.0);
                want.iter_mut().for_each(|variance| *variance *= raise);
                // Without `among`, all players are covered. Under the constraint, the subtracted mean is then
                // zero, because the entries of a row sum to zero.
                let part = covered.len() as f64 / n as f64;
                let square =
                    |row: usize| covered.clone().map(|player| deviation(row, player).powi(2)).sum::<f64>();
                let length = |row: usize| {
                    outside(row) * (probes.mean.powi(2) * square(row) + spread * part * norm(row))
                };
                lengths = (0..m).map(length).collect();
            }
            for (place, player) in covered.clone().enumerate() {
                assert_near(got.variances[player * 2 + output], want[place] * unit, 1e-8, name);
            }
            // Under the constraint, rows are projected, so the formula does not apply to players outside the
            // range.
            for player in (0..n).filter(|player| !is_constrained && !covered.contains(player)) {
                assert_near(got.variances[player * 2 + output], variance(player) * unit, 1e-8, name);
            }
            let squares = raise * lengths.iter().sum::<f64>();
            let fourths: f64 = (0..m).map(|row| (raise * lengths[row]).powi(2) / drawn[row].times).sum();
            let square_trace = if probes.are_units {
                let all = 0..covered.len();
                all.clone()
                    .flat_map(|one| all.clone().map(move |other| (one, other)))
                    .map(|(one, other)| product(one, other).powi(2))
                    .sum()
            } else {
                let pairs: Vec<f64> = (0..PROBES)
                    .flat_map(|one| (0..one).map(move |other| (one, other)))
                    .map(|(one, other)| product(one, other).powi(2))
                    .collect();
                let mean = pairs.iter().sum::<f64>() / 120.0;
                let squares = pairs.iter().map(|pair| (pair - mean).powi(2)).sum::<f64>();
                mean + (squares / (120.0 * 119.0)).sqrt() + 0.1 * fourths
            };
            let directions = (squares * squares - fourths) / (square_trace - fourths);
            let directions = if square_trace > fourths { directions } else { f64::INFINITY };
            assert_near(got.directions[output], directions.clamp(1.0, covered.len() as f64), 1e-7, name);
            let spread_of_lengths = fourths - squares * squares / count;
            if spread_of_lengths > 0.0 {
                degrees = degrees.min(2.0 * squares * squares / spread_of_lengths);
            }
        }
        assert_near(got.degrees_of_freedom, degrees.max(1.0), 1e-8, name);
    }

    #[test]
    fn a_row_that_is_met_exactly_says_nothing_of_its_error() {
        // The design has as many rows as players.
        let coalitions = Coalitions::from_masks(3, [1, 2, 4]);
        let design = Design::new(&coalitions, &[1.0, 2.0, 3.0]).unwrap();
        let options = Options { kernel: Kernel::MatrixFree };
        let fit = least_squares_with(&design, &[1.0; 3], 1, Constraint::None, &options).unwrap();
        assert_eq!(fit.hat_values(), [1.0; 3]);
        let refused = fit.certificate(&[0.0, 0.5, 0.5]);
        assert!(matches!(refused, Err(SolverError::Saturated { row: 1, hat_value: 1.0 })), "{refused:?}");
        let refused = fit.certificate_of_draws(&[2, 1, 2]);
        assert!(matches!(refused, Err(SolverError::Saturated { row: 1, .. })), "{refused:?}");
        assert!(fit.certificate(&[0.0; 3]).unwrap().variances.iter().all(|&variance| variance == 0.0));
        assert!(fit.certificate_of_draws(&[2; 3]).is_ok());
    }
}
