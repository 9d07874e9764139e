//! Projected stochastic gradient descent as printed in section 4, on a game whose coalition values are all
//! known.
//!
//! One coalition is drawn in each step, by importance sampling (section 4.2). `φ_t = Proj_K(φ_{t−1} − γ_t (n
//! p)⁻¹ ∇g)`, K = {Σφ = c, ‖φ‖ ≤ D}, starting from φ_0 with v(M)/d in every entry. The steps use the printed
//! μ = 1 − 1/d, whereas the library's estimator uses the corrected μ.

use apportion::games::{Purpose, stream};
use rand::RngExt;

use super::known_game::KnownGame;
use super::theory::{Constants, StepRule, weights};
use crate::comparison::squared_distance;

/// Step rules of section 4.2, each with the result that its bound applies to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum PrintedRule {
    /// `γ_t = 2/(μ(t+1))`, `φ̄ = 2/((T+1)(T+2)) Σ_{t=0}^T (t+1) φ_t`.
    Inverse,
    /// `γ_t = 2D/(B√t)`, `φ̄ = (1/T) Σ_{t=1}^T φ_t`. (The paper prints the sum from t = 0, with T + 1 terms
    /// divided by T.)
    SquareRoot,
    /// Constant γ, in units of 1/μ, and the last iterate.
    Constant(f64),
}

impl PrintedRule {
    /// Returns the step rule whose bound applies to this rule.
    pub(super) fn of_bound(self, known: &KnownGame) -> StepRule {
        match self {
            Self::Inverse => StepRule::Inverse,
            Self::SquareRoot => StepRule::SquareRoot,
            Self::Constant(_) => StepRule::Constant { step: self.length(known, 1), start: known.start },
        }
    }

    /// Returns the step size γ_t, for t from 1.
    pub(super) fn length(self, known: &KnownGame, step: usize) -> f64 {
        let (t, convexity) = (step as f64, known.bounds.strong_convexity(Constants::Printed));
        match self {
            Self::Inverse => 2.0 / (convexity * (t + 1.0)),
            Self::SquareRoot => known.bounds.square_root_step() / t.sqrt(),
            Self::Constant(size) => size / convexity,
        }
    }

    /// Returns the weight ρ_t of φ_t in `φ̄_t = (1 − ρ_t) φ̄_{t−1} + ρ_t φ_t`, for t from 1, with
    /// `φ̄_0 = φ_0`.
    pub(super) fn weight(self, step: usize) -> f64 {
        match self {
            Self::Inverse => 2.0 / (step as f64 + 2.0),
            Self::SquareRoot => 1.0 / step as f64,
            Self::Constant(_) => 1.0,
        }
    }
}

/// The printed algorithm for one game, with the distribution from which coalitions are drawn.
pub(super) struct Descent<'a> {
    known: &'a KnownGame,
    /// Cumulative probabilities of the coalitions by mask, with index mask − 1.
    cumulative: Vec<f64>,
    /// `2 w_S / p_S` for each coalition size: the factor by which a drawn coalition's residual and row are
    /// multiplied in the gradient.
    factors: Vec<f64>,
}

impl<'a> Descent<'a> {
    pub(super) fn new(known: &'a KnownGame) -> Self {
        let players = known.players();
        let probabilities = known.probabilities();
        let factors = weights(players).iter().zip(&probabilities).map(|(w, p)| 2.0 * w / p).collect();
        let mut sum = 0.0;
        let cumulative = (1..(1_usize << players) - 1)
            .map(|mask| {
                sum += probabilities[mask.count_ones() as usize];
                sum
            })
            .collect();
        Self { known, cumulative, factors }
    }

    /// Takes one step of length γ on the coalition `mask`: φ becomes `Proj_K(φ − γ (n p)⁻¹ ∇g)`.
    pub(super) fn step(&self, point: &mut [f64], mask: usize, length: f64) {
        let values = self.known.game.values_in_order();
        let members = |point: &[f64]| -> f64 {
            point
                .iter()
                .enumerate()
                .filter(|(player, _)| mask >> player & 1 == 1)
                .map(|(_, value)| value)
                .sum()
        };
        let residual = members(point) - (values[mask] - values[0]);
        let along = length * self.factors[mask.count_ones() as usize] * residual;
        for (player, value) in point.iter_mut().enumerate() {
            *value -= if mask >> player & 1 == 1 { along } else { 0.0 };
        }
        self.project(point);
    }

