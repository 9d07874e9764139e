//! The constants of the paper's theory (section 4.2), as printed and corrected, and the resulting bounds on
//! the expected error.
//!
//! The bounds hold for games with `|v(S) − v(∅)| ≤ C` whose Shapley values have a norm of at most D, and for
//! iterates projected on K = {Σφ = c, ‖φ‖ ≤ D}. Errors are `‖φ̄ − φ*‖²`, in squared units of the output. The
//! bounds are far from tight.
//!
//! # As printed, and corrected
//!
//! F = (Xφ − Y)ᵀW(Xφ − Y) has the Hessian 2 XᵀWX, whose smallest eigenvalue is `2 (1 − 1/n)`. The paper
//! prints `1 − 1/n`. F is strongly convex with any μ up to the smallest eigenvalue, so the printed μ is a
//! valid constant. The bounds derived from it are true, but two times (for κ) or four times (for κ²) as large
//! as necessary.
//!
//! `B²` is the square of `Σ L_j / n` (the square is missing in print), so that `κ = B/μ` with the printed μ
//! is `2 Σ_l n (√l D + C) / (√l (n − l))`. The paper prints the factor 4 instead of 2. Here κ is B/μ, the
//! smaller of the two.
//!
//! For steps `2D/(B√t)`, the paper states `F(φ̄) − F(φ*) ≤ 2DB/√T`. Its source sums `‖φ_{t−1} − φ*‖² / 2γ_t`
//! by parts, with ‖φ − φ*‖ ≤ 2D, to `DB√T`, and `γ_t B²/2` to at most `2DB√T`: together 3DB/√T. With the
//! corrected μ, this gives `6Dκ/√T`. The printed `4Dκ/√T` contains κ for the printed μ, which is twice as
//! large, and thus equals `8Dκ/√T`, above the proven bound.

use apportion::estimators::GradientDistribution;

/// Constants used in a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Constants {
    /// As printed: μ = 1 − 1/n, and the bound 4Dκ/√T.
    Printed,
    /// As corrected: μ = 2 (1 − 1/n), and the bound 6Dκ/√T.
    Corrected,
}

/// The step rule to which a bound applies, with the average of the iterates that is the result.
#[derive(Debug, Clone, Copy)]
pub(super) enum StepRule {
    /// `γ_t = 2/(μ(t+1))`, with the weighted average of the iterates as the result.
    Inverse,
    /// `γ_t = 2D/(B√t)` ([`GradientBounds::square_root_step`]), with the uniform average as the result.
    SquareRoot,
    /// A constant step γ, with the last iterate as the result.
    Constant {
        /// The step size γ.
        step: f64,
        /// `‖φ_0 − φ*‖²`, or an upper bound on it.
        start: f64,
    },
}

/// The constants of the bounds for `players` (two or more), `‖φ‖ ≤ norm` (D) and `|v(S) − v(∅)| ≤ value` (C),
/// with coalitions drawn from `distribution`.
#[derive(Debug, Clone, Copy)]
pub(super) struct GradientBounds {
    pub(super) players: usize,
    pub(super) norm: f64,
    pub(super) value: f64,
    pub(super) distribution: GradientDistribution,
}

