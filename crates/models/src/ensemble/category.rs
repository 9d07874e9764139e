//! Categories that CatBoost identifies by a hash of their text.
//!
//! Splits on such a feature compare a 32-bit hash, so every string is a valid category, whether it occurred
//! in training or not. In numeric rows, a category is represented by its *code*:
//!
//! | code | category |
//! |---|---|
//! | an integer below 2^53 in absolute value | its decimal digits: 42 is `42` |
//! | k + ½ for an integer k, 0 ≤ k < 2^32 | any string with the hash k |
//! | NaN, a missing value | the string `nan`, which pandas writes for a missing value |
//! | any other number | no category seen in training |
//!
//! Therefore columns of integers do not need to be encoded, and codes of strings do not require a list of
//! categories.

mod city;

pub(crate) use self::city::city_hash;

/// The text that represents a missing value.
const MISSING: &str = "nan";

/// The smallest positive integer without a code: 2^53, above which `f64` does not represent all integers.
const CODE_LIMIT: f64 = 9_007_199_254_740_992.0;

/// Returns the hash that CatBoost stores for a category: the lower half of the 64-bit hash.
pub(crate) fn category_hash(text: &str) -> u32 {
    city_hash(text.as_bytes()) as u32
}

/// Returns the hash of the category with this code, or `None` if the number is not a code.
pub(crate) fn hash_of_code(code: f64) -> Option<u32> {
    if code.is_nan() {
        return Some(category_hash(MISSING));
    }
    if code.fract() == 0.0 && code.abs() < CODE_LIMIT {
        return Some(hash_of_whole(code as i64));
    }
    let below = code - 0.5;
    (below.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&below)).then_some(below as u32)
}

/// Returns the code of a string: the integer if the string is its canonical decimal form, otherwise a code
/// for its hash.
pub(crate) fn code_of_text(text: &str) -> f64 {
    match text.parse::<i64>() {
        Ok(number) if (number as f64).abs() < CODE_LIMIT && number.to_string() == text => number as f64,
        _ => code_of_hash(category_hash(text)),
    }
}

/// Returns the code of all strings with this hash.
pub(crate) fn code_of_hash(hash: u32) -> f64 {
    f64::from(hash) + 0.5
}

/// Returns the code of a numeric category: the number itself if it is an integer below 2^53 in absolute
/// value, otherwise `None`.
pub(crate) fn code_of_number(number: f64) -> Option<f64> {
    // Adding 0 maps −0 to 0, since both are the same category.
    (number.fract() == 0.0 && number.abs() < CODE_LIMIT).then_some(number + 0.0)
}

/// Returns the hash of the decimal digits of an integer.
fn hash_of_whole(number: i64) -> u32 {
    // An `i64` has at most 19 digits and a sign. The buffer is filled from its end.
    let mut text = [0; 20];
    let mut start = text.len();
    let mut rest = number.unsigned_abs();
    loop {
        start -= 1;
        text[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        start -= 1;
        text[start] = b'-';
    }
    city_hash(&text[start..]) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with the hashes that CatBoost 1.2.10 wrote for one-hot splits on these categories.
    #[test]
    fn hashes_are_those_of_catboost() {
        for (text, hash) in [
            ("0", -1_438_285_038),
            ("1", 1_121_341_681),
            ("7", -17_943_309),
            ("42", 1_145_636_304),
            ("123", 1_577_207_979),
            ("-1", 288_298_918),
            ("1234", -1_848_678_467),
            ("65535", 2_108_729_662),
            ("v", -1_706_589_142),
            ("w", -1_196_738_607_i32),
        ] {
            assert_eq!(category_hash(text) as i32, hash, "{text}");
        }
    }

    #[test]
    fn codes_stand_for_the_hashes_of_their_texts() {
        for text in ["", "a", "42", "-7", "042", "+3", "-0", "1.5", "nan", "9007199254740993", "Zürich", "0"]
        {
            assert_eq!(hash_of_code(code_of_text(text)), Some(category_hash(text)), "{text}");
        }
        for number in [0i64, 1, -1, 99, -65_537, 1 << 40, -(1 << 52)] {
            assert_eq!(code_of_text(&number.to_string()), number as f64);
            assert_eq!(code_of_number(number as f64), Some(number as f64));
            assert_eq!(hash_of_code(number as f64), Some(category_hash(&number.to_string())));
        }
        assert_eq!(hash_of_code(-0.0), Some(category_hash("0")));
        assert_eq!(hash_of_code(f64::NAN), Some(category_hash("nan")));
        assert_eq!(hash_of_code(f64::from(u32::MAX) + 0.5), Some(u32::MAX));
        for none in [0.25, -0.5, -3.5, 4_294_967_296.5, 1e300, f64::INFINITY, CODE_LIMIT] {
            assert_eq!(hash_of_code(none), None, "{none}");
        }
        assert_eq!([2.5, f64::NAN, 1e16].map(code_of_number), [None; 3]);
    }
}