    /// Computes Proj_K: projects onto the plane and then, within the plane, onto the ball.
    fn project(&self, point: &mut [f64]) {
        let count = point.len() as f64;
        let mean = point.iter().sum::<f64>() / count;
        let centre = self.known.total() / count;
        let away = point.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        let room = (self.known.norm.powi(2) - count * centre * centre).max(0.0);
        let scale = if away > room { (room / away).sqrt() } else { 1.0 };
        point.iter_mut().for_each(|value| *value = centre + scale * (*value - mean));
    }

    /// Returns `‖φ̄_T − φ*‖²/D²` in one run, for each T in `lengths`, which must be ascending.
    pub(super) fn errors(&self, rule: PrintedRule, lengths: &[usize], seed: u64) -> Vec<f64> {
        let players = self.known.players();
        let mut rng = stream(seed, Purpose::Experiment, 0);
        let mut point = vec![self.known.total() / players as f64; players];
        let mut average = point.clone();
        let mut errors = Vec::new();
        for step in 1..=lengths.last().copied().unwrap_or(0) {
            let drawn: f64 = rng.random();
            let mask = 1 + self.cumulative.partition_point(|&below| below <= drawn);
            self.step(&mut point, mask.min(self.cumulative.len()), rule.length(self.known, step));
            let weight = rule.weight(step);
            for (average, value) in average.iter_mut().zip(&point) {
                *average += weight * (value - *average);
            }
            if lengths.contains(&step) {
                errors.push(squared_distance(&average, &self.known.truth) / self.known.norm.powi(2));
            }
        }
        errors
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::squared_norm;
    use apportion::Estimator;
    use apportion::estimators::{FullBudget, IterateSet, ProjectedGradient};

    #[test]
    fn projections_are_in_the_set_and_nearest() {
        let known = KnownGame::draw(4, 0, 3).unwrap();
        let descent = Descent::new(&known);
        let mut rng = stream(1, Purpose::Experiment, 0);
        let mut drawn =
            |scale: f64| -> Vec<f64> { (0..4).map(|_| scale * rng.random_range(-1.0..1.0)).collect() };
        for _ in 0..50 {
            let outside = drawn(3.0);
            let mut nearest = outside.clone();
            descent.project(&mut nearest);
            assert!((nearest.iter().sum::<f64>() - known.total()).abs() < 1e-12);
            assert!(squared_norm(&nearest).sqrt() < known.norm + 1e-12);
            // P projects onto a convex set if (z − Pz)·(y − Pz) ≤ 0 for every y in the set.
            for scale in [0.01, 0.3, 3.0] {
                let mut other = drawn(scale);
                descent.project(&mut other);
                let product: f64 =
                    (0..4).map(|at| (outside[at] - nearest[at]) * (other[at] - nearest[at])).sum();
                assert!(product < 1e-12, "{product}");
            }
        }
    }

    #[test]
    fn steps_are_against_the_gradient_on_average() {
        let known = KnownGame::draw(4, 1, 3).unwrap();
        let descent = Descent::new(&known);
        let (values, weights, probabilities) =
            (known.game.values_in_order(), weights(4), known.probabilities());
        let start = vec![known.total() / 4.0; 4];
        let length = 1e-6;
        let (mut moved, mut gradient) = (vec![0.0; 4], vec![0.0; 4]);
        for mask in 1..15_usize {
            let size = mask.count_ones() as usize;
            let mut point = start.clone();
            descent.step(&mut point, mask, length);
            let residual = size as f64 * start[0] - (values[mask] - values[0]);
            for player in 0..4 {
                moved[player] += probabilities[size] * (point[player] - start[player]) / length;
                gradient[player] +=
                    if mask >> player & 1 == 1 { 2.0 * weights[size] * residual } else { 0.0 };
            }
        }
        // The projection keeps only the gradient's component along the plane.
        let mean = gradient.iter().sum::<f64>() / 4.0;
        for (moved, gradient) in moved.iter().zip(&gradient) {
            assert!((moved + gradient - mean).abs() < 1e-8, "{moved} {gradient}");
        }
    }

    #[test]
    fn errors_are_those_of_the_library_where_both_have_the_rule() {
        let known = KnownGame::draw(4, 2, 3).unwrap();
        let descent = Descent::new(&known);
        let size = known.bounds.square_root_step();
        let estimator = ProjectedGradient::square_root(size)
            .with_set(IterateSet::Ball(known.norm))
            .with_value_bound(Some(known.value))
            .with_full_budget(FullBudget::Sample);
        let (mut own, mut others) = (0.0, 0.0);
        for seed in 0..300 {
            own += descent.errors(PrintedRule::SquareRoot, &[100], seed)[0];
            let answer = estimator.estimate(&known.game, 102, seed).unwrap().values;
            others += squared_distance(&answer, &known.truth) / known.norm.powi(2);
        }
        assert!((own / others - 1.0).abs() < 0.25, "{own} {others}");
    }
}
