//! Sums of a batch of numbers by exponent. They are faster than adding the numbers to exact sums one by one.

use super::exact_sum::{ExactSum, split};

/// The maximum number of numbers between two calls of [`SumsByExponent::drain`].
pub(super) const MAX_NUMBERS: usize = 512;
/// The number of shifts that [`split`] returns for finite numbers.
const SHIFTS: usize = 2046 + 53;

/// The sums of the mantissas of numbers with the same exponent, for positive and negative numbers separately,
/// and the sum of the squares of all these mantissas. A mantissa has 53 bits, so the sums of [`MAX_NUMBERS`]
/// numbers do not overflow.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    by_sign: [u64; 2],
    squares: u128,
}

/// Exact sums of numbers, and of their squares, by exponent.
#[derive(Debug)]
pub(super) struct SumsByExponent {
    /// The sums for each shift, which is the index.
    sums: Vec<Sums>,
    /// The smallest and the largest shift of the numbers.
    min: u32,
    max: u32,
}

impl Default for SumsByExponent {
    fn default() -> Self {
        Self { sums: vec![Sums::default(); SHIFTS], min: u32::MAX, max: 0 }
    }
}

impl SumsByExponent {
    /// Adds a finite number.
    #[inline]
    pub(super) fn add(&mut self, number: f64) {
        let (mantissa, shift) = split(number);
        if mantissa == 0 {
            return;
        }
        self.min = self.min.min(shift);
        self.max = self.max.max(shift);
        let sums = &mut self.sums[shift as usize];
        // Use the sign as an index, because the processor cannot predict a branch on it.
        sums.by_sign[usize::from(number.is_sign_negative())] += mantissa;
        sums.squares += u128::from(mantissa).pow(2);
    }

    /// Adds the sums for the positive and for the negative numbers to `by_sign`, and the sum of squares to
    /// `squares`. Removes all numbers.
    pub(super) fn drain(&mut self, by_sign: &mut [ExactSum; 2], mut squares: Option<&mut ExactSum>) {
        for shift in self.min..=self.max {
            let sums = std::mem::take(&mut self.sums[shift as usize]);
            if sums.squares == 0 {
                continue;
            }
            for (to, sum) in by_sign.iter_mut().zip(sums.by_sign) {
                if sum != 0 {
                    to.add(sum, shift);
                }
            }
            if let Some(squares) = &mut squares {
                squares.add_square(sums.squares, shift);
            }
        }
        (self.min, self.max) = (u32::MAX, 0);
    }
}
