//! Step sizes, and averages of iterates.

use crate::error::GradientError;
use crate::error::Result;

/// The step size γ_t for steps t = 1, 2, …: `φ_t = P_K(φ_{t−1} − γ_t ∇)`, where ∇ is an unbiased estimate of
/// the gradient of F (not of F/2).
///
/// F has the curvature `μ = 2 (1 − 1/n)` in every direction of the plane Σφ = c. The value printed in the
/// paper is half of that.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub enum StepSize {
    /// The same γ for every t. It must be positive.
    Constant(f64),
    /// `γ_0 / √t`, where γ_0 must be positive.
    SquareRoot(f64),
    /// `γ_0 / t`, where γ_0 must be positive.
    Reciprocal(f64),
    /// `2 / (μ (t + 1))`, the step size of the paper's best bound. The first steps are about n times as long
    /// as is stable for the gradients of single coalitions. Without a bound on the norm, the iterates
    /// therefore grow before they shrink, the more so the more players there are.
    Inverse,
    /// `2 / (μ (t + 1 + δ n))`: like [`Inverse`](Self::Inverse), with a delay of δ steps per player; δ must
    /// not be negative.
    Delayed(f64),
}

impl StepSize {
    pub(super) fn check(self) -> Result<()> {
        let (given, is_right) = match self {
            Self::Constant(step) | Self::SquareRoot(step) | Self::Reciprocal(step) => (step, step > 0.0),
            Self::Inverse => (1.0, true),
            Self::Delayed(delay) => (delay, delay >= 0.0),
        };
        if is_right && given.is_finite() {
            Ok(())
        } else {
            Err(match self {
                Self::Delayed(_) => GradientError::Delay { actual: given },
                _ => GradientError::StepSize { actual: given },
            }
            .into())
        }
    }

    /// Returns the step size γ_t of step t, counted from 1.
    pub(super) fn length(self, players: usize, step: usize) -> f64 {
        let t = step as f64;
        match self {
            Self::Constant(length) => length,
            Self::SquareRoot(length) => length / t.sqrt(),
            Self::Reciprocal(length) => length / t,
            Self::Inverse => 2.0 / (curvature(players) * (t + 1.0)),
            Self::Delayed(delay) => 2.0 / (curvature(players) * (t + 1.0 + delay * players as f64)),
        }
    }
}

/// Returns `μ = 2 (1 − 1/n)`, the curvature of F in the plane.
pub(super) fn curvature(players: usize) -> f64 {
    2.0 * (1.0 - 1.0 / players as f64)
}

/// The average of the iterates φ_0, φ_1, …, φ_T that is used as the estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub enum IterateAverage {
    /// The last iterate φ_T. Meant for constant steps.
    Last,
    /// `(1/T) Σ_{t=1}^T φ_t`. Meant for steps like 1/√t. (The paper divides T + 1 terms by T.)
    Uniform,
    /// `2/((T+1)(T+2)) Σ_{t=0}^T (t+1) φ_t`. Meant for steps like 1/t. The default.
    #[default]
    Weighted,
}

impl IterateAverage {
    /// Returns the weight ρ_t of φ_t in `φ̄_t = (1 − ρ_t) φ̄_{t−1} + ρ_t φ_t`, t from 1, with `φ̄_0 = φ_0`.
    pub(super) fn weight(self, step: usize) -> f64 {
        match self {
            Self::Last => 1.0,
            Self::Uniform => 1.0 / step as f64,
            Self::Weighted => 2.0 / (step as f64 + 2.0),
        }
    }
}
