//! Beta-Shapley values: a Beta distribution of the probability of presence.

use std::ops::RangeInclusive;

use super::size_distribution;
use crate::error::ValueError;
use crate::logarithms::ln_gamma;

/// The allowed range of the parameters. Outside this range, their sums and ratios could overflow or
/// underflow.
const LEGAL: RangeInclusive<f64> = 1e-100..=1e100;

/// The parameters of a Beta-Shapley value, in the convention of Kwon and Zou: the probability of presence t
/// has the distribution Beta(β, α).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BetaDistribution {
    alpha: f64,
    beta: f64,
}

impl BetaDistribution {
    pub(crate) fn new(alpha: f64, beta: f64) -> Result<Self, ValueError> {
        if LEGAL.contains(&alpha) && LEGAL.contains(&beta) {
            Ok(Self { alpha, beta })
        } else {
            Err(ValueError::Beta { alpha, beta })
        }
    }

    /// Returns α, the parameter for absence.
    pub fn alpha(self) -> f64 {
        self.alpha
    }

    /// Returns β, the parameter for presence.
    pub fn beta(self) -> f64 {
        self.beta
    }

    /// Returns the moment
    /// `B(a + β, b + α) / B(β, α) = Π_{k<a} (β + k)/(α + β + k) · Π_{k<b} (α + k)/(α + β + a + k)`. All
    /// factors are below 1, so the product only underflows if the result does.
    pub(crate) fn moment(self, a: usize, b: usize) -> f64 {
        let Self { alpha, beta } = self;
        let present = (0..a).map(|k| (beta + k as f64) / (alpha + beta + k as f64));
        let absent = (0..b).map(|k| (alpha + k as f64) / (alpha + beta + (a + k) as f64));
        present.chain(absent).product()
    }

    pub(crate) fn ln_moment(self, a: usize, b: usize) -> f64 {
        let ln_beta = |x: f64, y: f64| ln_gamma(x) + ln_gamma(y) - ln_gamma(x + y);
        ln_beta(self.beta + a as f64, self.alpha + b as f64) - ln_beta(self.beta, self.alpha)
    }

    /// Returns the beta-binomial distribution of coalition sizes `0..players`.
    pub(crate) fn size_distribution(self, players: usize) -> Vec<f64> {
        let others = players.saturating_sub(1) as f64;
        size_distribution::from_ratios(players, |size| {
            let s = size as f64;
            (others - s) / (s + 1.0) * (self.beta + s) / (self.alpha + (others - 1.0 - s))
        })
    }
}