impl GradientBounds {
    /// Returns B, with `E‖∇‖² ≤ B²` for the stochastic gradient at every point of K.
    ///
    /// ```text
    /// uniform     B = 2 (2^n − 2) (√(n−1)/n) (√(n−1) D + C)             (section 4.2, largest coalitions)
    /// importance  B = 2 Σ_l (n−1)/(√l (n−l)) (√l D + C)                 (section 4.2, left square missing)
    /// centred     B = 2 Σ_l W_l ‖Px‖ (‖Px‖ D + 2C),  ‖Px‖² = l (n−l)/n  (of the gradient along the plane)
    /// ```
    ///
    /// with `W_l = (n−1)/(l (n−l))`. `|x·φ − y| ≤ ‖Px‖ ‖φ‖ + |y − (l/n) c|`, where the last term is at most
    /// 2C. Paired draws and mini-batches do not increase B. B is infinite for the uniform distribution with
    /// 1024 or more players.
    pub(super) fn gradient_norm(&self) -> f64 {
        let (n, norm, value) = (self.players as f64, self.norm, self.value);
        let of_size = |size: usize| {
            let l = size as f64;
            let (row, values) = match self.distribution {
                GradientDistribution::Centred => ((l * (n - l) / n).sqrt(), 2.0 * value),
                _ => (l.sqrt(), value),
            };
            (n - 1.0) / (l * (n - l)) * row * (norm * row + values)
        };
        if self.distribution == GradientDistribution::Uniform {
            let row = (n - 1.0).sqrt();
            return 2.0 * (2f64.powf(n) - 2.0) * row / n * (row * norm + value);
        }
        2.0 * (1..self.players).map(of_size).sum::<f64>()
    }

    /// Returns μ. The corrected μ is the smallest eigenvalue of the Hessian of F, and its only eigenvalue in
    /// the plane.
    pub(super) fn strong_convexity(&self, constants: Constants) -> f64 {
        let printed = 1.0 - 1.0 / self.players as f64;
        match constants {
            Constants::Printed => printed,
            Constants::Corrected => 2.0 * printed,
        }
    }

    /// Returns `κ = B/μ`.
    pub(super) fn condition(&self, constants: Constants) -> f64 {
        self.gradient_norm() / self.strong_convexity(constants)
    }

    /// Returns `4 Σ_l n (√l D + C) / (√l (n − l))`, the sum printed for κ in section 4.2.
    pub(super) fn printed_condition(&self) -> f64 {
        let n = self.players as f64;
        let of_size = |size: usize| {
            let l = size as f64;
            n / (l.sqrt() * (n - l)) * (l.sqrt() * self.norm + self.value)
        };
        4.0 * (1..self.players).map(of_size).sum::<f64>()
    }

    /// Returns `2D/B`. Divided by √t, it is the step of [`StepRule::SquareRoot`].
    pub(super) fn square_root_step(&self) -> f64 {
        2.0 * self.norm / self.gradient_norm()
    }

    /// Returns an upper bound on `E‖φ̄ − φ*‖²` after `steps` steps, T.
    ///
    /// ```text
    /// inverse      4κ²/T
    /// square root  4Dκ/√T as printed, 6Dκ/√T corrected
    /// constant     (1 − γμ)^T ‖φ_0 − φ*‖² + γB²/μ       for γ < 1/μ
    /// ```
    ///
    /// The bound is infinite if there is no guarantee: without steps, and for constant steps that are not
    /// between 0 and 1/μ.
    pub(super) fn expected_error(&self, rule: StepRule, steps: f64, constants: Constants) -> f64 {
        if steps.is_nan() || steps < 1.0 {
            return f64::INFINITY;
        }
        let (convexity, condition) = (self.strong_convexity(constants), self.condition(constants));
        match rule {
            StepRule::Inverse => 4.0 * condition.powi(2) / steps,
            StepRule::SquareRoot => {
                let factor = match constants {
                    Constants::Printed => 4.0,
                    Constants::Corrected => 6.0,
                };
                factor * self.norm * condition / steps.sqrt()
            }
            StepRule::Constant { step, start } => {
                let keep = 1.0 - step * convexity;
                if !(step > 0.0 && keep > 0.0) {
                    return f64::INFINITY;
                }
                keep.powf(steps) * start + step * self.gradient_norm().powi(2) / convexity
            }
        }
    }
}

