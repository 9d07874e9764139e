//! Ranges of numbers to draw.

/// Returns the minimum and the maximum of the numbers, or (∞, −∞) if there are no numbers.
pub(super) fn min_and_max(numbers: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let none = (f64::INFINITY, f64::NEG_INFINITY);
    numbers.into_iter().fold(none, |(low, high), number| (low.min(number), high.max(number)))
}

/// Extends a range by the interval of a sum, if the interval is not wider than the range. A wider interval
/// would make everything else too small: the errors of a sum are added up, and for thousands of players this
/// bound is far above the actual error.
pub(super) fn with_sum((low, high): (f64, f64), middle: f64, half_width: f64) -> (f64, f64) {
    match 2.0 * half_width <= high - low {
        true => (low.min(middle - half_width), high.max(middle + half_width)),
        false => (low, high),
    }
}
