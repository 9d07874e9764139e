//! The error distribution of a mean of independent draws.

use apportion_games::{Purpose, stream};
use rand::Rng;

/// An estimator of the number of directions in which draws vary, and of the effective number of draws that
/// determines their variance. It is based on the [innovations](crate::report::RunningMoments::innovation) e_t
/// of the draws, t in 1..T. Takes O(R n k) memory for n players and k outputs.
///
/// For each output, with R random directions r_j of independent signs, it computes:
///
/// ```text
/// tr Σ² = E (e_s · e_t)² for s ≠ t ≈ mean_j [‖Σ_t e_t (r_j·e_t)‖² − Σ_t ‖e_t‖² (r_j·e_t)²] / ((T−1)(T−2))
/// ```
///
/// This holds because the mean of `r rᵀ` is the identity matrix (Hutchinson, *A stochastic estimator of the
/// trace of the influence matrix*, 1990). The terms with `s = t` are subtracted: they measure the length of a
/// draw rather than the agreement between draws, and would make a small sample seem to vary in few
/// directions. For up to R players, the directions are the players themselves, and the mean over them is
/// exact.
#[derive(Debug, Clone)]
pub(crate) struct DrawDistribution {
    players: usize,
    outputs: usize,
    /// The random directions, R × n.
    directions: Vec<f64>,
    /// The number of innovations so far.
    count: usize,
    /// The sums Σ e (r·e), n numbers for each output and direction.
    products: Vec<f64>,
    /// The sum Σ ‖e‖² (r·e)², for each output and direction.
    alone: Vec<f64>,
    /// The sums Σ ‖e‖² and Σ ‖e‖⁴ for each output.
    powers: Vec<[f64; 2]>,
    /// A buffer for the innovation of one output.
    own: Vec<f64>,
}

/// The number of random directions R.
const DIRECTIONS: usize = 16;

impl DrawDistribution {
    /// Creates the statistics of zero draws, each of players × outputs numbers.
    pub(crate) fn new(players: usize, outputs: usize) -> Self {
        let directions: Vec<f64> = if players <= DIRECTIONS {
            let length = (players as f64).sqrt();
            (0..players * players).map(|at| if at % (players + 1) == 0 { length } else { 0.0 }).collect()
        } else {
            (0..DIRECTIONS).flat_map(|direction| signs(players, direction)).collect()
        };
        let count = directions.len() / players.max(1);
        Self {
            players,
            outputs,
            products: vec![0.0; directions.len() * outputs],
            directions,
            count: 0,
            alone: vec![0.0; count * outputs],
            powers: vec![[0.0; 2]; outputs],
            own: vec![0.0; players],
        }
    }

    /// Adds the innovation of a draw, players × outputs numbers. The first draw has no innovation.
    pub(crate) fn add(&mut self, innovation: &[f64]) {
        let n = self.players;
        self.count += 1;
        let directions = self.directions.len() / n;
        for output in 0..self.outputs {
            for (own, e) in self.own.iter_mut().zip(innovation.iter().skip(output).step_by(self.outputs)) {
                *own = *e;
            }
            let square = self.own.iter().map(|e| e * e).sum::<f64>();
            self.powers[output][0] += square;
            self.powers[output][1] += square * square;
            let products = self.products[output * directions * n..].chunks_exact_mut(n);
            let alone = &mut self.alone[output * directions..(output + 1) * directions];
            for ((direction, products), alone) in self.directions.chunks_exact(n).zip(products).zip(alone) {
                let along: f64 = direction.iter().zip(&self.own).map(|(r, e)| r * e).sum();
                *alone += square * along * along;
                products.iter_mut().zip(&self.own).for_each(|(sum, e)| *sum += along * e);
            }
        }
    }

    /// Returns the degrees of freedom of the standard errors, minimized over the outputs. They are the
    /// smaller of `T − 1` and `2 (T − 1) / (q − 1)`, where q = mean ‖e‖⁴ / (mean ‖e‖²)².
    ///
    /// The relative variance of the sum of all squared standard errors is about `(q − 1) / (T − 1)`, and the
    /// relative variance of χ²_f/f is 2/f. Equating the two gives the second expression for the degrees of
    /// freedom f. For normally distributed draws in one direction, q = 3 and both expressions are T − 1.
    /// If few draws contribute most of the sum, q is up to T − 1, and f can be as small as 2.
    pub(crate) fn degrees_of_freedom(&self) -> f64 {
        let count = self.count as f64;
        self.powers
            .iter()
            .filter(|[squares, _]| *squares > 0.0)
            .map(|[squares, fourth]| count * fourth / (squares * squares))
            .map(|kurtosis| 2.0 * count / (kurtosis - 1.0).max(2.0))
            .fold(count, f64::min)
    }

