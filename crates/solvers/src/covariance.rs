//! Traces of the covariance matrix of errors. The errors are sums of many contributions ("losses").
//!
//! # Notation
//!
//! The losses `c_k` are vectors of n entries, one per player. Each is the sum of `t_k` equal parts. `Σ̂ = Σ_k
//! c_k c_kᵀ`.
//!
//! # Method
//!
//! The part `Σ_k ‖c_k‖⁴ / t_k` of tr Σ̂² comes from products of draws with themselves. These products do not
//! estimate tr Σ², so this part is subtracted. For many players, tr Σ̂² is replaced with the mean of `‖Σ̂
//! g‖²` over random sign vectors g (Hutchinson, *A stochastic estimator of the trace of the influence
//! matrix*, 1990).

use std::ops::Range;

use apportion_games::{Purpose, stream};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use rand::Rng;

/// The maximum number of players for which Σ̂ is computed.
const MAX_EXACT_PLAYERS: usize = 32;
/// The number of random directions if there are more players.
pub(crate) const PROBES: usize = 16;

/// An accumulator for the traces of Σ̂ and Σ̂².
#[derive(Debug, Clone)]
pub(crate) struct Covariance {
    /// The players whose errors are included.
    players: Range<usize>,
    /// The probes G, n × probes; `None` means the unit matrix.
    probes: Option<Mat<f64>>,
    /// The product `Σ̂ G`.
    products: Mat<f64>,
    /// The sum `Σ_k ‖c_k‖²`.
    squares: f64,
    /// The sum `Σ_k ‖c_k‖⁴ / t_k`.
    fourths: f64,
}

impl Covariance {
    /// Creates the accumulator for the errors of `players`.
    pub(crate) fn new(players: Range<usize>) -> Self {
        let count = players.len();
        let probes = (count > MAX_EXACT_PLAYERS).then(|| random_signs(count));
        let products = Mat::zeros(count, if probes.is_some() { PROBES } else { count });
        Self { players, probes, products, squares: 0.0, fourths: 0.0 }
    }

    /// Returns the players whose errors are included.
    pub(crate) fn players(&self) -> Range<usize> {
        self.players.clone()
    }

    /// Adds losses for these players, row-major. `times` contains the number of draws for each row.
    pub(crate) fn add(&mut self, losses: &[f64], times: impl Iterator<Item = f64>) {
        for (loss, times) in losses.chunks_exact(self.players.len()).zip(times) {
            let square: f64 = loss.iter().map(|entry| entry * entry).sum();
            self.squares += square;
            self.fourths += square * square / times;
        }
        let rows = losses.len() / self.players.len();
        let losses = MatRef::from_row_major_slice(losses, rows, self.players.len());
        let mut add = |along: MatRef<'_, f64>| {
            matmul(self.products.as_mut(), Accum::Add, losses.transpose(), along, 1.0, Par::Seq);
        };
        match &self.probes {
            None => add(losses),
            Some(probes) => {
                let mut along = Mat::zeros(rows, PROBES);
                matmul(along.as_mut(), Accum::Replace, losses, probes.as_ref(), 1.0, Par::Seq);
                add(along.as_ref());
            }
        }
    }

    /// Returns `tr Σ̂²`, plus one standard error if it is measured with probes.
    fn square_trace(&self) -> f64 {
        let norms: Vec<f64> = self.products.col_iter().map(|column| column.squared_norm_l2()).collect();
        let sum: f64 = norms.iter().sum();
        if self.probes.is_none() {
            return sum;
        }
        let count = norms.len() as f64;
        let mean = sum / count;
        let spread: f64 = norms.iter().map(|norm| (norm - mean).powi(2)).sum();
        mean + (spread / (count * (count - 1.0))).sqrt()
    }

    pub(crate) fn traces(&self) -> Traces {
        Traces {
            players: self.players.len(),
            squares: self.squares,
            fourths: self.fourths,
            square_trace: self.square_trace(),
        }
    }
}

