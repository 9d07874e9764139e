//! Norms and distances, and sums over all coalitions.

/// Returns `‖h‖²`.
pub(crate) fn squared_norm(h: &[f64]) -> f64 {
    h.iter().map(|value| value * value).sum()
}

/// Returns `‖a − b‖²`.
pub(crate) fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
}

/// Returns `‖φ̃ − φ‖² / ‖φ‖²`.
pub(crate) fn relative_error(values: &[f64], truth: &[f64]) -> f64 {
    squared_distance(values, truth) / squared_norm(truth)
}

/// Returns `Σ_{i ∈ S} x_i` for all masks S.
pub(crate) fn subset_sums(x: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0];
    for &xi in x {
        sums.extend_from_within(..);
        let half = sums.len() / 2;
        sums[half..].iter_mut().for_each(|sum| *sum += xi);
    }
    sums
}
