//! What the theory promises: bounds of the error before anything is evaluated.
//!
//! # Corrections
//!
//! Against the paper as printed: F = (Xφ − Y)ᵀW(Xφ − Y) has the Hessian 2 XᵀWX, so that `μ = 2 (1 − 1/n)`, not `1 − 1/n`; `B²` is the
//! square of `Σ L_j / n`; κ = B/μ thus has the factor 1 for 4. (With the printed ones `4κ²/T` is 16 times larger.)
//!
//! For steps `2D/(B√t)` the paper states `F(φ̄) − F(φ*) ≤ 2DB/√T`. Its source sums `‖φ_{t−1} − φ*‖² / 2γ_t` by parts, with ‖φ − φ*‖ ≤ 2D,
//! to `DB√T`, and `γ_t B²/2` to at most `2DB√T`: together 3DB/√T, which is used here.

use super::law::GradientLaw;
use super::schedule::{StepSize, curvature};
use crate::error::EstimatorError;

/// The rule of the steps that a bound is for, each with its average.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StepRule {
    /// `γ_t = 2/(μ(t+1))`, the weighted average.
    Inverse,
    /// `γ_t = 2D/(B√t)` ([`GradientBounds::square_root_step`]), the uniform average.
    SquareRoot,
    /// γ, the last iterate.
    Constant {
        /// γ.
        step: f64,
        /// `‖φ_0 − φ*‖²`, or a bound of it.
        start: f64,
    },
}

/// How a bound of the expectation becomes one of probability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tail {
    /// `P(Z ≥ ε) ≤ A/ε` for Z ≥ 0 of expectation at most A.
    Markov,
    /// `P(Z ≥ A (2 + 4a)) ≤ 2 exp(−a²)`.
    ///
    /// The paper uses it for all steps. It does not follow from the expectation alone: it is proved for `F(φ̄) − F(φ*)` with steps as 1/√t
    /// and bounded gradients (Nemirovski, Juditsky, Lan and Shapiro, *Robust stochastic approximation approach to stochastic programming*,
    /// SIAM Journal on Optimization 2009).
    Deviation,
}

/// The constants of the paper's theory (section 4.2), corrected, and the bounds that follow.
///
/// They hold for games with `|v(S) − v(∅)| ≤ C` whose Shapley value has a norm of at most D, and iterates projected on K
/// ([`IterateSet::Ball`](super::IterateSet::Ball)). Errors are `‖φ̄ − φ*‖²`, in squared units of the output. They are far from tight.
///
/// ```
/// use apportion_estimators::{GradientBounds, GradientLaw, StepRule, Tail};
///
/// let bounds = GradientBounds::new(8, 1.0, 1.0, GradientLaw::Importance)?;
/// assert!((bounds.condition() - 30.6).abs() < 0.05);
/// let steps = bounds.steps_for(Tail::Markov, StepRule::Inverse, 0.1, 0.05).unwrap();
/// assert!(bounds.probability_beyond(Tail::Markov, StepRule::Inverse, steps, 0.1) <= 0.05);
/// # Ok::<(), apportion_estimators::EstimatorError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GradientBounds {
    players: usize,
    norm: f64,
    value: f64,
    law: GradientLaw,
}

impl GradientBounds {
    /// For `players`, `‖φ‖ ≤ norm` (D) and `|v(S) − v(∅)| ≤ value` (C), with coalitions drawn by `law`.
    ///
    /// # Errors
    ///
    /// [`EstimatorError::NoPlayers`] for fewer than two, [`EstimatorError::Bound`] for bounds that are not positive and finite.
    pub fn new(players: usize, norm: f64, value: f64, law: GradientLaw) -> Result<Self, EstimatorError> {
        if players < 2 {
            return Err(EstimatorError::NoPlayers);
        }
        for (name, given) in [("D, of the norm,", norm), ("C, of the values,", value)] {
            if !(given > 0.0 && given.is_finite()) {
                return Err(EstimatorError::Bound { name, given });
            }
        }
        Ok(Self { players, norm, value, law })
    }

    /// B, with `E‖∇‖² ≤ B²` for the stochastic gradient at every point of K.
    ///
    /// ```text
    /// uniform     B = 2 (2^n − 2) (√(n−1)/n) (√(n−1) D + C)                   (section 4.2; that of the largest coalitions)
    /// importance  B = 2 Σ_l (n−1)/(√l (n−l)) (√l D + C)                       (section 4.2, which lacks the square on the left)
    /// centred     B = 2 Σ_l W_l ‖Px‖ (‖Px‖ D + 2C),  ‖Px‖² = l (n−l)/n        (of the gradient along the plane)
    /// ```
    ///
    /// `|x·φ − y| ≤ ‖Px‖ ‖φ‖ + |y − (l/n) c|`, and the last is at most 2C. The D-part of the second is `2 (n−1) H_{n−1} D`, of the third
    /// `2 (n−1)²/n D`. Pairs and mini-batches do not make it larger. Infinite for the uniform law from 1024 players on.
    pub fn gradient_norm(&self) -> f64 {
        let n = self.players as f64;
        match self.law {
            GradientLaw::Uniform => {
                let row = (n - 1.0).sqrt();
                2.0 * (2f64.powf(n) - 2.0) * row / n * (row * self.norm + self.value)
            }
            law => 2.0 * law.size_weights(self.players, self.norm, self.value).iter().sum::<f64>(),
        }
    }

