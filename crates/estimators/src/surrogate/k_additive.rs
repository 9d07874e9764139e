//! Products of few players as a surrogate of a game.
//!
//! # Notation
//!
//! There are n players and m coalitions, with signs `x_i = 1` for members and −1 for other players. For two
//! coalitions, `d = Σ_i x_i x'_i`.
//!
//! All products of q players together, each with the prior variance `ρ_q / C(n, q)`, have the covariance
//! `ρ_q e_q(x x') / C(n, q)`. Here e_q are the elementary symmetric polynomials of signs: `e_1 = d`,
//! `e_2 = (d² − n)/2`, `e_3 = (d³ − (3n − 2) d)/6`. Products are therefore never enumerated, and n may be
//! large.

use apportion_games::Coalitions;
use apportion_values::Semivalue;

use super::interface::{FittedSurrogate, Surrogate};

/// The ridge regression of a game on all products `χ_T(S) = Π_{i ∈ T} x_i` of up to two or three players.
///
/// The prior variance of single players is ten times that of each higher order. The noise level is chosen by
/// validation on a quarter of the coalitions. For m coalitions, stores `O(m²)` numbers, and takes `O(m²)`
/// time for each of some dozens of steps.
///
/// For values with equal weights for sizes s and n − s, products of two players do not contribute to any
/// value. If coalitions are paired with their complements, they do not contribute to any error either. In
/// this case, order 3 is the lowest order that helps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct KAdditiveSurrogate {
    /// The maximum number of players in a product: 1, 2 or 3; defaults to 3. Other numbers are replaced with
    /// the nearest of these.
    pub order: usize,
}

impl Default for KAdditiveSurrogate {
    fn default() -> Self {
        Self { order: 3 }
    }
}

impl KAdditiveSurrogate {
    /// Creates a surrogate with products of up to `order` players.
    pub fn with_order(order: usize) -> Self {
        Self { order }
    }
}

/// The maximum number of coalitions for a fit. The covariances of this number of coalitions take 800 MB.
const MAX_ROWS: usize = 10_000;
/// The noise levels to try, relative to the prior variance of a coalition value.
const NOISES: [f64; 4] = [1e-4, 1e-2, 1e-1, 1.0];
const MAX_STEPS: usize = 200;
const TOLERANCE: f64 = 1e-9;

impl Surrogate for KAdditiveSurrogate {
    fn fit(&self, coalitions: &Coalitions, values: &[f64]) -> Option<Box<dyn FittedSurrogate>> {
        let (rows, players) = (coalitions.len(), coalitions.players());
        if !(8..=MAX_ROWS).contains(&rows) {
            return None;
        }
        let order = self.order.clamp(1, 3).min(players);
        let variances = [10.0, 1.0, 1.0].map(|variance| variance / 10.0);
        let kernel = Kernel { players, variances, order };
        let gram = kernel.gram(coalitions, coalitions);
        let mean = values.iter().sum::<f64>() / rows as f64;
        let targets: Vec<f64> = values.iter().map(|value| value - mean).collect();
        let (tested, fitted): (Vec<usize>, Vec<usize>) = (0..rows).partition(|row| row % 4 == 3);
        let some = |rows_of: &[usize], columns: &[usize]| -> Vec<f64> {
            rows_of
                .iter()
                .flat_map(|&i| columns.iter().map(move |&j| (i, j)))
                .map(|(i, j)| gram[i * rows + j])
                .collect()
        };
        let (own, cross) = (some(&fitted, &fitted), some(&tested, &fitted));
        let known: Vec<f64> = fitted.iter().map(|&row| targets[row]).collect();
        let error = |noise: f64| -> f64 {
            let factors = solve(&own, &known, noise);
            tested
                .iter()
                .zip(cross.chunks_exact(fitted.len()))
                .map(|(&row, covariances)| (targets[row] - dot(covariances, &factors)).powi(2))
                .sum()
        };
        let errors = NOISES.map(error);
        let least = (0..NOISES.len()).min_by(|&a, &b| errors[a].total_cmp(&errors[b]))?;
        let factors = solve(&gram, &targets, NOISES[least]);
        Some(Box::new(FittedKAdditive { kernel, mean, coalitions: coalitions.clone(), factors }))
    }
}

#[derive(Debug, Clone, Copy)]
struct Kernel {
    players: usize,
    variances: [f64; 3],
    order: usize,
}

fn choose(n: f64, q: usize) -> f64 {
    match q {
        0 => 1.0,
        1 => n,
        2 => n * (n - 1.0) / 2.0,
        _ => n * (n - 1.0) * (n - 2.0) / 6.0,
    }
}

/// Returns the elementary symmetric polynomials e_0 to e_2 of n signs whose sum is d.
fn elementary(d: f64, n: f64) -> [f64; 3] {
    [1.0, d, 0.5 * (d * d - n)]
}

impl Kernel {
    /// Returns the variance of each product of q players.
    fn variance(&self, q: usize) -> f64 {
        self.variances[q - 1] / choose(self.players as f64, q)
    }

    fn at(&self, d: f64) -> f64 {
        let n = self.players as f64;
        let third = (d * d * d - (3.0 * n - 2.0) * d) / 6.0;
        let e = [d, 0.5 * (d * d - n), third];
        (1..=self.order).map(|q| self.variance(q) * e[q - 1]).sum()
    }

