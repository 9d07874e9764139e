//! Decimal numbers, stored as integers in units of 10^−scale.

/// A decimal with up to 38 digits, or with 39 digits if its number of units fits in 128 bits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Decimal {
    /// The number of units.
    pub(crate) number: i128,
    pub(crate) scale: i32,
}

/// The result of reading a decimal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum DecimalReading {
    Whole(Decimal),
    /// A decimal beyond 128 bits, rounded to the nearest f64 or one of its neighbours.
    Rounded(f64),
}

/// Maximum number of zeros written before or after the digits; no 256-bit decimal needs more.
const MAX_ZEROS: u32 = 80;

impl Decimal {
    /// Returns the nearest f64, or one of its neighbours.
    #[inline]
    pub(crate) fn rounded(self) -> f64 {
        self.number as f64 / 10f64.powi(self.scale)
    }

    /// Formats the number with all digits, `scale` of them after the decimal point.
    pub(crate) fn text(self) -> String {
        let Self { number, scale } = self;
        let zeros = scale.unsigned_abs();
        if zeros > MAX_ZEROS {
            return format!("{number}e{}", -i64::from(scale));
        }
        let zeros = zeros as usize;
        if scale <= 0 {
            return if number == 0 { "0".to_owned() } else { format!("{number}{}", "0".repeat(zeros)) };
        }
        let sign = if number < 0 { "-" } else { "" };
        let digits = format!("{:0width$}", number.unsigned_abs(), width = zeros + 1);
        let (whole, part) = digits.split_at(digits.len() - zeros);
        format!("{sign}{whole}.{part}")
    }
}

/// Reads a big-endian number in two's complement; `None` without bytes.
pub(crate) fn read(
    mut bytes: impl ExactSizeIterator<Item = u8> + Clone,
    scale: i32,
) -> Option<DecimalReading> {
    let start = bytes.next()?.cast_signed();
    let decimal = |number| DecimalReading::Whole(Decimal { number, scale });
    if bytes.len() < size_of::<i128>() {
        return Some(decimal(bytes.fold(i128::from(start), |number, byte| number << 8 | i128::from(byte))));
    }
    let next = |number: i128, byte| Some(number.checked_mul(256)? | i128::from(byte));
    Some(match bytes.clone().try_fold(i128::from(start), next) {
        Some(number) => decimal(number),
        None => {
            let number = bytes.fold(f64::from(start), |number, byte| number * 256.0 + f64::from(byte));
            DecimalReading::Rounded(number / 10f64.powi(scale))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_bytes(bytes: &[u8], scale: i32) -> DecimalReading {
        read(bytes.iter().copied(), scale).unwrap()
    }

    #[test]
    fn texts_have_every_digit() {
        for (number, scale, options) in [
            (12_345, 2, "123.45"),
            (-5, 2, "-0.05"),
            (150, 2, "1.50"),
            (0, 3, "0.000"),
            (-7, 0, "-7"),
            (12, -3, "12000"),
            (0, -3, "0"),
            (7, i32::MAX, "7e-2147483647"),
            (7, i32::MIN, "7e2147483648"),
            (1_234_567_890_123_456_789_012, 2, "12345678901234567890.12"),
            (i128::MIN, 38, "-1.70141183460469231731687303715884105728"),
        ] {
            assert_eq!(Decimal { number, scale }.text(), options);
        }
    }

    #[test]
    fn numbers_of_every_width_keep_their_sign() {
        for number in [0, 1, -1, 127, -128, -12_345, i128::MAX, i128::MIN] {
            let options = DecimalReading::Whole(Decimal { number, scale: 2 });
            let bytes = number.to_be_bytes();
            assert_eq!(of_bytes(&bytes, 2), options);
            // Encode the number with more and with fewer bytes of sign extension.
            let sign = if number < 0 { 0xff } else { 0 };
            assert_eq!(of_bytes(&[&[sign; 16][..], &bytes].concat(), 2), options);
            if i16::try_from(number).is_ok() {
                assert_eq!(of_bytes(&bytes[14..], 2), options);
            }
        }
        assert_eq!(read([].into_iter(), 2), None);
        let beyond = [&[1][..], &[0; 16]].concat();
        assert_eq!(of_bytes(&beyond, 0), DecimalReading::Rounded(2f64.powi(128)));
        assert_eq!(
            of_bytes(&[&[0xff; 16][..], &[0; 16]].concat(), 0),
            DecimalReading::Rounded(-2f64.powi(128))
        );
        assert_eq!(Decimal { number: -12_345, scale: 2 }.rounded(), -123.45);
    }
}