    /// `μ = 2 (1 − 1/n)`: the least eigenvalue of the Hessian of F, and the only one in the plane.
    pub fn strong_convexity(&self) -> f64 {
        curvature(self.players)
    }

    /// `κ = B/μ`.
    pub fn condition(&self) -> f64 {
        self.gradient_norm() / self.strong_convexity()
    }

    /// `2D/(B√t)`, the step that [`StepRule::SquareRoot`] is for.
    pub fn square_root_step(&self) -> StepSize {
        StepSize::SquareRoot(2.0 * self.norm / self.gradient_norm())
    }

    /// A bound of `E‖φ̄ − φ*‖²` after `steps` steps, T.
    ///
    /// ```text
    /// inverse      4κ²/T
    /// square root  6Dκ/√T                               (printed: 4, see the corrections above)
    /// constant     (1 − γμ)^T ‖φ_0 − φ*‖² + γB²/μ       for γ < 1/μ
    /// ```
    ///
    /// Infinite where nothing is promised: without steps, and for constant steps that are not between 0 and 1/μ.
    pub fn expected_error(&self, rule: StepRule, steps: f64) -> f64 {
        if steps.is_nan() || steps < 1.0 {
            return f64::INFINITY;
        }
        match rule {
            StepRule::Inverse => 4.0 * self.condition().powi(2) / steps,
            StepRule::SquareRoot => 6.0 * self.norm * self.condition() / steps.sqrt(),
            StepRule::Constant { step, start } => match self.shrinking(step) {
                Some((keep, floor)) => keep.powf(steps) * start + floor,
                None => f64::INFINITY,
            },
        }
    }

    /// `1 − γμ` and `γB²/μ`, if `0 < γ < 1/μ`.
    fn shrinking(&self, step: f64) -> Option<(f64, f64)> {
        let keep = 1.0 - step * self.strong_convexity();
        (step > 0.0 && keep > 0.0)
            .then(|| (keep, step * self.gradient_norm().powi(2) / self.strong_convexity()))
    }

    /// A bound of the probability that the squared error is `error` (ε) or more; at most 1.
    pub fn probability_beyond(&self, tail: Tail, rule: StepRule, steps: f64, error: f64) -> f64 {
        let expected = self.expected_error(rule, steps);
        let bound = match tail {
            Tail::Markov => expected / error,
            Tail::Deviation => {
                let a = (error / expected - 2.0) / 4.0;
                if a > 0.0 { 2.0 * (-a * a).exp() } else { 1.0 }
            }
        };
        // NaN where error and expectation are both without bound.
        if bound < 1.0 { bound.max(0.0) } else { 1.0 }
    }

    /// The squared error that is reached or exceeded with a probability of at most `probability` (δ, between 0 and 1).
    pub fn error_within(&self, tail: Tail, rule: StepRule, steps: f64, probability: f64) -> f64 {
        self.expected_error(rule, steps) * stretch(tail, probability)
    }

    /// The least number of steps after which the squared error is `error` or more with a probability of at most `probability`; none where
    /// no number is enough: constant steps have an error that does not go away.
    pub fn steps_for(&self, tail: Tail, rule: StepRule, error: f64, probability: f64) -> Option<f64> {
        let expected = error / stretch(tail, probability);
        let steps = match rule {
            StepRule::Inverse => 4.0 * self.condition().powi(2) / expected,
            StepRule::SquareRoot => (6.0 * self.norm * self.condition() / expected).powi(2),
            StepRule::Constant { step, start } => {
                let (keep, floor) = self.shrinking(step)?;
                if expected <= floor {
                    return None;
                }
                ((expected - floor) / start).ln() / keep.ln()
            }
        };
        // Rounding must not make it one too few.
        let steps = (steps * (1.0 + 1e-12)).ceil().max(1.0);
        steps.is_finite().then_some(steps)
    }
}

/// What the expectation is multiplied by to hold with probability 1 − δ.
fn stretch(tail: Tail, probability: f64) -> f64 {
    match tail {
        Tail::Markov => 1.0 / probability,
        Tail::Deviation => 2.0 + 4.0 * (2.0 / probability).ln().max(0.0).sqrt(),
    }
}
