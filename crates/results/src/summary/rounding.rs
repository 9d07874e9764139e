//! Quotients and roots of large integers as doubles, rounded once.

use num_bigint::BigUint;

/// The number of leading 64-bit digits of a numerator that determine a quotient, apart from whether the
/// quotient is exact.
const DIGITS: usize = 5;

/// Returns numerator / denominator · 2^exponent, rounded to the nearest double. The denominator must be
/// positive, and below 2^63.
pub(super) fn quotient(numerator: &BigUint, denominator: u64, exponent: i64) -> f64 {
    let quotient = Quotient::new(numerator, [denominator, 1]);
    rounded(quotient.bits, quotient.is_exact, exponent + quotient.exponent)
}

/// Returns √(numerator / (denominators[0] · denominators[1])) · 2^exponent, rounded to the nearest double.
/// The denominators must be positive, and below 2^63.
pub(super) fn root_of_quotient(numerator: &BigUint, denominators: [u64; 2], exponent: i64) -> f64 {
    let mut quotient = Quotient::new(numerator, denominators);
    if quotient.exponent % 2 != 0 {
        quotient.is_exact &= quotient.bits.is_multiple_of(2);
        quotient.bits >>= 1;
        quotient.exponent += 1;
    }
    // The root has 64 bits, unless it is zero.
    let root = quotient.bits.isqrt();
    let is_exact = quotient.is_exact && root * root == quotient.bits;
    rounded(root, is_exact, exponent + quotient.exponent / 2)
}

/// A quotient (bits + ε) · 2^exponent. ε is zero if the quotient is exact, otherwise it is between zero and
/// one.
struct Quotient {
    /// The leading 128 bits; zero if the quotient is zero.
    bits: u128,
    exponent: i64,
    is_exact: bool,
}

impl Quotient {
    fn new(numerator: &BigUint, denominators: [u64; 2]) -> Self {
        let mut digits = [0; DIGITS];
        let all = numerator.iter_u64_digits();
        let below = all.len() as i64 - DIGITS as i64;
        digits.iter_mut().zip(all.rev()).for_each(|(to, digit)| *to = digit);
        let has_zeros = |bits: u64| numerator.trailing_zeros().is_none_or(|zeros| zeros >= bits);
        let mut is_exact = below <= 0 || has_zeros(64 * below as u64);
        for denominator in denominators.into_iter().filter(|&denominator| denominator > 1) {
            let mut rest = 0;
            for digit in &mut digits {
                let dividend = u128::from(rest) << 64 | u128::from(*digit);
                *digit = (dividend / u128::from(denominator)) as u64;
                rest = (dividend % u128::from(denominator)) as u64;
            }
            is_exact &= rest == 0;
        }
        // At least 130 bits are left after the divisions, so there are at least three digits.
        let first = digits.iter().position(|&digit| digit != 0).unwrap_or(0).min(DIGITS - 3);
        let [high, middle, low] = [digits[first], digits[first + 1], digits[first + 2]];
        let (top, shift) = (u128::from(high) << 64 | u128::from(middle), high.leading_zeros());
        let next = u128::from(low) << 64;
        let (bits, rest) = match shift {
            0..64 => (top << shift | next >> 1 >> (127 - shift), next << shift),
            _ => (0, 0),
        };
        is_exact &= rest == 0 && digits[first + 3..].iter().all(|&digit| digit == 0);
        let digits_below = below + (DIGITS - 2 - first) as i64;
        Self { bits, exponent: 64 * digits_below - i64::from(shift), is_exact }
    }
}

