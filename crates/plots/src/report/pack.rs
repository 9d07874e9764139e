//! A compact encoding of numbers as text: the upper bytes of their IEEE 754 representation, in base64.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The precision of stored numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Precision {
    /// Two bytes: 8 bits of the significand, a relative error of at most 2⁻⁸.
    Two,
    /// Three bytes: 16 bits of the significand, a relative error of at most 2⁻¹⁶.
    Three,
    /// Four bytes: 24 bits of the significand, a relative error of at most 2⁻²⁴.
    Four,
}

impl Precision {
    pub(super) fn bytes(self) -> usize {
        match self {
            Self::Two => 2,
            Self::Three => 3,
            Self::Four => 4,
        }
    }

    /// Returns the bits of the nearest number with this precision, as an `f32`. Ties are rounded away from
    /// zero.
    fn bits(self, number: f64) -> u32 {
        let single = number as f32;
        if !single.is_finite() {
            return f32::NAN.to_bits();
        }
        let dropped = 32 - 8 * self.bytes() as u32;
        let half = if dropped == 0 { 0 } else { 1_u32 << (dropped - 1) };
        let rounded = single.to_bits().saturating_add(half) >> dropped << dropped;
        // Round the largest numbers down instead of to infinity.
        if f32::from_bits(rounded).is_finite() { rounded } else { rounded - (1 << dropped) }
    }

    /// Returns the number after encoding and decoding.
    pub(super) fn round(self, number: f64) -> f64 {
        f64::from(f32::from_bits(self.bits(number)))
    }
}

/// Returns the exponent of the power of two by which numbers are divided so that they fit into single
/// precision. The exponent is zero if they already fit.
pub(super) fn exponent(numbers: impl Iterator<Item = f64>) -> i32 {
    let largest = numbers.filter(|number| !number.is_nan()).fold(0.0, |most: f64, next| most.max(next.abs()));
    if largest == 0.0 || (1e-25..1e25).contains(&largest) { 0 } else { largest.log2().floor() as i32 }
}

/// Encodes numbers divided by 2^exponent, big-endian, in base64. NaN stays NaN.
pub(super) fn numbers(numbers: impl Iterator<Item = f64>, precision: Precision, exponent: i32) -> String {
    let mut bytes = Vec::new();
    for number in numbers {
        let bits = precision.bits(scaled(number, -exponent)).to_be_bytes();
        bytes.extend_from_slice(&bits[..precision.bytes()]);
    }
    STANDARD.encode(bytes)
}

/// Encodes integers as four bytes each, big-endian, in base64.
pub(super) fn whole(numbers: impl Iterator<Item = u32>) -> String {
    STANDARD.encode(numbers.flat_map(u32::to_be_bytes).collect::<Vec<u8>>())
}

/// Encodes bytes in base64.
pub(super) fn bytes(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Computes number · 2^exponent, in two steps, since the power of two may overflow.
fn scaled(number: f64, exponent: i32) -> f64 {
    let half = exponent / 2;
    number * f64::from(half).exp2() * f64::from(exponent - half).exp2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_kept_to_their_precision() {
        for precision in [Precision::Two, Precision::Three, Precision::Four] {
            let most = 0.5_f64.powi(8 * precision.bytes() as i32 - 8);
            for k in 0..2000 {
                let number =
                    (f64::from(k) * 0.37 - 300.0).exp2().min(1e30) * if k % 2 == 0 { 1.0 } else { -1.0 };
                let kept = precision.round(number);
                if number.abs() > 1e-30 {
                    assert!((kept / number - 1.0).abs() <= most, "{number} {kept} {precision:?}");
                }
            }
            assert!(precision.round(f64::NAN).is_nan());
            assert_eq!(precision.round(0.0), 0.0);
            assert!(precision.round(f64::from(f32::MAX)).is_finite());
        }
        assert_eq!(Precision::Three.round(65535.0), 65535.0);
    }

    #[test]
    fn huge_and_tiny_numbers_are_scaled() {
        for largest in [1e290, 1e-300, 5e-324, 1.0, 0.0] {
            let exponent = exponent([largest, f64::NAN, -largest].into_iter());
            let kept = Precision::Three.round(scaled(largest, -exponent));
            assert!(
                (scaled(kept, exponent) - largest).abs() <= 0.5_f64.powi(16) * largest,
                "{largest} {exponent}"
            );
        }
    }
}
