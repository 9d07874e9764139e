//! What a leaf gives to pairs.

use crate::moments::Moments;

/// What a leaf gives to each pair of players, of which the mixtures that reach it take `own` from the explicand and `rest` from the
/// background row.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct PairShares {
    /// To two of the former.
    pub(crate) both_own: f64,
    /// To one of each: the amount to take off.
    pub(crate) mixed: f64,
    /// To two of the latter.
    pub(crate) both_rest: f64,
}

impl PairShares {
    /// For a leaf of value 1: `M(own − 2, rest)`, `M(own − 1, rest − 1)`, `M(own, rest − 2)`, 0 where there is no such pair.
    #[inline]
    pub(crate) fn of(moments: &Moments, own: usize, rest: usize) -> Self {
        Self {
            both_own: if own > 1 { moments.get(own - 2, rest) } else { 0.0 },
            mixed: if own > 0 && rest > 0 { moments.get(own - 1, rest - 1) } else { 0.0 },
            both_rest: if rest > 1 { moments.get(own, rest - 2) } else { 0.0 },
        }
    }

    #[inline]
    pub(crate) fn times(self, value: f64) -> Self {
        Self { both_own: value * self.both_own, mixed: value * self.mixed, both_rest: value * self.both_rest }
    }

    #[inline]
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            both_own: self.both_own + other.both_own,
            mixed: self.mixed + other.mixed,
            both_rest: self.both_rest + other.both_rest,
        }
    }
}
