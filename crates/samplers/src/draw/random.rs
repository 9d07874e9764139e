//! Random numbers computed from the raw words of a random stream.
//!
//! This module does not use a library of distributions: results must be reproducible from their seed, so the
//! algorithms must not change with a release of another crate.

use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// A generator of uniform integers below a fixed 32-bit bound. Each integer takes one 32-bit word, except for
/// rare rejections.
///
/// The high half of `word · bound` is uniform after rejecting the few words that would favour some results
/// (Lemire, *Fast random integer generation in an interval*, 2019).
#[derive(Debug, Clone, Copy)]
pub(crate) struct UniformBelow {
    bound: u32,
    /// 2^32 mod bound. A word is rejected if the low half of `word · bound` is below this threshold.
    threshold: u32,
}

impl UniformBelow {
    /// Creates a generator of integers below `bound`.
    ///
    /// # Panics
    ///
    /// If `bound` is zero.
    pub(crate) fn new(bound: u32) -> Self {
        Self { bound, threshold: bound.wrapping_neg() % bound }
    }

    #[inline]
    pub(crate) fn draw(self, rng: &mut ChaCha8Rng) -> u32 {
        loop {
            let product = u64::from(rng.next_u32()) * u64::from(self.bound);
            if product as u32 >= self.threshold {
                return (product >> 32) as u32;
            }
        }
    }
}

/// Draws a uniform integer below `bound` with the method of [`UniformBelow`]. Takes one 64-bit word, except
/// for rare rejections.
///
/// # Panics
///
/// If `bound` is zero.
#[inline]
pub(crate) fn below(rng: &mut ChaCha8Rng, bound: u64) -> u64 {
    loop {
        let product = u128::from(rng.next_u64()) * u128::from(bound);
        let low = product as u64;
        // The exact threshold costs a division. It is below `bound`, so most draws do not need it.
        if low >= bound || low >= bound.wrapping_neg() % bound {
            return (product >> 64) as u64;
        }
    }
}

/// Shuffles `elements` uniformly with the Fisher–Yates algorithm.
pub(crate) fn shuffle(elements: &mut [usize], rng: &mut ChaCha8Rng) {
    for last in (1..elements.len()).rev() {
        elements.swap(last, UniformBelow::new(last as u32 + 1).draw(rng) as usize);
    }
}

const TWO_POW_MINUS_53: f64 = 1.0 / (1u64 << 53) as f64;

/// Draws a uniform number on \[0, 1), a multiple of 2^−53.
pub(crate) fn unit(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 * TWO_POW_MINUS_53
}

/// Draws an exponential variate with mean 1: −ln of a uniform number on (0, 1].
pub(crate) fn exponential(rng: &mut ChaCha8Rng) -> f64 {
    -(((rng.next_u64() >> 11) + 1) as f64 * TWO_POW_MINUS_53).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_alike;
    use apportion_games::{Purpose, stream};

    #[test]
    fn bounded_integers_are_uniform() {
        // There are 60,000 draws of 6 values. The chi-square statistic with 5 degrees of freedom exceeds 25
        // with probability 1.4e-4.
        let mut rng = stream(1, Purpose::Coalitions, 0);
        let narrow: Vec<u64> = (0..60_000).map(|_| UniformBelow::new(6).draw(&mut rng).into()).collect();
        let wide: Vec<u64> = (0..60_000).map(|_| below(&mut rng, 6)).collect();
        assert_alike(narrow, 6, 25.0, "narrow");
        assert_alike(wide, 6, 25.0, "wide");
    }

    #[test]
    fn bounds_just_above_a_power_of_two_are_not_biased() {
        // Without rejection, a third of the values below 3·2^30 would be twice as frequent; likewise below
        // 3·2^62.
        let mut rng = stream(2, Purpose::Coalitions, 0);
        let (mut narrow, mut wide) = (0.0, 0.0);
        for _ in 0..40_000 {
            narrow += f64::from(UniformBelow::new(3 << 30).draw(&mut rng) % 3);
            wide += (below(&mut rng, 3 << 62) % 3) as f64;
        }
        // The mean is 1, with a standard error of sqrt(2/3 / 40,000) = 0.0041; the bound is five standard
        // errors.
        for total in [narrow, wide] {
            assert!((total / 40_000.0 - 1.0f64).abs() < 0.021, "{total}");
        }
    }

    // Stored results record their seed: if these numbers change, so do all stored results.
    #[test]
    fn first_numbers_are_fixed() {
        let mut rng = stream(42, Purpose::Coalitions, 0);
        let narrow: Vec<u32> = (0..4).map(|_| UniformBelow::new(1000).draw(&mut rng)).collect();
        let wide: Vec<u64> = (0..4).map(|_| below(&mut rng, 1 << 40)).collect();
        assert_eq!(
            (narrow, wide),
            (vec![172, 597, 241, 859], vec![255534851690, 990699291306, 82854196942, 955875158121])
        );
        assert_eq!((unit(&mut rng), exponential(&mut rng)), (0.17488414530159446, 2.607765091795849));
    }
}
