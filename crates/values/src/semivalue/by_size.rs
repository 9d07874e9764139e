//! Custom weights for each coalition size.

use std::sync::Arc;

use crate::error::{ValueError, WeightsProblem};
use crate::logarithms::ln_factorial;

/// Maximum difference between the sum of the weights and 1, which allows for rounding errors.
pub(crate) const SUM_TOLERANCE: f64 = 1e-9;

/// Weights by coalition size for a fixed number of players n, stored as the distribution P(s) of the size of
/// the coalition that a player joins.
#[derive(Debug, Clone, PartialEq)]
pub struct SizeWeights {
    distribution: Arc<[f64]>,
}

impl SizeWeights {
    /// Creates the weights from the weight `weights[s]` of a single coalition of each size s.
    pub(crate) fn of_coalitions(weights: &[f64]) -> Result<Self, ValueError> {
        check_weights(weights).map_err(|problem| ValueError::Weights { problem })?;
        let others = weights.len() - 1;
        let ln_choose = |size: usize| ln_factorial(others) - ln_factorial(size) - ln_factorial(others - size);
        let choose = |size: usize| {
            // The product is exact if the coefficient is exact. If the coefficient overflows, logarithms are
            // used.
            let few = size.min(others - size);
            let product = (1..=few).fold(1.0, |choose, k| choose * (others - few + k) as f64 / k as f64);
            if product.is_finite() { Ok(product) } else { Err(ln_choose(size)) }
        };
        let distribution = weights.iter().enumerate().map(|(size, &weight)| match choose(size) {
            Ok(choose) => choose * weight,
            Err(ln_choose) => (ln_choose + weight.ln()).exp(),
        });
        Self::checked(distribution.collect()).map_err(|problem| ValueError::Weights { problem })
    }

    /// Creates the weights from the probability of each coalition size.
    pub(crate) fn of_sizes(distribution: &[f64]) -> Result<Self, ValueError> {
        check_weights(distribution)
            .and_then(|()| Self::checked(distribution.into()))
            .map_err(|problem| ValueError::SizeDistribution { problem })
    }

    fn checked(distribution: Arc<[f64]>) -> Result<Self, WeightsProblem> {
        let sum: f64 = distribution.iter().sum();
        if (sum - 1.0).abs() <= SUM_TOLERANCE {
            Ok(Self { distribution })
        } else {
            Err(WeightsProblem::Sum { sum })
        }
    }

    /// Returns the number of players n of the games to which the weights apply.
    pub fn players(&self) -> usize {
        self.distribution.len()
    }

    /// Returns the probability P(s) of each coalition size in `0..n`.
    pub fn distribution(&self) -> &[f64] {
        &self.distribution
    }

    /// Returns the moment M(a, b). For a uniformly random coalition of s of the n − 1 other players, the
    /// probability that it contains `a` given players and excludes `b` given others is `C(n−1−a−b, s−a) /
    /// C(n−1, s) = Π_{k<a} (s − k)/(n − 1 − k) · Π_{k<b} (n − 1 − s − k)/(n − 1 − a − k)`.
    pub(crate) fn moment(&self, a: usize, b: usize) -> f64 {
        let others = self.players() - 1;
        assert!(
            a + b <= others,
            "a moment of {} other players requires weights for at least as many, got weights for {others}",
            a + b
        );
        let given_size = |size: usize| -> f64 {
            let present = (0..a).map(|k| (size - k) as f64 / (others - k) as f64);
            let absent = (0..b).map(|k| (others - size - k) as f64 / (others - a - k) as f64);
            present.chain(absent).product()
        };
        (a..=others - b).map(|size| self.distribution[size] * given_size(size)).sum()
    }

    /// Returns the weights for the `players` players that are left when null players are removed from games
    /// of n players. Removing one null player turns sizes s and s + 1 into size s.
    pub(crate) fn for_players(&self, players: usize) -> Self {
        assert!(
            (1..=self.players()).contains(&players),
            "the semivalue has weights for {} players, but the game has {players}",
            self.players()
        );
        let mut distribution = self.distribution.to_vec();
        while distribution.len() > players {
            let others = (distribution.len() - 1) as f64;
            for size in 0..distribution.len() - 1 {
                distribution[size] = distribution[size] * (others - size as f64) / others
                    + distribution[size + 1] * (size + 1) as f64 / others;
            }
            distribution.pop();
        }
        Self { distribution: distribution.into() }
    }
}

fn check_weights(weights: &[f64]) -> Result<(), WeightsProblem> {
    if weights.is_empty() {
        return Err(WeightsProblem::None);
    }
    match weights.iter().position(|weight| !(*weight >= 0.0 && weight.is_finite())) {
        Some(size) => Err(WeightsProblem::Weight { size, weight: weights[size] }),
        None => Ok(()),
    }
}
