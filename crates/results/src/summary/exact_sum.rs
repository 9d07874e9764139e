//! Exact sums of absolute values of doubles, and of their squares.
//!
//! Every finite double is an integer times 2^−1127, and its square is an integer times 2^−2254. A sum is such
//! an integer, stored in limbs of 64 bits. Each limb has 64 more bits for carries, so that an addition
//! changes two limbs, or three for a square, without a loop (Neal, *Fast exact summation using small and
//! large superaccumulators*, 2015). Only the limbs between the smallest and the largest term are stored.

use num_bigint::BigUint;

/// Sums are in units of 2^−UNIT, which is below the last bit of any double.
pub(super) const UNIT: i64 = 1127;

/// Splits the absolute value of a finite number: |number| = mantissa · 2^(shift − UNIT).
#[inline]
pub(super) fn split(number: f64) -> (u64, u32) {
    let bits = number.to_bits();
    let (exponent, fraction) = ((bits >> 52) as u32 & 0x7ff, bits & ((1 << 52) - 1));
    // Subnormal numbers have the exponent of the smallest normal ones, but no leading bit.
    let leading = u64::from(exponent != 0) << 52;
    (fraction | leading, exponent.max(1) + 52)
}

/// A sum of terms.
///
/// No limb overflows for fewer than 2^63 terms, because each term adds less than 2^65 to a limb.
#[derive(Debug, Clone, Default)]
pub(super) struct ExactSum {
    /// The position of the first stored limb. All limbs below are zero.
    first: usize,
    /// The limb at position i counts units of 2^(64 i).
    limbs: Vec<u128>,
}

impl ExactSum {
    /// Adds `term · 2^(shift − UNIT)`.
    #[inline]
    pub(super) fn add(&mut self, term: u64, shift: u32) {
        let term = u128::from(term) << (shift % 64);
        let [low, high] = self.window((shift / 64) as usize);
        *low += low_bits(term);
        *high += term >> 64;
    }

    /// Adds `term · 2^(2 shift − 2 UNIT)` to a sum of squares; `term` must be below 2^120.
    #[inline]
    pub(super) fn add_square(&mut self, term: u128, shift: u32) {
        let (at, by) = ((2 * shift / 64) as usize, 2 * shift % 64);
        let (below, above) = (low_bits(term) << by, (term >> 64) << by);
        let [low, middle, high] = self.window(at);
        *low += low_bits(below);
        *middle += (below >> 64) + low_bits(above);
        *high += above >> 64;
    }

    /// Adds all terms of another sum.
    pub(super) fn merge(&mut self, other: &Self) {
        if other.limbs.is_empty() {
            return;
        }
        self.reserve(other.first, other.first + other.limbs.len());
        let limbs = &mut self.limbs[other.first - self.first..];
        limbs.iter_mut().zip(&other.limbs).for_each(|(own, other)| *own += other);
    }

    /// Returns the position of the first limb that is not zero; `None` if the sum is zero.
    pub(super) fn first(&self) -> Option<usize> {
        self.limbs.iter().position(|&limb| limb != 0).map(|zeros| self.first + zeros)
    }

    /// Returns the sum in units of 2^(64 from).
    ///
    /// # Panics
    ///
    /// Panics if `from` is above [`first`](Self::first).
    pub(super) fn total(&self, from: usize) -> BigUint {
        let Some(first) = self.first() else { return BigUint::ZERO };
        assert!(from <= first, "{from} is above the limb {first}");
        let mut digits = Vec::with_capacity(2 * (self.first + self.limbs.len() + 1 - from));
        digits.resize(2 * (first - from), 0);
        let mut carry = 0;
        for limb in &self.limbs[first - self.first..] {
            carry += limb;
            digits.extend([carry as u32, (carry >> 32) as u32]);
            carry >>= 64;
        }
        digits.extend([carry as u32, (carry >> 32) as u32]);
        BigUint::new(digits)
    }

    /// Creates the sum with this total.
    pub(super) fn from_total(total: &BigUint) -> Self {
        let mut digits = total.iter_u64_digits().map(u128::from).peekable();
        let mut first = 0;
        while digits.next_if_eq(&0).is_some() {
            first += 1;
        }
        Self { first, limbs: digits.collect() }
    }

