//! Means with their intervals.

use apportion_results::{CONFIDENCE, interval_factor};

/// Returns a mean, and the half-width of its 95% interval by Student's t distribution, which is 0 for fewer
/// than two numbers.
pub(super) fn with_half_width(numbers: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let count = numbers.clone().count();
    // Scale by the largest number, so that squares do not overflow.
    let unit = numbers.clone().map(f64::abs).fold(0.0, f64::max);
    if numbers.clone().any(f64::is_nan) {
        return (f64::NAN, f64::NAN);
    }
    if count == 0 || unit == 0.0 {
        return (0.0, 0.0);
    }
    let mean = numbers.clone().map(|number| number / unit).sum::<f64>() / count as f64;
    if count == 1 {
        return (mean * unit, 0.0);
    }
    let freedom = (count - 1) as f64;
    let squares: f64 = numbers.map(|number| (number / unit - mean).powi(2)).sum();
    (mean * unit, interval_factor(freedom, CONFIDENCE) * (squares / freedom / count as f64).sqrt() * unit)
}