/// Returns `w_S` by size: (n − 1) / (C(n, l) l (n − l)).
pub(super) fn weights(players: usize) -> Vec<f64> {
    let mut weights = vec![0.0; players + 1];
    let mut binomial = 1.0;
    for (size, weight) in weights.iter_mut().enumerate().take(players).skip(1) {
        binomial *= (players - size + 1) as f64 / size as f64;
        *weight = (players - 1) as f64 / (binomial * (size * (players - size)) as f64);
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion::estimators::{FullBudget, IterateSet, ProjectedGradient};
    use apportion::games::{ClosedForm, Purpose, SumOfUnanimity, TabulatedGame, stream};
    use apportion::samplers::Pairing;
    use apportion::{Estimator, Game};
    use rand::RngExt;

    const DISTRIBUTIONS: [GradientDistribution; 3] =
        [GradientDistribution::Uniform, GradientDistribution::Importance, GradientDistribution::Centred];

    fn binomial(players: usize, size: usize) -> f64 {
        (0..size).map(|i| (players - i) as f64 / (i + 1) as f64).product()
    }

    /// Returns the weight w_S of a coalition of this size.
    fn weight(players: usize, size: usize) -> f64 {
        (players - 1) as f64 / (binomial(players, size) * (size * (players - size)) as f64)
    }

    /// Returns the probability of each coalition of a size.
    fn probability(
        distribution: GradientDistribution,
        players: usize,
        size: usize,
        norm: f64,
        value: f64,
    ) -> f64 {
        let bound = |size: usize| {
            let l = size as f64;
            let row = match distribution {
                GradientDistribution::Uniform => return 1.0,
                GradientDistribution::Importance => l.sqrt(),
                GradientDistribution::Centred => (l * (players as f64 - l) / players as f64).sqrt(),
            };
            let values = if distribution == GradientDistribution::Centred { 2.0 * value } else { value };
            weight(players, size) * row * (norm * row + values)
        };
        let total: f64 = (1..players).map(|size| binomial(players, size) * bound(size)).sum();
        bound(size) / total
    }

    /// Creates bounds from D, C and a distribution.
    fn bounds(players: usize, norm: f64, value: f64, distribution: GradientDistribution) -> GradientBounds {
        GradientBounds { players, norm, value, distribution }
    }

    #[test]
    fn gradients_at_points_of_the_set_are_within_their_bound() {
        let mut rng = stream(1, Purpose::Experiment, 0);
        for players in 2..=8usize {
            for distribution in DISTRIBUTIONS {
                let (norm, value) = (1.5, 0.8);
                let bound = bounds(players, norm, value, distribution).gradient_norm().powi(2);
                let mut most = 0f64;
                for _ in 0..20 {
                    let values: Vec<f64> =
                        (0..1 << players).map(|_| rng.random_range(-value..value)).collect();
                    let total = values[(1 << players) - 1];
                    // Draw any point of the plane on the boundary of the ball.
                    let raw: Vec<f64> = (0..players).map(|_| rng.random_range(-1.0..1.0)).collect();
                    let mean = raw.iter().sum::<f64>() / players as f64;
                    let away = raw.iter().map(|x| (x - mean).powi(2)).sum::<f64>().sqrt();
                    let radius = (norm * norm - total * total / players as f64).sqrt();
                    let point: Vec<f64> =
                        raw.iter().map(|x| total / players as f64 + (x - mean) / away * radius).collect();
                    let mut expected = 0.0;
                    for (mask, value) in values.iter().enumerate().take((1 << players) - 1).skip(1) {
                        let size = mask.count_ones() as usize;
                        let fitted: f64 = (0..players).filter(|i| mask >> i & 1 == 1).map(|i| point[i]).sum();
                        let l = size as f64;
                        let row = if distribution == GradientDistribution::Centred {
                            l * (players as f64 - l) / players as f64
                        } else {
                            l
                        };
                        let draw = probability(distribution, players, size, norm, 0.8);
                        let squared = (2.0 * weight(players, size) * (fitted - value)).powi(2) * row;
                        expected += squared / draw;
                    }
                    most = most.max(expected);
                }
                assert!(most <= bound, "{distribution:?}, {players} players: {most} beyond {bound}");
            }
        }
    }

    #[test]
    fn the_bound_of_importance_sampling_is_the_sum_over_all_coalitions() {
        // Compare with the definition B = Σ_j L_j / n, L_j = 2 n w_j √l (D √l + C).
        for players in 2..=10usize {
            let (norm, value) = (0.7f64, 1.3);
            let sum: f64 = (1..(1usize << players) - 1)
                .map(|mask| {
                    let l = f64::from(mask.count_ones());
                    2.0 * weight(players, mask.count_ones() as usize) * l.sqrt() * (norm * l.sqrt() + value)
                })
                .sum();
            let own = bounds(players, norm, value, GradientDistribution::Importance);
            assert!((own.gradient_norm() / sum - 1.0).abs() < 1e-12);
            let largest = (1..players)
                .map(|size| {
                    let l = size as f64;
                    2.0 * (2f64.powi(players as i32) - 2.0)
                        * weight(players, size)
                        * l.sqrt()
                        * (norm * l.sqrt() + value)
                })
                .fold(0.0, f64::max);
            let uniform = bounds(players, norm, value, GradientDistribution::Uniform).gradient_norm();
            assert!((uniform / largest - 1.0).abs() < 1e-12);
        }
        // With C near 0 and D = 1, B is 2 (n − 1) times H_{n−1} for importance sampling, and 2 (n − 1) times
        // (n − 1)/n for the centred distribution.
        let part = |distribution| bounds(50, 1.0, 1e-12, distribution).gradient_norm();
        let harmonic: f64 = (1..50).map(|l| 1.0 / f64::from(l)).sum();
        assert!((part(GradientDistribution::Importance) / (2.0 * 49.0 * harmonic) - 1.0).abs() < 1e-9);
        assert!((part(GradientDistribution::Centred) / (2.0 * 49.0 * 49.0 / 50.0) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_curvature_is_the_least_eigenvalue_of_the_hessian() {
        for players in 2..=9usize {
            let entry = |i: usize, j: usize| -> f64 {
                let both = |mask: &usize| mask >> i & 1 == 1 && mask >> j & 1 == 1;
                let masks = (1..(1usize << players) - 1).filter(both);
                masks.map(|mask| 2.0 * weight(players, mask.count_ones() as usize)).sum()
            };
            let mu = bounds(players, 1.0, 1.0, GradientDistribution::Centred)
                .strong_convexity(Constants::Corrected);
            // With a on the diagonal and c elsewhere, the eigenvalues are a − c in the plane and a + (n − 1)
            // c across it.
            let (a, c) = (entry(0, 0), entry(0, 1));
            for i in 0..players {
                for j in 0..players {
                    assert!((entry(i, j) - if i == j { a } else { c }).abs() < 1e-12);
                }
            }
            assert!(
                (a - c - mu).abs() < 1e-12 && a + (players - 1) as f64 * c >= mu - 1e-12,
                "{players} players"
            );
        }
    }

    #[test]
    fn errors_of_runs_are_within_their_bounds() {
        for seed in 0..4 {
            let players = 4;
            let game = TabulatedGame::from_game(&SumOfUnanimity::random(players, 6, 3, seed)).unwrap();
            let truth = SumOfUnanimity::random(players, 6, 3, seed).shapley();
            let norm = 1.1 * truth.iter().map(|x| x * x).sum::<f64>().sqrt();
            let empty = game.value(0)[0];
            let value = game.values_in_order().iter().map(|v| (v - empty).abs()).fold(0.0, f64::max);
            let total = truth.iter().sum::<f64>() / players as f64;
            let start = truth.iter().map(|x| (x - total).powi(2)).sum::<f64>();
            for distribution in DISTRIBUTIONS {
                let bounds = bounds(players, norm, value, distribution);
                let constant = 0.01;
                for (rule, estimator) in [
                    (StepRule::Inverse, ProjectedGradient::inverse()),
                    (StepRule::SquareRoot, ProjectedGradient::square_root(bounds.square_root_step())),
                    (StepRule::Constant { step: constant, start }, ProjectedGradient::constant(constant)),
                ] {
                    for pairing in [Pairing::Unpaired, Pairing::Paired] {
                        let estimator = estimator
                            .with_distribution(distribution)
                            .with_pairing(pairing)
                            .with_set(IterateSet::Ball(norm))
                            .with_value_bound(Some(value))
                            .with_full_budget(FullBudget::Sample);
                        for steps in [10, 300] {
                            let budget = 2 + steps * if pairing == Pairing::Paired { 2 } else { 1 };
                            let error = |seed| {
                                let got =
                                    estimator.estimate(&game as &dyn Game, budget, seed).unwrap().values;
                                got.iter().zip(&truth).map(|(a, b)| (a - b).powi(2)).sum::<f64>()
                            };
                            let mean = (0..40).map(error).sum::<f64>() / 40.0;
                            let bound = bounds.expected_error(rule, steps as f64, Constants::Corrected);
                            assert!(
                                mean <= bound,
                                "{distribution:?}, {rule:?}, {steps}: {mean} beyond {bound}"
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_constants_are_those_checked_by_hand() {
        // For n = 8 and C = D = 1, B/μ is 30.6, or 122.4 with the paper's factors.
        let bounds = bounds(8, 1.0, 1.0, GradientDistribution::Importance);
        assert!(
            (bounds.condition(Constants::Corrected) - 30.6).abs() < 0.05,
            "{}",
            bounds.condition(Constants::Corrected)
        );
        // Check the sum printed for κ, and B divided by the printed μ.
        assert!((bounds.printed_condition() - 122.4).abs() < 0.05, "{}", bounds.printed_condition());
        assert!((bounds.condition(Constants::Printed) - 61.2).abs() < 0.05);
        let steps = 1e6;
        let inverse = bounds.expected_error(StepRule::Inverse, steps, Constants::Corrected);
        assert!(
            (inverse / (4.0 * bounds.condition(Constants::Corrected).powi(2) / steps) - 1.0).abs() < 1e-12
        );
    }

    #[test]
    fn what_is_printed_is_never_below_what_was_shown() {
        for players in 2..=12 {
            let own = bounds(players, 1.3, 0.4, GradientDistribution::Importance);
            for rule in [
                StepRule::Inverse,
                StepRule::SquareRoot,
                StepRule::Constant { step: 0.01, start: 1.0 },
                StepRule::Constant { step: 0.3, start: 1.0 },
            ] {
                for steps in [1.0, 10.0, 1e4] {
                    let printed = own.expected_error(rule, steps, Constants::Printed);
                    let corrected = own.expected_error(rule, steps, Constants::Corrected);
                    assert!(printed >= corrected, "{players} players, {rule:?}: {printed} below {corrected}");
                }
            }
        }
    }

    #[test]
    fn nothing_is_promised_where_there_is_nothing_to_promise() {
        let of_six = bounds(6, 1.0, 0.5, GradientDistribution::Centred);
        for step in [0.0, -1.0, 0.6, f64::NAN] {
            assert_eq!(
                of_six.expected_error(StepRule::Constant { step, start: 1.0 }, 10.0, Constants::Corrected),
                f64::INFINITY
            );
        }
        for steps in [0.0, f64::NAN] {
            assert_eq!(of_six.expected_error(StepRule::Inverse, steps, Constants::Corrected), f64::INFINITY);
        }
        assert_eq!(bounds(2000, 1.0, 1.0, GradientDistribution::Uniform).gradient_norm(), f64::INFINITY);
        assert!(bounds(2000, 1.0, 1.0, GradientDistribution::Centred).gradient_norm().is_finite());
    }
}