    /// Returns the `N` limbs that start at position `at`, and stores them if they are not stored yet.
    #[inline]
    fn window<const N: usize>(&mut self, at: usize) -> &mut [u128; N] {
        if at < self.first || at + N > self.first + self.limbs.len() {
            // Store one more limb on either side, which is enough for most sums.
            self.reserve(at.saturating_sub(1), at + N + 1);
        }
        self.limbs[at - self.first..].first_chunk_mut().expect("the limbs are reserved")
    }

    /// Extends the stored limbs, so that they include the positions from `start` to `end` (exclusive).
    #[cold]
    fn reserve(&mut self, start: usize, end: usize) {
        let (old, mut old_first) = (std::mem::take(&mut self.limbs), self.first);
        if old.is_empty() {
            old_first = start;
        }
        self.first = start.min(old_first);
        self.limbs = vec![0; end.max(old_first + old.len()) - self.first];
        self.limbs[old_first - self.first..][..old.len()].copy_from_slice(&old);
    }
}

impl PartialEq for ExactSum {
    /// Compares the totals, because the limbs of equal totals may differ: the order of the terms determines
    /// the carries.
    fn eq(&self, other: &Self) -> bool {
        self.total(0) == other.total(0)
    }
}

/// Returns the lower 64 bits.
#[inline]
fn low_bits(number: u128) -> u128 {
    u128::from(number as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns |number| in units of 2^−UNIT, bit by bit.
    fn units(number: f64) -> BigUint {
        let (mut rest, mut total) = (number.abs(), BigUint::ZERO);
        while rest != 0.0 {
            // This is the largest power of two that is not above the rest.
            let power = (-1074..1024).rev().find(|&power| power_of_two(power) <= rest).unwrap();
            total += BigUint::from(1_u8) << (i64::from(power) + UNIT) as u64;
            rest -= power_of_two(power);
        }
        total
    }

    fn power_of_two(power: i32) -> f64 {
        if power < -1022 { f64::from_bits(1 << (power + 1074)) } else { 2_f64.powi(power) }
    }

    #[test]
    fn sums_are_those_of_integers() {
        let numbers = [
            1.0,
            -2.5,
            0.1,
            1e300,
            -1e-300,
            5e-324,
            f64::MIN_POSITIVE,
            f64::MIN_POSITIVE - 5e-324,
            f64::MAX,
            -f64::MAX,
            1e16,
            f64::MAX,
        ];
        let (mut sum, mut squares) = (ExactSum::default(), ExactSum::default());
        let (mut expected, mut expected_squares) = (BigUint::ZERO, BigUint::ZERO);
        for number in numbers {
            let units = units(number);
            let (mantissa, shift) = split(number);
            sum.add(mantissa, shift);
            squares.add_square(u128::from(mantissa).pow(2), shift);
            expected_squares += &units * &units;
            expected += units;
            assert_eq!(sum.total(0), expected, "{number}");
            assert_eq!(squares.total(0), expected_squares, "{number}");
        }
        for (sum, total) in [(sum, expected), (squares, expected_squares)] {
            let again = ExactSum::from_total(&total);
            assert_eq!(again, sum);
            let mut twice = again.clone();
            twice.merge(&sum);
            assert_eq!(twice.total(0), total * 2_u8);
            assert_ne!(twice, again);
        }
    }

    #[test]
    fn only_limbs_between_the_terms_are_stored() {
        let mut sum = ExactSum::default();
        for number in 1..1000 {
            let (mantissa, shift) = split(f64::from(number));
            sum.add(mantissa, shift);
        }
        assert!(sum.limbs.len() <= 5, "{}", sum.limbs.len());
        let first = sum.first().unwrap();
        assert_eq!(sum.total(0), sum.total(first) << (64 * first));
        assert_eq!(sum.total(0) >> UNIT as u64, BigUint::from(499_500_u32));
    }

    #[test]
    fn carries_have_room() {
        let largest = 2_f64.next_down();
        let mut sum = ExactSum::default();
        for bits in 0..62 {
            // The sums of this loop have 2^62 − 1 terms in total.
            let mut many = ExactSum::from_total(&units(largest));
            for _ in 0..bits {
                let same = many.clone();
                many.merge(&same);
            }
            sum.merge(&many);
        }
        assert_eq!(sum.total(0), units(largest) * ((1_u64 << 62) - 1));
    }
}
