//! The numeric types of `.npy` files, converted to f64.

use crate::exact::exact;

/// A numeric type of NumPy.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    /// The number of bytes per number.
    pub(super) width: usize,
    /// The function that reads a number, or returns `None` if `f64` cannot represent it exactly.
    pub(super) read: fn(&[u8]) -> Option<f64>,
}

macro_rules! kind {
    ($number:ty, $from:ident) => {
        Kind {
            width: size_of::<$number>(),
            read: |bytes| bytes.try_into().ok().map(<$number>::$from).map(f64::from),
        }
    };
    (exact $number:ty, $from:ident) => {
        Kind {
            width: size_of::<$number>(),
            read: |bytes| bytes.try_into().ok().map(<$number>::$from).and_then(|number| exact(number.into())),
        }
    };
}

impl Kind {
    /// Returns the type with this dtype string, which consists of byte order, letter and width.
    pub(super) fn named(descr: &str) -> Option<Self> {
        Some(match descr {
            "|b1" | "<b1" | ">b1" | "b1" | "?" | "|?" => {
                Self { width: 1, read: |bytes| bytes.first().map(|&byte| f64::from(u8::from(byte != 0))) }
            }
            "|i1" | "<i1" | ">i1" | "i1" => kind!(i8, from_le_bytes),
            "|u1" | "<u1" | ">u1" | "u1" => kind!(u8, from_le_bytes),
            "<i2" => kind!(i16, from_le_bytes),
            ">i2" => kind!(i16, from_be_bytes),
            "<u2" => kind!(u16, from_le_bytes),
            ">u2" => kind!(u16, from_be_bytes),
            "<i4" => kind!(i32, from_le_bytes),
            ">i4" => kind!(i32, from_be_bytes),
            "<u4" => kind!(u32, from_le_bytes),
            ">u4" => kind!(u32, from_be_bytes),
            "<i8" => kind!(exact i64, from_le_bytes),
            ">i8" => kind!(exact i64, from_be_bytes),
            "<u8" => kind!(exact u64, from_le_bytes),
            ">u8" => kind!(exact u64, from_be_bytes),
            "<f2" => Self { width: 2, read: |bytes| bytes.try_into().ok().map(u16::from_le_bytes).map(half) },
            ">f2" => Self { width: 2, read: |bytes| bytes.try_into().ok().map(u16::from_be_bytes).map(half) },
            "<f4" => kind!(f32, from_le_bytes),
            ">f4" => kind!(f32, from_be_bytes),
            "<f8" => kind!(f64, from_le_bytes),
            ">f8" => kind!(f64, from_be_bytes),
            _ => return None,
        })
    }
}

/// Decodes an IEEE 754 binary16 number: 1 sign bit, 5 exponent bits, 10 fraction bits.
pub(crate) fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_reads_its_extremes_in_both_orders() {
        let read = |descr: &str, bytes: &[u8]| {
            let kind = Kind::named(descr).unwrap();
            assert_eq!(kind.width, bytes.len(), "{descr}");
            (kind.read)(bytes)
        };
        macro_rules! both {
            ($name:literal, $number:expr, $options:expr) => {
                assert_eq!(read(concat!("<", $name), &$number.to_le_bytes()), $options, $name);
                assert_eq!(read(concat!(">", $name), &$number.to_be_bytes()), $options, $name);
            };
        }
        both!("i2", i16::MIN, Some(-32768.0));
        both!("u2", u16::MAX, Some(65535.0));
        both!("i4", i32::MIN, Some(-2147483648.0));
        both!("u4", u32::MAX, Some(4294967295.0));
        both!("i8", -(1i64 << 53), Some(-9007199254740992.0));
        both!("i8", (1i64 << 53) + 1, None);
        both!("i8", i64::MIN, Some(-9223372036854775808.0));
        both!("i8", i64::MAX, None);
        both!("i8", (1i64 << 53) + 2, Some(9007199254740994.0));
        both!("u8", 1u64 << 53, Some(9007199254740992.0));
        both!("u8", u64::MAX, None);
        both!("f4", 0.1f32, Some(f64::from(0.1f32)));
        both!("f8", 0.1f64, Some(0.1));
        both!("f2", 0xC248u16, Some(-3.140625));
        assert_eq!(read("|i1", &[0x80]), Some(-128.0));
        assert_eq!(read("|u1", &[0xff]), Some(255.0));
        assert_eq!([read("|b1", &[0]), read("|b1", &[1])], [Some(0.0), Some(1.0)]);
        for descr in ["|O", "<U3", "<M8[ns]", "<c16", "<f16", "<i3", ""] {
            assert!(Kind::named(descr).is_none(), "{descr}");
        }
    }

    #[test]
    fn halves_are_what_their_bits_say() {
        for (bits, options) in [
            (0x0000, 0.0),
            (0x0001, 2f64.powi(-24)),
            (0x03ff, 1023.0 * 2f64.powi(-24)),
            (0x0400, 2f64.powi(-14)),
            (0x3c00, 1.0),
            (0x3555, 0.333251953125),
            (0x7bff, 65504.0),
            (0xfc00, f64::NEG_INFINITY),
        ] {
            assert_eq!(half(bits), options, "{bits:#x}");
        }
        assert!(half(0x7e00).is_nan());
    }
}
