//! Integers that 64-bit floating-point numbers represent exactly.

/// All integers up to this absolute value are represented exactly.
pub(crate) const ALL_EXACT: u64 = 1 << 53;

/// Returns an integer as `f64` if the conversion is exact, i.e. if at most 53 bits remain without leading and
/// trailing zero bits.
///
/// ```
/// assert_eq!(apportion_rows::exact((1 << 53) + 2), Some(9007199254740994.0));
/// assert_eq!(apportion_rows::exact((1 << 53) + 1), None);
/// ```
pub fn exact(number: i128) -> Option<f64> {
    let size = number.unsigned_abs();
    (size == 0 || u128::BITS - size.leading_zeros() - size.trailing_zeros() <= 53).then_some(number as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_come_back_are_exact_and_no_others() {
        let all = i128::from(ALL_EXACT);
        let near = [0, 1, all, 2 * all, 1 << 60, 1 << 63, 1 << 64, (1 << 53) - 1, (1 << 54) - 2];
        let numbers = near.into_iter().flat_map(|number| (-9..=9).map(move |step| number + step));
        for number in numbers.flat_map(|number| [number, -number]) {
            let comes_back = number as f64 as i128 == number;
            assert_eq!(exact(number), comes_back.then_some(number as f64), "{number}");
        }
        assert_eq!((exact(i128::MAX), exact(i128::MIN)), (None, Some(-(2.0_f64.powi(127)))));
    }
}