/// The traces of Σ̂ and Σ̂², and the numbers from which they are computed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Traces {
    /// The number of players, n.
    pub(crate) players: usize,
    /// `tr Σ̂ = Σ_k ‖c_k‖²`.
    pub(crate) squares: f64,
    /// The sum `Σ_k ‖c_k‖⁴ / t_k`.
    pub(crate) fourths: f64,
    /// `tr Σ̂²`, plus one standard error if it is measured with probes.
    pub(crate) square_trace: f64,
}

impl Traces {
    /// Returns the effective number of directions, `ν = Σ_{k≠l} ‖c_k‖² ‖c_l‖² / Σ_{k≠l} (c_kᵀ c_l)²`, between
    /// 1 and n.
    pub(crate) fn directions(&self) -> f64 {
        let n = self.players as f64;
        let (square_of_trace, square_trace) =
            (self.squares * self.squares - self.fourths, self.square_trace - self.fourths);
        if square_of_trace <= square_trace {
            1.0
        } else if square_of_trace >= n * square_trace {
            n
        } else {
            square_of_trace / square_trace
        }
    }

    /// Returns the degrees of freedom of tr Σ̂ as a sum over `draws` draws: twice the square of the trace
    /// divided by its variance. Infinite if all losses have the same norm.
    pub(crate) fn degrees_of_freedom(&self, draws: f64) -> f64 {
        let square = self.squares * self.squares;
        let variance = self.fourths - square / draws;
        if variance > 0.0 { 2.0 * square / variance } else { f64::INFINITY }
    }
}

