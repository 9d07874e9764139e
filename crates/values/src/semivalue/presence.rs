//! The weighted Banzhaf value: the same probability of presence for all players.

use crate::error::ValueError;

/// The probability p with which every other player is present, strictly between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Presence {
    p: f64,
}

impl Presence {
    pub(crate) fn new(p: f64) -> Result<Self, ValueError> {
        if p > 0.0 && p < 1.0 { Ok(Self { p }) } else { Err(ValueError::Presence { actual: p }) }
    }

    /// Returns the probability p.
    pub fn p(self) -> f64 {
        self.p
    }

    /// Returns the moment `p^a (1 − p)^b`.
    pub(crate) fn moment(self, a: usize, b: usize) -> f64 {
        power(self.p, a) * power(1.0 - self.p, b)
    }

    pub(crate) fn ln_moment(self, a: usize, b: usize) -> f64 {
        a as f64 * self.p.ln() + b as f64 * (-self.p).ln_1p()
    }
}

/// Returns `base^exponent`, with `0^0 = 1`.
pub(crate) fn power(base: f64, exponent: usize) -> f64 {
    match i32::try_from(exponent) {
        Ok(exponent) => base.powi(exponent),
        Err(_) => base.powf(exponent as f64),
    }
}
