//! Explicit distributions that violate the deviation inequality of section 4.2 and appendix 8.2, and the
//! bounds derived from it.
//!
//! The inequality: `E[Z] ≤ A` implies `P(Z ≥ A(2 + 4a)) ≤ 2 exp(−a²)` for all a ≥ 0. An expectation alone
//! gives no more than Markov's inequality, `P ≤ 1/(2 + 4a)`, which distributions on two points attain.

use std::f64::consts::{LN_2, LN_10};

use anyhow::Result;
use apportion::games::TabulatedGame;

use super::descent::{Descent, PrintedRule};
use super::known_game::KnownGame;
use super::theory::Constants;
use crate::comparison::squared_distance;

/// A non-negative random variable: its values and their probabilities.
pub(super) struct DiscreteDistribution {
    points: Vec<(f64, f64)>,
}

impl DiscreteDistribution {
    pub(super) fn mean(&self) -> f64 {
        self.points.iter().map(|(value, probability)| value * probability).sum()
    }

    /// Returns `P(Z ≥ A(2 + 4a))` with `A = E[Z]`.
    pub(super) fn beyond(&self, a: f64) -> f64 {
        // The factor lowers the limit, so that values equal to it up to rounding are included.
        let limit = self.mean() * (2.0 + 4.0 * a) * (1.0 - 1e-12);
        self.points.iter().filter(|(value, _)| *value >= limit).map(|(_, probability)| probability).sum()
    }

    /// Returns the distribution of a variable that is `2 + 4a` with probability `1/(2 + 4a)`, and otherwise
    /// 0. Its mean is 1, and it attains Markov's inequality.
    pub(super) fn of_two_points(a: f64) -> Self {
        let value = 2.0 + 4.0 * a;
        Self { points: vec![(value, 1.0 / value), (0.0, 1.0 - 1.0 / value)] }
    }

    /// Returns the distribution of the squared error of the paper's algorithm after one step `2/(μ(t+1))`. In
    /// the game, only a single coalition, of four of the eight players, has a nonzero value (1; C = 1, and D
    /// is large enough not to matter).
    ///
    /// Starting from φ_0 = 0, nothing changes unless this coalition is drawn. The distribution is computed
    /// exactly, from all coalitions that can be drawn.
    pub(super) fn of_one_step() -> Result<Self> {
        let players = 8;
        let mut values = vec![0.0; 1 << players];
        values[0b1111] = 1.0;
        let known = KnownGame::with_bounds(TabulatedGame::new(values, 1)?, 100.0, 1.0)?;
        let (descent, probabilities) = (Descent::new(&known), known.probabilities());
        let rule = PrintedRule::Inverse;
        let weight = rule.weight(1);
        let of_mask = |mask: usize| {
            let mut point = vec![0.0; players];
            descent.step(&mut point, mask, rule.length(&known, 1));
            // The average includes φ_0, which is 0.
            let average: Vec<f64> = point.iter().map(|value| weight * value).collect();
            (squared_distance(&average, &known.truth), probabilities[mask.count_ones() as usize])
        };
        Ok(Self { points: (1..(1_usize << players) - 1).map(of_mask).collect() })
    }
}

/// Returns `log10` of `2 exp(−(x − 2)²/16)`, with x = ε/A: the bounds of appendix 8.2.
pub(super) fn log_of_bound(ratio: f64) -> f64 {
    (LN_2 - (ratio - 2.0).powi(2) / 16.0) / LN_10
}

/// An event with known probability in a run of the paper's algorithm, compared with its bound in appendix
/// 8.2.
///
/// There are two players, v({1}) = v({2}) = 1 and v(M) = 0, so that φ* = 0 = φ_0; C = 1.01 and D = 1.42. Both
/// coalitions are drawn with probability ½, so all T draws agree with probability 2·2^−T. The iterates then
/// converge to the optimum for this coalition, (1, −1) or (−1, 1).
pub(super) struct AlikeDraws {
    pub(super) rule: PrintedRule,
    pub(super) steps: usize,
    /// `‖φ̄ − φ*‖²`, which is used as ε.
    pub(super) error: f64,
    /// A, the printed bound on the mean of the error. It uses the printed sum for κ, which is the largest of
    /// the possible readings of κ.
    pub(super) bound: f64,
}

impl AlikeDraws {
    pub(super) fn after(rule: PrintedRule, steps: usize) -> Result<Self> {
        let known = Self::game()?;
        let edge = known.norm / 2f64.sqrt();
        // φ = (x, −x): the projection of a step on the plane is half the step of the drawn player, whose
        // gradient is 2 (x − 1).
        let (mut x, mut average) = (0.0f64, 0.0f64);
        for step in 1..=steps {
            x = (x + rule.length(&known, step) * (1.0 - x)).clamp(-edge, edge);
            average += rule.weight(step) * (x - average);
        }
        let larger = known.bounds.printed_condition() / known.bounds.condition(Constants::Printed);
        let bound = known.bounds.expected_error(rule.of_bound(&known), steps as f64, Constants::Printed);
        let bound = match rule {
            PrintedRule::Inverse => bound * larger.powi(2),
            PrintedRule::SquareRoot => bound * larger,
            PrintedRule::Constant(_) => bound,
        };
        Ok(Self { rule, steps, error: 2.0 * average * average, bound })
    }