/// Returns a fixed matrix of random signs, players × [`PROBES`].
pub(crate) fn random_signs(players: usize) -> Mat<f64> {
    let mut signs = Mat::zeros(players, PROBES);
    for (probe, column) in signs.col_iter_mut().enumerate() {
        let mut rng = stream(0, Purpose::Directions, probe as u64);
        let mut word = 0;
        for (player, sign) in column.iter_mut().enumerate() {
            if player % 64 == 0 {
                word = rng.next_u64();
            }
            *sign = if word >> (player % 64) & 1 == 1 { 1.0 } else { -1.0 };
        }
    }
    signs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn losses(players: usize, rows: usize, seed: u64) -> Vec<f64> {
        let mut rng = stream(seed, Purpose::Experiment, 0);
        let mut unit = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
        // A part of the loss is common to all players, so that the errors have few directions.
        (0..rows)
            .flat_map(|_| {
                let common = 0.4 * unit();
                (0..players).map(|_| common + unit()).collect::<Vec<f64>>()
            })
            .collect()
    }

    /// Computes the number of directions by definition, over all pairs of different rows.
    fn by_pairs(losses: &[f64], players: usize) -> f64 {
        let rows: Vec<&[f64]> = losses.chunks_exact(players).collect();
        let dot = |k: usize, l: usize| -> f64 { rows[k].iter().zip(rows[l]).map(|(a, b)| a * b).sum() };
        let (mut traces, mut products) = (0.0, 0.0);
        for k in 0..rows.len() {
            for l in (0..rows.len()).filter(|&l| l != k) {
                traces += dot(k, k) * dot(l, l);
                products += dot(k, l).powi(2);
            }
        }
        traces / products
    }

    #[test]
    fn directions_are_those_of_all_pairs_of_draws() {
        for (players, rows, tolerance) in
            [(1, 5, 1e-12), (2, 40, 1e-12), (9, 50, 1e-12), (32, 60, 1e-10), (200, 300, 0.5)]
        {
            let all = losses(players, rows, 4);
            let mut covariance = Covariance::new(0..players);
            for block in all.chunks(17 * players) {
                covariance.add(block, std::iter::repeat(1.0));
            }
            let (got, expected) =
                (covariance.traces().directions(), by_pairs(&all, players).clamp(1.0, players as f64));
            assert!((got / expected - 1.0).abs() < tolerance, "{players}: {got}, {expected}");
        }
    }

    #[test]
    fn a_loss_of_several_draws_is_as_many_losses() {
        let (players, all) = (6, losses(6, 30, 5));
        let mut apart = Covariance::new(0..players);
        let mut together = Covariance::new(0..players);
        for loss in all.chunks(players) {
            (0..4).for_each(|_| apart.add(loss, std::iter::once(1.0)));
            let twice: Vec<f64> = loss.iter().map(|entry| 2.0 * entry).collect();
            together.add(&twice, std::iter::once(4.0));
        }
        assert!((apart.traces().directions() / together.traces().directions() - 1.0).abs() < 1e-12);
        let degrees = [apart, together].map(|covariance| covariance.traces().degrees_of_freedom(120.0));
        assert!((degrees[0] / degrees[1] - 1.0).abs() < 1e-9, "{degrees:?}");
    }

    #[test]
    fn errors_along_one_vector_have_one_direction_and_alike_ones_as_many_as_players() {
        let mut line = Covariance::new(0..5);
        let mut sphere = Covariance::new(0..5);
        for k in 1..200 {
            let size = (k % 7) as f64 - 3.0;
            line.add(&[1.0, 2.0, 0.0, -1.0, 0.5].map(|entry| size * entry), std::iter::once(1.0));
            sphere.add(
                &std::array::from_fn::<f64, 5, _>(|i| if i == k % 5 { 1.0 } else { 0.0 }),
                std::iter::once(1.0),
            );
        }
        assert!((line.traces().directions() - 1.0).abs() < 1e-12);
        assert!(sphere.traces().directions() > 4.9);
        // If all losses have the same size, the trace has no variance.
        assert!(sphere.traces().degrees_of_freedom(199.0) > 1e9);
    }

    #[test]
    fn random_signs_are_the_bits_of_a_stream_for_each_probe() {
        for players in [1, 63, 64, 65, 130] {
            let signs = random_signs(players);
            assert_eq!((signs.nrows(), signs.ncols()), (players, PROBES));
            for probe in 0..PROBES {
                let mut rng = stream(0, Purpose::Directions, probe as u64);
                let words = [rng.next_u64(), rng.next_u64(), rng.next_u64()];
                for player in 0..players {
                    let is_set = words[player / 64] & (1 << (player % 64)) != 0;
                    assert_eq!(signs[(player, probe)], if is_set { 1.0 } else { -1.0 });
                }
            }
        }
    }

    #[test]
    fn traces_of_many_players_are_means_over_the_signs_and_one_standard_error_more() {
        let (players, all) = (40, losses(40, 25, 6));
        let mut covariance = Covariance::new(3..43);
        all.chunks(5 * players).for_each(|block| covariance.add(block, std::iter::repeat(2.0)));
        assert_eq!(covariance.players(), 3..43);
        let signs = random_signs(players);
        let squared = |probe: usize| -> f64 {
            let mut image = vec![0.0; players];
            for loss in all.chunks(players) {
                let along: f64 = (0..players).map(|i| loss[i] * signs[(i, probe)]).sum();
                image.iter_mut().zip(loss).for_each(|(image, entry)| *image += along * entry);
            }
            image.iter().map(|entry| entry * entry).sum()
        };
        let norms: Vec<f64> = (0..PROBES).map(squared).collect();
        let mean = norms.iter().sum::<f64>() / 16.0;
        let spread: f64 = norms.iter().map(|norm| (norm - mean).powi(2)).sum();
        let got = covariance.traces();
        let squares: Vec<f64> =
            all.chunks(players).map(|loss| loss.iter().map(|entry| entry * entry).sum()).collect();
        let fourths: f64 = squares.iter().map(|square| square * square / 2.0).sum();
        assert!((got.squares / squares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((got.fourths / fourths - 1.0).abs() < 1e-12);
        assert!((got.square_trace / (mean + (spread / (16.0 * 15.0)).sqrt()) - 1.0).abs() < 1e-12);
    }
}