    /// Returns ν = (tr Σ)² / tr Σ² for each output. It is between 1 and the maximum number of observable
    /// directions: the smaller of `T − 1` and `most`.
    pub(crate) fn directions(&self, most: usize) -> Vec<f64> {
        let (n, count) = (self.players, self.count as f64);
        let directions = self.directions.len() / n;
        let most = (most as f64).min(count).max(1.0);
        (0..self.outputs)
            .map(|output| {
                let range = output * directions..(output + 1) * directions;
                let products: f64 =
                    self.products[range.start * n..range.end * n].iter().map(|sum| sum * sum).sum();
                let alone: f64 = self.alone[range].iter().sum();
                let square_trace = (products - alone) / directions as f64 / (count * (count - 1.0));
                let trace = self.powers[output][0] / count;
                if trace <= 0.0 {
                    return 1.0;
                }
                // The squared estimate of the trace exceeds the squared trace by the variance of the
                // estimate, which is 2 tr Σ² / (T − 1) for normally distributed draws.
                let ratio = trace * trace / square_trace.max(f64::MIN_POSITIVE) - 2.0 / count;
                ratio.clamp(1.0, most)
            })
            .collect()
    }
}

/// Returns independent signs, one for each player. They are the same for every estimate.
fn signs(players: usize, direction: usize) -> Vec<f64> {
    let mut rng = stream(0, Purpose::Directions, direction as u64);
    let words: Vec<u64> = (0..players.div_ceil(64)).map(|_| rng.next_u64()).collect();
    let is_positive = |player: usize| words[player / 64] >> (player % 64) & 1 == 1;
    (0..players).map(|player| if is_positive(player) { 1.0 } else { -1.0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::RunningMoments;
    use rand::RngExt;

    /// Returns an approximately normal number: the sum of twelve uniform numbers.
    fn normal(rng: &mut impl Rng) -> f64 {
        (0..12).map(|_| rng.random_range(-0.5..0.5)).sum()
    }

    /// Returns the statistics of `draws` vectors. Their entries are independent, with standard deviations
    /// `deviations`, plus a shared normal number times `common`.
    fn distribution(deviations: &[f64], common: f64, draws: usize, seed: u64) -> DrawDistribution {
        let n = deviations.len();
        let (mut moments, mut distribution) = (RunningMoments::new(n), DrawDistribution::new(n, 1));
        let mut rng = stream(seed, Purpose::Experiment, 0);
        let mut innovation = vec![0.0; n];
        for draw in 0..draws {
            let shared = common * normal(&mut rng);
            let sample: Vec<f64> = deviations.iter().map(|d| 7.0 + shared + d * normal(&mut rng)).collect();
            if draw > 0 {
                moments.innovation(&sample, &mut innovation);
                distribution.add(&innovation);
            }
            moments.add(&sample);
        }
        distribution
    }

    /// Returns (tr Σ)² / tr Σ² with Σ = diag(d²) + c² 11ᵀ.
    fn directions(deviations: &[f64], common: f64) -> f64 {
        let (n, c) = (deviations.len() as f64, common * common);
        let own: f64 = deviations.iter().map(|d| d * d).sum();
        let squares: f64 = deviations.iter().map(|d| d.powi(4)).sum();
        (own + n * c).powi(2) / (squares + 2.0 * c * own + n * n * c * c)
    }

    #[test]
    fn directions_are_measured_by_few_random_ones() {
        for (n, common) in [(8, 0.0), (8, 3.0), (40, 0.0), (40, 0.4), (200, 0.1), (200, 5.0)] {
            let deviations: Vec<f64> = (0..n).map(|i| 1.0 + (i % 3) as f64).collect();
            let want = directions(&deviations, common);
            let got: Vec<f64> =
                (0..20).map(|seed| distribution(&deviations, common, 400, seed).directions(n)[0]).collect();
            let mean = got.iter().sum::<f64>() / 20.0;
            assert!((mean / want - 1.0).abs() < 0.25, "{n} players, {common}: {mean} for {want}");
        }
    }

    #[test]
    fn few_draws_in_many_directions_do_not_seem_to_go_in_few() {
        // There are sixteen draws: if the terms with s = t were included, the result would be about half of
        // the true value.
        let deviations = vec![1.0; 12];
        let got: Vec<f64> =
            (0..200).map(|seed| distribution(&deviations, 0.0, 16, seed).directions(12)[0]).collect();
        let mean = got.iter().sum::<f64>() / 200.0;
        assert!((9.0..=12.0).contains(&mean), "{mean}");
    }

    #[test]
    fn degrees_of_freedom_are_fewer_where_few_draws_hold_most_of_the_variance() {
        let normal = distribution(&[1.0; 5], 0.0, 100, 1).degrees_of_freedom();
        assert_eq!(normal, 99.0);
        let mut rare = DrawDistribution::new(2, 1);
        (0..99).for_each(|draw| rare.add(&[if draw == 50 { 1.0 } else { 0.0 }, 0.0]));
        assert!((rare.degrees_of_freedom() - 2.0 * 99.0 / 98.0).abs() < 1e-12);
        // Draws that do not vary have a single direction.
        let mut none = DrawDistribution::new(2, 1);
        (0..9).for_each(|_| none.add(&[0.0, 0.0]));
        assert_eq!((none.degrees_of_freedom(), none.directions(2)), (9.0, vec![1.0]));
    }
}
