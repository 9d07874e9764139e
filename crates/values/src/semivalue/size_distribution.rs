//! Distributions of the size of the coalition that a player joins, from ratios of neighbouring sizes.

/// Returns the distribution on `0..players` with `P(s + 1) / P(s) = ratio(s)`.
///
/// It starts from the mode, so that all other probabilities are products of ratios that can only underflow,
/// and normalizes by the sum: the relative error is about one rounding error for each size from the mode.
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

/// Returns the binomial distribution of `players − 1` others that are present with probability p = 1 − q.
pub(crate) fn binomial(players: usize, p: f64, q: f64) -> Vec<f64> {
    // All mass is at one end, where ratios would be 0 or infinite.
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