/// Returns (number + ε) · 2^exponent, rounded to the nearest double. If two doubles are equally near, the
/// even one is returned. ε is zero if the number is exact, otherwise it is between zero and one.
fn rounded(number: u128, is_exact: bool, exponent: i64) -> f64 {
    if number == 0 {
        return 0.0;
    }
    let zeros = number.leading_zeros();
    let number = number << zeros;
    // The result is between 2^power and 2^(power + 1).
    let power = exponent + 127 - i64::from(zeros);
    if power > 1023 {
        return f64::INFINITY;
    }
    // Keep 53 bits, or fewer for subnormal numbers.
    let dropped = 75 + (-1022 - power).max(0);
    if dropped > 128 {
        return 0.0;
    }
    let half = 1_u128 << (dropped - 1);
    let (kept, rest) = ((number >> 1 >> (dropped - 1)) as u64, number & (half | (half - 1)));
    let is_above = rest > half || rest == half && (!is_exact || kept % 2 == 1);
    let kept = kept + u64::from(is_above);
    // A carry out of the mantissa increases the exponent, as it should.
    match power >= -1022 {
        true => f64::from_bits((((power + 1022) as u64) << 52) + kept),
        false => f64::from_bits(kept),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(number: u128) -> BigUint {
        BigUint::from(number)
    }

    #[test]
    fn quotients_are_those_of_doubles() {
        for numerator in [0_u64, 1, 2, 3, 7, 10, 1 << 52, (1 << 53) - 1] {
            for denominator in [1_u64, 2, 3, 5, 7, 1 << 40, (1 << 53) - 1] {
                let expected = numerator as f64 / denominator as f64;
                assert_eq!(quotient(&numerator.into(), denominator, 0), expected);
                let subnormal = quotient(&numerator.into(), denominator, -1060);
                // The comparison is not exact, because this product is rounded twice.
                let about = expected * 2_f64.powi(-530) * 2_f64.powi(-530);
                assert!((subnormal - about).abs() <= 5e-324, "{numerator} / {denominator}");
            }
        }
        assert_eq!(quotient(&whole(u128::MAX), 1, 0), 2_f64.powi(128));
        assert_eq!(quotient(&(whole(1) << 5000_u32), 1, -5000), 1.0);
        assert_eq!(quotient(&whole(1), u64::MAX >> 1, 1100), f64::INFINITY);
    }

    #[test]
    fn halves_are_rounded_to_even_and_what_exceeds_them_up() {
        let half = (1_u128 << 53) + 1;
        assert_eq!(quotient(&whole(half), 1, 0), 2_f64.powi(53));
        assert_eq!(quotient(&whole(half + 2), 1, 0), 2_f64.powi(53) + 4.0);
        assert_eq!(quotient(&((whole(half) << 200_u32) + 1_u8), 1, -200), 2_f64.powi(53) + 2.0);
        assert_eq!(quotient(&whole(half * 3 + 1), 3, 0), 2_f64.powi(53) + 2.0);
        // Test subnormal numbers.
        assert_eq!(quotient(&whole(1), 2, -1074), 0.0);
        assert_eq!(quotient(&whole(3), 2, -1074), 1e-323);
        assert_eq!(quotient(&whole(3), 4, -1074), 5e-324);
        assert_eq!(quotient(&whole((1 << 53) - 1), 2, -1074), f64::MIN_POSITIVE);
        // Test a number that overflows only by rounding.
        assert_eq!(quotient(&whole(u128::MAX), 1, 1024 - 128), f64::INFINITY);
        assert_eq!(quotient(&whole((1 << 53) - 1), 1, 1024 - 53), f64::MAX);
    }

    #[test]
    fn roots_are_those_of_doubles_and_of_long_integers() {
        for number in [1_u64, 2, 3, 4, 5, 99, 1 << 52, (1 << 53) - 1] {
            let root = (number as f64).sqrt();
            assert_eq!(root_of_quotient(&number.into(), [1, 1], 0), root);
            let long = whole(number.into()) << 3000_u32;
            assert_eq!(root_of_quotient(&long, [1, 1], -1500), root);
            assert_eq!(root_of_quotient(&(&long * 7_u8), [7, 1], -1500), root);
            assert_eq!(root_of_quotient(&(&long << 1_u8), [1, 2], -1500), root);
            let wide = (1 << 63) - 1;
            assert_eq!(root_of_quotient(&(&long * wide * (wide - 1)), [wide, wide - 1], -1500), root);
        }
        assert_eq!(root_of_quotient(&whole(0), [3, 2], 0), 0.0);
        assert_eq!(root_of_quotient(&whole(4), [1, 1], -1075), 5e-324);
        assert_eq!(root_of_quotient(&whole(4), [1, 1], 1023), f64::INFINITY);
    }

    #[test]
    fn roots_just_above_a_half_are_rounded_up() {
        // The root of (2^53 + 1)² is 2^53 + 1, which is halfway between two doubles. The root of the second
        // number exceeds 2^53 + 1 only in its last bits.
        let half = whole((1 << 53) + 1);
        let square = &half * &half;
        assert_eq!(root_of_quotient(&square, [1, 1], 0), 2_f64.powi(53));
        let shifted = (square << 400_u32) + 1_u8;
        assert_eq!(root_of_quotient(&shifted, [1, 1], -200), 2_f64.powi(53) + 2.0);
    }
}
