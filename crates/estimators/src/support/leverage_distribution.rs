//! The distribution of coalition sizes for sampling by leverage scores.

use std::ops::RangeInclusive;

use apportion_samplers::{SamplerError, SizeDistribution, ln_choose};
use apportion_values::LeastSquaresForm;

/// Returns the size distribution of coalitions of `players` drawn by their leverage scores for the regression
/// centred at p, restricted to `sizes`.
pub(crate) fn leverage_distribution(
    players: usize,
    p: f64,
    sizes: RangeInclusive<usize>,
) -> Result<SizeDistribution, SamplerError> {
    let odds = p / (1.0 - p);
    let ln_weight = |size: usize| {
        if !sizes.contains(&size) {
            return f64::NEG_INFINITY;
        }
        let spread = size as f64 / odds + (players - size) as f64 * odds;
        let form = LeastSquaresForm::Centred { p };
        form.ln_weight(players, size) + ln_choose(players, size) + spread.ln_1p()
    };
    SizeDistribution::from_logarithms(&(0..=players).map(ln_weight).collect::<Vec<f64>>())
}