    /// Returns the covariances of two sets of coalitions, row-major.
    fn gram(&self, left: &Coalitions, right: &Coalitions) -> Vec<f64> {
        let by_difference: Vec<f64> = (0..=self.players)
            .map(|differing| self.at((self.players - differing) as f64 - differing as f64))
            .collect();
        let mut gram = Vec::with_capacity(left.len() * right.len());
        for one in left.iter() {
            for other in right.words().chunks_exact(right.words_per_row()) {
                let differing: u32 = one.words().iter().zip(other).map(|(a, b)| (a ^ b).count_ones()).sum();
                gram.push(by_difference[differing as usize]);
            }
        }
        gram
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Returns `(K + noise · K_00 I)⁻¹ y` for the Gram matrix K and the targets y, by conjugate gradients.
fn solve(gram: &[f64], targets: &[f64], noise: f64) -> Vec<f64> {
    let rows = targets.len();
    let ridge = noise * gram.first().copied().unwrap_or(1.0).max(f64::MIN_POSITIVE);
    let mut solution = vec![0.0; rows];
    let (mut left, mut direction) = (targets.to_vec(), targets.to_vec());
    let mut square = dot(&left, &left);
    let enough = TOLERANCE * TOLERANCE * square;
    for _ in 0..MAX_STEPS {
        if square <= enough {
            break;
        }
        let image: Vec<f64> = gram
            .chunks_exact(rows)
            .zip(&direction)
            .map(|(row, own)| dot(row, &direction) + ridge * own)
            .collect();
        let step = square / dot(&direction, &image);
        if !step.is_finite() {
            break;
        }
        solution.iter_mut().zip(&direction).for_each(|(x, d)| *x += step * d);
        left.iter_mut().zip(&image).for_each(|(r, i)| *r -= step * i);
        let next = dot(&left, &left);
        direction.iter_mut().zip(&left).for_each(|(d, r)| *d = r + next / square * *d);
        square = next;
    }
    solution
}

struct FittedKAdditive {
    kernel: Kernel,
    mean: f64,
    coalitions: Coalitions,
    factors: Vec<f64>,
}

impl FittedSurrogate for FittedKAdditive {
    fn predict(&self, coalitions: &Coalitions) -> Vec<f64> {
        let gram = self.kernel.gram(coalitions, &self.coalitions);
        gram.chunks_exact(self.factors.len()).map(|row| self.mean + dot(row, &self.factors)).collect()
    }

    /// Returns `φ_i = 2 Σ_{T ∋ i} β_T m(|T| − 1)` with `m(q) = ∫ (2t − 1)^q dμ`, where `β_T` is the variance
    /// of T times `Σ_k α_k χ_T(S_k)` with the fitted factors `α_k`.
    fn values(&self, value: &Semivalue) -> Vec<f64> {
        let kernel = &self.kernel;
        let moment = |q: usize| match q {
            0 => 1.0,
            1 => value.moment(1, 0) - value.moment(0, 1),
            _ => value.moment(2, 0) - 2.0 * value.moment(1, 1) + value.moment(0, 2),
        };
        let factors: Vec<f64> =
            (1..=kernel.order).map(|q| 2.0 * moment(q - 1) * kernel.variance(q)).collect();
        let others = kernel.players as f64 - 1.0;
        let mut values = vec![0.0; kernel.players];
        for (coalition, own) in self.coalitions.iter().zip(&self.factors) {
            let sum = 2.0 * coalition.size() as f64 - kernel.players as f64;
            let with_sign = |sign: f64| -> f64 {
                let e = elementary(sum - sign, others);
                own * sign * factors.iter().zip(e).map(|(factor, e)| factor * e).sum::<f64>()
            };
            let (absent, present) = (with_sign(-1.0), with_sign(1.0));
            for (player, value) in values.iter_mut().enumerate() {
                *value += if coalition.contains(player) { present } else { absent };
            }
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion_games::{ClosedForm, Game, SumOfUnanimity, TabulatedGame};
    use apportion_values::enumerate;

    #[test]
    fn values_are_those_of_the_game_that_it_predicts() {
        for (players, order) in [(1, 3), (2, 2), (3, 3), (5, 2), (6, 3), (7, 1)] {
            let game = SumOfUnanimity::random(players, 3 * players, 4, 2);
            let all = Coalitions::from_masks(players, 0..1 << players);
            let mut few = all.slice(0..all.len());
            while few.len() < 8 {
                few.push_full();
            }
            let mut values = vec![0.0; few.len()];
            game.values(&few, &mut values).unwrap();
            let fitted = KAdditiveSurrogate::with_order(order).fit(&few, &values).unwrap();
            let said = TabulatedGame::new(fitted.predict(&all), 1).unwrap();
            for value in [Semivalue::Shapley, Semivalue::Banzhaf, Semivalue::beta_shapley(4.0, 1.0).unwrap()]
            {
                let want = enumerate(&said, value.clone()).unwrap().values;
                let got = fitted.values(&value);
                for (got, want) in got.iter().zip(&want) {
                    assert!((got - want).abs() < 1e-10, "{players} players, {value}: {got} for {want}");
                }
            }
        }
    }

    #[test]
    fn a_game_of_triples_is_learned_from_a_quarter_of_its_coalitions() {
        let game = SumOfUnanimity::random(10, 20, 3, 5);
        let some = Coalitions::from_masks(10, (0..1024).filter(|mask| mask % 4 == 0 || mask * 7 % 5 == 1));
        let mut values = vec![0.0; some.len()];
        game.values(&some, &mut values).unwrap();
        let fitted = KAdditiveSurrogate::default().fit(&some, &values).unwrap();
        let square = |numbers: &mut dyn Iterator<Item = f64>| numbers.map(|x| x * x).sum::<f64>();
        let expected = game.shapley();
        let error = square(&mut fitted.values(&Semivalue::Shapley).iter().zip(&expected).map(|(a, b)| a - b));
        assert!(error < 0.01 * square(&mut expected.iter().copied()), "{error}");
    }
}
