//! The weights of coalitions by size.

use apportion_samplers::Sample;

use super::distribution::squared_weight;
use crate::support::MissedConjunction;

/// The weights of coalition sizes for one semivalue.
pub(crate) struct SizeWeights {
    /// The weights r_in (this field) and r_out (the next one) for each size, up to a common factor; 0 if
    /// nothing was drawn.
    pub(super) holding: Vec<f64>,
    pub(super) lacking: Vec<f64>,
    /// The weight of a size in the regression.
    pub(crate) regression: Vec<f64>,
    /// `1 − π_s`, where π_s is the inclusion probability; 1 with replacement.
    pub(super) free: Vec<f64>,
    /// P(n−1) and 1 − P(n−1): the weights of v(N), and of all other coalitions with the player.
    pub(super) full: [f64; 2],
    /// P(0) and 1 − P(0): the weights of v(∅), and of all other coalitions without the player.
    pub(super) empty: [f64; 2],
    /// Whether every coalition with positive weight was certain to be drawn.
    pub(super) complete: bool,
    /// The contributions of the largest conjunctions that the sample misses.
    pub(super) missed: MissedConjunction,
}

impl SizeWeights {
    /// Computes the weights. `joined` is P, the distribution of the size of the coalition that a player
    /// joins.
    pub(crate) fn new(joined: &[f64], sample: &Sample) -> Self {
        let (players, strata) = (joined.len(), sample.strata());
        let n = players as f64;
        // Use weights relative to the largest one, so that squares do not underflow.
        let per_row = |size: usize, distribution: f64, of: usize| {
            distribution * (n / of as f64) / strata[size].expected
        };
        let of_sizes = |weight: &dyn Fn(usize) -> f64| -> Vec<f64> {
            let is_drawn = |size: usize| size > 0 && size < players && strata[size].drawn > 0;
            (0..=players).map(|size| if is_drawn(size) { weight(size) } else { 0.0 }).collect()
        };
        let mut holding = of_sizes(&|size| per_row(size, joined[size - 1], size));
        let mut lacking = of_sizes(&|size| per_row(size, joined[size], players - size));
        let largest = holding.iter().chain(&lacking).copied().fold(f64::MIN_POSITIVE, f64::max);
        holding.iter_mut().chain(&mut lacking).for_each(|weight| *weight /= largest);

        let with_replacement = sample.multiplicities().is_some();
        let free: Vec<f64> = strata
            .iter()
            .map(
                |stratum| {
                    if with_replacement { 1.0 } else { (1.0 - stratum.inclusion_probability()).max(0.0) }
                },
            )
            .collect();
        // This is (1 − π_s) (P(s−1)²/s + P(s)²/(n−s)) / E(s)² up to a factor, in terms of the weights of the
        // rows.
        let regression = of_sizes(&|size| {
            let s = size as f64;
            free[size] * (holding[size].powi(2) * s + lacking[size].powi(2) * (n - s))
        });
        let complete =
            (1..players).all(|size| strata[size].is_exhausted() || squared_weight(joined, size) == 0.0);
        Self {
            full: [joined[players - 1], joined[..players - 1].iter().sum()],
            empty: [joined[0], joined[1..].iter().sum()],
            holding,
            lacking,
            regression,
            free,
            complete,
            missed: MissedConjunction::new(joined, sample, 1.0),
        }
    }
}
