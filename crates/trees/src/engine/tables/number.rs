//! The numbers in which tables are kept.

use apportion_models::Ensemble;

/// A number in a table, and the one that such numbers are added to.
pub(crate) trait Number: Copy + Default + Send + Sync + std::fmt::Debug + 'static {
    /// What sums are kept in.
    type Sum: Copy + Default + Send;

    /// The nearest to `value`, which is counted in steps where the number is a whole one.
    fn nearest(value: f64, steps: Steps) -> Self;

    /// One addition.
    fn add(sum: Self::Sum, number: Self) -> Self::Sum;
}

impl Number for f64 {
    type Sum = f64;

    #[inline(always)]
    fn nearest(value: f64, _: Steps) -> Self {
        value
    }

    #[inline(always)]
    fn add(sum: f64, number: f64) -> f64 {
        sum + number
    }
}

impl Number for f32 {
    type Sum = f64;

    #[inline(always)]
    fn nearest(value: f64, _: Steps) -> Self {
        value as f32
    }

    #[inline(always)]
    fn add(sum: f64, number: f32) -> f64 {
        sum + f64::from(number)
    }
}

impl Number for i64 {
    type Sum = i64;

    #[inline(always)]
    fn nearest(value: f64, steps: Steps) -> Self {
        (value * steps.per_one[0] * steps.per_one[1]).round_ties_even() as i64
    }

    #[inline(always)]
    fn add(sum: i64, number: i64) -> i64 {
        // Sums of the values on millions of trees fit; what passes the end on the way comes back.
        sum.wrapping_add(number)
    }
}

/// The steps of fixed-point numbers: 2⁻⁴⁰ of a power of two that no leaf is above.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Steps {
    /// Steps in a unit, as a product: they may be too many for one number.
    per_one: [f64; 2],
    /// The size of a step.
    pub(crate) size: f64,
}

impl Steps {
    pub(crate) fn new(ensemble: &Ensemble) -> Self {
        let leaves = ensemble.nodes().iter().filter(|node| node.is_leaf());
        Self::of(leaves.map(|leaf| leaf.value().abs()).fold(0.0, f64::max))
    }

    /// For leaves of values up to `largest`.
    pub(super) fn of(largest: f64) -> Self {
        // The power of two from the exponent alone; of half that power twice, as not every step has a reciprocal.
        let exponent = (largest.to_bits() >> 52) as i32 - 1022 - 40;
        let (half, rest) = (exponent / 2, exponent - exponent / 2);
        Self {
            per_one: [2.0_f64.powi(-half), 2.0_f64.powi(-rest)],
            size: 2.0_f64.powi(half) * 2.0_f64.powi(rest),
        }
    }
}
