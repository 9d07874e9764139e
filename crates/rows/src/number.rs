//! Parsing of numbers.

/// Parses a number, with a decimal comma if `decimal_comma` is set.
#[inline]
pub(crate) fn number(text: &str, decimal_comma: bool) -> Option<f64> {
    if !decimal_comma {
        return text.parse().ok();
    }
    if text.contains('.') {
        return None;
    }
    // A second comma remains and makes the number invalid.
    text.replacen(',', ".", 1).parse().ok()
}
