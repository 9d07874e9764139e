//! Numbers in texts.

/// The number that a text is, written with a comma for the point where `decimal_comma` says so.
#[inline]
pub(crate) fn number(text: &str, decimal_comma: bool) -> Option<f64> {
    if !decimal_comma {
        return text.parse().ok();
    }
    if text.contains('.') {
        return None;
    }
    // A second comma stays, and is no part of a number.
    text.replacen(',', ".", 1).parse().ok()
}
