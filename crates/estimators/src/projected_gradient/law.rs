//! How coalitions are drawn, and what a draw's gradient is multiplied by.
//!
//! # Notation
//!
//! n players, `W_l = C(n, l) w_l = (n − 1) / (l (n − l))` the weight in F of all coalitions of size l together, `q_l` the probability with
//! which a draw has size l. Inside a size all coalitions are alike.

use apportion_samplers::{Discrete, ln_choose};

use crate::error::Result;

/// The law by which coalitions of 1 to n − 1 players are drawn for a stochastic gradient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub enum GradientLaw {
    /// Every coalition alike: section 4.1 of the paper. Gradients of small and large coalitions are rare and enormous, so that constants
    /// grow as 2^n.
    Uniform,
    /// In proportion to `L_l = w_l √l (D √l + C)`, a bound of the gradient (section 4.2): `q_l ∝ C(n, l) L_l = (n − 1) (D √l + C) / (√l (n
    /// − l))`. The paper's importance sampling.
    Importance,
    /// The same bound for the gradient along the plane, which is all that a step is after the projection: rows x are replaced by
    /// `Px = x − (l/n) 1`, `‖Px‖² = l (n − l)/n`, so that `q_l ∝ W_l ‖Px‖ (D ‖Px‖ + 2C)`, which is symmetric and nearly the same for all
    /// sizes. The default.
    #[default]
    Centred,
}

impl GradientLaw {
    /// Bounds of the gradients of all coalitions of each size together, over 2: `C(n, l) L_l` for sizes 1 to n − 1, by entry `l − 1`; for
    /// the uniform law, which has none, the number of coalitions over that of the most frequent size.
    pub(super) fn size_weights(self, players: usize, norm: f64, value: f64) -> Vec<f64> {
        let n = players as f64;
        let ln_most = ln_choose(players, players / 2);
        let weight = |size: usize| {
            let l = size as f64;
            match self {
                Self::Uniform => (ln_choose(players, size) - ln_most).exp(),
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

/// `W_l = (n − 1) / (l (n − l))`.
pub(super) fn size_weight(players: usize, size: usize) -> f64 {
    (players - 1) as f64 / (size as f64 * (players - size) as f64)
}

/// A law of sizes, and the factor `W_l / q_l` that makes gradients unbiased.
#[derive(Debug, Clone)]
pub(super) struct SizeFactors {
    /// Of sizes less one.
    pub(super) sizes: Discrete,
    factors: Vec<f64>,
}

impl SizeFactors {
    /// From weights of the sizes 1 to n − 1; `is_paired` gives a size and its complement's the mean of both, as either of a pair may be the
    /// one that is drawn.
    pub(super) fn new(mut weights: Vec<f64>, is_paired: bool) -> Result<Self> {
        let players = weights.len() + 1;
        if is_paired {
            weights = weights.iter().zip(weights.iter().rev()).map(|(a, b)| 0.5 * (a + b)).collect();
        }
        let total: f64 = weights.iter().sum();
        let factor = |(index, weight): (usize, &f64)| {
            // A size that is never drawn needs none.
            if *weight > 0.0 { size_weight(players, index + 1) / (weight / total) } else { 0.0 }
        };
        let factors = weights.iter().enumerate().map(factor).collect();
        Ok(Self { sizes: Discrete::new(&weights)?, factors })
    }

    /// `W_l / q_l`.
    pub(super) fn factor(&self, size: usize) -> f64 {
        self.factors[size - 1]
    }
}
