//! Distributions of the size of the coalition that a player joins, computed from the ratios of successive
//! probabilities.

/// Returns the distribution P on `0..players` that satisfies `P(s + 1) / P(s) = ratio(s)`.
///
/// The computation starts at the mode, so that all other probabilities are products of ratios below 1, which
/// can only underflow. Then the probabilities are divided by their sum. The relative error is about one
/// rounding error per step from the mode.
pub(crate) fn from_ratios(players: usize, ratio: impl Fn(usize) -> f64) -> Vec<f64> {
    let (mut most, mut ln_max, mut ln) = (0, 0.0, 0.0);
    for size in 1..players {
        ln += ratio(size - 1).ln();
        if ln > ln_max {
            (most, ln_max) = (size, ln);
        }
    }
    let mut distribution = vec![1.0; players];
    for size in (0..most).rev() {
        distribution[size] = distribution[size + 1] / ratio(size);
    }
    for size in most + 1..players {
        distribution[size] = distribution[size - 1] * ratio(size - 1);
    }
    let total: f64 = distribution.iter().sum();
    distribution.iter_mut().for_each(|weight| *weight /= total);
    distribution
}

/// Returns the distribution of the number of present players among `players − 1` others, each present with
/// probability p = 1 − q.
pub(crate) fn binomial(players: usize, p: f64, q: f64) -> Vec<f64> {
    // If p or q is zero, all mass is at one end, and the ratios would be 0 or infinite.
    if p == 0.0 || q == 0.0 {
        let mut distribution = vec![0.0; players];
        let end = if p == 0.0 { distribution.first_mut() } else { distribution.last_mut() };
        if let Some(end) = end {
            *end = 1.0;
        }
        return distribution;
    }
    let others = players.saturating_sub(1);
    from_ratios(players, |size| (others - size) as f64 / (size + 1) as f64 * (p / q))
}
