//! The distribution of the drawn coalitions, and the factors of their gradients.
//!
//! # Notation
//!
//! For n players, `W_l = C(n, l) w_l = (n − 1) / (l (n − l))` is the total weight in F of all coalitions of
//! size l, and `q_l` is the probability that a draw has size l. All coalitions of a size are equally likely.

use apportion_samplers::{Discrete, ln_choose};

use crate::error::Result;

/// The distribution of coalitions of 1 to n − 1 players for stochastic gradients.
///
/// A coalition of size l is a row x of ones and zeros and has the weight `w_l`, as in
/// [`ProjectedGradient`](super::ProjectedGradient). `q_l` is the probability of the size l, and
/// `W_l = C(n, l) w_l` is its total weight. D is a bound on ‖φ‖, and C is a bound on |v(S) − v(∅)|.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub enum GradientDistribution {
    /// Uniform over all coalitions (section 4.1 of the paper). Gradients of small and large coalitions are
    /// rare and huge, so the constants in the error bounds grow like 2^n.
    Uniform,
    /// The paper's importance sampling: proportional to `L_l = w_l √l (D √l + C)`, a bound on the gradient
    /// (section 4.2), so `q_l ∝ C(n, l) L_l = (n − 1) (D √l + C) / (√l (n − l))`.
    Importance,
    /// Proportional to the same bound for the gradient within the plane, because the projection removes its
    /// other component. Rows x are replaced with `Px = x − (l/n) 1`, with `‖Px‖² = l (n − l)/n`. Therefore,
    /// `q_l ∝ W_l ‖Px‖ (D ‖Px‖ + 2C)`, which is symmetric and nearly the same for all sizes. The default.
    #[default]
    Centred,
}

impl GradientDistribution {
    /// Returns, for each size, a bound on the gradients of all coalitions of this size together, divided by
    /// 2: `C(n, l) L_l` for sizes 1 to n − 1, in entry `l − 1`. For the uniform distribution, which has no
    /// bound, returns the number of coalitions of each size relative to the most frequent size.
    pub(super) fn size_weights(self, players: usize, norm: f64, value: f64) -> Vec<f64> {
        let n = players as f64;
        let ln_max = ln_choose(players, players / 2);
        let weight = |size: usize| {
            let l = size as f64;
            match self {
                Self::Uniform => (ln_choose(players, size) - ln_max).exp(),
                Self::Importance => size_weight(players, size) * l.sqrt() * (norm * l.sqrt() + value),
                Self::Centred => {
                    let row = (l * (n - l) / n).sqrt();
                    size_weight(players, size) * row * (norm * row + 2.0 * value)
                }
            }
        };
        (1..players).map(weight).collect()
    }
}

/// Returns `W_l = (n − 1) / (l (n − l))`, the total weight of all coalitions of size l.
pub(super) fn size_weight(players: usize, size: usize) -> f64 {
    (players - 1) as f64 / (size as f64 * (players - size) as f64)
}

/// A distribution of sizes, with the factors `W_l / q_l` that make gradients unbiased.
#[derive(Debug, Clone)]
pub(super) struct SizeFactors {
    /// The distribution of the coalition size minus one.
    pub(super) sizes: Discrete,
    factors: Vec<f64>,
}

impl SizeFactors {
    /// Creates the factors from weights of the sizes 1 to n − 1. If `is_paired` is set, a size and the size
    /// of the complement both get the mean of their weights, because either coalition of a pair may be drawn.
    pub(super) fn new(mut weights: Vec<f64>, is_paired: bool) -> Result<Self> {
        let players = weights.len() + 1;
        if is_paired {
            weights = weights.iter().zip(weights.iter().rev()).map(|(a, b)| 0.5 * (a + b)).collect();
        }
        let total: f64 = weights.iter().sum();
        let factor = |(index, weight): (usize, &f64)| {
            // A size that is never drawn does not need a factor.
            if *weight > 0.0 { size_weight(players, index + 1) / (weight / total) } else { 0.0 }
        };
        let factors = weights.iter().enumerate().map(factor).collect();
        Ok(Self { sizes: Discrete::new(&weights)?, factors })
    }

    /// Returns the factor `W_l / q_l` for a coalition of size l.
    pub(super) fn factor(&self, size: usize) -> f64 {
        self.factors[size - 1]
    }
}