    fn game() -> Result<KnownGame> {
        KnownGame::with_bounds(TabulatedGame::new(vec![0.0, 1.0, 1.0, 0.0], 1)?, 1.42, 1.01)
    }

    /// Returns `log10` of the probability of the event, `2^(1−T)`.
    pub(super) fn log_of_probability(&self) -> f64 {
        (1.0 - self.steps as f64) * LN_2 / LN_10
    }

    /// Returns `log10` of the upper bound on `P(‖φ̄ − φ*‖² ≥ ε)` in appendix 8.2.
    pub(super) fn log_of_bound(&self) -> f64 {
        log_of_bound(self.error / self.bound)
    }

    /// Returns whether the probability of the event is within the bound, as appendix 8.2 claims.
    pub(super) fn is_bounded(&self) -> bool {
        // The inequality bounds only errors of at least 2A.
        self.error < 2.0 * self.bound || self.log_of_probability() <= self.log_of_bound()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion::games::{Purpose, stream};
    use rand::RngExt;

    #[test]
    fn two_points_have_the_mean_one_and_attain_markov() {
        for a in [0.0, 1.0, 2.5] {
            let distribution = DiscreteDistribution::of_two_points(a);
            assert!((distribution.mean() - 1.0).abs() < 1e-12);
            assert!((distribution.beyond(a) - 1.0 / (2.0 + 4.0 * a)).abs() < 1e-12);
        }
        // For `a` above 1.6, the distribution violates the inequality; for smaller `a`, it does not.
        assert!(DiscreteDistribution::of_two_points(1.5).beyond(1.5) < 2.0 * (-1.5f64 * 1.5).exp());
        assert!(DiscreteDistribution::of_two_points(1.7).beyond(1.7) > 2.0 * (-1.7f64 * 1.7).exp());
    }

    #[test]
    fn one_step_has_the_errors_of_drawn_coalitions() {
        let distribution = DiscreteDistribution::of_one_step().unwrap();
        let total: f64 = distribution.points.iter().map(|(_, probability)| probability).sum();
        assert!((total - 1.0).abs() < 1e-9);
        // Compare the exact mean with the sample mean of the errors after single steps.
        let mut rng = stream(1, Purpose::Experiment, 0);
        let draws = 200_000;
        let mut sum = 0.0;
        let largest = distribution.points.iter().map(|point| point.0).fold(0.0, f64::max);
        for _ in 0..draws {
            let mut left: f64 = rng.random();
            let drawn = distribution.points.iter().find(|(_, probability)| {
                left -= probability;
                left < 0.0
            });
            sum += drawn.map_or(0.0, |point| point.0);
        }
        let deviation = (largest * distribution.mean() / draws as f64).sqrt();
        assert!((sum / draws as f64 - distribution.mean()).abs() < 5.0 * deviation);
        assert!(distribution.beyond(3.0) > 2.0 * (-9.0f64).exp(), "{}", distribution.beyond(3.0));
    }

    #[test]
    fn draws_that_are_all_alike_go_where_the_algorithm_goes() {
        let known = AlikeDraws::game().unwrap();
        let descent = Descent::new(&known);
        for rule in [PrintedRule::Inverse, PrintedRule::SquareRoot, PrintedRule::Constant(0.01)] {
            for mask in [1, 2] {
                let (mut point, mut average) = (vec![0.0; 2], vec![0.0; 2]);
                for step in 1..=200 {
                    descent.step(&mut point, mask, rule.length(&known, step));
                    for (average, value) in average.iter_mut().zip(&point) {
                        *average += rule.weight(step) * (value - *average);
                    }
                }
                let error = squared_distance(&average, &known.truth);
                let alike = AlikeDraws::after(rule, 200).unwrap();
                assert!((alike.error - error).abs() < 1e-9, "{rule:?}: {} {error}", alike.error);
            }
        }
    }

    #[test]
    fn few_draws_break_no_bound_and_many_do() {
        assert!(AlikeDraws::after(PrintedRule::Inverse, 1000).unwrap().is_bounded());
        assert!(!AlikeDraws::after(PrintedRule::Inverse, 1 << 23).unwrap().is_bounded());
        assert!(AlikeDraws::after(PrintedRule::SquareRoot, 1 << 20).unwrap().is_bounded());
    }
}
