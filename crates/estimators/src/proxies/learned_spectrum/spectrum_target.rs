//! The value that a regression on the spectrum estimates.

use apportion_values::Semivalue;

/// The value to estimate, as a functional of the spectrum.
#[derive(Clone, Copy)]
pub(super) struct SpectrumTarget<'a> {
    /// A value that only depends on the odd part of the game.
    pub(super) value: &'a Semivalue,
}

impl SpectrumTarget<'_> {
    /// Returns whether `Σ_T β_T = d(N)` must hold exactly.
    pub(super) fn is_constrained(self) -> bool {
        *self.value == Semivalue::Shapley
    }

    /// Returns `2 ∫ (2t − 1)^(q − 1) dμ(t)`: the weight of the coefficient of a product of an odd number q of
    /// players in the value of each of these players.
    pub(super) fn weight(self, order: usize) -> f64 {
        match order {
            _ if self.is_constrained() => 2.0 / order as f64,
            1 => 2.0,
            _ => 0.0,
        }
    }

    /// Returns the number of free columns for `players` players.
    pub(super) fn columns(self, players: usize) -> usize {
        players - usize::from(self.is_constrained())
    }
}
