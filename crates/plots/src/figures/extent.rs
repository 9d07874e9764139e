//! From the least to the greatest of what is drawn.

/// The least and the greatest of numbers; infinities the wrong way round where there are none.
pub(super) fn of(numbers: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let none = (f64::INFINITY, f64::NEG_INFINITY);
    numbers.into_iter().fold(none, |(low, high), number| (low.min(number), high.max(number)))
}

/// The same with the interval of a sum, which is no wider than all that is drawn without it. A wider one would hide the rest: errors that are
/// added up are bounds, and those of thousands of players are far from what they say.
pub(super) fn with_sum((low, high): (f64, f64), middle: f64, half_width: f64) -> (f64, f64) {
    match 2.0 * half_width <= high - low {
        true => (low.min(middle - half_width), high.max(middle + half_width)),
        false => (low, high),
    }
}
